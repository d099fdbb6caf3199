"""A release that others made is asked in a database that reads nothing else, whatever it is asked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit.layouts import open_dataset
from curation.published.links import home
from flows.engine.connection import query
from schemas.errors import MedqrelsError, UsageError

SECRET = "not for the page"
FOLDERS = ("plain", "it's [1] a*b?")


def table(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": ["1"], "text": [text]}), path)
    return path


@pytest.fixture(params=FOLDERS)
def release(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder that was downloaded, beside a file that is nobody's business."""
    table(tmp_path / "outside" / "secret.parquet", SECRET)
    table(tmp_path / request.param / "corpus" / "test.parquet", "shown")
    return tmp_path / str(request.param)


def rows(folder: Path, text: str, files: list[Path]) -> list[str]:
    found = query("500MB", [folder])(text, {"corpus": files})
    return [str(row["text"]) for batch in found for row in batch.to_pylist()]


def test_files_of_the_release_are_read(release: Path) -> None:
    path = release / "corpus" / "test.parquet"
    assert rows(release, "SELECT text FROM corpus", [path]) == ["shown"]
    linked = release.with_name("linked")
    linked.symlink_to(release)
    assert rows(linked, "SELECT text FROM corpus", [linked / "corpus" / "test.parquet"]) == ["shown"]


def test_no_other_file_is_read(release: Path) -> None:
    secret = release.parent / "outside" / "secret.parquet"
    (release / "corpus" / "link.parquet").symlink_to(secret)
    (release / "folder").symlink_to(secret.parent)
    ways = (
        secret,
        release / "corpus" / "link.parquet",
        release / "folder" / "secret.parquet",
        release / ".." / "outside" / "secret.parquet",
    )
    for path in ways:
        assert pq.read_table(path).num_rows == 1, "else the test proves nothing"
        with pytest.raises(MedqrelsError, match="Permission Error"):
            rows(release, "SELECT text FROM corpus", [path])


@pytest.mark.parametrize(
    "text",
    [
        "SELECT content AS text FROM read_text('{secret}')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "COPY (SELECT 1 AS text) TO '{secret}.csv'",
        "ATTACH '{secret}.db' AS mine",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET temp_directory = '/'",
    ],
)
def test_what_is_asked_cannot_open_the_door(tmp_path: Path, text: str) -> None:
    secret = tmp_path / "secret.parquet"
    table(secret, SECRET)
    (tmp_path / "release").mkdir()
    asked = query("500MB", [tmp_path / "release"])
    with pytest.raises(MedqrelsError, match=r"Permission Error|configuration"):
        list(asked(text.format(secret=secret), {}))
    sandbox = asked.sandbox()
    with pytest.raises(MedqrelsError, match=r"Permission Error|configuration"):
        sandbox.run(text.format(secret=secret))
    sandbox.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release", "secret.parquet"]


def jsonl(folder: Path, make: Callable[[Path], object]) -> Path:
    folder.mkdir(parents=True)
    make(folder / "corpus.jsonl")
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "a question"}\n')
    return folder


def test_a_dataset_whose_links_lead_out_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text('{"_id": "1", "text": "not for the page"}\n')
    foreign = jsonl(tmp_path / "foreign", lambda path: path.symlink_to(secret))
    with pytest.raises(UsageError, match=r"leads out of the dataset: 'corpus\.jsonl'"):
        open_dataset(foreign, tmp_path)
    honest = jsonl(tmp_path / "honest", lambda path: shutil.copy(secret, path))
    (honest / "again.jsonl").symlink_to("queries.jsonl")
    assert "corpus" in open_dataset(honest, tmp_path).views


def test_a_snapshot_in_the_cache_of_the_hub_may_lead_to_its_blobs(tmp_path: Path) -> None:
    blob = tmp_path / "datasets--org--name" / "blobs" / "0abc"
    blob.parent.mkdir(parents=True)
    blob.write_text('{"_id": "1", "text": "a document"}\n')
    folder = blob.parent.parent / "snapshots" / "1234"
    jsonl(folder, lambda path: path.symlink_to(f"../../blobs/{blob.name}"))
    assert home(folder) == blob.parent.parent.resolve()
    assert "corpus" in open_dataset(folder, tmp_path).views
    (folder / "other.jsonl").symlink_to(tmp_path)
    with pytest.raises(UsageError, match=r"leads out"):
        open_dataset(folder, tmp_path)


@pytest.mark.parametrize("kind", ["pipe", "loop"])
def test_what_is_no_file_is_refused_before_it_is_opened(release: Path, kind: str) -> None:
    path = release / "queries.jsonl"
    if kind == "pipe":
        os.mkfifo(path)  # whoever opens it waits for ever
    else:
        path.symlink_to(path.name)
    with pytest.raises(UsageError, match=r"queries\.jsonl"):
        open_dataset(release, release.parent / "scratch")
