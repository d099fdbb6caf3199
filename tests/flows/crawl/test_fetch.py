"""A crawl shard: every locator kept or dropped, passing troubles tried again, no manifest after a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from flows.crawl.fetch import PASSING, RAW, Held, crawl_shard, finished, identity, unanswered_of
from flows.crawl.selection import Selection, select
from flows.engine.manifest import MANIFEST, Manifest
from flows.engine.runner import Resource, execute, plan, read_rows, shards_of, table_files
from flows.engine.workspace import Workspace
from flows.inspect.status import status
from schemas.article import RawArticle
from schemas.errors import ConservationError, UsageError, WorkspaceError
from schemas.hashing import sha256_bytes
from schemas.record import from_table
from schemas.stages import Drop, Reason
from sources.stage import PARSE
from tests.pipeline import crawl_bucket
from tests.test_end_to_end import sample_ids

PARAMS = {"max_xml_mib": 64}


class Counted:
    """Steps that count."""

    def __init__(self) -> None:
        self.done = 0

    def advance(self, steps: int = 1, note: str = "") -> None:
        self.done += steps


def article(locator: str, article_id: str | None = None) -> RawArticle:
    return RawArticle(
        id=article_id or f"pmc:{locator}.1", source="pmc", locator=locator, path=f"{locator}.xml", sha256="00"
    )


def drop(locator: str, reason: Reason) -> Drop:
    return Drop(unit="article", id=locator, article_id=locator, reason=reason)


def crawl(
    workspace: Workspace,
    selection: Selection,
    fetch: Callable[[str], RawArticle | Drop],
    fingerprint: str = "",
    connections: int = 4,
    held: Held | None = None,
) -> Manifest:
    workspace.raw.mkdir(exist_ok=True)
    for locator in selection.locators:
        (workspace.raw / f"{locator}.xml").touch()
    return crawl_shard(
        workspace, selection, identity(selection, PARAMS, fingerprint), fetch, connections, Counted(), held
    )


def rows(workspace: Workspace) -> list[RawArticle]:
    return read_rows(RawArticle, table_files(workspace, "crawl.raw"))


def drops(workspace: Workspace) -> list[Drop]:
    return read_rows(Drop, table_files(workspace, "crawl._dropped"))


def test_kept_and_dropped_add_up(workspace: Workspace) -> None:
    [selection] = select(workspace, "pmc", ["PMC3", "PMC1", "PMC2"], 10)
    steps = Counted()
    workspace.raw.mkdir()

    def fetch(locator: str) -> RawArticle | Drop:
        (workspace.raw / f"{locator}.xml").touch()
        return drop(locator, Reason.RETRACTED) if locator == "PMC2" else article(locator)

    made = crawl_shard(workspace, selection, identity(selection, PARAMS, ""), fetch, 2, steps)
    assert made.units == {"article": {"in": 3, "kept": 2, "dropped": 1}} and made.dropped == {"retracted": 1}
    assert [row.id for row in rows(workspace)] == ["pmc:PMC1.1", "pmc:PMC3.1"]
    assert drops(workspace) == [drop("PMC2", Reason.RETRACTED)]
    assert steps.done == 3
    assert finished(workspace, identity(selection, PARAMS, "")) is not None


def test_the_order_of_answers_does_not_show(workspace: Workspace, tmp_path: Path) -> None:
    ids = [f"PMC{number}" for number in range(20)]
    results = []
    for connections, root in ((1, workspace.root), (8, tmp_path / "other")):
        here = Workspace(root)
        [selection] = select(here, "pmc", ids, 50)
        gate = threading.Semaphore(connections)

        def fetch(locator: str, gate: threading.Semaphore = gate) -> RawArticle | Drop:
            with gate:
                same = int(locator[3:]) % 3 == 0
                return article(locator, "pmc:PMC777.1" if same else None)

        crawl(here, selection, fetch, connections=connections)
        folder = here.stage("crawl") / selection.shard
        results.append(
            {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "_run.json"}
        )
    assert results[0] == results[1]


def test_the_same_article_twice_in_a_shard(workspace: Workspace) -> None:
    [selection] = select(workspace, "pmc", ["PMC1", "PMC2", "PMC3"], 10)
    made = crawl(workspace, selection, lambda locator: article(locator, "pmc:PMC9.1"))
    assert made.units["article"] == {"in": 3, "kept": 1, "dropped": 2}
    assert [row.locator for row in rows(workspace)] == ["PMC1"]
    assert {(item.id, item.reason, item.detail) for item in drops(workspace)} == {
        ("PMC2", Reason.DUPLICATE_ARTICLE, "same article as PMC1"),
        ("PMC3", Reason.DUPLICATE_ARTICLE, "same article as PMC1"),
    }


def test_the_same_article_in_another_shard(workspace: Workspace) -> None:
    one, two = select(workspace, "pmc", ["PMC1", "PMC2"], 1)
    crawl(workspace, one, lambda locator: article(locator, "pmc:PMC9.1"))
    made = crawl(workspace, two, lambda locator: article(locator, "pmc:PMC9.1"))
    assert made.units["article"] == {"in": 1, "kept": 0, "dropped": 1}
    assert len(rows(workspace)) == 1 and drops(workspace)[0].detail == f"same article as shard {one.shard}"
    again = crawl(workspace, one, lambda locator: article(locator, "pmc:PMC9.1"))
    assert again.units["article"]["kept"] == 1  # crawled again, the first keeps what it had


@pytest.mark.parametrize("reason", sorted(PASSING))
def test_passing_troubles_are_tried_again(workspace: Workspace, reason: Reason) -> None:
    [selection] = select(workspace, "pmc", ["PMC1", "PMC2"], 10)
    wanted = identity(selection, PARAMS, "")
    crawl(
        workspace, selection, lambda locator: drop(locator, reason) if locator == "PMC2" else article(locator)
    )
    assert finished(workspace, wanted) is None
    crawl(workspace, selection, article)
    assert finished(workspace, wanted) is not None
    assert [row.locator for row in rows(workspace)] == ["PMC1", "PMC2"] and drops(workspace) == []


@pytest.mark.parametrize("reason", sorted(set(Reason) - PASSING))
def test_final_reasons_are_not(workspace: Workspace, reason: Reason) -> None:
    [selection] = select(workspace, "pmc", ["PMC1"], 10)
    crawl(workspace, selection, lambda locator: drop(locator, reason))
    assert finished(workspace, identity(selection, PARAMS, "")) is not None


def test_an_exception_in_the_middle_leaves_no_manifest(workspace: Workspace) -> None:
    [selection] = select(workspace, "pmc", [f"PMC{number}" for number in range(30)], 50)
    asked: list[str] = []

    def fetch(locator: str) -> RawArticle | Drop:
        asked.append(locator)
        if locator == "PMC12":
            raise UsageError("the contact address is refused")
        time.sleep(0.02)  # the failure is seen while others still wait
        return article(locator)

    with pytest.raises(UsageError, match="refused"):
        crawl(workspace, selection, fetch, connections=1)
    assert not shards_of(workspace, "crawl") and len(asked) < 30
    crawl(workspace, selection, article)
    assert len(rows(workspace)) == 30


def test_an_exception_keeps_what_an_earlier_crawl_made(workspace: Workspace) -> None:
    [selection] = select(workspace, "pmc", ["PMC1", "PMC2"], 10)
    crawl(workspace, selection, article)

    def interrupted(locator: str) -> RawArticle | Drop:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crawl(workspace, selection, interrupted)
    assert len(rows(workspace)) == 2


def test_an_answer_for_another_locator_is_refused(workspace: Workspace) -> None:
    [selection] = select(workspace, "pmc", ["PMC1", "PMC2"], 10)
    with pytest.raises(ConservationError, match="asked for PMC2, got PMC5") as caught:
        crawl(workspace, selection, lambda locator: article("PMC5" if locator == "PMC2" else locator))
    assert caught.value.record == "PMC2"
    with pytest.raises(ConservationError, match="asked for PMC1, got PMC7"):
        crawl(
            workspace,
            selection,
            lambda locator: drop("PMC7", Reason.NO_BODY) if locator == "PMC1" else article(locator),
        )
    assert not shards_of(workspace, "crawl")


def test_changed_files_settings_and_damage_are_fetched_again(workspace: Workspace) -> None:
    [selection] = select(workspace, "folder", ["a.xml"], 10, root="/data")
    wanted = identity(selection, PARAMS, "one")
    crawl(workspace, selection, article, "one")
    assert finished(workspace, wanted) is not None
    assert finished(workspace, identity(selection, PARAMS, "two")) is None
    assert finished(workspace, identity(selection, {"max_xml_mib": 1}, "one")) is None
    folder = workspace.stage("crawl") / selection.shard
    for file, damage in ((f"{RAW.name}.parquet", b"PAR1"), (MANIFEST, b"{"), (MANIFEST, b"null")):
        (folder / file).write_bytes(damage)
        assert finished(workspace, wanted) is None
        crawl(workspace, selection, article, "one")
        assert finished(workspace, wanted) is not None


def test_what_a_sync_found_is_an_input_of_its_own(workspace: Workspace) -> None:
    [selection] = select(workspace, "pmc", ["PMC1"], 10)
    made = crawl(workspace, selection, article)
    assert dict(made.inputs) == {"selection": selection.shard}
    stale = identity(selection, PARAMS, "found changed")
    assert dict(stale.inputs) == {"selection": selection.shard, "inventory": "found changed"}
    assert finished(workspace, stale) is None
    crawl(workspace, selection, article, "found changed")
    assert finished(workspace, stale) is not None


def test_a_shard_without_articles_is_a_table_without_rows(workspace: Workspace) -> None:
    [selection] = select(workspace, "pmc", ["PMC1"], 10)
    crawl(workspace, selection, lambda locator: drop(locator, Reason.NOT_FOUND))
    path = workspace.stage("crawl") / selection.shard / "raw.parquet"
    assert from_table(RawArticle, pq.read_table(path)) == []


def test_no_changed_byte_is_read_and_the_next_crawl_mends_it(workspace: Workspace) -> None:
    """One letter of an article, one pixel of an image, a lost file: named, and fetched again when deleted."""
    ids = sample_ids()[:1]
    crawl_bucket(workspace, ids, synthetic_images=True)
    [raw] = rows(workspace)
    [job] = plan(workspace, PARSE, resources={"raw": Resource(workspace.raw)})
    for name in (raw.path, raw.media[0].path):
        path = workspace.raw / name
        before = path.read_bytes()
        for damage in (before[:-30] + b"x" + before[-29:], before[:100], None):
            if damage is None:
                path.unlink()
            else:
                path.write_bytes(damage)
            said = "no longer there" if damage is None else "have changed since"
            with pytest.raises(WorkspaceError, match=said) as caught:
                execute(job)
            assert (caught.value.record, caught.value.file) == (raw.id, f"raw/{name}")
        crawl_bucket(workspace, ids, synthetic_images=True)
        assert path.read_bytes() == before and rows(workspace) == [raw]
    execute(job)


def held_article(locator: str) -> RawArticle:
    return replace(article(locator), sha256=sha256_bytes(b""))


@pytest.mark.parametrize("reason", [Reason.FETCH_FAILED, Reason.CHECKSUM_MISMATCH])
def test_what_is_held_stays_where_nobody_answers_and_is_asked_for_again(
    workspace: Workspace, reason: Reason
) -> None:
    [selection] = select(workspace, "pmc", ["PMC1", "PMC2", "PMC3"], 10)
    crawl(workspace, selection, lambda name: drop(name, reason) if name == "PMC3" else held_article(name))
    answers: dict[str, RawArticle | Drop] = {
        "PMC1": drop("PMC1", Reason.RETRACTED),
        "PMC2": drop("PMC2", reason),
        "PMC3": drop("PMC3", reason),
    }
    made = crawl(workspace, selection, answers.__getitem__, "of the next night")
    assert unanswered_of(made) == ["PMC2"] and [row.id for row in rows(workspace)] == ["pmc:PMC2.1"]
    assert made.dropped == {"retracted": 1, reason.value: 1}, "what an answer says is done, and no more"
    assert finished(workspace, identity(selection, PARAMS, "of the next night")) is None
    state = next(row for row in status(workspace)["stages"] if row["stage"] == "crawl")
    assert (state["state"], state["why"]) == (
        "unfinished",
        "1 article not answered and kept as fetched before",
    )
    answers |= {name: held_article(name) for name in ("PMC2", "PMC3")}
    again = crawl(workspace, selection, answers.__getitem__, "of the next night")
    assert unanswered_of(again) == [] and [row.locator for row in rows(workspace)] == ["PMC2", "PMC3"]
    assert finished(workspace, identity(selection, PARAMS, "of the next night")) is not None


def test_what_is_not_as_it_was_does_not_stay(workspace: Workspace) -> None:
    [selection] = select(workspace, "pmc", ["PMC1", "PMC2", "PMC3"], 10)
    crawl(workspace, selection, held_article)

    def fetch(name: str) -> RawArticle | Drop:
        (workspace.raw / "PMC1.xml").write_bytes(b"changed while it was fetched")
        (workspace.raw / "PMC2.xml").unlink(missing_ok=True)
        return drop(name, Reason.FETCH_FAILED)

    made = crawl(workspace, selection, fetch, "next")
    assert unanswered_of(made) == ["PMC3"] and made.dropped == {"fetch_failed": 2}


def test_which_shard_keeps_an_article_is_read_once_and_kept_up(workspace: Workspace) -> None:
    """The same drops as when every shard looks at all others, which took time with the square of shards."""
    first, second, third = (select(workspace, "pmc", [f"PMC{n}"], 1)[0] for n in (1, 2, 3))
    held = Held(workspace)

    def same(locator: str) -> RawArticle:
        return article(locator, "pmc:PMC1.1")

    def other(locator: str) -> RawArticle:
        return article(locator)

    assert crawl(workspace, first, same, held=held).units["article"]["kept"] == 1
    (workspace.stage("crawl") / first.shard / "raw.parquet").rename(workspace.root / "aside")
    assert crawl(workspace, second, same, held=held).dropped == {"duplicate_article": 1}
    (workspace.root / "aside").rename(workspace.stage("crawl") / first.shard / "raw.parquet")
    assert drops(workspace)[-1].detail == f"same article as shard {first.shard}"
    assert crawl(workspace, third, same).dropped == {"duplicate_article": 1}
    gone = crawl(workspace, first, lambda locator: drop(locator, Reason.NOT_FOUND), "anew", held=held)
    assert gone.units["article"]["kept"] == 0
    assert crawl(workspace, second, same, held=held).units["article"]["kept"] == 1
    assert crawl(workspace, second, other, "anew", held=held).units["article"]["kept"] == 1
    assert crawl(workspace, third, same, held=held).units["article"]["kept"] == 1


def test_a_damaged_shard_does_not_stop_the_crawl_of_others(workspace: Workspace) -> None:
    first, second = (select(workspace, "pmc", [f"PMC{n}"], 1)[0] for n in (1, 2))
    crawl(workspace, first, article)
    folder = workspace.stage("crawl") / first.shard
    for file in (folder / "raw.parquet", folder / MANIFEST):
        file.write_bytes(b"rotten")
        assert crawl(workspace, second, article).units["article"]["kept"] == 1
    assert crawl(workspace, first, article).units["article"]["kept"] == 1
