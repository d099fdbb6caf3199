"""Texts to be compared, and the sketch of them all that comparing needs: hashes, never the texts.

A text is known by its row number; its words are read again only when a pair has been nominated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.published.parquet import footer, open_parquet
from curation.similarity.text.ngrams import fingerprints, left_out, summaries
from curation.similarity.text.tokens import I32, I64, U64, Tokens, tokenise

Batches = Callable[[], Iterable[Any]]
_ROWS = 4_000
_BITS = 22
"""Room for a row number beside a fingerprint; more only for more rows."""
PART = 60_000
"""Rows a worker takes at a time."""
_SLICE = 1 << 22
_NO_PRINTS = (np.zeros(0, np.uint64), np.zeros(0, np.int32))


@dataclass(frozen=True, slots=True)
class Sketch:
    """Hashes of all texts of a set."""

    counts: I32
    """Tokens of each text."""
    halves: I32
    """Twice the words of each text, see `Summaries`."""
    digests: U64
    """Equal for texts of the same tokens in the same order; 0 for a text without tokens."""
    postings: U64
    """Fingerprint and row in one number, sorted, each once: the low `bits` bits are the row."""
    bits: int
    left_out: U64
    """Hashes of the short texts without one token each, unsorted."""
    left_out_rows: I32


@dataclass
class Texts:
    """A named set of texts with ids.

    Args:
        name: what findings call it.
        batches: yields (ids, texts): record batches of two columns, or pairs of sequences; the same rows in
            the same order at every call.
        files: Parquet files the rows are read from instead, so that workers can read parts of them.
    """

    name: str
    batches: Batches | None = None
    files: Sequence[Path] = ()
    columns: tuple[str, str] = ("id", "text")
    pool: Executor | None = None
    part: int = PART
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What has been found out about these texts and several rules need."""

    @classmethod
    def of(cls, name: str, ids: Sequence[str], texts: Sequence[str | None]) -> Texts:
        """Texts held in memory."""
        return cls(name, lambda: iter([(ids, texts)]))

    def parts(self) -> list[tuple[str, tuple[int, ...]]]:
        """Files with the row groups a worker reads at a time; empty when rows come from `batches`."""
        found: list[tuple[str, tuple[int, ...]]] = []
        for path in self.files:
            held: list[int] = []
            rows = 0
            for group, size in enumerate(_sizes(path)):
                held.append(group)
                rows += size
                if rows >= self.part:
                    found.append((str(path), tuple(held)))
                    held, rows = [], 0
            if held:
                found.append((str(path), tuple(held)))
        return found

    def read(self) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Every row's id and text, in order."""
        if self.batches is None:
            for path, groups in self.parts():
                yield from read_groups(path, groups, self.columns)
            return
        for batch in self.batches():
            ids, texts = batch.columns if isinstance(batch, pa.RecordBatch) else batch
            ids, texts = _strings(ids), _strings(texts)
            for start in range(0, len(ids), _ROWS):
                yield ids.slice(start, _ROWS), texts.slice(start, _ROWS)

    @cached_property
    def sketch(self) -> Sketch:
        """The sketch, made once."""
        return self._scanned[0]

    @cached_property
    def ids(self) -> pa.ChunkedArray:
        """Ids by row number."""
        return self._scanned[1]

    @cached_property
    def _scanned(self) -> tuple[Sketch, pa.ChunkedArray]:
        if self.batches is None:
            parts = self.parts()
            tasks = [(path, groups, self.columns) for path, groups in parts]
            return _joined(
                self.pool.map(_scan_part, tasks) if self.pool and tasks[1:] else map(_scan_part, tasks)
            )
        return _joined([_scan(ids, texts)] for ids, texts in self.read())

    def __len__(self) -> int:
        return len(self.sketch.counts)

    def names(self, rows: I64 | Sequence[int]) -> list[str]:
        """Ids of some rows."""
        found: list[str] = self.ids.take(pa.array(np.asarray(rows, np.int64))).to_pylist()
        return found

    def take(self, rows: I64 | Iterable[int]) -> dict[int, str]:
        """Texts of some rows; reads only the row groups they are in."""
        wanted = np.unique(rows if isinstance(rows, np.ndarray) else np.fromiter(rows, np.int64))
        found: dict[int, str] = {}
        for inside, places, arrays in self._stretches(wanted):
            start = 0
            for texts in arrays:
                low, high = np.searchsorted(places, (start, start + len(texts))).tolist()
                picked = texts.take(pa.array(places[low:high] - start)).to_pylist()
                numbers = inside[low:high].tolist()
                found.update((row, text or "") for row, text in zip(numbers, picked, strict=True))
                start += len(texts)
        return found

    def _stretches(self, wanted: I64) -> Iterator[tuple[I64, I64, Iterable[pa.Array]]]:
        """Some of the rows wanted, their places among the rows read, and the texts of these."""
        if self.batches is not None:
            if len(wanted):
                yield wanted, wanted, (texts for _, texts in self.read())
            return
        start = 0
        for path in self.files:
            bounds = np.concatenate(([0], np.cumsum(_sizes(path), dtype=np.int64)))
            low, high = np.searchsorted(wanted, (start, start + bounds[-1])).tolist()
            inside = wanted[low:high] - start
            groups = np.searchsorted(bounds, inside, "right") - 1
            chosen = np.unique(groups)
            read = np.concatenate(([0], np.cumsum(bounds[chosen + 1] - bounds[chosen])))
            places = inside - bounds[groups] + read[np.searchsorted(chosen, groups)]
            if len(inside):
                texts = (texts for _, texts in read_groups(str(path), chosen.tolist(), self.columns))
                yield wanted[low:high], places, texts
            start += int(bounds[-1])


