"""BM25 as bm25s scores it; the index is built in blocks and kept in mapped files, so memory stays bounded.

The layout is that of bm25s, whose builder holds every token of the corpus as Python lists. Postings are added
up by scipy's sparse product: bm25s' numpy backend casts and checks every index of every term.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from curation.evaluation.ranking import Indices, Ranking, Scores, best, keys_of, ranking_of
from curation.evaluation.terms import Analyser, WordMap, words
from schemas.exact import log

K1, B = 0.9, 0.4
"""Anserini's parameters of Lucene's BM25, as R2MED uses them."""
STEP = 1e-4
"""What scores are rounded to before they are compared; 32-bit sums of long queries are no finer."""
_BLOCK_TERMS = 2_000_000


@dataclass(frozen=True, slots=True)
class Parameters:
    """BM25 with Lucene's formula: idf = ln(1 + (N - df + 0.5) / (df + 0.5)), no factor k1 + 1."""

    k1: float = K1
    b: float = B


class Bm25Index:
    """A searchable index. Made by :func:`build` or :func:`open_index`."""

    def __init__(self, folder: Path, vocabulary: Mapping[str, int], parameters: Parameters) -> None:
        self.vocabulary = vocabulary
        self.parameters = parameters
        self._begins = np.load(folder / "indptr.npy")
        self.documents = len(np.load(folder / "lengths.npy", mmap_mode="r"))
        size = int(self._begins[-1])
        self._data = np.asarray(_mapped(folder / "scores.f32", np.float32, size, "r"))
        self._owners = np.asarray(_mapped(folder / "documents.i32", np.int32, size, "r"))

    def _postings(self, terms: Iterable[str]) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """Documents and scores of each distinct term, in order of first use; a repeated term counts again."""
        places = Counter(self.vocabulary[term] for term in terms if term in self.vocabulary)
        for place, times in places.items():
            begin, end = int(self._begins[place]), int(self._begins[place + 1])
            data = self._data[begin:end]
            yield self._owners[begin:end], data if times == 1 else data * np.float32(times)

    def scores(self, terms: Iterable[str]) -> NDArray[np.float32]:
        """BM25 of every document, shape (documents,), for one analysed query; repeated terms count again."""
        postings = list(self._postings(terms))
        if not postings:
            return np.zeros(self.documents, np.float32)
        owners, data = (np.concatenate(parts) for parts in zip(*postings, strict=True))
        width = np.int32 if len(owners) <= np.iinfo(np.int32).max else np.int64  # owners are copied to wider
        begins = np.cumsum([0, *(len(part) for part, _ in postings)], dtype=width)
        matrix = csc_array((data, owners, begins), shape=(self.documents, len(postings)))
        found: NDArray[np.float32] = matrix @ np.ones(len(postings), np.float32)
        return found

    def search(self, terms: Iterable[str], k: int, left_out: Indices | None = None) -> Ranking:
        """The k best documents that share a term with the query, ties by id, without those to leave out."""
        scores = self.scores(terms)
        if left_out is not None:
            scores[left_out] = 0.0
        found = _candidates(scores, k)
        steps = np.rint(scores[found].astype(np.float64) / STEP).astype(np.int64)
        return ranking_of(best(keys_of(steps, found), k), STEP)

    def scores_of(self, terms: Iterable[str], documents: Indices) -> Scores:
        """The scores `search` gives some documents, shape (len(documents),); 0 where no term is shared.

        Only their own postings are read, so that a few documents of a large corpus are scored quickly.
        """
        found = np.zeros(len(documents), np.float32)
        for owners, data in self._postings(terms):
            at = np.minimum(np.searchsorted(owners, documents), len(owners) - 1)
            has = owners[at] == documents
            found[has] += data[at[has]]  # summed term by term in 32 bits, as `scores` does
        return np.rint(found.astype(np.float64) / STEP).astype(np.int64).astype(np.float64) * STEP


def _candidates(scores: NDArray[np.float32], k: int) -> Indices:
    """Documents that may be among the k best once scores are rounded, rising: few of a large corpus."""
    if len(scores) > k > 0:
        least = np.partition(scores, len(scores) - k)[len(scores) - k] - np.float32(2 * STEP)
        if least > 0:
            return np.flatnonzero(scores >= least).astype(np.int64)
    return np.flatnonzero(scores).astype(np.int64)


