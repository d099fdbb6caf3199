"""Near copies of queries between tasks: found by the rule, kept apart by the partition."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from curation.audit.executor import SerialExecutor
from curation.audit.report import run_rule
from curation.audit.rule import Context
from curation.audit.rules import near_across_tasks
from schemas.audit import RuleResult
from tests.curation.audit import small
from tests.curation.audit.overlapping import Made
from tests.curation.release.known import run_sql

(RULE,) = near_across_tasks.RULES
LONG = (
    "A glass blower of sixty came in with burning eyes and a cough that had lasted eleven weeks, "
    "and had lost nine kilograms since spring"
)
NEAR = LONG.replace("sixty", "fifty").replace("eleven", "twelve")
OTHER = "Why does the tide come later every day, and by how many minutes, on the coast of this country?"


def said(own: Made, others: list[Made], tmp_path: Path) -> RuleResult:
    subject = own.write(tmp_path)
    siblings = [made.write(tmp_path, "sibling") for made in others]
    return run_rule(RULE, Context(subject, run_sql, tmp_path, SerialExecutor(), siblings))[0]


def made(task: str, *texts: str, targets: tuple[str, ...] = ()) -> Made:
    one = Made(task)
    for number, text in enumerate(texts):
        one.add(str(number), text, targets=targets)
    return one


def test_a_near_copy_in_a_sibling_is_named_with_both_texts(tmp_path: Path) -> None:
    result = said(made("clinical_case", OTHER, LONG), [made("clinical_evidence", NEAR)], tmp_path)
    assert (result.status, result.found, result.compared) == ("failed", 1, 2)
    one, two = result.findings[0].sides
    assert (one.id, two.id) == ("clinical_case-1", "clinical_evidence-0")
    assert two.dataset == "small@1.0.0/clinical_evidence" and one.quote in LONG and two.quote in NEAR
    assert one.quote == LONG[one.start : one.end] and one.quote == two.quote


def test_equal_texts_are_left_to_the_rule_on_keys(tmp_path: Path) -> None:
    other = unicodedata.normalize("NFKD", LONG.upper())
    assert said(made("clinical_case", LONG), [made("summary", other)], tmp_path).status == "passed"


def test_queries_on_other_target_concepts_are_counted(tmp_path: Path) -> None:
    one = made("clinical_case", LONG, targets=("X:1",))
    assert said(one, [made("case_study", NEAR, targets=("X:1", "X:2"))], tmp_path).found == 1
    result = said(one, [made("case_study", NEAR, targets=("X:2",))], tmp_path)
    assert result.status == "passed"
    assert [item.compared for item in result.coverage if "target concepts" in item.unit] == [1]


def test_what_was_not_given_is_not_covered(tmp_path: Path) -> None:
    assert said(made("clinical_case", LONG), [], tmp_path).status == "not_applicable"
    own = made("clinical_case", LONG)
    own.siblings = ("clinical_case", "summary", "reference_qa")
    result = said(own, [made("reference_qa", OTHER)], tmp_path)
    assert (result.status, result.compared) == ("not_covered", 1), result.note
    assert result.note == "siblings absent: summary; not covered"
    empty = said(made("clinical_case", LONG), [made("reference_qa")], tmp_path / "empty")
    assert (empty.status, empty.compared) == ("not_applicable", 0)


def test_what_is_planted_is_found(tmp_path: Path) -> None:
    subject = small.dataset(tmp_path / "own", {"queries": small.queries(("q1", OTHER))}, "mteb")
    assert small.planted(near_across_tasks.RULES, subject, tmp_path) == {}
