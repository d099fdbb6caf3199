"""Runs: good ones pass, measures are those of ir-measures, and what is damaged is named."""

from __future__ import annotations

import dataclasses
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit.dataset import open_release
from curation.audit.rules import runs_reading
from curation.audit.rules.runs import RULES
from curation.audit.rules.runs_made import RESULTS as RESULTS_JSON
from curation.audit.rules.runs_made import Runs, make_runs
from curation.audit.rules.runs_reading import Faults, read
from curation.audit.rules.runs_tally import Split, places
from curation.evaluation import measures
from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.judges import OfJudge, of_judge
from curation.evaluation.ranking import Ranking
from curation.evaluation.runs import write_run
from curation.published.manifest import NAME
from schemas.audit import RuleResult
from schemas.judged_tables import CALIBRATION, JUDGEMENTS
from tests.curation.audit.small import check, dataset, named, queries, rule_of
from tests.curation.release.known import edit

FILES, RESULTS = (rule_of(RULES, name) for name in ("run_files", "run_results"))
SYSTEMS = ("bm25", "dense", "st:some/model")


@pytest.fixture(scope="module")
def good(known: Path) -> tuple[Runs, str]:
    """Runs of three systems over the known release, and one that did not run; and the results as JSON."""
    made = make_runs({"test": open_collection(known)}, SYSTEMS)
    return made, json.dumps(made.results)


@pytest.fixture
def made(good: tuple[Runs, str], known: Path, tmp_path: Path) -> Runs:
    """The same, to be damaged, and a copy of that release to be written to."""
    runs, results = good
    directory = shutil.copytree(known, tmp_path / "release")
    data = dataclasses.replace(runs.data, directory=directory)
    return Runs(data, json.loads(results), {**runs.derived}, {**runs.files})


def said(made: Runs) -> tuple[RuleResult, RuleResult]:
    directory = made.data.directory
    made.write(directory)
    subject = open_release(directory)
    files, results = (check(rule, subject, directory.parent) for rule in (FILES, RESULTS))
    return files, results


def test_good_runs_pass(made: Runs) -> None:
    files, results = said(made)
    assert (files.status, files.compared, files.note) == (
        "passed",
        3 * sum(map(len, made.lines().values())),
        "3 run files read",
    )
    assert results.status == "passed" and results.compared > 300, results


def test_without_runs_nothing_is_said(known: Path, tmp_path: Path) -> None:
    for subject in (open_release(known), dataset(tmp_path, {"queries": queries(("q1", "One?"))})):
        assert {check(rule, subject, tmp_path).status for rule in RULES} == {"not_applicable"}


def random_split(size: int, documents: int) -> tuple[Split, Any]:
    """A split with labels of grades 0 to 3, and the same as `evaluate` reads it."""
    draw = np.random.default_rng(7)
    names, corpus = [f"q{n:03}" for n in range(size)], [f"d{n:03}" for n in range(documents)]
    qrels: dict[str, dict[str, int]] = {}
    for name in names:
        chosen = draw.choice(documents, draw.integers(0, 15), replace=False)
        qrels[name] = {corpus[place]: int(draw.integers(0, 4)) for place in chosen}
    pairs = sorted(
        (number * documents + corpus.index(document), grade)
        for number, name in enumerate(names)
        for document, grade in qrels[name].items()
    )
    keys, grades = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    split = Split(pa.array(names), pa.array(corpus), keys, grades, np.empty(0, np.int64))
    judged = {name: found for name, found in qrels.items() if max(found.values(), default=0) > 0}
    return split, SimpleNamespace(qrels=judged, corpus_ids=corpus, sets={})