def build(
    texts: Iterable[tuple[str, str]],
    folder: Path,
    analyser: Analyser,
    parameters: Parameters = Parameters(),
    block_terms: int = _BLOCK_TERMS,
) -> Bm25Index:
    """Index documents.

    Args:
        texts: (text, language) of each document, in corpus order; read once.
        folder: an empty folder for the index's files, about 8 bytes per distinct term of each document.
        analyser: the one queries are analysed with.
        parameters: k1 and b.
        block_terms: terms held in memory at a time.
    """
    vocabulary: dict[str, int] = {}
    lengths, blocks = _count(texts, folder, analyser, vocabulary, block_terms)
    indptr = _write_scores(blocks, lengths, len(vocabulary), folder, parameters)
    np.save(folder / "indptr.npy", indptr)
    np.save(folder / "lengths.npy", lengths)
    (folder / "vocabulary.json").write_text(
        json.dumps({"k1": parameters.k1, "b": parameters.b, "terms": list(vocabulary)}, ensure_ascii=False),
        encoding="utf-8",
    )
    return Bm25Index(folder, vocabulary, parameters)


def _write_scores(
    blocks: list[Path], lengths: NDArray[np.int64], terms_in_all: int, folder: Path, parameters: Parameters
) -> NDArray[np.int64]:
    """Write scores and documents by term, documents rising within a term; returns where each term begins."""
    frequencies = np.zeros(terms_in_all, np.int64)
    for block in blocks:
        with np.load(block) as held:
            frequencies += np.bincount(held["terms"], minlength=terms_in_all)
    indptr = np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64)
    idf = _idf(frequencies, len(lengths))
    mean = lengths.mean() if len(lengths) else 0.0
    scores = _mapped(folder / "scores.f32", np.float32, int(indptr[-1]), "w+")
    documents = _mapped(folder / "documents.i32", np.int32, int(indptr[-1]), "w+")
    heads = indptr[:-1].copy()
    for block in blocks:
        with np.load(block) as held:
            terms, owners, counts = held["terms"], held["documents"], held["counts"].astype(np.float32)
        norm = parameters.k1 * ((1 - parameters.b) + parameters.b * lengths[owners] / mean)
        weights = (idf[terms] * (counts / (norm + counts))).astype(np.float32)
        order = np.argsort(terms, kind="stable")
        ordered = terms[order]
        starts = np.searchsorted(ordered, ordered, side="left")
        places = heads[ordered] + np.arange(len(ordered)) - starts
        scores[places], documents[places] = weights[order], owners[order]
        heads += np.bincount(terms, minlength=terms_in_all)
        block.unlink()
    return indptr


def _idf(frequencies: NDArray[np.int64], documents: int) -> NDArray[np.float32]:
    """Lucene's idf of each term; few frequencies differ, so an exact logarithm of each costs little."""
    different, places = np.unique(frequencies, return_inverse=True)
    logs = [log(ratio) for ratio in (1 + (documents - different + 0.5) / (different + 0.5)).tolist()]
    found: NDArray[np.float32] = np.asarray(logs, np.float32)[places]
    return found


def open_index(folder: Path) -> Bm25Index:
    """An index built before, from its folder; pages are shared between processes."""
    content: dict[str, Any] = json.loads((folder / "vocabulary.json").read_text("utf-8"))
    terms = {term: place for place, term in enumerate(content["terms"])}
    return Bm25Index(folder, terms, Parameters(content["k1"], content["b"]))


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


def _mapped(path: Path, kind: type, size: int, mode: Any) -> Any:
    if not size:  # an empty file cannot be mapped
        path.touch()
        return np.empty(0, kind)
    return np.memmap(path, kind, mode, shape=(size,))


def search_all(
    index: Bm25Index,
    queries: Iterable[tuple[str, str, str]],
    left_out: Mapping[str, Indices],
    k: int,
    analyser: Analyser,
) -> Iterator[tuple[str, Ranking]]:
    """(query id, ranking) of each (query id, text, language)."""
    for query, text, language in queries:
        yield query, index.search(analyser(text, language), k, left_out.get(query))


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
