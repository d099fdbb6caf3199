"""The runner loses nothing and invents nothing: every unit is kept once or dropped once, checked by id."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from flows.engine.manifest import MANIFEST
from flows.engine.runner import execute, plan, read_rows, run_records, shards_of, table_files
from flows.engine.workspace import Workspace
from schemas.errors import ConservationError, MedqrelsError
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table
from tests.flows.toy import (
    CUT,
    FIRST,
    ToyArticle,
    ToyTag,
    ToyWord,
    articles,
    cut,
    run,
    seed,
    word_ids,
)

ARTICLE = ToyArticle(id="toy:1", text="one two three four")
IN_MEMORY = {"seed.articles": [ARTICLE]}


def with_process(process: Any) -> RecordStage:
    return replace(CUT, process=process)


def honest(article: ToyArticle, *, shortest: int) -> Iterator[ToyWord | Drop]:
    yield from cut(article, shortest=shortest)


def test_kept_and_dropped_add_up() -> None:
    kept, drops, units = run_records(with_process(honest), IN_MEMORY, {"shortest": 4}, {})
    assert [row.word for row in kept["words"]] == ["three", "four"]
    assert [drop.id for drop in drops] == ["toy:1#w0", "toy:1#w1"]
    assert units == {"word": {"in": 4, "kept": 2, "dropped": 2}}


def loses(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
    yield from (out for out in cut(article, shortest=shortest) if out.id != "toy:1#w2")


def invents(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
    yield from cut(article, shortest=shortest)
    yield ToyWord(id="toy:1#w99", article_id="toy:1", word="ghost")


def invents_a_drop(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
    yield from cut(article, shortest=shortest)
    yield Drop(unit="word", id="toy:1#w99", article_id="toy:1", reason=Reason.NO_BODY)


def counts_twice(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
    for out in cut(article, shortest=shortest):
        yield out
        if out.id == "toy:1#w2":
            yield Drop(unit="word", id=out.id, article_id="toy:1", reason=Reason.NO_BODY)


def keeps_twice(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
    for out in cut(article, shortest=shortest):
        yield out
        if out.id == "toy:1#w2":
            yield out


def swaps(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
    """Counts agree, ids do not."""
    for out in cut(article, shortest=shortest):
        yield replace(out, id="toy:1#w98") if out.id == "toy:1#w2" else out


def drops_another_unit(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
    for out in cut(article, shortest=shortest):
        if out.id == "toy:1#w2":
            yield Drop(unit="wrd", id=out.id, article_id="toy:1", reason=Reason.NO_BODY)
        else:
            yield out


@pytest.mark.parametrize(
    ("process", "record"),
    [
        (loses, "toy:1#w2"),
        (invents, "toy:1#w99"),
        (invents_a_drop, "toy:1#w99"),
        (counts_twice, "toy:1#w2"),
        (keeps_twice, "toy:1#w2"),
        (swaps, "toy:1#w2"),
        (drops_another_unit, "toy:1#w2"),
    ],
)
def test_an_unaccounted_unit_is_named(process: Any, record: str) -> None:
    with pytest.raises(ConservationError, match="4 in") as caught:
        run_records(with_process(process), IN_MEMORY, {"shortest": 2}, {})
    assert caught.value.record == record


def test_a_unit_made_by_another_article_does_not_cover_a_loss() -> None:
    """Conservation holds article by article: a loss here is not paid for by an invention there."""

    def trades(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
        if article.id == "toy:2":
            yield ToyWord(id="toy:1#w0", article_id="toy:1", word="one")
        yield from (out for out in cut(article, shortest=shortest) if out.id != "toy:1#w0")

    other = ToyArticle(id="toy:2", text="five")
    with pytest.raises(ConservationError):
        run_records(with_process(trades), {"seed.articles": [ARTICLE, other]}, {"shortest": 1}, {})


def with_tags(article: ToyArticle, tags: list[ToyTag]) -> Iterator[Any]:
    for tag in tags:
        yield ToyWord(id=tag.id, article_id=article.id, word="tag")


def tag_ids(article: ToyArticle, tags: list[ToyTag]) -> list[str]:
    return [tag.id for tag in tags]


TAGGED = RecordStage(
    name="tagged",
    version=1,
    inputs=(Input("seed.articles", ToyArticle, by="id"), Input("tags.tags", ToyTag, by="article_id")),
    outputs=(Table("words", ToyWord, ("id",)),),
    process=with_tags,
    accounts=(Account("tag", tag_ids, "words", "id"),),
)


def test_related_rows_come_with_their_article() -> None:
    tags = [ToyTag(id="t2", article_id="toy:1"), ToyTag(id="t1", article_id="toy:1")]
    kept, _, units = run_records(TAGGED, {**IN_MEMORY, "tags.tags": tags}, {}, {})
    assert [row.id for row in kept["words"]] == ["t2", "t1"] and units["tag"]["in"] == 2
    kept, _, units = run_records(TAGGED, {**IN_MEMORY, "tags.tags": []}, {}, {})
    assert kept["words"] == [] and units["tag"]["in"] == 0


def test_a_related_row_without_an_article_is_not_lost_in_silence() -> None:
    tags = [ToyTag(id="t1", article_id="toy:9")]
    with pytest.raises(ConservationError, match=r"tags\.tags belong to no row of seed\.articles") as caught:
        run_records(TAGGED, {**IN_MEMORY, "tags.tags": tags}, {}, {})
    assert caught.value.record == "toy:9"


def test_an_unforeseen_error_names_its_article() -> None:
    def breaks(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
        yield from cut(article, shortest=shortest)
        raise ZeroDivisionError("boom")

    with pytest.raises(MedqrelsError, match="stage cut failed: ZeroDivisionError: boom") as caught:
        run_records(with_process(breaks), IN_MEMORY, {"shortest": 2}, {})
    assert caught.value.record == "toy:1"


def test_a_row_no_table_holds_is_refused() -> None:
    def stray(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
        yield article

    with pytest.raises(MedqrelsError, match="yielded a ToyArticle"):
        run_records(with_process(stray), IN_MEMORY, {"shortest": 2}, {})


def test_two_rows_with_one_key_are_refused(workspace: Workspace) -> None:
    seed(workspace, articles(3), 3)

    def same(article: ToyArticle, *, shortest: int) -> Iterator[Any]:
        yield ToyWord(id="same", article_id=article.id, word="w")

    stage = replace(CUT, process=same, accounts=())
    with pytest.raises(MedqrelsError, match=r"table words: two rows have the key \('same',\)"):
        execute(plan(workspace, stage)[0])
    assert not shards_of(workspace, "cut")


def test_the_manifest_says_what_was_done(workspace: Workspace) -> None:
    seed(workspace, articles(10), 4)
    assert run(workspace, CUT) == ["s0000", "s0004", "s0008"]
    found = shards_of(workspace, "cut")["s0000"]
    rows = read_rows(ToyWord, [workspace.stage("cut") / "s0000" / "words.parquet"])
    drops = read_rows(Drop, [workspace.stage("cut") / "s0000" / "_dropped.parquet"])
    assert found.outputs["words"].rows == len(rows) and found.outputs["_dropped"].rows == len(drops)
    assert found.dropped == {"short_passage": len(drops)}
    assert found.units["word"] == {"in": len(rows) + len(drops), "kept": len(rows), "dropped": len(drops)}
    assert rows == sorted(rows, key=lambda row: row.id)
    assert len(read_rows(ToyWord, table_files(workspace, "cut.words"))) == sum(
        shard.outputs["words"].rows for shard in shards_of(workspace, "cut").values()
    )
    run_note = json.loads((workspace.stage("cut") / "s0000" / "_run.json").read_text())
    assert set(run_note) == {"finished_unix", "seconds", "cpu_seconds", "peak_mib", "bytes", "host"}
    folder = workspace.stage("cut") / "s0000"
    assert run_note["bytes"] == sum(path.stat().st_size for path in folder.glob("*.parquet"))
    assert run_note["peak_mib"] > 10 and run_note["cpu_seconds"] <= run_note["seconds"] + 0.1
    text = (workspace.stage("cut") / "s0000" / MANIFEST).read_text("utf-8")
    assert str(workspace.root) not in text


def test_the_toy_has_something_to_lose() -> None:
    """The other tests mean nothing if the toy drops nothing or the set stage finds no duplicates."""
    _, drops, units = run_records(CUT, {"seed.articles": articles(12)}, {"shortest": 3}, {})
    assert len(drops) > 10 and units["word"]["kept"] > 10
    assert word_ids(ARTICLE) == ["toy:1#w0", "toy:1#w1", "toy:1#w2", "toy:1#w3"] and "PARTITION" in FIRST
