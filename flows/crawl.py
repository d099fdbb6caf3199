"""The crawl flow: record what to fetch, fetch it politely, keep every byte and every reason."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from flows.crawling import Fetch, crawl_shard, finished, identity, shard_params
from flows.execution import sum_up
from flows.locators import discover, read_ids
from flows.orchestration import flow, task
from flows.selection import Selection, select
from flows.session import Session, write_session
from flows.settings import Settings, require_contact
from schemas.hashing import canonical_json, sha256_file, sha256_text
from schemas.licences import Profile
from sources import folder, pmc
from sources.http import ClientSettings, PoliteClient
from sources.ledger import Ledger
from sources.store import RawStore

MIB = 1024 * 1024


@flow(name="crawl", validate_parameters=False)
def crawl(
    source: Literal["pmc", "folder"],
    target: str,
    workspace: str | None = None,
    profile: Profile = "open",
) -> list[dict[str, Any]]:
    """Crawl a file of PMCIDs (`source` pmc) or a folder of JATS files; returns the stage's summary."""
    with write_session(workspace, create=True) as session:
        store = RawStore(session.workspace.raw, Ledger(session.workspace.ledger))
        if source == "pmc":
            locators = read_ids(Path(target))
            fetch = _pmc_fetch(session.settings, store, profile)
            chosen = select(session.workspace, "pmc", locators, session.settings.shard_size)
        else:
            root = Path(target).resolve()
            locators = discover(root)
            fetch = _folder_fetch(root, session.settings, store)
            chosen = select(
                session.workspace, "folder", locators, session.settings.shard_size, root=str(root)
            )
        return [_crawl(session, source, chosen, fetch, profile)]


def _crawl(
    session: Session, source: str, chosen: Sequence[Selection], fetch: Fetch, profile: Profile
) -> dict[str, Any]:
    settings = session.settings
    connections = settings.pmc.connections if source == "pmc" else 1
    params = shard_params(settings, profile)
    done = []
    total = sum(len(item.locators) for item in chosen)
    with session.reporter.stage("crawl", total, "articles") as steps:

        @task(name="crawl", task_run_name="crawl/{shard}")
        def fetch_shard(shard: str) -> None:
            selection = next(item for item in chosen if item.shard == shard)
            wanted = identity(selection, params, _fingerprint(selection))
            ready = finished(session.workspace, wanted)
            if ready is not None:
                steps.advance(len(selection.locators))
                done.append((ready, False))
            else:
                made = crawl_shard(session.workspace, selection, wanted, fetch, connections, steps)
                done.append((made, True))

        for selection in chosen:
            fetch_shard(selection.shard)
    summary = sum_up("crawl", done)
    session.reporter.line(summary.line())
    return summary.to_dict()


def _pmc_fetch(settings: Settings, store: RawStore, profile: Profile) -> Fetch:
    host = urlsplit(settings.pmc.endpoint).netloc
    require_contact(settings)
    client = PoliteClient(
        ClientSettings(
            allowed_hosts=(host,),
            contact=settings.contact or "demo@localhost",
            version=importlib.metadata.version("medqrels"),
            requests_per_second=settings.pmc.requests_per_second,
            connections=settings.pmc.connections,
            read_seconds=settings.http.timeout_seconds,
            deadline_seconds=settings.http.deadline_seconds,
            max_attempts=settings.http.attempts,
        )
    )
    context = pmc.PmcContext(
        client=client,
        store=store,
        profile=profile,
        endpoint=settings.pmc.endpoint,
        max_xml_bytes=settings.http.max_xml_mib * MIB,
        max_media_bytes=settings.http.max_media_mib * MIB,
    )
    return lambda locator: pmc.fetch(locator, context)


def _folder_fetch(root: Path, settings: Settings, store: RawStore) -> Fetch:
    context = folder.FolderContext(
        root=root,
        store=store,
        max_xml_bytes=settings.http.max_xml_mib * MIB,
        max_media_bytes=settings.http.max_media_mib * MIB,
    )
    return lambda locator: folder.fetch(locator, context)


def _fingerprint(selection: Selection) -> str:
    """Hash over a folder selection's own files, so that an edited file is read again; '' for repositories."""
    if not selection.root:
        return ""
    root = Path(selection.root)
    mine = {root / locator for locator in selection.locators}
    near = {
        item
        for folder_path in sorted({path.parent for path in mine})
        if folder_path.is_dir()
        for item in folder_path.iterdir()
        if item.is_file() and item.suffix.lower() not in {".xml", ".nxml"}
    }
    files = sorted((path.relative_to(root).as_posix(), path) for path in mine | near)
    return sha256_text(
        canonical_json([[name, sha256_file(path) if path.is_file() else ""] for name, path in files])
    )
