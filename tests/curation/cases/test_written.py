"""Stories written for kinds of error: ages of others, of groups, consent, ethics, how stories open."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import written_cases

GROUPS = ("relatives", "compound", "ranges", "ethics", "consent_to_treatment", "before", "met", "siblings")
FEW = {"siblings": 0.6}
"""Of three stories, two."""


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    return {**written_cases.people(), **written_cases.openings()}


@pytest.mark.parametrize("half", ["dev", "test"])
@pytest.mark.parametrize("group", GROUPS)
def test_stories_are_read_as_they_were_meant(group: str, half: str, found: dict[str, dict[str, Any]]) -> None:
    tally = found[f"{group} {half}"]
    assert tally["right"] / tally["stories"] >= FEW.get(group, 0.8), written_cases.MISSES
