"""scispaCy (Neumann et al., BioNLP 2019) over our vocabulary: knowledge base, candidates, abbreviations.

Unlike scispaCy's own pipelines: its models, which come from no package registry, say what a mention is; here
every run of up to eight tokens with a content word at both ends is looked up. Its index of approximate
neighbours, whose builder refuses Python 3.11, is an exact search here, so that nothing above the threshold is
missed, and trigrams of the text that no name has count against it.
"""

from __future__ import annotations

import collections
import functools
import itertools
import json
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.concepts.backends import loading
from curation.concepts.backends.by_language import LanguageMatcher, prepare_languages
from curation.concepts.backends.readings import rule_of
from curation.concepts.matcher import Match

EXTRA = "scispacy"
THRESHOLD = 0.85
"""Least cosine similarity. scispaCy's own .7 is for spans that a model holds for mentions already."""
_NEIGHBOURS = 30
_WINDOW, _CHARACTER_WINDOW = 8, 12
_SHORTEST = 3
_STRICTNESS = 3.0
"""Cosines fall slowly: a name with a short word more is still at .9."""
_LENGTH_RATIO = 1.5
"""Between a run of words and its name; cosines alone find "seizures and seizure" as near as "seizures"."""
_ENDS = frozenset(".;:!?()[]。；：！？（）")
_BRACKETS_AT_ONCE = 60
_QUERIES_AT_ONCE = 32


def prepare(names: Path, types: Path | None, destination: Path) -> None:
    """Builds a knowledge base and the trigram vectors of its names for every language of a vocabulary.

    Args:
        names: Parquet of ConceptName rows.
        types: Parquet of ConceptType rows; without one every concept is an entity (T071).
        destination: folder of the index; an older one there is replaced.

    Raises:
        UsageError: the extra is not installed.
    """
    loading.require("scispacy.linking_utils", EXTRA)
    prepare_languages(names, types, destination, EXTRA, _prepare_language)


def _prepare_language(names: Path, kinds: dict[str, list[str]], language: str, folder: Path) -> bool:
    """Writes one language; False if no name of it has a letter or digit."""
    entities: dict[str, list[str]] = {}
    for row in loading.read_rows(names, language):
        if any(letter.isalnum() for letter in row.name):
            known = entities.setdefault(row.concept, [])
            known.insert(0, row.name) if row.is_preferred else known.append(row.name)
    if not entities:
        return False
    folder.mkdir()
    with (folder / "kb.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for concept, known in sorted(entities.items()):
            entity = {
                "concept_id": concept,
                "canonical_name": known[0],
                "aliases": sorted(set(known[1:]) - {known[0]}),
                "types": kinds.get(concept, [loading.UNTYPED]),
            }
            file.write(json.dumps(entity, sort_keys=True) + "\n")
    _write_vectors(sorted({name for known in entities.values() for name in known}), language, folder)
    return True


def _vectorizer(language: str, **settings: Any) -> Any:
    """Settings of scispaCy, but that rare trigrams count too, and accents of Latin letters do not."""
    text = loading.require("sklearn.feature_extraction.text", EXTRA)
    accents = None if language in loading.KEEP_ACCENTS else "unicode"
    return text.TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32, strip_accents=accents, **settings
    )


def _write_vectors(aliases: list[str], language: str, folder: Path) -> None:
    vectorizer = _vectorizer(language, min_df=1)
    vectors = vectorizer.fit_transform(aliases)
    trigrams = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.__getitem__)
    (folder / "concept_aliases.json").write_text(json.dumps(aliases), "utf-8")
    (folder / "trigrams.json").write_text(json.dumps(trigrams), "utf-8")
    np.save(folder / "idf.npy", vectorizer.idf_)
    loading.require("scipy.sparse", EXTRA).save_npz(folder / "tfidf_vectors_sparse.npz", vectors)


@dataclass(frozen=True, slots=True)
class Vectorizer:
    """tf–idf of a text's trigrams, those included that no name has.

    scikit-learn leaves these out before it makes the row's length one, so that "seizures at noon" would be
    as near to "seizure" as "seizures" is. Here they are as rare as a trigram of one name.
    """

    known: Any

    def transform(self, texts: Sequence[str]) -> Any:
        """Sparse rows, texts × trigrams, of length one or less."""
        rows = self.known.transform(texts)
        idf, rarest = self.known.idf_, float(self.known.idf_.max())
        analyse, vocabulary = self.known.build_analyzer(), self.known.vocabulary_
        for row, text in enumerate(texts):
            counts = collections.Counter(analyse(text))
            outside = sum((counts[item] * rarest) ** 2 for item in counts if item not in vocabulary)
            if outside:
                inside = sum(
                    (counts[item] * idf[vocabulary[item]]) ** 2 for item in counts if item in vocabulary
                )
                rows.data[rows.indptr[row] : rows.indptr[row + 1]] *= math.sqrt(inside / (inside + outside))
        return rows