@pytest.mark.parametrize(("k", "block"), [(100, 1 << 26), (20, 4_096), (7, 300)])
def test_measures_are_those_of_ir_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int, block: int
) -> None:
    """Also where a ranking goes on in the next block, is short, empty or not there."""
    split, collection = random_split(120, 150)
    draw = np.random.default_rng(11)
    run = {}
    for name in split.queries.to_pylist()[:-3]:
        size = int(draw.integers(0, k + 1))
        run[name] = Ranking(
            draw.permutation(150)[:size].astype(np.int32), np.sort(draw.random(size).round(2))[::-1]
        )
    path = tmp_path / "run.trec.gz"
    write_run(run, split.queries.to_pylist(), collection.corpus_ids, "x", path)
    monkeypatch.setattr(runs_reading, "_BLOCK", block)
    faults = Faults()
    tally = read(path, split, k, faults)
    assert tally and not faults.found and tally.lines == sum(map(len, run.values()))
    expected = measures.evaluate(run, collection, k)
    np.testing.assert_allclose(
        tally.values(measures.names(k, knows_zeros=split.knows_zeros)), expected, atol=1e-12
    )
    assert np.isnan(expected).any() and (np.nan_to_num(expected).max(0) > 0.1).all()


@pytest.mark.parametrize(
    ("lines", "message", "count"),
    [
        (["q000 Q0 d001 1 2.0 x", "q000 Q0 d002 2 2.0 x"], "not below the one before", 1),
        (["q000 Q0 d001 1 2.0 x", "q000 Q0 d002 2 3.0 x"], "not below the one before", 1),
        (["q000 Q0 d001 1 inf x"], "not a number", 1),
        (["q000 Q0 d001 2 1.0 x", "q000 Q0 d002 3 0.5 x"], "ranks are not", 2),
        (["q000 Q0 d001 1 1.0 x", "q001 Q0 d001 1 1.0 x", "q000 Q0 d002 2 0.5 x"], "several parts", 1),
        (["q000 Q0 d001 1 1.0 x", "q000 Q0 d001 2 0.5 x"], "twice", 1),
        (["q000 Q0 d001 1 1.0 x", "q000 Q0 d002 2 0.9 x", "q000 Q0 d003 3 0.5 x"], "longer than 2", 1),
        (["q000 Q0 d001 1 1.0 x", "zzz Q0 d001 1 1.0 x"], "not one of this split", 1),
        (["q000 Q0 d001 1 1.0 x", "q000 Q0 zzz 2 0.5 x"], "not in the corpus", 1),
        (["q000 Q0 d001 1 1.0 x", "q000 Q0 d002 2 0.5"], "cannot be read", 1),
        (["q000 Q0 d001 one 1.0 x"], "cannot be read", 1),
        (["q000 Q0 d001 1 1.0 x", "", "q000 Q0 d002 2 0.5 x"], "cannot be read", 1),
    ],
)
def test_wrong_lines_are_counted(tmp_path: Path, lines: list[str], message: str, count: int) -> None:
    split, _ = random_split(5, 20)
    path = tmp_path / "run.trec.gz"
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    faults = Faults()
    read(path, split, 2, faults)
    messages = [found[0] for kept in faults.kept.values() for found in kept]
    assert sum(message in found for found in messages) == count, faults
    assert sum(faults.found.values()) == len(messages)


def test_places_and_empty_runs(tmp_path: Path) -> None:
    assert places(np.array([3, 3, 1, 3, 3, 3])).tolist() == [0, 1, 0, 0, 1, 2]
    assert places(np.empty(0, np.int64)).tolist() == []
    split, collection = random_split(5, 20)
    path = tmp_path / "run.trec.gz"
    write_run({}, [], collection.corpus_ids, "x", path)
    faults = Faults()
    tally = read(path, split, 10, faults)
    assert tally and not faults.found, faults
    assert np.nan_to_num(tally.values(measures.names(10))).sum() == 0


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"test": 3},
        {"test": {}},
        {"test": {"k": "20", "systems": []}},
        {"test": {"k": 20, "systems": [3, None]}},
        {"test": {"k": 20, "systems": {"name": "x"}, "comparisons": [1], "facets": 1}},
        {"test": {"k": 20, "systems": [{"name": None, "status": "measured", "run_file": 3}]}},
        {"test": {"k": 20, "systems": [{"name": "../../x", "status": "measured"}]}},
        {"dev": {"k": 20, "systems": []}},
    ],
)
def test_results_of_any_shape_are_findings(made: Runs, content: Any) -> None:
    made.files[RESULTS_JSON] = json.dumps(content).encode()
    files, results = said(made)
    assert (files.status, results.status) == ("failed", "failed"), (files, results)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (
            lambda made: made.ran["facets"]["language"]["en"]["R@1"].update(mean=0.3),
            "facets/language/en/R@1/mean",
        ),
        (lambda made: made.ran["facets"]["language"].update(xx={}), "facets/language/xx"),
        (lambda made: made.ran["macro"]["language"]["RR"].update(gap=0.5), "macro/language/RR/gap"),
        (lambda made: made.ran["overall"].pop("RR"), "overall/RR"),
        (lambda made: made.ran["overall"].update(MAP=1.0), "overall/MAP"),
        (lambda made: made.ran["overall"]["RR"].update(mean=None), "overall/RR/mean"),
    ],
)
def test_numbers_of_a_system(made: Runs, change: Callable[[Runs], Any], place: str) -> None:
    change(made)
    files, results = said(made)
    assert files.status == "passed"
    assert named(results) == {f"test/systems/bm25/{place}"}


