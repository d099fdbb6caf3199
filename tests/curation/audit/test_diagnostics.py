"""Diagnostics: complete, in range, needs that follow, values that labels, candidates and runs bear out."""

from __future__ import annotations

import gzip
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curation.audit.dataset import Dataset
from curation.audit.derived import invented_row
from curation.audit.rules.diagnostics import RULES
from curation.derived.diagnostics.conditions import needs
from tests.curation.audit.small import check, dataset, named, qrels, queries, rule_of, texts

FIT = rule_of(RULES, "diagnostics")
NEEDS = rule_of(RULES, "diagnostics_needs")
VALUES = rule_of(RULES, "diagnostics_values")


def small(root: Path, rows: list[dict[str, Any]], **tables: list[dict[str, Any]]) -> Dataset:
    """Queries q1 and q2, each with one positive of grade 2, d1 and d2."""
    return dataset(
        root,
        {
            "queries": queries(("q1", "One?"), ("q2", "Two?")),
            "corpus": texts(("d1", "A"), ("d2", "B"), ("d3", "C")),
            "qrels": qrels(("q1", "d1"), ("q2", "d2")),
            "diagnostics": rows,
            **tables,
        },
    )


def rows(**changes: Any) -> list[dict[str, Any]]:
    """Good rows of q1 and q2; the first changed."""
    return [invented_row("q1") | changes, invented_row("q2")]


def test_good_rows_pass(tmp_path: Path) -> None:
    for rule in RULES:
        result = check(rule, small(tmp_path / rule.id, rows()), tmp_path)
        assert (result.status, result.compared) == ("passed", 2), result


def test_without_diagnostics_nothing_is_said(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {"queries": queries(("q1", "One?"))})
    assert {check(rule, subject, tmp_path).status for rule in RULES} == {"not_applicable"}


@pytest.mark.parametrize(
    "changes",
    [
        {"query-id": "gone"},
        {"text_only": 1.000001},
        {"caption_for_image": -0.5},
        {"chance_first": 2.0},
        {"shortcut_scores": [{"shortcut": "length/longest", "ndcg": None}]},
        {"shortcut_scores": [{"shortcut": "smell", "ndcg": 0.5}]},
        {"shortcuts": ["position/first"]},
        {"chance": None},
        {"candidates": 1},
        {"candidates": -1, "shortcut_scores": []},
    ],
)
def test_rows_that_do_not_fit(tmp_path: Path, changes: dict[str, Any]) -> None:
    result = check(FIT, small(tmp_path, rows(**changes)), tmp_path)
    assert result.status == "failed" and named(result) - {"gone"} == {"q1"}


def test_the_rule_tells_needs_as_the_code_does(tmp_path: Path) -> None:
    """Over a grid with values on both sides of the tolerance, and with nulls."""
    grid = [None, 0.0, 0.03, 0.45, 0.500001, 0.55, 1.0]
    cases = list(product(grid, grid, grid))
    columns = np.array([[np.nan if value is None else value for value in case] for case in cases])
    told = needs(*columns.T)
    made = [
        invented_row(f"q{place:04}")
        | {
            "text_only": text,
            "image_only": image,
            "text_and_image": both,
            "shuffled_image": None,
            "needs": need,
        }
        for place, ((text, image, both), need) in enumerate(zip(cases, told, strict=True))
    ]
    result = check(NEEDS, dataset(tmp_path / "1", {"diagnostics": made}), tmp_path)
    lacking = {row["query-id"] for row in made if row["text_and_image"] is not None and row["needs"] == ""}
    assert result.found == len(lacking) and named(result) <= lacking
    assert all("one of the two alone was not" in finding.message for finding in result.findings)
    for row in made:
        row["needs"] = "text" if row["needs"] != "text" else "neither"
    wrong = check(NEEDS, dataset(tmp_path / "2", {"diagnostics": made}), tmp_path)
    assert wrong.found == len(made) + len(lacking)


def test_another_image_needs_both(tmp_path: Path) -> None:
    changes = {"text_and_image": None, "needs": ""}
    assert named(check(NEEDS, small(tmp_path, rows(**changes)), tmp_path)) == {"q1"}


@pytest.mark.parametrize(
    "changes", [{"chance": 0.72}, {"chance_first": 0.5}, {"candidates": 4}, {"candidates": 0}]
)
def test_chance_follows_from_labels(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert named(check(VALUES, small(tmp_path, rows(**changes)), tmp_path)) == {"q1"}


def _run(root: Path, *lines: str) -> None:
    path = root / "runs" / "test" / "bm25.trec.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    notes = {
        "test": {"conditions": {"text_only": {"system": "bm25"}}, "shortcuts": {"candidates": "top_ranked"}}
    }
    (root / "runs" / "diagnostics.json").write_text(json.dumps(notes), "utf-8")


def test_values_follow_from_the_run(tmp_path: Path) -> None:
    good = ("q1 Q0 d1 1 9.5 bm25", "q1 Q0 d3 2 9.4 bm25", "q2 Q0 d2 1 3 bm25")
    listed = [{"query-id": q, "corpus-ids": ["d1", "d2", "d3"]} for q in ("q1", "q2")]
    subject = small(tmp_path / "1", rows(), top_ranked=listed)
    _run(tmp_path / "1", *good)
    result = check(VALUES, subject, tmp_path)
    assert result.status == "passed" and "bm25_solvable, candidates, chance, text_only" in result.note
    below = small(tmp_path / "2", rows())
    _run(tmp_path / "2", "q1 Q0 d3 1 9.5 bm25", "q1 Q0 d1 2 9.4 bm25", good[2])
    said = {finding.message.split()[0] for finding in check(VALUES, below, tmp_path).findings}
    assert said == {"text_only", "bm25_solvable"}
    shorter = [listed[0] | {"corpus-ids": ["d1", "d2"]}, listed[1]]
    pool = small(tmp_path / "3", rows(), top_ranked=shorter)
    _run(tmp_path / "3", *good)
    assert named(check(VALUES, pool, tmp_path)) == {"q1"}


def test_equal_scores_are_told_from_the_written_ones(tmp_path: Path) -> None:
    """d1 and d3 had one score; written, the second is a 32-bit step lower: the first place is not sure."""
    step = np.nextafter(np.float32(9.5), np.float32(0))
    _run(tmp_path / "1", "q1 Q0 d1 1 9.5 bm25", f"q1 Q0 d3 2 {step!s} bm25", "q2 Q0 d2 1 3 bm25")
    result = check(VALUES, small(tmp_path / "1", rows()), tmp_path)
    assert named(result) == {"q1"} and "says False" in result.findings[0].message
    assert check(VALUES, small(tmp_path / "1", rows(bm25_solvable=False)), tmp_path).status == "passed"


def test_a_run_that_cannot_be_read_proves_nothing(tmp_path: Path) -> None:
    _run(tmp_path / "1", "q1 Q0 d1")
    assert check(VALUES, small(tmp_path / "1", rows()), tmp_path).status == "not_covered"
