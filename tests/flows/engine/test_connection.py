"""The database that is asked again and again: what it keeps is never taken for something else."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.engine import connection as asking
from flows.engine.connection import query
from schemas.errors import MedqrelsError

SUM = "SELECT sum(n)::BIGINT AS n FROM numbers"


def write(path: Path, *numbers: int) -> Path:
    pq.write_table(pa.table({"n": pa.array(numbers, pa.int64())}), path, compression="none")
    return path


def rows(batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def test_files_of_the_same_bytes_are_one_table(tmp_path: Path) -> None:
    one, same = write(tmp_path / "one.parquet", 1, 2), write(tmp_path / "same.parquet", 1, 2)
    ask = query("1GB")
    for path in (one, same, one):
        assert rows(ask(SUM, {"numbers": [path]})) == [{"n": 3}]
    assert held(ask) == 1
    assert rows(ask(SUM, {"numbers": [one, same]})) == [{"n": 6}]
    assert rows(ask(SUM, {"numbers": [write(tmp_path / "other.parquet", 4)]})) == [{"n": 4}]
    assert held(ask) == 3


def held(ask: asking.Connection) -> int:
    """Tables that are held."""
    tables = rows(ask("SELECT count(*) AS n FROM duckdb_tables()", {}))
    return int(tables[0]["n"])


def plain(path: Path, *words: str) -> Path:
    """A file whose size follows from its words: each takes four bytes and its own."""
    table = pa.table({"word": pa.array(words, pa.string())})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
    return path


def test_a_file_written_again_with_the_same_size_and_time_is_read_again(tmp_path: Path) -> None:
    """As one change follows the other within a tick of the clock: rows and footer are those of now."""
    path = tmp_path / "words.parquet"
    ask = query("1GB")
    written = time.time_ns()
    states = set()
    for words in (["12345678"] * 2, ["87654321"] * 2, ["1234"] * 3, ["12"] * 4, ["1234"] * 3):
        plain(path, *words)
        os.utime(path, ns=(written, written))
        found = path.stat()
        states.add((found.st_ino, found.st_size, found.st_mtime_ns))
        answer = ask("SELECT word FROM words", {"words": [path]})
        assert [row["word"] for row in rows(answer)] == words
    assert len(states) == 1


def test_a_view_of_an_earlier_question_is_gone(tmp_path: Path) -> None:
    numbers, others = write(tmp_path / "numbers.parquet", 1), write(tmp_path / "others.parquet", 2)
    ask = query("1GB")
    assert rows(ask("SELECT n FROM numbers", {"numbers": [numbers]})) == [{"n": 1}]
    with pytest.raises(MedqrelsError, match="numbers"):
        rows(ask("SELECT n FROM numbers JOIN others USING (n)", {"others": [others]}))
    assert rows(ask("SELECT n FROM numbers", {"numbers": [others]})) == [{"n": 2}]


def test_large_files_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_HELD_BYTES", 100)
    path = write(tmp_path / "numbers.parquet", *range(20_000))
    ask = query("1GB")
    assert rows(ask(SUM, {"numbers": [path]})) == [{"n": sum(range(20_000))}]
    assert held(ask) == 0


def test_rows_come_in_the_same_batches_whether_files_are_held_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "numbers.parquet", *range(50_000))
    asked = ("SELECT n, 'x' AS x FROM numbers ORDER BY n", "SELECT n FROM numbers WHERE n < 0")
    given = []
    for most in (1_000_000, 10):
        monkeypatch.setattr(asking, "_HELD_BYTES", most)
        ask = query("1GB")
        given.append([list(ask(text, {"numbers": [path]})) for text in asked])
        assert held(ask) == (most > 10)
    assert given[0] == given[1] and [batch.num_rows for batch in given[0][0]] == [20_000, 20_000, 10_000]


def test_questions_inside_questions_and_questions_left_half_read(tmp_path: Path) -> None:
    """Each has views of its own."""
    path, other = write(tmp_path / "numbers.parquet", *range(3_000)), write(tmp_path / "other.parquet", 7)
    text = "SELECT n FROM numbers ORDER BY n"
    ask = query("1GB")
    begun = ask(text, {"numbers": [path]})
    first = next(begun)
    assert rows(ask("SELECT n FROM numbers ORDER BY 1", {"numbers": [other]})) == [{"n": 7}]
    begun.close()  # type: ignore[attr-defined]  # a generator
    assert rows(ask(text, {"numbers": [path]})) == [{"n": n} for n in range(3_000)]
    assert first.num_rows > 0


def test_what_is_held_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_HELD_TABLES", 2)
    ask = query("1GB")
    paths = [write(tmp_path / f"{number}.parquet", number) for number in range(5)]
    for _ in range(2):
        for number, path in enumerate(paths):
            assert rows(ask(SUM, {"numbers": [path]})) == [{"n": number}]
    assert held(ask) == 2
