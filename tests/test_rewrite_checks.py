"""A slice of benchmarks/rewrite_checks.py: planted defects are dropped for their reason, clean ones kept."""

from __future__ import annotations

from benchmarks.rewrite_checks import is_right, open_world, outcomes
from flows.engine.workspace import Workspace


def test_planted_defects_are_dropped_for_their_reason(sample: Workspace) -> None:
    found: dict[str, list[bool]] = {}
    reasons: dict[str, set[str]] = {}
    for group, reason, item in outcomes(open_world(sample.root), 12):
        found.setdefault(group, []).append(is_right(group, reason, item))
        reasons.setdefault(group, set()).add(reason)
    assert len(found) == 11 and min(map(len, found.values())) == 12
    missed = {group: right.count(False) for group, right in found.items() if not all(right)}
    assert all(count <= 1 for count in missed.values()), (missed, reasons)
