"""The runner loses nothing, invents nothing, repeats nothing that is done and everything that is not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows import manifest as manifest_module
from flows import workspace as workspace_module
from flows.manifest import MANIFEST
from flows.runner import (
    Resource,
    execute,
    plan,
    read_rows,
    read_table,
    remove_stale_shards,
    run_records,
    shards_of,
    table_files,
)
from flows.workspace import Workspace
from schemas.errors import ConservationError, MedqrelsError, WorkspaceError
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table
from tests.flows.toy import (
    CUT,
    FIRST,
    POOL,
    WITH_RESOURCE,
    ToyArticle,
    ToyTag,
    ToyWord,
    articles,
    cut,
    run,
    seed,
    snapshot,
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
    assert read_table(workspace, "cut.words", ToyWord).num_rows == sum(
        shard.outputs["words"].rows for shard in shards_of(workspace, "cut").values()
    )
    run_note = json.loads((workspace.stage("cut") / "s0000" / "_run.json").read_text())
    assert set(run_note) == {"finished_unix", "seconds", "host"}
    text = (workspace.stage("cut") / "s0000" / MANIFEST).read_text("utf-8")
    assert str(workspace.root) not in text


def built(workspace: Workspace) -> Workspace:
    seed(workspace, articles(12), 4)
    assert len(run(workspace, CUT)) == 3
    assert run(workspace, POOL) == ["all"]
    return workspace


def test_what_is_done_is_not_done_again(workspace: Workspace) -> None:
    built(workspace)
    before = snapshot(workspace.work, skip=())
    assert run(workspace, CUT) == [] and run(workspace, POOL) == []
    assert snapshot(workspace.work, skip=()) == before


def test_equal_settings_in_another_order_are_equal(workspace: Workspace) -> None:
    seed(workspace, articles(4), 4)
    stage = replace(CUT, params={"shortest": 3, "words": ("a", "b")}, process=accepts_words)
    assert run(workspace, stage) == ["s0000"]
    again = replace(stage, params={"words": ["a", "b"], "shortest": 3})
    assert run(workspace, again) == []


def accepts_words(article: ToyArticle, *, shortest: int, words: Any) -> Iterator[Any]:
    yield from cut(article, shortest=shortest)


def test_changed_settings_rebuild(workspace: Workspace) -> None:
    built(workspace)
    assert len(run(workspace, CUT, params={"shortest": 4})) == 3
    assert run(workspace, POOL) == ["all"]
    with pytest.raises(WorkspaceError, match="no setting 'longest'; it has \\['shortest'\\]"):
        plan(workspace, CUT, params={"longest": 1})


def test_a_new_version_rebuilds(workspace: Workspace) -> None:
    built(workspace)
    assert len(run(workspace, replace(CUT, version=2))) == 3
    assert run(workspace, POOL) == []  # the same bytes came out: nothing downstream changed
    assert run(workspace, replace(POOL, version=2)) == ["all"]


def test_changed_input_rebuilds_only_its_shard(workspace: Workspace) -> None:
    built(workspace)
    rows = articles(12)
    rows[5] = replace(rows[5], text="alpha beta gamma")
    seed(workspace, rows, 4)
    assert run(workspace, CUT) == ["s0004"]
    assert run(workspace, POOL) == ["all"]


def test_a_changed_schema_rebuilds(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    built(workspace)
    from schemas.record import column, record

    @record
    class ToyWordWider:
        id: str = column("id")
        article_id: str = column("article")
        word: str = column("word")
        tags: tuple[str, ...] = column("tags", default=())
        length: int = column("characters", default=0)

    wider = replace(CUT, outputs=(Table("words", ToyWordWider, ("id",)),))
    assert not any(job.is_done() for job in plan(workspace, wider))


def test_a_changed_resource_rebuilds(workspace: Workspace, tmp_path: Path) -> None:
    seed(workspace, articles(8), 4)
    words = tmp_path / "stopwords.txt"
    words.write_text("aaa")
    first = {"stopwords": Resource(words, "one")}
    assert len(run(workspace, WITH_RESOURCE, resources=first)) == 2
    assert run(workspace, WITH_RESOURCE, resources=first) == []
    moved = tmp_path / "elsewhere.txt"
    moved.write_text("aaa")
    assert run(workspace, WITH_RESOURCE, resources={"stopwords": Resource(moved, "one")}) == []
    words.write_text("bbb")
    assert len(run(workspace, WITH_RESOURCE, resources={"stopwords": Resource(words, "two")})) == 2


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


def become_a_list(path: Path) -> None:
    path.write_text("[]")


def become_null(path: Path) -> None:
    path.write_text("null")


def become_a_text(path: Path) -> None:
    path.write_text('"x"')


def lose_a_key(path: Path) -> None:
    body = json.loads(path.read_text())
    del body["units"]
    path.write_text(json.dumps(body))


def gain_a_key(path: Path) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "extra": 1}))


def have_odd_outputs(path: Path) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "outputs": [1]}))


def be_of_another_storage(path: Path) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "storage_version": 99}))


DAMAGE: list[tuple[Any, str]] = [
    *[(damage, file) for damage in (truncate, flip, empty, delete) for file in ("words.parquet", "_dropped.parquet")],
    *[(damage, MANIFEST) for damage in (truncate, empty, delete, become_a_list, become_null, become_a_text)],
    *[(damage, MANIFEST) for damage in (lose_a_key, gain_a_key, have_odd_outputs, be_of_another_storage)],
]


@pytest.mark.parametrize(("damage", "file"), DAMAGE, ids=[f"{damage.__name__}-{file}" for damage, file in DAMAGE])
def test_damage_is_noticed_and_mended(workspace: Workspace, damage: Any, file: str) -> None:
    built(workspace)
    before = snapshot(workspace.work)
    damage(workspace.stage("cut") / "s0004" / file)
    assert run(workspace, CUT) == ["s0004"]
    assert snapshot(workspace.work) == before


@pytest.mark.parametrize("damage", [truncate, flip, delete])
def test_an_edited_input_is_never_built_from(workspace: Workspace, damage: Any) -> None:
    """The manifest upstream vouches for its files; building from others would state a false origin."""
    built(workspace)
    path = workspace.stage("cut") / "s0004" / "words.parquet"
    damage(path)
    with pytest.raises(WorkspaceError, match="was changed or removed after it was made") as caught:
        run(workspace, replace(POOL, version=2))
    assert caught.value.file == str(path)
    seeded = workspace.stage("seed") / "s0004" / "articles.parquet"
    damage(seeded)
    with pytest.raises(WorkspaceError, match="stage 'seed'"):
        run(workspace, replace(CUT, version=2))


def test_a_damaged_manifest_upstream_is_named(workspace: Workspace) -> None:
    built(workspace)
    truncate(workspace.stage("cut") / "s0004" / MANIFEST)
    with pytest.raises(WorkspaceError, match="a manifest is damaged") as caught:
        plan(workspace, POOL)
    assert "s0004" in caught.value.file and "rebuilds" in caught.value.hint


def test_an_input_stage_that_has_not_run_is_named(workspace: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="stage 'seed' has not run"):
        plan(workspace, CUT)
    with pytest.raises(WorkspaceError, match="stage 'cut' has not run"):
        plan(workspace, POOL)


def test_a_table_an_older_version_did_not_write_is_named(workspace: Workspace) -> None:
    built(workspace)
    stage = replace(POOL, inputs={"words": ("cut.sentences", ToyWord)})
    with pytest.raises(WorkspaceError, match="no table 'sentences'"):
        plan(workspace, stage)


def test_shards_without_an_origin_are_removed(workspace: Workspace) -> None:
    built(workspace)
    (workspace.stage("cut") / "note.txt").write_text("not a shard")
    assert remove_stale_shards(workspace, "cut", ["s0000", "s0008"]) == ["s0004"]
    assert sorted(shards_of(workspace, "cut")) == ["s0000", "s0008"]
    assert len(table_files(workspace, "cut.words")) == 2
    assert remove_stale_shards(workspace, "never", []) == []


def test_leftovers_in_a_shard_folder_go(workspace: Workspace) -> None:
    seed(workspace, articles(4), 4)
    folder = workspace.stage("cut") / "s0000"
    folder.mkdir(parents=True)
    for name in ("old.parquet", f".{MANIFEST}.123.tmp", "words.parquet"):
        (folder / name).write_text("half")
    run(workspace, CUT)
    assert sorted(path.name for path in folder.iterdir()) == [
        "_dropped.parquet",
        MANIFEST,
        "_run.json",
        "words.parquet",
    ]
    assert not list(workspace.temporary.iterdir())


class Crash(BaseException):
    """A process that is gone: nothing may catch it and tidy up."""


@pytest.mark.parametrize("stage", [CUT, POOL], ids=["record", "set"])
def test_a_crash_at_any_step_of_publishing_leaves_no_false_done(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, stage: Any
) -> None:
    seed(workspace, articles(8), 8)
    run(workspace, CUT)
    run(workspace, POOL)
    before = snapshot(workspace.stage(stage.name))
    for allowed in range(40):
        left = allowed
        real_replace, real_unlink = os.replace, Path.unlink

        def step() -> None:
            nonlocal left
            if left == 0:
                raise Crash
            left -= 1

        def counted_replace(*arguments: Any, real: Any = real_replace) -> None:
            step()
            real(*arguments)

        def counted_unlink(self: Path, missing_ok: bool = False, real: Any = real_unlink) -> None:
            step()
            real(self, missing_ok=missing_ok)

        job = plan(workspace, replace(stage, version=2))[0]
        with monkeypatch.context() as patched:
            patched.setattr(manifest_module.os, "replace", counted_replace)
            patched.setattr(workspace_module.os, "replace", counted_replace)
            patched.setattr(Path, "unlink", counted_unlink)
            try:
                execute(job)
                crashed = False
            except Crash:
                crashed = True
        assert job.is_done() != crashed
        if not crashed:
            break
        job = plan(workspace, stage)[0]
        if not job.is_done():
            execute(job)
        assert snapshot(workspace.stage(stage.name)) == before
    assert not crashed and allowed >= 6


def test_set_stage_sees_every_shard(workspace: Workspace) -> None:
    built(workspace)
    manifest = shards_of(workspace, "pool")["all"]
    cut_rows = sum(shard.outputs["words"].rows for shard in shards_of(workspace, "cut").values())
    assert manifest.units["word"]["in"] == cut_rows
    assert set(manifest.inputs) == {f"cut.words/{shard}" for shard in shards_of(workspace, "cut")}
    chosen = pq.read_table(workspace.stage("pool") / "all" / "chosen.parquet")["word"].to_pylist()
    assert len(chosen) == len(set(chosen)) == manifest.outputs["totals"].rows


def test_the_toy_has_something_to_lose() -> None:
    """The other tests mean nothing if the toy drops nothing or the set stage finds no duplicates."""
    _, drops, units = run_records(CUT, {"seed.articles": articles(12)}, {"shortest": 3}, {})
    assert len(drops) > 10 and units["word"]["kept"] > 10
    assert word_ids(ARTICLE) == ["toy:1#w0", "toy:1#w1", "toy:1#w2", "toy:1#w3"] and "PARTITION" in FIRST
