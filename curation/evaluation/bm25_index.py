"""Writes the files of a BM25 index in blocks, so that memory stays bounded; bm25.py searches them.

bm25s, whose scores these are, holds every token of the corpus as Python lists while it builds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.evaluation.terms import Analyser, WordMap, words
from schemas.exact import log

K1, B = 0.9, 0.4
"""Anserini's parameters of Lucene's BM25, as R2MED uses them."""
UNIT = 32
"""Bounds of scores are whole numbers of 1/UNIT."""
_COMMON = 32
"""A term of more than one in so many documents has a row. Its weight is below ln(1 + _COMMON) then, or, of a
corpus of at most so many documents, below the logarithm of their number: 255 units hold it."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """BM25 with Lucene's formula: idf = ln(1 + (N - df + 0.5) / (df + 0.5)), no factor k1 + 1."""

    k1: float = K1
    b: float = B


ANSERINI = Parameters()


def write(
    texts: Iterable[tuple[str, str]],
    folder: Path,
    analyser: Analyser,
    parameters: Parameters,
    block_terms: int,
) -> dict[str, int]:
    """Write an index; returns its terms and their places, in order of first use.

    `document-*` are the terms and weights of each document; `term-*` the documents and weights of each term
    that has no row, rising; `rows` the weights of common terms in units, rounded up; `row-of` the row of each
    term or -1, and `row-tops` the largest number of each row.
    """
    vocabulary: dict[str, int] = {}
    lengths, blocks = _count(texts, folder, analyser, vocabulary, block_terms)
    frequencies = np.zeros(len(vocabulary), np.int64)
    held = np.zeros(len(lengths), np.int64)
    for block in blocks:
        with np.load(block) as counted:
            frequencies += np.bincount(counted["terms"], minlength=len(vocabulary))
            held += np.bincount(counted["documents"], minlength=len(lengths))
    _Files(folder, frequencies, held, lengths, parameters).fill(blocks)
    return vocabulary


class _Files:
    """The arrays of an index, filled block by block."""

    def __init__(
        self,
        folder: Path,
        frequencies: NDArray[np.int64],
        held: NDArray[np.int64],
        lengths: NDArray[np.int64],
        parameters: Parameters,
    ) -> None:
        self.parameters, self.lengths = parameters, lengths
        self.mean = lengths.mean() if len(lengths) else 0.0
        self.idf = _idf(frequencies, len(lengths))
        common = np.flatnonzero(frequencies * _COMMON > len(lengths))
        self.row_of = np.full(len(frequencies), -1, np.int32)
        self.row_of[common] = np.arange(len(common))
        rare = np.where(self.row_of < 0, frequencies, 0)
        heads, begins = _ends(rare), _ends(held)
        for name, array in (
            ("row-of", self.row_of),
            ("term-begins", heads),
            ("document-begins", begins),
        ):
            np.save(folder / f"{name}.npy", array)
        self.folder, self.heads = folder, heads[:-1].copy()
        few, size = (int(heads[-1]),), (int(begins[-1]),)
        self.terms = mapped(folder / "document-terms.i32", np.int32, size, "w+")
        self.weights = mapped(folder / "document-weights.f32", np.float32, size, "w+")
        self.owners = mapped(folder / "term-documents.i32", np.int32, few, "w+")
        self.added = mapped(folder / "term-weights.f32", np.float32, few, "w+")
        self.rows = mapped(folder / "rows.u8", np.uint8, (len(common), len(lengths)), "w+")

    def fill(self, blocks: list[Path]) -> None:
        """Read every block, in order, and delete it."""
        start = 0
        for block in blocks:
            with np.load(block) as counted:
                terms, owners = counted["terms"], counted["documents"]
                counts = counted["counts"].astype(np.float32)
            k1, b = self.parameters.k1, self.parameters.b
            norm = k1 * ((1 - b) + b * self.lengths[owners] / self.mean)
            weights = (self.idf[terms] * (counts / (norm + counts))).astype(np.float32)
            self.terms[start : start + len(terms)] = terms
            self.weights[start : start + len(terms)] = weights
            start += len(terms)
            row = self.row_of[terms]
            common = row >= 0
            self.rows[row[common], owners[common]] = np.ceil(weights[common] * np.float32(UNIT))
            self._add(terms[~common], owners[~common], weights[~common])
            block.unlink()
        np.save(self.folder / "row-tops.npy", self.rows.max(axis=1, initial=0))

    def _add(self, terms: NDArray[Any], owners: NDArray[Any], weights: NDArray[np.float32]) -> None:
        """Documents of a block to the lists of their terms."""
        order = np.argsort(terms, kind="stable")
        ordered = terms[order]
        places = self.heads[ordered] + np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
        self.owners[places], self.added[places] = owners[order], weights[order]
        self.heads += np.bincount(terms, minlength=len(self.heads))


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of some lists begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _idf(frequencies: NDArray[np.int64], documents: int) -> NDArray[np.float32]:
    """Lucene's idf of each term; few frequencies differ, so an exact logarithm of each costs little."""
    different, places = np.unique(frequencies, return_inverse=True)
    logs = [log(ratio) for ratio in (1 + (documents - different + 0.5) / (different + 0.5)).tolist()]
    found: NDArray[np.float32] = np.asarray(logs, np.float32)[places]
    return found


