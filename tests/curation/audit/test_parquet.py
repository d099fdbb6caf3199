"""Parquet files opened for the audit: the footer of a large one is read once, that of a changed one again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.published import parquet
from curation.similarity.text.sketch import Texts


def written(path: Path, rows: int, group: int = 10, mark: str = "") -> list[str]:
    """A file of texts that do not compress, over a megabyte for a thousand rows."""
    source = np.random.default_rng(rows)
    texts = [mark + source.bytes(1_000).hex() for _ in range(rows)]
    table = pa.table({"id": [f"t{number}" for number in range(rows)], "text": texts})
    pq.write_table(table, path, row_group_size=group)
    return texts


@pytest.fixture
def footers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files whose footers are read."""
    seen: list[str] = []
    read = pq.read_metadata

    def noted(path: str, *args: Any) -> Any:
        seen.append(Path(path).name)
        return read(path, *args)

    monkeypatch.setattr(pq, "read_metadata", noted)
    return seen


def test_the_footer_of_a_large_file_is_read_once(tmp_path: Path, footers: list[str]) -> None:
    texts = written(tmp_path / "large.parquet", 1_500)
    os.utime(tmp_path / "large.parquet", ns=(0, 0))
    held = Texts("corpus", files=[tmp_path / "large.parquet"])
    for rows in ([0, 7, 1_499], [3], list(range(0, 1_500, 10))):
        assert held.take(rows) == {row: texts[row] for row in rows}
    assert footers == ["large.parquet"]


def test_a_changed_file_is_read_again_and_a_small_one_always(tmp_path: Path, footers: list[str]) -> None:
    path = tmp_path / "large.parquet"
    written(path, 1_500)
    os.utime(path, ns=(0, 0))
    assert parquet.footer(path).num_row_groups == 150
    written(path, 1_500, 100, mark="x")
    os.utime(path, ns=(0, 1))
    assert parquet.footer(path).num_row_groups == 15
    small = tmp_path / "small.parquet"
    for group, groups in ((2, 5), (5, 2)):
        written(small, 10, group)
        os.utime(small, ns=(0, 0))
        assert parquet.footer(small).num_row_groups == groups
    assert footers == ["large.parquet"] * 2 + ["small.parquet"] * 2


def test_a_large_file_just_written_is_read_every_time(tmp_path: Path, footers: list[str]) -> None:
    """Another write within a tick of the clock could leave its size and time as they are."""
    path = tmp_path / "large.parquet"
    written(path, 1_500)
    just_now = path.stat().st_mtime_ns
    for group, groups in ((10, 150), (100, 15)):
        written(path, 1_500, group)
        os.utime(path, ns=(just_now, just_now))
        assert parquet.footer(path).num_row_groups == groups
    assert footers == ["large.parquet"] * 2


def test_texts_of_several_files_are_taken_by_row(tmp_path: Path) -> None:
    texts = [text for name in "ab" for text in written(tmp_path / f"{name}.parquet", 95, mark=name)]
    held = Texts("corpus", files=[tmp_path / "a.parquet", tmp_path / "b.parquet"])
    for rows in ([], [94], [95], [0, 9, 10, 94, 95, 104, 189], list(range(190))):
        assert held.take(rows) == {row: texts[row] for row in rows}


def test_no_parquet_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "torn.parquet").write_bytes(b"PAR1" + b"\0" * 2_000_000)
    with pytest.raises(pa.ArrowException):
        parquet.footer(tmp_path / "torn.parquet")
    with pytest.raises(OSError, match="absent"):
        parquet.open_parquet(tmp_path / "absent.parquet")