def test_means_are_compared_to_a_millionth(made: Runs) -> None:
    made.ran["overall"]["RR"]["mean"] -= 0.9e-6
    assert said(made)[1].status == "passed"
    made.ran["overall"]["RR"]["mean"] -= 0.2e-6
    assert named(said(made)[1]) == {"test/systems/bm25/overall/RR/mean"}


def test_comparisons_follow_from_the_runs(made: Runs) -> None:
    made.summary["comparisons"][0]["difference"] += 0.01
    del made.summary["comparisons"][-1]
    found = named(said(made)[1])
    assert found == {
        "test/comparisons/bm25 dense nDCG@10/difference",
        "test/comparisons/dense st:some/model judged@10",
    }


def test_a_run_that_cannot_be_read_is_told_by_both(made: Runs) -> None:
    made.set_content(b"no gzip")
    files, results = said(made)
    assert named(files) == {made.name} and "cannot be read" in files.findings[0].message
    assert results.status in ("not_covered", "failed") and "test/bm25" in results.note


def test_a_system_not_named_hides_no_file(made: Runs) -> None:
    made.summary["systems"] = [item for item in made.summary["systems"] if item["name"] != "dense"]
    assert named(said(made)[0]) == {"runs/test/dense.trec.gz"}


def test_a_missing_table_is_said(made: Runs) -> None:
    shutil.rmtree(made.data.directory / "excluded")
    assert {result.status for result in said(made)} == {"not_run"}


def test_a_query_whose_label_dangles_is_no_crash(made: Runs) -> None:
    """It counts as measured in the stated results, and as one without a positive in the files."""
    edit(made.data.directory, "qrels", lambda rows: rows[0].update({"corpus-id": "gone"}))
    _, results = said(made)
    assert results.status == "failed"
    assert {"test/queries_without_positive"} <= named(results)


FOUND_BY = (
    ["bm25:answer:1"],
    ["bm25:query:3", "bm25:reasoning:1"],
    ["bm25:query:1", "st:some/model:query:9"],
)


def judged(made: Runs, change: Callable[[list[dict[str, Any]]], Any]) -> Collection:
    """Other labels, and a table of what found them: most of them bm25 alone."""
    rows: list[dict[str, Any]] = []

    def keep(table: list[dict[str, Any]]) -> None:
        change(table)
        rows.extend(table)

    directory = made.data.directory
    edit(directory, "qrels", keep)
    qrels: dict[str, dict[str, int]] = {}
    for row in rows:
        qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = row["score"]
    mined = [
        {"query-id": query, "corpus-id": document, "found_by": FOUND_BY[place % 3]}
        for query, grades in sorted(qrels.items())
        for place, document in enumerate(sorted(grades))
    ]
    path = directory / JUDGEMENTS.folder / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(mined), path)
    return dataclasses.replace(made.data, qrels=qrels)


