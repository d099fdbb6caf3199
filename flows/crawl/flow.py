"""The crawl flow: record what to fetch, fetch it politely, keep every byte and every reason."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from flows.crawl.fetch import (
    UNANSWERED,
    Held,
    crawl_shard,
    dropped_of,
    finished,
    identity,
    shard_params,
    unanswered_of,
)
from flows.crawl.repositories.base import CrawlRequest, Opened, Opening
from flows.crawl.selection import Selection, select
from flows.crawl.withdrawn import fingerprint, leaving_out, of_selection
from flows.engine.execution import sum_up
from flows.engine.manifest import read_run
from flows.engine.orchestration import flow, task
from flows.engine.register import read_register
from flows.engine.runs import current_run, measured, spent
from flows.engine.session import Session, write_session
from schemas.errors import FetchError
from schemas.wording import counted
from sources.ledger import Ledger
from sources.stage import CRAWL
from sources.store import RawStore


@flow(name="crawl", validate_parameters=False)
def crawl(request: CrawlRequest, workspace: str | None = None) -> list[dict[str, Any]]:
    """Crawl one repository; returns the stage's summary, and for how many articles nobody answered.

    Raises:
        FetchError: it answered for none, and none was there before; what is known of them is recorded.
    """
    with write_session(workspace, create=True, flow="crawl") as session:
        store = RawStore(session.workspace.raw, Ledger(session.workspace.ledger))
        opened = request.open(Opening(session.settings, session.workspace, store))
        for note in opened.notes:
            session.reporter.line(note)
        size = session.settings.shard_size
        chosen = select(session.workspace, request.source, opened.locators, size, root=opened.root)
        done = _crawl(session, request, opened, chosen)
        is_held = any(counts["kept"] for counts in done["units"].values())
        if done["asked"] and done["unanswered"] == done["asked"] and not is_held:
            raise FetchError(
                f"{request.source} answered for none of {counted(done['asked'], 'article')}",
                hint="medqrels doctor --servers says whether it can be reached; then the same command again",
            )
        return [done]


def _crawl(
    session: Session, request: CrawlRequest, opened: Opened, chosen: Sequence[Selection]
) -> dict[str, Any]:
    params = shard_params(session.settings, request.profile)
    done = []
    run = current_run()
    register = read_register(session.workspace)
    fetch = leaving_out(opened.fetch, register, request.source)
    by_name = {item.shard: item for item in chosen}
    held = functools.cache(lambda: Held(session.workspace))
    total = sum(len(item.locators) for item in chosen)
    with measured() as cost, session.reporter.stage("crawl", total, "articles") as steps:

        @task(name="crawl", task_run_name="crawl/{shard}")
        def fetch_shard(shard: str) -> None:
            selection = by_name[shard]
            gone = fingerprint(of_selection(register, selection).values())
            wanted = identity(selection, params, opened.fingerprint(selection), gone)
            ready = finished(session.workspace, wanted)
            if ready is not None:
                steps.advance(len(selection.locators))
                done.append((ready, False))
            else:
                given = (session.workspace, selection, wanted, fetch, opened.connections, steps)
                made = crawl_shard(*given, held())
                done.append((made, True))
                folder = session.workspace.stage(CRAWL) / shard
                for drop in dropped_of(folder, made):
                    told = {"record": drop["id"], "reason": drop["reason"], "message": drop["detail"]}
                    run.note("article_dropped", level="warning", stage=CRAWL, shard=shard, **told)
                for locator in unanswered_of(made):
                    told = {"record": locator, "message": "not answered; kept as it was fetched before"}
                    run.note("article_not_answered", level="warning", stage=CRAWL, shard=shard, **told)
                run.note("shard_finished", stage=CRAWL, shard=shard, **read_run(folder))

        for selection in chosen:
            fetch_shard(selection.shard)
    summary = sum_up(CRAWL, done)
    made_now = (session.workspace.stage(CRAWL) / manifest.shard for manifest, is_new in done if is_new)
    written = spent(made_now, cost["seconds"])
    run.stage(summary.to_dict() | {"source": request.source}, written | {"cpu_seconds": cost["cpu_seconds"]})
    session.reporter.line(summary.line())
    for note in opened.found():
        session.reporter.line(note)
    if kept := sum(len(unanswered_of(manifest)) for manifest, _ in done):
        session.reporter.line(
            f"{counted(kept, 'article')} not answered and kept as fetched before; the next crawl asks again"
        )
    now = [manifest for manifest, is_new in done if is_new]
    lost = kept + sum(manifest.dropped.get(reason, 0) for manifest in now for reason in UNANSWERED)
    asked = sum(manifest.units["article"]["in"] for manifest in now)
    return summary.to_dict() | {"asked": asked, "unanswered": lost}
