"""The measure of facets among passages about the right concept, beside the exact name and a lot."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.facets import (
    EXACT,
    LOT,
    FacetPool,
    exact_names,
    expected_ndcg,
    facet_pool,
    facet_report,
)
from curation.evaluation.ranking import Ranking
from schemas.benchmark import CORE_LANGUAGES
from tests import releases
from tests.curation.evaluation.world import Release, toy

SWAPPED = (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))
"""nDCG of the neighbouring facet before the facet asked."""
TEXTS = ("Gout is treated with rest.", "Gout, gout and Gout: crystals.", "Of gout in antiquity.", "Asthma.")


@pytest.fixture
def asked(tmp_path: Path) -> Collection:
    """One concept asked about in two languages; d1 answers, d2 is near, d3 tells a far facet."""
    release = Release(
        documents=[{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS, 1)],
        queries=[
            {"id": "q1", "text": "How is gout treated?", "language": "en"},
            {"id": "q2", "text": "¿Cómo se trata la gota?", "language": "es"},
            {"id": "q3", "text": "What is asthma?", "language": "en"},
            {"id": "q4", "text": "Gota tratada con reposo", "language": "es"},
        ],
        qrels=[
            ("q1", "d1", 2),
            ("q1", "d2", 1),
            ("q2", "d1", 2),
            ("q2", "d2", 1),
            ("q3", "d4", 2),
            ("q4", "d1", 2),
            ("q4", "d2", 0),
        ],
    )
    folder = release.write(tmp_path)
    far = [{"query-id": query, "corpus-id": "d3", "rank": 1} for query in ("q1", "q2")]
    rows = (("q1", "en", "gout", "C:1"), ("q2", "es", "gota", "C:1"), ("q3", "en", "asthma", "C:2"))
    strings = [
        {**dict(zip(("query-id", "language", "name", "concept"), row, strict=True)), "kind": "template"}
        for row in rows
    ]
    strings.append({"query-id": "q4", "language": "es", "kind": "human"})  # a known item: no question
    releases.write(folder, {"hard_pool": far, "strings": strings})
    release.seal(folder)
    return open_collection(folder)


def ranked(*places: int) -> Ranking:
    return Ranking(np.array(places, np.int32), np.arange(len(places), 0, -1).astype(np.float64))


@pytest.fixture
def pool(asked: Collection) -> FacetPool:
    found = facet_pool(asked)
    assert found is not None
    return found


def means(report: dict[str, Any]) -> dict[str, Any]:
    return {name: made["facet"]["mean"] for name, made in report["systems"].items()}


def test_each_question_is_ranked_among_the_passages_about_its_concept(pool: FacetPool) -> None:
    assert [query.id for query in pool.part.queries] == ["q1", "q2"]
    assert {query: places.tolist() for query, places in pool.part.sets.items()} == {
        "q1": [0, 1, 2],
        "q2": [0, 1, 2],
    }
    assert (pool.deepest, pool.of_one) == (3, 1)  # q3 has one grade, q4 is a known item


def test_what_a_system_found_in_the_corpus_does_not_count_but_how_it_orders_the_pool(pool: FacetPool) -> None:
    perfect, worst = ranked(0, 1, 2), ranked(2, 1, 0)
    runs = {"finds": {"q1": worst, "q2": worst}, "found in one language": {"q1": perfect}}
    pooled = {"finds": {"q1": worst, "q2": worst}, "found in one language": {"q1": perfect, "q2": perfect}}
    told = facet_report(pool, runs, pooled)
    facet = means(told)
    assert facet["found in one language"] == 1.0 and facet["finds"] < facet[LOT] < 1.0
    assert told["systems"]["found in one language"]["nDCG@10"]["mean"] < 0.4  # of three, two not found
    assert (told["queries"], told["queries_of_one_grade"], told["passages"]) == (2, 1, 3.0)


def test_what_is_not_ranked_shares_the_places_left(pool: FacetPool) -> None:
    run = {"q1": ranked(1)}  # then grades 2 and 0 by lot; of q2 nothing
    told = facet_report(pool, {"bm25": run}, {"bm25": run})
    d2, d3 = 1 / np.log2(3), 0.5
    ideal = 2 + d2
    assert told["systems"]["bm25"]["languages"] == {
        "en": pytest.approx((1 + (d2 + d3)) / ideal, abs=1e-6),
        "es": pytest.approx((1 + d2 + d3) / ideal, abs=1e-6),
    }
    assert told["systems"]["bm25"]["languages"]["es"] == told["systems"][LOT]["languages"]["es"]


def test_of_a_run_given_as_a_file_only_questions_count_whose_passages_it_ranks_all(pool: FacetPool) -> None:
    run = {"q1": ranked(3, 1, 0, 2), "q2": ranked(0, 1)}
    told = facet_report(pool, {"mine": run}, {})["systems"]["mine"]
    assert told["queries"] == 1 and told["languages"] == {"en": pytest.approx(SWAPPED, abs=1e-6)}
    assert facet_report(pool, {"mine": {}}, {})["systems"]["mine"]["facet"]["mean"] is None


def test_the_expectation_is_the_mean_over_all_orders() -> None:
    groups = [[2], [1, 0, 0], [2, 1]]

    def plain(grades: list[int]) -> float:
        return float(sum(grade / np.log2(place + 2) for place, grade in enumerate(grades)))

    orders = [[2, *a, *b] for a in permutations(groups[1]) for b in permutations(groups[2])]
    mean = float(np.mean([plain(order) for order in orders])) / plain([2, 2, 1, 1, 0, 0])
    assert expected_ndcg(groups) == pytest.approx(mean)
    assert expected_ndcg([[0] * 10, [2]]) == 0.0  # below rank 10 nothing counts
    assert expected_ndcg([[2, *[0] * 19]]) == pytest.approx(
        sum(1 / np.log2(place) for place in range(2, 12)) / 20
    )


def test_names_that_stand_equally_often_share_their_places(pool: FacetPool) -> None:
    # d2 has it three times, d1 and d3 once: grades 1, then 2 and 0 by lot.
    facet = means(facet_report(pool, {}, {}))
    assert facet[EXACT] == pytest.approx((1 + (1 / np.log2(3) + 0.5)) / (2 + 1 / np.log2(3)), abs=1e-6)


def test_the_headline_is_of_the_parallel_core_and_its_gap_of_whole_families(tmp_path: Path) -> None:
    queries = [
        {"id": f"{language}{number}", "text": "?", "language": language, "family": f"C:{number}/cause"}
        for number in range(2)
        for language in CORE_LANGUAGES
    ] + [{"id": "de0", "text": "?", "language": "de", "family": "C:0/cause"}]
    release = Release(
        documents=[{"id": f"d{number}", "text": "x"} for number in (1, 2)],
        queries=queries,
        qrels=[
            (query["id"], document, grade) for query in queries for document, grade in (("d1", 2), ("d2", 1))
        ],
    )
    folder = release.write(tmp_path)
    strings = [
        {
            "query-id": query["id"],
            "language": query["language"],
            "concept": "C:1",
            "name": "x",
            "kind": "template",
        }
        for query in queries
    ]
    releases.write(folder, {"strings": strings})
    release.seal(folder)
    pool = facet_pool(open_collection(folder))
    assert pool is not None
    run = {query["id"]: ranked(*((1, 0) if query["id"] in ("ja0", "de0") else (0, 1))) for query in queries}
    told = facet_report(pool, {"bm25": run}, {"bm25": run})
    assert told["core"]["families"] == 2
    made = told["systems"]["bm25"]
    assert made["core"]["mean"] == pytest.approx((11 + SWAPPED) / 12, abs=1e-6)
    assert made["facet"]["mean"] == pytest.approx((11 + 2 * SWAPPED) / 13, abs=1e-6)
    gap = made["fairness"]
    assert (gap["worst"], gap["families"]) == ("ja", 2) and gap["gap"] == pytest.approx((1 - SWAPPED) / 2)
    assert gap["low"] == 0.0 and gap["high"] == pytest.approx(1 - SWAPPED)
    assert told["systems"][LOT]["fairness"]["gap"] == 0.0
    part = {query: ranking for query, ranking in run.items() if query != "zh0"}
    mine = facet_report(pool, {"mine": part}, {})["systems"]["mine"]  # one family is whole
    assert (mine["queries"], mine["core"]["mean"], mine["fairness"]["families"]) == (12, 1.0, 1)


def test_the_exact_name_finds_all_that_have_it_in_any_language_asked(asked: Collection) -> None:
    run = exact_names(asked, {"q1": "gout", "q2": "gout", "q3": "asth"})
    assert run["q1"].documents.tolist() == run["q2"].documents.tolist() == [1, 0, 2]
    assert run["q1"].scores.tolist() == [3.0, 1.0, 1.0]
    assert run["q3"].documents.tolist() == []  # part of a word is no name


def test_a_task_without_named_concepts_has_no_such_report(tmp_path: Path) -> None:
    collection = open_collection(toy().write(tmp_path))
    assert facet_pool(collection) is None