@dataclass(frozen=True, slots=True)
class ExactNeighbours:
    """All vectors within a cosine distance, in the place of scispaCy's nmslib index.

    A vector as near as the threshold shares a trigram with the query outside any set of trigrams whose
    part of the query is shorter than the threshold (Cauchy–Schwarz). So the commonest trigrams are left
    out of the search, and what is found is measured in full.

    Args:
        vectors: sparse matrix, names × trigrams, rows of length one.
        threshold: least cosine similarity.
    """

    vectors: Any
    threshold: float
    _columns: Any = field(init=False)
    _counts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_columns", self.vectors.T.tocsr())
        object.__setattr__(self, "_counts", np.diff(self._columns.indptr))

    def knnQueryBatch(  # noqa: N802 - nmslib's name, which scispaCy calls
        self, queries: Any, k: int
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """For each query the rows of its nearest vectors and their distances, nearest first.

        A query without any within the threshold gets row 0 at distance 1.

        Args:
            queries: sparse matrix, queries × trigrams, rows of length one or less.
            k: how many at most.
        """
        found: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        for first in range(0, queries.shape[0], _QUERIES_AT_ONCE):
            found.extend(self._batch(queries[first : first + _QUERIES_AT_ONCE].tocsr(), k))
        return found

    def _batch(self, queries: Any, k: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        searched, slack = self._without_common(queries)
        candidates = (searched @ self._columns).tocoo()
        near = candidates.data + slack[candidates.row] >= self.threshold - 1e-5
        rows, columns = candidates.row[near], candidates.col[near]
        products = queries[rows].multiply(self.vectors[columns])
        cosines: NDArray[np.float64] = np.asarray(products.sum(axis=1), dtype=np.float64).ravel()
        kept = cosines >= self.threshold
        rows, columns, cosines = rows[kept], columns[kept], cosines[kept]
        order = np.lexsort((columns, -cosines.round(6), rows))
        rows, columns, cosines = rows[order], columns[order], cosines[order]
        ends = np.searchsorted(rows, np.arange(queries.shape[0] + 1))
        for start, end in itertools.pairwise(ends):
            last = min(end, start + k)
            if start == end:  # scispaCy fails on a batch in which no query has a neighbour
                yield np.zeros(1, dtype=np.int64), np.ones(1)
            else:
                yield columns[start:last], 1.0 - cosines[start:last]

    def _without_common(self, queries: Any) -> tuple[Any, NDArray[np.float64]]:
        """The queries without their commonest trigrams, and the length of what was left out of each."""
        searched = queries.copy()
        slack = np.zeros(queries.shape[0])
        for row in range(queries.shape[0]):
            place = slice(queries.indptr[row], queries.indptr[row + 1])
            order = np.argsort(-self._counts[queries.indices[place]], kind="stable")
            squares = np.cumsum(queries.data[place][order].astype(float) ** 2)
            left_out = int(np.searchsorted(squares, (self.threshold - 1e-3) ** 2))
            searched.data[place][order[:left_out]] = 0
            slack[row] = math.sqrt(squares[left_out - 1]) if left_out else 0.0
        searched.eliminate_zeros()
        return searched, slack


@dataclass(frozen=True, slots=True)
class _Index:
    """scispaCy over one language."""

    language: str
    generator: Any
    threshold: float
    stop_words: frozenset[str]

    def read(self, text: str) -> Iterator[Match]:
        """The best reading of every span of a text that has one; short forms as their long forms."""
        pipeline = loading.blank_pipeline(self.language, EXTRA)
        for offset, piece in loading.pieces(text, self.language):
            with pipeline.memory_zone():
                document = pipeline(piece)
                spans = list(self._windows(document))
                short = self._short_forms(pipeline, document, piece)
            spans = [(start, end, written) for start, end, written in spans if (start, end) not in short]
            wanted = [*spans, *((start, end, long) for (start, end), long in sorted(short.items()))]
            best = self._link(sorted({written for *_, written in wanted}))
            for start, end, written in wanted:
                if written in best:
                    score, concept, name = best[written]
                    rule = "short_form" if (start, end) in short else rule_of(written, name)
                    yield Match(offset + start, offset + end, concept, name, rule, score)

    def _windows(self, document: Any) -> Iterator[tuple[int, int, str]]:
        """Runs of words that may be mentions: content words at the ends, no bracket or full stop inside."""
        characters = self.language in loading.SCRIPTS_WITHOUT_SPACES
        longest = _CHARACTER_WINDOW if characters else _WINDOW
        shortest = 1 if characters or self.language == "ko" else _SHORTEST
        text = document.text
        tokens = [(token.idx, token.idx + len(token), token.text) for token in document]
        content = [self._is_content(word) for *_, word in tokens]
        for first, (start, _, _) in enumerate(tokens):
            if not content[first]:
                continue
            for last in range(first, min(first + longest, len(tokens))):
                end = tokens[last][1]
                if tokens[last][2] in _ENDS:
                    break
                if content[last] and end - start >= shortest:
                    yield start, end, text[start:end]

    def _is_content(self, word: str) -> bool:
        return any(letter.isalnum() for letter in word) and word.lower() not in self.stop_words

    def _short_forms(self, pipeline: Any, document: Any, text: str) -> dict[tuple[int, int], str]:
        """Long form by place of each short form. Dense brackets, quadratic work for it, are left alone."""
        if not 0 < text.count("(") <= _BRACKETS_AT_ONCE:
            return {}
        detector = loading.require("scispacy.abbreviation", EXTRA).AbbreviationDetector(pipeline)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"\[W036\]")  # brackets, but no abbreviation in them
            found = detector(document)._.abbreviations
        return {(short.start_char, short.end_char): short._.long_form.text for short in found}

    def _link(self, texts: Sequence[str]) -> dict[str, tuple[float, str, str]]:
        """(similarity, concept, name) of the nearest name of each text that has one; labels go first."""
        best = {}
        for text, candidates in zip(texts, self.generator(list(texts), _NEIGHBOURS), strict=True):
            readings = [
                (-round(min(similarity, 1.0), 4), candidate.concept_id, alias)
                for candidate in candidates
                for alias, similarity in zip(candidate.aliases, candidate.similarities, strict=True)
                if similarity >= self.threshold - 1e-6
                and len(text) <= _LENGTH_RATIO * len(alias)
                and len(alias) <= _LENGTH_RATIO * len(text)
            ]
            if readings:
                score, concept, name = min(readings, key=self._rank)
                best[text] = (-score, concept, name)
        return best

    def _rank(self, reading: tuple[float, str, str]) -> tuple[float, bool, str, str]:
        score, concept, name = reading
        return score, self.generator.kb.cui_to_entity[concept].canonical_name != name, concept, name


def _open(folder: Path, language: str, threshold: float) -> _Index:
    linking = loading.require("scispacy.linking_utils", EXTRA)
    candidates = loading.require("scispacy.candidate_generation", EXTRA)
    trigrams = json.loads((folder / "trigrams.json").read_text("utf-8"))
    vectorizer = _vectorizer(language, vocabulary={trigram: place for place, trigram in enumerate(trigrams)})
    vectorizer.idf_ = np.load(folder / "idf.npy")
    vectors = loading.require("scipy.sparse", EXTRA).load_npz(folder / "tfidf_vectors_sparse.npz")
    generator = candidates.CandidateGenerator(
        ann_index=ExactNeighbours(vectors, threshold),
        tfidf_vectorizer=Vectorizer(vectorizer),
        ann_concept_aliases_list=json.loads((folder / "concept_aliases.json").read_text("utf-8")),
        kb=linking.KnowledgeBase(str(folder / "kb.jsonl")),
    )
    return _Index(language, generator, threshold, loading.stop_words(language, EXTRA))


def open_scispacy(path: Path, *, threshold: float = THRESHOLD) -> LanguageMatcher:
    """Opens an index that :func:`prepare` built; a language is read when a text first needs it.

    Args:
        path: folder of the index.
        threshold: least cosine similarity of a name, 0 to 1.

    Raises:
        UsageError: the extra is not installed.
        WorkspaceError: no finished index of this kind is there.
    """
    loading.require("scispacy.candidate_generation", EXTRA)
    open_index = functools.partial(_open, threshold=threshold)
    return LanguageMatcher(path, loading.indexed_languages(path, EXTRA), open_index, strictness=_STRICTNESS)
