"""A zero needs something compared: no rule passes on nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.audit.executor import SerialExecutor
from curation.audit.report import RULES, run_rule
from curation.audit.rule import Check, Context, Defect, Outcome, Rule
from schemas.audit import Kind
from schemas.tables import TABLES
from tests.curation.audit.small import dataset
from tests.curation.release.known import run_sql


@pytest.mark.parametrize("kind", ["release", "mteb"])
def test_no_rule_passes_on_empty_tables(kind: Kind, tmp_path: Path) -> None:
    subject = dataset(tmp_path / "own", {table.name: [] for table in TABLES}, kind)
    other = dataset(tmp_path / "other", {"queries": [], "corpus": [], "qrels": []}, "mteb")
    results = []
    for rule in RULES:
        scratch = tmp_path / "scratch" / rule.id
        scratch.mkdir(parents=True)
        context = Context(subject, run_sql, scratch, SerialExecutor(), against=(other,))
        results.append(run_rule(rule, context)[0])
    assert {item.rule for item in results if item.status == "passed" and not item.compared} == set()
    assert len({item.status for item in results}) > 1
    for item in results:
        assert item.note or item.status in ("passed", "failed", "declared"), item.rule


def said(rule: Rule, tmp_path: Path) -> tuple[str, str]:
    subject = dataset(tmp_path / "own", {"queries": []}, "mteb")
    result, _ = run_rule(rule, Context(subject, run_sql, tmp_path, SerialExecutor()))
    return result.status, result.note


def test_a_rule_that_forgets_to_look_is_not_passed(tmp_path: Path) -> None:
    def of(outcome: Outcome, second: str = "") -> Rule:
        told = Check("toy", lambda _: outcome, Defect("any", "SELECT 1 WHERE false", second=second))
        return Rule("toy", 1, "Toy", "Says what it is told.", "error", "toys", checks=(told,))

    assert said(of(Outcome(3, 0)), tmp_path) == ("passed", "")
    assert said(of(Outcome(0, 0)), tmp_path) == ("not_applicable", "nothing was compared: 0 toys")
    assert said(of(Outcome(0, 0), "against"), tmp_path) == ("not_covered", "nothing was compared: 0 toys")
    assert said(of(Outcome(0, 0, nothing="no toy"), "sibling"), tmp_path) == ("not_applicable", "no toy")
    assert said(of(Outcome(3, 0, missed="a box is shut")), tmp_path) == ("not_covered", "a box is shut")
    assert said(of(Outcome(0, 1)), tmp_path)[0] == "failed"
