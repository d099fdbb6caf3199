"""Fewer defects planted by audits: of this process, and of the processes that an audit starts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from curation.audit import defects
from curation.audit.rule import Context, Rule
from flows.inspect import audit as auditing
from schemas.audit import CanaryResult


def plant_fewer(patch: pytest.MonkeyPatch) -> None:
    """Audits plant the defects of every twelfth rule from now on."""
    whole = defects.run

    def run(rules: Sequence[Rule], context: Context, run_rule: defects.RunRule) -> tuple[CanaryResult, ...]:
        return whole(rules[::12], context, run_rule)

    patch.setattr(defects, "run", run)
    patch.setattr(auditing, "_plant_all", plant_fewer_there)


def plant_fewer_there(*given: object) -> list[tuple[CanaryResult, ...]]:
    """What `_plant_all` does, in a process that an audit started: nothing is patched there."""
    with pytest.MonkeyPatch.context() as patch:
        plant = auditing._plant_all
        plant_fewer(patch)
        return plant(*given)  # type: ignore[arg-type]
