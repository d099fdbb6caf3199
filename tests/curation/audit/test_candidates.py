"""Pairs that wait for review are never published as labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.audit.rules.candidates import RULES
from tests.curation.audit.small import check, dataset, named, qrels, rule_of

WAITING = rule_of(RULES, "candidates")
DECLARED = rule_of(RULES, "candidates_declared")
HONEST: dict[str, Any] = {"label": "candidates", "publishable_by_content": False}


def said(tmp_path: Path, statuses: tuple[str, ...], **stated: Any) -> tuple[str, str]:
    """What both rules say of pairs of such statuses."""
    rows = [row for at, status in enumerate(statuses) for row in qrels((f"q{at}", "d"), status=status)]
    subject = dataset(tmp_path, {"qrels": rows}, **stated)
    return check(WAITING, subject, tmp_path).status, check(DECLARED, subject, tmp_path).status


@pytest.mark.parametrize(
    ("statuses", "stated", "expected"),
    [
        (("structural", "expert"), {}, ("not_applicable", "not_applicable")),
        (("candidate", "expert"), HONEST, ("declared", "passed")),
        (("candidate",), HONEST | {"publishable_by_content": True}, ("declared", "failed")),
        (("candidate",), HONEST | {"label": "silver"}, ("declared", "failed")),
        (("candidate", "structural"), HONEST, ("declared", "failed")),
        (("structural",), HONEST, ("passed", "failed")),
        (("expert",), HONEST, ("passed", "passed")),
    ],
)
def test_candidates_are_told_and_nothing_else_is_called_a_label(
    tmp_path: Path, statuses: tuple[str, ...], stated: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert said(tmp_path, statuses, **stated) == expected


def test_the_pair_is_named(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {"qrels": qrels(("q1", "d1"), status="candidate")}, **HONEST)
    assert named(check(WAITING, subject, tmp_path)) == {"q1", "d1"}
