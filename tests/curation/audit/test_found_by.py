"""What found each positive is proved on releases whose judge also saw pairs that are no qrels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curation.audit.rules.found_by import RULES
from tests.curation.audit.small import check, dataset, named, planted, qrels, queries, texts

[RULE] = RULES


def said(query: str, document: str) -> dict[str, Any]:
    """A pair that a judge saw, found by one view."""
    return {"query-id": query, "corpus-id": document, "found_by": ["bm25:answer:1"], "only_reasoning": False}


def test_defects_are_found_though_the_first_pair_judged_is_excluded(tmp_path: Path) -> None:
    tables = {
        "judgements": [said("q0", "d0"), said("q0", "d1"), said("q1", "d2")],
        "qrels": qrels(("q0", "d1"), ("q1", "d2"), score=2, status="judge"),
        "excluded": [{"query-id": "q0", "corpus-id": "d0", "reason": "middle"}],
        "queries": queries(*((f"q{at}", f"Which fever is the {at}th?") for at in range(6))),
        "corpus": texts(*((f"d{at}", f"The {at}th fever is of another kind.") for at in range(12))),
    }
    subject = dataset(tmp_path, tables)
    assert check(RULE, subject, tmp_path).status == "passed"
    assert planted(RULES, subject, tmp_path) == {}


def test_a_positive_of_a_judge_that_nothing_found(tmp_path: Path) -> None:
    tables = {"judgements": [said("q0", "d0")], "qrels": qrels(("q0", "d1"), score=2, status="judge")}
    assert named(check(RULE, dataset(tmp_path, tables), tmp_path)) == {"q0", "d1"}
