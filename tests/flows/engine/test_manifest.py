"""Manifests are stable text, files vouch for their bytes, identity is what makes a shard stale."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.engine.manifest import (
    MANIFEST,
    RUN,
    Manifest,
    Output,
    is_intact,
    publish,
    read_manifest,
    write_parquet,
)
from flows.engine.workspace import STORAGE_VERSION
from schemas.errors import WorkspaceError
from schemas.hashing import sha256_file

EMPTY = Manifest("cut", 1, "s1", {"b": 1, "a": [1, 2]}, {"x.y/s1": "00"}, {}, {}, {}, columns={"words": "ab"})


def staged(folder: Path, text: bytes = b"rows") -> Manifest:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.parquet").write_bytes(text)
    output = Output("words.parquet", sha256_file(folder / "words.parquet"), 1)
    return replace(EMPTY, outputs={"words": output}, units={"word": {"in": 1, "kept": 1, "dropped": 0}})


def test_a_manifest_reads_back(tmp_path: Path) -> None:
    manifest = staged(tmp_path / "staged")
    publish(tmp_path / "shard", tmp_path / "staged", manifest, 1.5)
    found = read_manifest(tmp_path / "shard")
    assert (
        found is not None
        and found.to_json() == manifest.to_json()
        and found.identity() == manifest.identity()
    )
    assert is_intact(tmp_path / "shard", found)
    assert not (tmp_path / "staged").exists()
    assert json.loads((tmp_path / "shard" / RUN).read_text())["seconds"] == 1.5
    assert found.storage_version == STORAGE_VERSION


def test_no_manifest_is_none(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    assert read_manifest(tmp_path / "absent") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "1",
        '"x"',
        "{}",
        '{"outputs": []}',
        '{"outputs": {"a": 1}}',
        '{"outputs": {}, "x": 1}',
        "\ufffd",
    ],
)
def test_what_is_no_manifest_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, "utf-8")
    with pytest.raises(WorkspaceError, match="a manifest is damaged") as caught:
        read_manifest(tmp_path)
    assert caught.value.file == str(tmp_path / MANIFEST) and caught.value.hint


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WorkspaceError):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"stage": "other"},
        {"version": 2},
        {"params": {"b": 2, "a": [1, 2]}},
        {"params": {"b": True, "a": [1, 2]}},
        {"params": {"b": "1", "a": [1, 2]}},
        {"params": {"b": 1, "a": [2, 1]}},
        {"inputs": {"x.y/s1": "01"}},
        {"inputs": {"x.y/s1": "00", "x.y/s2": "00"}},
        {"columns": {"words": "ac"}},
        {"storage_version": STORAGE_VERSION + 1},
    ],
)
def test_identity_changes_with_what_shapes_the_output(change: dict[str, object]) -> None:
    assert replace(EMPTY, **change).identity() != EMPTY.identity()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [{"params": {"a": (1, 2), "b": 1}}, {"outputs": {"w": Output("w", "0", 1)}}, {"dropped": {"x": 1}}],
)
def test_identity_is_blind_to_the_rest(change: dict[str, object]) -> None:
    assert replace(EMPTY, **change).identity() == EMPTY.identity()  # type: ignore[arg-type]


def test_equal_manifests_are_equal_text() -> None:
    again = replace(EMPTY, params={"a": [1, 2], "b": 1})
    assert again.to_json() == EMPTY.to_json()


def test_publishing_replaces_what_was_there(tmp_path: Path) -> None:
    shard = tmp_path / "shard"
    publish(shard, tmp_path / "staged", staged(tmp_path / "staged"), 0)
    (shard / "old.parquet").write_bytes(b"old")
    publish(shard, tmp_path / "staged", staged(tmp_path / "staged", b"new"), 0)
    assert sorted(path.name for path in shard.iterdir()) == [MANIFEST, RUN, "words.parquet"]
    assert (shard / "words.parquet").read_bytes() == b"new"


def test_parquet_bytes_depend_on_the_table_alone(tmp_path: Path) -> None:
    table = pa.table({"id": [str(number) for number in range(45_000)], "n": pa.array([None, *range(44_999)])})
    write_parquet(tmp_path / "a.parquet", table)
    write_parquet(tmp_path / "b.parquet", pa.table(table.to_pydict(), schema=table.schema))
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    assert [metadata.row_group(index).num_rows for index in range(3)] == [20_000, 20_000, 5_000]
