"""BM25 equals a reference written from the formula, and bm25s' own index; ties go by id."""

import math
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import pytest

from curation.evaluation.bm25 import STEP, Parameters, build, open_index
from curation.evaluation.terms import Analyser

WORDS = ["lobe", "fever", "lung", "heart", "retina", "bone", "pain", "cough", "rash", "node", "cell", "drug"]


def corpus(size: int, seed: int = 5) -> list[str]:
    rng = np.random.Generator(np.random.PCG64(seed))
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return [
        " ".join(rng.choice(WORDS, int(rng.integers(0, 14)), p=weights / weights.sum())) for _ in range(size)
    ]


def reference(documents: list[list[str]], query: list[str], k1: float, b: float) -> list[float]:
    """Lucene's BM25, from the formula."""
    mean = sum(map(len, documents)) / len(documents)
    found = Counter(term for document in documents for term in set(document))
    scores = []
    for document in documents:
        counts, score = Counter(document), 0.0
        for term in query:
            idf = math.log(1 + (len(documents) - found[term] + 0.5) / (found[term] + 0.5))
            tf = counts[term]
            if tf:
                score += idf * tf / (tf + k1 * (1 - b + b * len(document) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.5, 0.75), (0.0, 0.0), (2.0, 1.0)])
@pytest.mark.parametrize("block", [7, 10_000])
def test_scores_equal_the_formula_and_bm25s(tmp_path: Path, k1: float, b: float, block: int) -> None:
    texts, analyse = corpus(80), Analyser()
    index = build(((text, "en") for text in texts), tmp_path, analyse, Parameters(k1, b), block_terms=block)
    terms = [analyse(text, "en") for text in texts]
    plain = bm25s.BM25(k1=k1, b=b, method="lucene")
    plain.index(terms, show_progress=False)
    for query in ("fever of the lung lobe", "rash rash node", "drug", "bone cell pain cough"):
        asked = analyse(query, "en")
        scores = index.scores(asked)
        np.testing.assert_allclose(scores, reference(terms, asked, k1, b), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(scores, plain.get_scores(asked), rtol=1e-6, atol=1e-7)


def test_search_orders_by_score_then_id_and_finds_only_what_matches(tmp_path: Path) -> None:
    texts = ["lung", "heart", "lung", "lung lung", "lung", ""]
    index = build(((text, "en") for text in texts), tmp_path, Analyser())
    found = index.search(["lung"], 10)
    assert found.documents.tolist() == [3, 0, 2, 4]
    assert found.scores[1] == found.scores[2] == found.scores[3]
    assert index.search(["lung"], 2).documents.tolist() == [3, 0]
    assert index.search(["lung"], 10, np.array([0, 3], np.int32)).documents.tolist() == [2, 4]
    assert len(index.search(["unheard"], 10)) == len(index.search([], 10)) == 0


def test_an_index_opens_again(tmp_path: Path) -> None:
    texts = corpus(40)
    index = build(((text, "en") for text in texts), tmp_path, Analyser(), Parameters(1.2, 0.7))
    again = open_index(tmp_path)
    assert again.parameters == Parameters(1.2, 0.7)
    np.testing.assert_array_equal(index.scores(["fever", "lung"]), again.scores(["fever", "lung"]))


def test_documents_without_terms_and_an_empty_corpus(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert len(build([("the", "en"), ("", "en")], tmp_path / "a", Analyser()).search(["lung"], 5)) == 0
    assert len(build([], tmp_path / "b", Analyser()).search(["lung"], 5)) == 0


@pytest.mark.parametrize("k", [1, 3, 10, 60, 500])
def test_the_best_are_the_best_of_all_scores_rounded(tmp_path: Path, k: int) -> None:
    """Many documents are equal or nearly so: who is left out for speed never belonged to the k best."""
    texts, analyse = corpus(400, seed=9), Analyser()
    index = build(((text, "en") for text in texts), tmp_path, analyse)
    for query in ("fever of the lung lobe", "lobe lobe", "drug", "bone cell pain cough rash node heart"):
        terms = analyse(query, "en")
        steps = np.rint(index.scores(terms).astype(np.float64) / STEP).astype(np.int64)
        expected = [
            place for place in np.lexsort((np.arange(len(steps)), -steps)) if index.scores(terms)[place]
        ]
        found = index.search(terms, k)
        assert found.documents.tolist() == expected[:k]
        np.testing.assert_array_equal(index.scores_of(terms, found.documents), found.scores)
