"""When an audit says that a release may be published, and what it gives as reasons when not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from curation.audit import RULES, audit
from curation.audit.publishable import forbids
from curation.audit.rules import integrity, rights
from schemas.audit import CanaryResult, RuleResult
from tests.curation.audit.small import rule_of
from tests.curation.release.known import edit, run_sql
from tests.releases import manifest


def result(rule: str, status: Any, severity: Any = "error") -> RuleResult:
    return RuleResult(
        rule=rule,
        version=1,
        title=rule,
        definition=rule,
        severity=severity,
        status=status,
        compared=1,
        unit="rows",
        found=int(status in ("failed", "declared")),
    )


@pytest.mark.parametrize(
    ("rule", "status", "severity", "reason"),
    [
        ("dangling_ids", "passed", "error", ""),
        ("dangling_ids", "not_applicable", "error", ""),
        ("dangling_ids", "failed", "warn", ""),
        ("contaminated_queries", "not_asked", "error", ""),
        ("dangling_ids", "failed", "error", "Rules found errors: dangling_ids."),
        (
            "dangling_ids",
            "not_run",
            "error",
            "Required rules did not look at all of it: dangling_ids (not_run).",
        ),
        ("overlap_query", "not_covered", "error", "Required rules did not look at all of it: overlap_query"),
        ("dangling_ids", "unproven", "error", "Required rules did not look at all of it: dangling_ids"),
        ("contaminated_queries", "failed", "error", "Rules found errors: contaminated_queries."),
        ("synthetic", "declared", "declared", "Rules forbid it although release.json does not: synthetic."),
    ],
)
def test_each_state_of_a_rule(rule: str, status: str, severity: str, reason: str) -> None:
    reasons = list(forbids(manifest(), RULES, [result(rule, status, severity)], (), was_planted=True))
    assert reasons == [] if not reason else len(reasons) == 1 and reasons[0].startswith(reason)


def test_a_missed_canary_and_none_planted_forbid_it() -> None:
    missed = CanaryResult(rule="dangling_ids", canary="x", is_found=False, note="")
    (reason,) = forbids(manifest(), RULES, (), (missed,), was_planted=True)
    assert "missed what was planted" in reason and "dangling_ids" in reason
    assert len(list(forbids(manifest(), RULES, (), (), was_planted=False))) == 1


def test_only_rules_that_need_a_named_input_are_not_required() -> None:
    assert {rule.id for rule in RULES if not rule.is_required} == {
        "contaminated_queries", "contaminated_positives", "contaminated_documents", "contaminated_images"
    }  # fmt: skip


def test_a_release_with_an_error_is_not_publishable_and_without_it_is(known: Path, tmp_path: Path) -> None:
    rules = [rule_of(integrity.RULES, "dangling_ids"), rule_of(rights.RULES, "synthetic")]
    sound = audit(known, run_sql, rules=rules)
    assert sound.publishable and sound.not_publishable_because == ()
    copy = Path(shutil.copytree(known, tmp_path / "copy"))
    edit(copy, "qrels", lambda rows: rows[0].update({"corpus-id": "pmc:PMC1.1#p1"}))
    report = audit(copy, run_sql, rules=rules)
    assert report.verdict == "findings" and not report.publishable
    assert report.not_publishable_because == ("Rules found errors: dangling_ids.",)


def test_another_layout_is_not_ours_to_publish() -> None:
    assert list(forbids(None, RULES, (), (), was_planted=True)) == ["It is not a release of ours."]