def _sizes(path: Path) -> list[int]:
    """Rows of each row group of a file."""
    known = footer(path)
    return [known.row_group(group).num_rows for group in range(known.num_row_groups)]


def read_groups(
    path: str, groups: Sequence[int], columns: tuple[str, str]
) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Ids and texts of some row groups of a Parquet file."""
    with open_parquet(path) as file:
        for batch in file.iter_batches(_ROWS, list(groups), list(columns), use_threads=False):
            yield _strings(batch.column(columns[0])), _strings(batch.column(columns[1]))


def _strings(values: Any) -> pa.Array:
    """Values as Arrow strings, null as ''."""
    if not isinstance(values, pa.Array):
        try:
            values = pa.array(values, pa.large_string())
        except (pa.ArrowException, UnicodeEncodeError, TypeError):  # no strings, or lone surrogates
            values = pa.array([_text(value) for value in values], pa.large_string())
    return pc.fill_null(values.cast(pa.large_string()), "")


def _text(value: Any) -> str:
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one worker found in consecutive rows; rows count from 0."""

    ids: pa.Array
    counts: I32
    halves: I32
    digests: U64
    prints: U64
    owners: I32
    left_out: U64
    left_out_rows: I32


def _scan_part(task: tuple[str, tuple[int, ...], tuple[str, str]]) -> list[Scanned]:
    """Scan some row groups of one file."""
    return [_scan(ids, texts) for ids, texts in read_groups(*task)]


def _scan(ids: pa.Array, texts: pa.Array) -> Scanned:
    """Hash one batch of texts."""
    rows = len(texts)
    counts, halves = np.zeros(rows, np.int32), np.zeros(rows, np.int32)
    digests = np.zeros(rows, np.uint64)
    prints: list[tuple[U64, I32]] = []
    short: list[tuple[U64, I32]] = []
    for tokens in tokenise(texts):
        _add(tokens, counts, halves, digests, prints, short)
    return Scanned(ids, counts, halves, digests, *_concatenated(prints), *_concatenated(short))


def _add(
    tokens: Tokens,
    counts: I32,
    halves: I32,
    digests: U64,
    prints: list[tuple[U64, I32]],
    short: list[tuple[U64, I32]],
) -> None:
    if not len(tokens.owners):
        return
    first, last = int(tokens.owners[0]), int(tokens.owners[-1])
    made = summaries(tokens, first, last - first + 1)
    counts[first : last + 1] += made.counts
    halves[first : last + 1] += made.halves
    digests[first : last + 1] += made.digests
    prints.append(fingerprints(tokens))
    short.append(left_out(tokens, made.halves, first))


def _concatenated(parts: list[tuple[U64, I32]]) -> tuple[U64, I32]:
    if not parts:
        return np.zeros(0, np.uint64), np.zeros(0, np.int32)
    return np.concatenate([values for values, _ in parts]), np.concatenate([owners for _, owners in parts])


def _joined(made: Iterable[list[Scanned]]) -> tuple[Sketch, pa.ChunkedArray]:
    """Number the rows through, pack fingerprints with their rows, sort."""
    parts = [part for found in made for part in found]
    starts = np.concatenate(([0], np.cumsum([len(part.counts) for part in parts]))).astype(np.int64)
    bits = max(_BITS, int(starts[-1]).bit_length())
    ids = pa.chunked_array([part.ids for part in parts], pa.large_string())
    numbers = (
        _cat([part.counts for part in parts], np.int32),
        _cat([part.halves for part in parts], np.int32),
        _cat([part.digests for part in parts], np.uint64),
    )
    short = _cat([part.left_out for part in parts], np.uint64)
    short_rows = _cat(
        [part.left_out_rows + np.int32(start) for part, start in zip(parts, starts, strict=False)], np.int32
    )
    prints = [(part.prints, part.owners) for part in parts]
    parts.clear()
    return Sketch(*numbers, _postings(prints, starts.tolist(), bits), bits, short, short_rows), ids


def _postings(prints: list[tuple[U64, I32]], starts: Sequence[int], bits: int) -> U64:
    """Fingerprints packed with their rows, sorted, each once.

    They are most of a sketch: each part goes as soon as it is packed, and repeats are taken out in place.
    """
    postings = np.empty(sum(len(values) for values, _ in prints), np.uint64)
    at = 0
    for place, start in enumerate(starts[: len(prints)]):
        values, owners = prints[place]
        prints[place] = _NO_PRINTS
        packed = postings[at : at + len(values)]
        np.left_shift(values >> np.uint64(bits), np.uint64(bits), out=packed)
        packed |= owners.astype(np.uint64) + np.uint64(start)
        at += len(values)
    postings.sort()
    kept, last = 0, None
    for start in range(0, len(postings), _SLICE):
        part = postings[start : start + _SLICE]
        first = np.concatenate(([part[0] != last], part[1:] != part[:-1]))
        last, part = part[-1], part[first]
        postings[kept : kept + len(part)] = part
        kept += len(part)
    postings.resize(kept, refcheck=False)
    return postings


def _cat(parts: list[Any], kind: Any) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, kind)