class _Codes(dict[str, WordMap[int]]):
    """Language -> word -> numbers of its terms; a term that is new gets the next number."""

    def __init__(self, analyser: Analyser, vocabulary: dict[str, int]) -> None:
        super().__init__()
        self._analyser, self._vocabulary = analyser, vocabulary

    def __missing__(self, language: str) -> WordMap[int]:
        base = language.split("-")[0].lower()

        def numbers(word: str) -> tuple[int, ...]:
            numbered = self._vocabulary
            return tuple(
                numbered.setdefault(term, len(numbered)) for term in self._analyser.terms(word, base)
            )

        made = self[language] = WordMap(numbers)
        return made


def _count(
    texts: Iterable[tuple[str, str]],
    folder: Path,
    analyser: Analyser,
    vocabulary: dict[str, int],
    block_terms: int,
) -> tuple[NDArray[np.int64], list[Path]]:
    """Write blocks of (document, term, count); returns document lengths and the blocks."""
    lengths: list[int] = []
    held: list[int] = []
    first = 0
    blocks: list[Path] = []
    codes = _Codes(analyser, vocabulary)

    def flush() -> None:
        nonlocal first
        path = folder / f"block-{len(blocks):06d}.npz"
        _write_block(path, held, lengths[first:], first)
        blocks.append(path)
        held.clear()
        first = len(lengths)

    for text, language in texts:
        size = len(held)
        held.extend(chain.from_iterable(map(codes[language].__getitem__, words(text))))
        lengths.append(len(held) - size)
        if len(held) >= block_terms:
            flush()
    if held:
        flush()
    return np.asarray(lengths, np.int64), blocks


def _write_block(path: Path, held: list[int], lengths: list[int], first: int) -> None:
    owners = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    pairs, counts = np.unique((owners << 32) | np.asarray(held, np.int64), return_counts=True)
    with path.open("wb") as file:
        np.savez(
            file,
            terms=(pairs & 0xFFFFFFFF).astype(np.int32),
            documents=((pairs >> 32) + first).astype(np.int32),
            counts=counts.astype(np.int32),
        )


def mapped(path: Path, kind: type, shape: tuple[int, ...], mode: Any = "r") -> Any:
    """A file as an array; an empty file, which cannot be mapped, as an empty array."""
    if 0 in shape:
        path.touch()
        return np.empty(shape, kind)
    return np.asarray(np.memmap(path, kind, mode, shape=shape))