def test_scores_without_own_positives_are_computed_again(made: Runs) -> None:
    def more(rows: list[dict[str, Any]]) -> None:
        documents = sorted({row["corpus-id"] for row in rows})
        rows[:] = [
            {**row, "corpus-id": name} for row in rows for name in documents if row["corpus-id"] != name
        ]

    made = make_runs({"test": judged(made, more)}, SYSTEMS)
    bm25, dense, other, _ = made.summary["systems"]
    own = bm25["without_own_positives"]
    assert own["left_out"] > own["positives"] > 0 and own["mean"] < own["before"]
    assert "without_own_positives" not in dense and other["without_own_positives"]["left_out"] == 0
    assert said(made)[1].status == "passed"
    own["mean"] -= 0.01
    dense["without_own_positives"] = other.pop("without_own_positives")
    assert named(said(made)[1]) == {
        "test/systems/bm25/without_own_positives/mean",
        "test/systems/dense/without_own_positives",
        "test/systems/st:some/model/without_own_positives",
    }


@pytest.mark.parametrize(("written", "status"), [(3, "passed"), (4, "failed")])
def test_a_release_older_than_condensed_ndcg_is_not_held_to_it(
    made: Runs, monkeypatch: pytest.MonkeyPatch, written: int, status: str
) -> None:
    """It has documents judged not relevant, and what found its pairs; its results know of neither."""

    def refuse(rows: list[dict[str, Any]]) -> None:
        rows.append({**rows[0], "corpus-id": rows[-1]["corpus-id"], "score": 0})

    monkeypatch.setattr(measures, "knows_zeros", lambda collection: False)
    made = make_runs({"test": judged(made, refuse)}, SYSTEMS, judge=OfJudge({}, {}))
    path = made.data.directory / NAME
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "format_version": written}))
    assert said(made)[1].status == status


def test_orders_under_judge_and_people_are_computed_again(
    made: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("curation.evaluation.judges.LEAST_QUERIES", "curation.evaluation.judges.LEAST_SYSTEMS"):
        monkeypatch.setattr(place, 2)
    rows: list[dict[str, Any]] = []
    edit(made.data.directory, "qrels", rows.extend)
    documents = sorted({row["corpus-id"] for row in rows})
    graded = [
        {"query-id": row["query-id"], "corpus-id": name, "judge": judge, "people": 2 - judge}
        for row in rows
        for name, judge in zip(documents[:3], (2, 0, 1), strict=False)
    ]
    path = made.data.directory / CALIBRATION.folder / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([*graded, {**graded[0], "corpus-id": "x", "people": None}]), path)
    judge = of_judge(made.data.directory)
    assert len(judge.sample) == len(graded)
    made = make_runs({"test": made.data}, SYSTEMS, judge)
    told = made.summary["judge_and_people"]
    assert told["status"] == "measured" and told["queries"] > 1 and len(told["systems"]) == 3
    assert said(made)[1].status == "passed"
    told["tau"] = 0.123
    told["systems"]["bm25"]["people"] += 0.01
    assert named(said(made)[1]) == {
        "test/judge_and_people/tau",
        "test/judge_and_people/systems/bm25/people",
    }
    del made.summary["judge_and_people"]
    assert named(said(made)[1]) == {"test/judge_and_people"}
    made.summary["format"] = 1
    assert said(made)[1].status == "passed"


def test_a_judge_that_was_asked_twice_is_counted_again(made: Runs) -> None:
    rows: list[dict[str, Any]] = []
    edit(made.data.directory, "qrels", rows.extend)
    told = [
        {
            **{name: row[name] for name in ("query-id", "corpus-id")}, "found_by": ["bm25:answer:1"],
            "forward": "2 2", "reversed": "0 1" if place == 1 else "2 2",
            "seeded": "2 3" if place < 2 else "", "reason": "unstable" if place == 1 else "",
        }
        for place, row in enumerate(rows)
    ]  # fmt: skip
    path = made.data.directory / JUDGEMENTS.folder / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(told), path)
    made = make_runs({"test": made.data}, SYSTEMS)
    assert made.summary["judge_stability"]["order"]["changed"] == 1
    assert made.summary["judge_stability"]["seeds"] == {"pairs": 2, "changed": 2, "share": 1.0}
    assert said(made)[1].status == "passed"
    made.summary["judge_stability"]["seeds"]["changed"] = 1
    assert named(said(made)[1]) == {"test/judge_stability/seeds/changed"}
    del made.summary["judge_stability"]
    assert named(said(made)[1]) == {"test/judge_stability"}
    made.summary["format"] = 2
    assert said(made)[1].status == "passed"
