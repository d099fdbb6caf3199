"""Rules on distractors: what is made passes, every planted defect is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.audit.dataset import Dataset
from curation.audit.derived import distractors_of
from curation.audit.rules.distractors import RULES
from tests.curation.audit.small import check, dataset, named, planted, qrels, queries, rule_of, texts

Rows = dict[str, list[dict[str, Any]]]
FIT, MATCH = rule_of(RULES, "distractors"), rule_of(RULES, "distractors_match")
NAMES = tuple(f"q{number}" for number in range(6))


def good() -> Rows:
    """Six queries, each with a positive and an excluded document, and two documents that nobody judged."""
    documents = [*(f"d{name}" for name in NAMES), *(f"x{name}" for name in NAMES), "y1", "y2"]
    rows: Rows = {
        "queries": queries(*((name, f"Text of {name}") for name in NAMES), specialty="", region=""),
        "corpus": texts(*((name, f"Text of {name} " + "word " * 30) for name in documents)),
        "qrels": qrels(*((name, f"d{name}") for name in NAMES)),
        "excluded": [{"query-id": name, "corpus-id": f"x{name}", "reason": "own_article"} for name in NAMES],
        "provenance_queries": [
            {
                "id": name,
                "split": "test",
                "article_id": f"a-{name}",
                "patient_id": "",
                "source_id": f"s{name}",
            }
            for name in NAMES
        ],
        "provenance_corpus": [
            {
                "id": name,
                "article_id": f"b-{name}",
                "patient_id": "",
                "specialty": "cardiology",
                "genre": "letter" if name.startswith("y") else "case-report",
                "text_sha256": name,
                "image_sha256": None,
            }
            for name in documents
        ],
    }
    rows["distractors"] = distractors_of(rows)
    return rows


def small(folder: Path, change: Callable[[Rows], Any] = lambda rows: None) -> Dataset:
    rows = good()
    change(rows)
    return dataset(folder, rows)


def row_of(rows: Rows, table: str, name: str) -> dict[str, Any]:
    return next(row for row in rows[table] if row.get("id", row.get("query-id")) == name)


def test_good_rows_pass_and_canaries_are_found(tmp_path: Path) -> None:
    subject = small(tmp_path / "good")
    for rule in RULES:
        result = check(rule, subject, tmp_path)
        assert (result.status, result.compared) == ("passed", 24), result
    assert planted(RULES, subject, tmp_path / "scratch") == {}


def test_one_distractor_in_the_copy_is_enough_to_plant_in(tmp_path: Path) -> None:
    subject = small(tmp_path / "good", lambda rows: rows.update({"distractors": rows["distractors"][:1]}))
    left = planted(RULES, subject, tmp_path / "scratch")
    assert "a query that is not published" not in str(left), left


def test_without_distractors_nothing_is_said(tmp_path: Path) -> None:
    subject = small(tmp_path, lambda rows: rows.pop("distractors"))
    assert {check(rule, subject, tmp_path).status for rule in RULES} == {"not_applicable"}


def test_without_provenance_the_rules_cannot_run(tmp_path: Path) -> None:
    subject = small(tmp_path, lambda rows: rows.pop("provenance_corpus"))
    assert {check(rule, subject, tmp_path).status for rule in RULES} == {"not_run"}


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("provenance_queries", "split", "dev"),
        ("provenance_queries", "article_id", "b-dq1"),
        ("provenance_queries", "source_id", "dq1"),
        ("distractors", "corpus-id", "dq0"),
        ("distractors", "corpus-id", "xq0"),
        ("distractors", "corpus-id", "gone"),
        ("distractors", "rank", 2),
        ("distractors", "rank", 0),
        ("distractors", "rank", None),
        ("distractors", "label_status", "negative"),
        ("distractors", "label_status", None),
    ],
)
def test_rows_that_do_not_fit(tmp_path: Path, table: str, column: str, value: object) -> None:
    result = check(
        FIT, small(tmp_path, lambda rows: row_of(rows, table, "q0").update({column: value})), tmp_path
    )
    assert result.status == "failed" and "q0" in named(result)
    assert not named(result) & {"q2", "q3", "q4", "q5"}


@pytest.mark.parametrize("column", ["article_id", "patient_id", "text_sha256", "image_sha256"])
def test_nothing_shared_with_a_positive(tmp_path: Path, column: str) -> None:
    def change(rows: Rows) -> None:
        for name in ("dq0", "dq1"):
            row_of(rows, "provenance_corpus", name)[column] = "shared"

    result = check(FIT, small(tmp_path, change), tmp_path)
    assert named(result) == {"q0", "dq1", "q1", "dq0"}
    assert all(f"shares {column}" in finding.message for finding in result.findings)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("matched", ["specialty", "genre"]),
        ("matched", []),
        ("matched", None),
        ("specialty", "neurology"),
        ("genre", ""),
        ("length_band", "50-99"),
        ("length_band", None),
    ],
)
def test_rows_that_do_not_match(tmp_path: Path, column: str, value: object) -> None:
    subject = small(tmp_path, lambda rows: row_of(rows, "distractors", "q0").update({column: value}))
    result = check(MATCH, subject, tmp_path)
    assert result.found == 1 and named(result) == {"q0", "dq1"}


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("provenance_corpus", "specialty", "x"), ("corpus", "language", "de"), ("corpus", "text", "short")],
)
def test_a_document_that_is_not_alike(tmp_path: Path, table: str, column: str, value: object) -> None:
    subject = small(tmp_path, lambda rows: row_of(rows, table, "dq1").update({column: value}))
    result = check(MATCH, subject, tmp_path)
    assert "dq1" in named(result) and result.status == "failed"


def test_a_better_match_stands_first(tmp_path: Path) -> None:
    """The last of q0's distractors, a letter, is put before the others, case reports as the positive is."""

    def change(rows: Rows) -> None:
        mine = [row for row in rows["distractors"] if row["query-id"] == "q0"]
        row_of(rows, "provenance_corpus", mine[0]["corpus-id"])["genre"] = "letter"
        mine[0] |= {"genre": "letter", "matched": ["specialty", "length_band"]}
        for row in rows["distractors"]:
            if row["query-id"] != "q0" and row["corpus-id"] == mine[0]["corpus-id"]:
                rows["distractors"] = [other for other in rows["distractors"] if other is not row]

    result = check(MATCH, small(tmp_path, change), tmp_path)
    messages = {finding.message for finding in result.findings if "q0" in {item.id for item in finding.sides}}
    assert messages == {"a document stands before one that matches better"}
