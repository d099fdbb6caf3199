"""The grounding benchmark on a few names: contestants in processes of their own, and the page of a result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.grounding import __main__ as benchmark
from benchmarks.grounding import generate, page, sets

NAMES, DOCUMENTS = 400, 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grounding") / "generated"
    sets.write_generated(path, NAMES, generate.documents(NAMES, DOCUMENTS))
    return path


def test_contestants_run_apart_and_are_scored_alike(folder: Path) -> None:
    documents = generate.documents(NAMES, DOCUMENTS)
    rows = {}
    for name in ("native", "dictionary"):
        result = benchmark.run(name, folder, 8, nested=True)
        assert set(result["flat"]) == {item.id for item in documents[:8]}
        assert all(len(result["nested"][key]) >= len(found) for key, found in result["flat"].items())
        rows[name] = benchmark._generated_row(result, documents)
    assert rows["dictionary"]["index_mb"] is None
    assert rows["native"]["index_mb"] > 0
    for row in rows.values():
        assert row["scores"]["exact"] > 0.9
        assert row["documents_per_cpu_second"] > 0
    assert rows["native"]["scores"]["plural"] > rows["dictionary"]["scores"]["plural"]


def test_a_contestant_that_fails_is_told_not_hidden(tmp_path: Path) -> None:
    assert "names.parquet" in benchmark.run("dictionary", tmp_path, 5, nested=False)["not_run"]


def test_the_peer_script_names_what_it_lacks(folder: Path) -> None:
    lines = (folder / "names.tsv").read_text("utf-8").splitlines()
    assert len(lines) == NAMES
    assert all(len(line.split("\t")) == 3 for line in lines)


def test_the_lock_of_the_peer_names_no_host() -> None:
    text = benchmark.LOCK.read_text("utf-8")
    assert "quickumls==1.4.2" in text
    assert "://" not in text


@pytest.mark.parametrize(
    ("kind", "precision", "recall"),
    [
        pytest.param("genetics", 0.84, 0.56, marks=pytest.mark.campaign),
        pytest.param("laboratory", 0.87, 0.62, marks=pytest.mark.campaign),
        ("medicine", 0.89, 0.71),
    ],
)
def test_invented_abstracts_are_read_as_well_as_measured(
    tmp_path: Path, kind: str, precision: float, recall: float
) -> None:
    """The measured rates are in benchmarks/results/grounding.json; this only keeps them from falling.

    `make bench` does so for every kind.
    """
    documents = sets.written_findings(kind, "dev")
    chosen = sets.GoldSet("dev", "", documents, sets.vocabulary(sets.KINDS[kind][1]))
    sets.write_gold(tmp_path / "gold", chosen)
    result = benchmark.run("native", tmp_path / "gold", len(documents), nested=True)
    scores = benchmark._gold_row(result, chosen)["flat"]
    assert scores["span"]["p"] > precision and scores["document"]["r"] > recall, scores


@pytest.mark.parametrize("half", ["dev", "test"])
@pytest.mark.parametrize(("kind", "number"), [("genetics", 30), ("laboratory", 16), ("medicine", 14)])
def test_invented_abstracts_are_marked_within_their_texts(kind: str, half: str, number: int) -> None:
    documents = sets.written_findings(kind, half)
    assert len({document.id for document in documents}) == len(documents) == number
    for document in documents:
        for mention in document.mentions:
            assert document.text[mention.start : mention.end].strip() and mention.end <= len(document.text)
            of = "MESH:" if kind == "medicine" else "HP:"
            assert all(concept.startswith(of) for concept in mention.concepts)


def test_the_page_of_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = {kind: 0.96 for kind in (*generate.KINDS, "all", "precision", "predicted_per_document")}
    measured = {
        "documents": 2000,
        "documents_per_cpu_second": 2500.0,
        "peak_mb": 280,
        "open_cpu_seconds": 0.1,
        "index_cpu_seconds": 14.0,
        "index_mb": 36.0,
        "scores": scores,
    }
    exact = {**measured, "index_cpu_seconds": None, "index_mb": None}
    gold = {kind: {"p": 0.5, "r": 0.25, "f1": 0.333} for kind in ("span", "overlap", "document")}
    result = {
        "versions": {"quickumls": "3.2", "quickumls_1_4_2": "1.4.2", "scispacy": "0.6.2"},
        "generated": {
            "names": 250_000,
            "characters_per_document": 1312,
            "contestants": {"native": measured, "dictionary": exact, "scispacy": {"not_run": "a | b\nc"}},
        },
        "gold": {
            "gsc": {
                "title": "GSC+",
                "names": 5,
                "documents": 2,
                "contestants": {"native": {"flat": gold, "nested": gold}, "quickumls": {"not_run": "x"}},
            }
        },
    }
    (tmp_path / "grounding.json").write_text(json.dumps(result))
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    text = "\n".join(page.section())
    assert "| **medqrels**, native | 2,500 | 280 | 14.0 | 36.0 | 0.960 |" in text
    assert "| scispaCy 0.6.2 as a backend | not run: a / b |" in text
    assert "| **medqrels**, native | 0.500 | 0.250 | 0.333 | 0.333 |" in text
    assert "missed" not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {13, 10}
