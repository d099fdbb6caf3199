"""BM25 equals a reference written from the formula, and bm25s' own index; ties go by id."""

import math
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import pytest

from curation.evaluation.bm25 import STEP, Parameters, build, open_index, search_all
from curation.evaluation.ranking import Indices
from curation.evaluation.terms import Analyser
from schemas.errors import InputError

WORDS = ["lobe", "fever", "lung", "heart", "retina", "bone", "pain", "cough", "rash", "node", "cell", "drug"]


def corpus(size: int, seed: int = 5) -> list[str]:
    rng = np.random.Generator(np.random.PCG64(seed))
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return [
        " ".join(rng.choice(WORDS, int(rng.integers(0, 14)), p=weights / weights.sum())) for _ in range(size)
    ]


def everything(documents: int) -> Indices:
    return np.arange(documents, dtype=np.int32)


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
        scores = index.scores_of(asked, everything(80))
        np.testing.assert_allclose(scores, reference(terms, asked, k1, b), rtol=1e-5, atol=STEP)
        np.testing.assert_allclose(scores, plain.get_scores(asked), rtol=1e-6, atol=0.51 * STEP)


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
    asked = ["fever", "lung"], everything(40)
    np.testing.assert_array_equal(index.scores_of(*asked), again.scores_of(*asked))


def test_documents_without_terms_and_an_empty_corpus(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert len(build([("the", "en"), ("", "en")], tmp_path / "a", Analyser()).search(["lung"], 5)) == 0
    assert len(build([], tmp_path / "b", Analyser()).search(["lung"], 5)) == 0


MIDDLING = [f"middling{number}" for number in range(8)]


def mixed(size: int, seed: int) -> list[str]:
    """Texts of common words, some with a word that one in ten has or with all of these, and rare ones."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rare = rng.integers(0, 300, size).tolist()
    middling = [MIDDLING if draw == 19 else MIDDLING[draw : draw + 1] for draw in rng.integers(0, 20, size)]
    texts = zip(corpus(size, seed), middling, rare, strict=True)
    return [f"{text} {' '.join(words)} rare{one}" for text, words, one in texts]


ASKED = (
    "fever of the lung lobe",
    "lobe lobe",
    "drug",
    "bone cell pain cough rash node heart",
    "rare7 lung rare8 rare9 fever rare7",
    "rare12",
    " ".join(MIDDLING),  # the sum of their bounds is wider than a byte
    "middling2 " * 2_000 + "rare3 fever",  # wider than two
)


@pytest.mark.parametrize("k", [1, 3, 10, 60, 500, 2000])
@pytest.mark.parametrize("left_out", [None, np.arange(0, 900, 3, dtype=np.int32)])
def test_the_best_are_the_best_of_all_scores(tmp_path: Path, k: int, left_out: Indices | None) -> None:
    """Many documents are equal or nearly so: who is left out for speed never belonged to the k best."""
    analyse = Analyser()
    index = build(((text, "en") for text in mixed(900, 9)), tmp_path, analyse, block_terms=1_000)
    for query in ASKED:
        terms = analyse(query, "en")
        scores = index.scores_of(terms, everything(900))
        if left_out is not None:
            scores[left_out] = 0.0
        expected = [place for place in np.lexsort((np.arange(900), -scores)) if scores[place]]
        found = index.search(terms, k, left_out)
        assert found.documents.tolist() == expected[:k]
        np.testing.assert_array_equal(found.scores, scores[found.documents])


def test_words_of_every_document_count(tmp_path: Path) -> None:
    """A weight so small that its unit is not reached is rounded up, and the document found."""
    index = build([("lung", "en")] * 300, tmp_path, Analyser())
    assert index.search(["lung"], 5).documents.tolist() == [0, 1, 2, 3, 4]
    assert index.search(["lung"], 500).documents.tolist() == list(range(300))


def test_a_word_said_very_often_is_ranked_by_all_scores(tmp_path: Path) -> None:
    texts, analyse = corpus(4_000), Analyser()
    index = build(((text, "en") for text in texts), tmp_path, analyse)
    for times in (2, 30, 20_000):
        asked = [*["fever"] * times, "lung", "rash"]
        scores, found = index.scores_of(asked, everything(4_000)), index.search(asked, 10)
        best = np.lexsort((everything(4_000), -scores))[:10]
        assert found.documents.tolist() == best.tolist()


def test_a_query_whose_scores_are_too_large_is_named(tmp_path: Path) -> None:
    analyse = Analyser()
    index = build(((text, "en") for text in corpus(80)), tmp_path, analyse, Parameters(0.9, 0.4))
    asked = [("q1", "drug", "en"), ("q2", "drug " * 2_000_000, "en")]
    with pytest.raises(InputError, match="says a word so often") as caught:
        list(search_all(index, asked, {}, 10, analyse))
    assert caught.value.record == "q2" and caught.value.hint
