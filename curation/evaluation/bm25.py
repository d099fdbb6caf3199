"""BM25 as bm25s scores it, searched exactly without adding up every posting of every term.

Terms of many documents take nearly all of a search: their weights also stand as a row of one byte a document,
rounded up, so that sums of rows bound every score from above, many documents to an instruction. Documents
whose bound reaches the k best, and no others, are scored from their own terms and weights. Terms of few
documents are added up from postings. Bounds first, scores then is MaxScore's idea (Turtle and Flood 1995).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.evaluation.bm25_index import ANSERINI, K1, UNIT, B, Parameters, mapped, write
from curation.evaluation.ranking import Indices, Ranking, Scores, best, keys_of, ranking_of
from curation.evaluation.terms import Analyser
from schemas.errors import InputError

__all__ = ["K1", "STEP", "B", "Bm25Index", "Parameters", "build", "open_index", "pair_scorer", "search_all"]

STEP = 1e-4
"""What scores are rounded to before they are compared; 32-bit sums of long queries are no finer."""
_BLOCK_TERMS = 2_000_000
_TOGETHER = 4_096
"""Documents that are scored at a time."""
_STRIDE = 64
_BYTE = 255
_ROUNDING = 2.0**-23
"""Relative error of one addition in 32 bits, twice over."""


class Bm25Index:
    """A searchable index, for one thread. Made by :func:`build` or :func:`open_index`."""

    def __init__(self, folder: Path, vocabulary: Mapping[str, int], parameters: Parameters) -> None:
        self.vocabulary = vocabulary
        self.parameters = parameters
        self._begins = np.load(folder / "document-begins.npy")
        self.documents = len(self._begins) - 1
        size = int(self._begins[-1])
        self._terms = mapped(folder / "document-terms.i32", np.int32, (size,))
        self._weights = mapped(folder / "document-weights.f32", np.float32, (size,))
        self._heads = np.load(folder / "term-begins.npy")
        rare = int(self._heads[-1])
        self._owners = mapped(folder / "term-documents.i32", np.int32, (rare,))
        self._added = mapped(folder / "term-weights.f32", np.float32, (rare,))
        self._row_of = np.load(folder / "row-of.npy")
        self._tops = np.load(folder / "row-tops.npy")
        self._rows = mapped(folder / "rows.u8", np.uint8, (len(self._tops), self.documents))
        self._asked = np.full(len(self._row_of), -1, np.int32)

    def _places(self, terms: Iterable[str]) -> Counter[int]:
        """How often each term of the vocabulary is asked for, in order of first use."""
        return Counter(self.vocabulary[term] for term in terms if term in self.vocabulary)

    def search(self, terms: Iterable[str], k: int, left_out: Indices | None = None) -> Ranking:
        """The k best documents that share a term with the query, ties by id, without those to leave out."""
        places = self._places(terms)
        bounds, too_much = self._bounds(places)
        if left_out is not None:
            bounds[left_out] = 0.0
        found = _candidates(bounds, k, too_much, len(places) * _ROUNDING)
        return ranking_of(best(keys_of(self._steps(places, found), found), k), STEP)

    def scores_of(self, terms: Iterable[str], documents: Indices) -> Scores:
        """The scores `search` gives some documents, shape (len(documents),); 0 where no term is shared."""
        return self._steps(self._places(terms), documents).astype(np.float64) * STEP

    def _bounds(self, places: Mapping[int, int]) -> tuple[NDArray[np.float32], int]:
        """The most each document may score, in 1/UNIT, shape (documents,), and by how much that errs."""
        rows = {
            int(self._row_of[place]): times for place, times in places.items() if self._row_of[place] >= 0
        }
        bounds: NDArray[np.float32] = self._sum_of_rows(rows).astype(np.float32)
        for place, times in places.items():
            if self._row_of[place] < 0:
                span = slice(int(self._heads[place]), int(self._heads[place + 1]))
                np.add.at(bounds, self._owners[span], self._added[span] * np.float32(UNIT * times))
        return bounds, sum(rows.values())

    def _sum_of_rows(self, rows: Mapping[int, int]) -> NDArray[Any]:
        """The rows added up, each as often as is asked for, in the narrowest type that holds the sum."""
        most = sum(int(self._tops[row]) * times for row, times in rows.items())
        total: NDArray[Any] = np.zeros(self.documents, np.uint16 if most < 1 << 16 else np.uint32)
        held = np.empty(self.documents, np.uint8)
        often = {row for row, times in rows.items() if int(self._tops[row]) * times > _BYTE}
        for row in often:
            total += self._rows[row] * total.dtype.type(rows[row])
        for first, *others in _groups(self._tops, {row: rows[row] for row in rows if row not in often}):
            np.copyto(held, self._rows[first])
            for row in others:
                held += self._rows[row]
            total += held
        return total

    def _steps(self, places: Mapping[int, int], documents: NDArray[Any]) -> NDArray[np.int64]:
        """Scores of some documents in STEPs, shape (len(documents),)."""
        parts = range(0, len(documents), _TOGETHER)
        sums = [self._sums(places, documents[start : start + _TOGETHER]) for start in parts]
        together = np.concatenate(sums) if sums else np.empty(0, np.float32)
        return np.rint(together.astype(np.float64) / STEP).astype(np.int64)

    def _sums(self, places: Mapping[int, int], documents: NDArray[Any]) -> NDArray[np.float32]:
        """Scores of some documents, added up in 32 bits term by term in the order of `places`."""
        asked = np.fromiter(places, np.int64, len(places))
        self._asked[asked] = np.arange(len(asked))
        begins = self._begins[documents]
        lengths = self._begins[documents.astype(np.int64) + 1] - begins
        rows = np.repeat(np.arange(len(documents)), lengths)
        at = np.arange(len(rows)) + np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
        order = self._asked[self._terms[at]]
        self._asked[asked] = -1
        shared = np.flatnonzero(order >= 0)
        weights = np.zeros((len(asked), len(documents)), np.float32)
        weights[order[shared], rows[shared]] = self._weights[at[shared]]
        sums = np.zeros(len(documents), np.float32)
        for weight, times in zip(weights, places.values(), strict=True):
            sums += weight if times == 1 else weight * np.float32(times)
        return sums


def _groups(tops: NDArray[np.uint8], rows: Mapping[int, int]) -> list[list[int]]:
    """Rows, each so often, shared out so that the sum of a group fits a byte: wide sums take long."""
    asked = sorted((int(tops[row]), row) for row, times in rows.items() for _ in range(times))
    groups: list[list[int]] = []
    first, last = 0, len(asked) - 1
    while first <= last:  # the largest that are left, then the smallest as long as they fit
        left, group = _BYTE, []
        while first <= last and asked[last][0] <= left:
            left -= asked[last][0]
            group.append(asked[last][1])
            last -= 1
        while first <= last and asked[first][0] <= left:
            left -= asked[first][0]
            group.append(asked[first][1])
            first += 1
        groups.append(group)
    return groups


def _candidates(bounds: NDArray[np.float32], k: int, too_much: int, rounding: float) -> NDArray[np.int64]:
    """Documents that may be among the k best once scores are rounded, rising: few of a large corpus.

    Args:
        bounds: see `Bm25Index._bounds`.
        k: how many are wanted.
        too_much: by how much a bound may be too large.
        rounding: relative error of a sum in 32 bits.
    """
    if len(bounds) > k > 0:
        tops = bounds
        if (
            len(bounds) >= 4 * k * _STRIDE
        ):  # the k largest of some maxima are k documents: a bound found faster
            even = bounds[: len(bounds) // _STRIDE * _STRIDE]
            tops = np.maximum.reduce(even.reshape(_STRIDE, -1))
        least = float(np.partition(tops, len(tops) - k)[len(tops) - k])
        least = least * (1 - rounding) - too_much - 1  # one more, for what is lost when scores are rounded
        if least > 0:
            return np.flatnonzero(bounds >= least)
    return np.flatnonzero(bounds)


def build(
    texts: Iterable[tuple[str, str]],
    folder: Path,
    analyser: Analyser,
    parameters: Parameters = ANSERINI,
    block_terms: int = _BLOCK_TERMS,
) -> Bm25Index:
    """Index documents.

    Args:
        texts: (text, language) of each document, in corpus order; read once.
        folder: an empty folder for the index's files, about 8 bytes per distinct term of each document, and
            one byte a document for each term that every 32nd document has.
        analyser: the one queries are analysed with.
        parameters: k1 and b.
        block_terms: terms held in memory at a time.
    """
    vocabulary = write(texts, folder, analyser, parameters, block_terms)
    (folder / "vocabulary.json").write_text(
        json.dumps({"k1": parameters.k1, "b": parameters.b, "terms": list(vocabulary)}, ensure_ascii=False),
        encoding="utf-8",
    )
    return Bm25Index(folder, vocabulary, parameters)


def open_index(folder: Path) -> Bm25Index:
    """An index built before, from its folder; pages are shared between processes."""
    content: dict[str, Any] = json.loads((folder / "vocabulary.json").read_text("utf-8"))
    terms = {term: place for place, term in enumerate(content["terms"])}
    return Bm25Index(folder, terms, Parameters(content["k1"], content["b"]))


def search_all(
    index: Bm25Index,
    queries: Iterable[tuple[str, str, str]],
    left_out: Mapping[str, Indices],
    k: int,
    analyser: Analyser,
) -> Iterator[tuple[str, Ranking]]:
    """(query id, ranking) of each (query id, text, language).

    Raises:
        InputError: a query says words so often that its scores cannot be told apart.
    """
    for query, text, language in queries:
        try:
            found = index.search(analyser(text, language), k, left_out.get(query))
        except ValueError as error:
            raise InputError(
                f"BM25 cannot rank a query that says a word so often: {error}",
                record=query,
                hint="take the query out, or its repeated words",
            ) from error
        yield query, found


def pair_scorer(
    index: Bm25Index, queries: Sequence[tuple[str, str, str]], analyser: Analyser
) -> Callable[[Indices, Indices], Scores]:
    """Scores of given pairs, equal to those `search_all` ranks by.

    Args:
        index: of the whole corpus.
        queries: (query id, text, language) of every query of the split, in order.
        analyser: the one the index was built with.

    Returns:
        A function of query positions (those of one query together) and document positions, of one length.
    """

    def score(asked: Indices, documents: Indices) -> Scores:
        scores = np.empty(len(asked))
        cuts = np.flatnonzero(np.diff(asked)) + 1
        for part in np.split(np.arange(len(asked)), cuts) if len(asked) else ():
            _, text, language = queries[int(asked[part[0]])]
            scores[part] = index.scores_of(analyser(text, language), documents[part])
        return scores

    return score
