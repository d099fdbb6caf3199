"""The runner repeats nothing that is done, everything that is stale or damaged, and survives any crash."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.engine.manifest import MANIFEST
from flows.engine.runner import Resource, execute, plan, remove_stale_shards, shards_of, table_files
from flows.engine.workspace import Workspace
from schemas.errors import UsageError, WorkspaceError
from schemas.stages import Table
from tests.flows.toy import (
    CUT,
    POOL,
    WITH_RESOURCE,
    ToyArticle,
    ToyWord,
    articles,
    cut,
    run,
    seed,
    snapshot,
)


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
    with pytest.raises(UsageError, match="no setting 'longest'"):
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
    *[
        (damage, file)
        for damage in (truncate, flip, empty, delete)
        for file in ("words.parquet", "_dropped.parquet")
    ],
    *[(damage, MANIFEST) for damage in (truncate, empty, delete, become_a_list, become_null, become_a_text)],
    *[(damage, MANIFEST) for damage in (lose_a_key, gain_a_key, have_odd_outputs, be_of_another_storage)],
]


@pytest.mark.parametrize(
    ("damage", "file"), DAMAGE, ids=[f"{damage.__name__}-{file}" for damage, file in DAMAGE]
)
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
            patched.setattr(os, "replace", counted_replace)
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
