"""Fewer defects planted by audits: of this process, and of the processes that an audit starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from curation.audit import RULES, defects
from curation.audit.rule import Context, Rule
from flows.inspect import audit as auditing
from schemas.audit import CanaryResult
from tests.pipeline import LABELLED

EVERY = 36
"""Which rules of those in order are few; tests/curation/audit/test_defects.py plants the defects of all."""
_COMMAND = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})  # before the tests that some package installs
import pytest
from flows.cli.app import run_cli
from tests.fewer import {{name}}
{{name}}(pytest.MonkeyPatch())
sys.exit(run_cli(sys.argv[1:]))
"""
BY_TURNS = _COMMAND.format(name="plant_by_turns")
"""The command, with the defects of each rule planted in one task of a release."""
FEWER = _COMMAND.format(name="plant_fewer")
"""The command, with the defects of few rules."""


def plant_fewer(patch: pytest.MonkeyPatch) -> None:
    """Audits plant the defects of few rules from now on."""
    _plant(patch, lambda rules, context: rules[::EVERY], plant_fewer_there)


def plant_fewer_there(*given: object) -> list[tuple[CanaryResult, ...]]:
    """What `_plant_all` does, in a process that an audit started: nothing is patched there."""
    return _there(plant_fewer, *given)


def plant_by_turns(patch: pytest.MonkeyPatch) -> None:
    """Audits plant the defects of each rule in one of the tasks with labels, the tasks by turns."""
    _plant(patch, _of_its_turn, plant_by_turns_there)


def plant_by_turns_there(*given: object) -> list[tuple[CanaryResult, ...]]:
    """As `plant_fewer_there`."""
    return _there(plant_by_turns, *given)


def _of_its_turn(rules: Sequence[Rule], context: Context) -> Sequence[Rule]:
    turn = LABELLED.index(context.subject.task)
    chosen = {rule.id for rule in RULES[turn :: len(LABELLED)]}
    return [rule for rule in rules if rule.id in chosen]


def _plant(
    patch: pytest.MonkeyPatch,
    chosen: Callable[[Sequence[Rule], Context], Sequence[Rule]],
    there: Callable[..., list[tuple[CanaryResult, ...]]],
) -> None:
    whole = defects.run

    def run(rules: Sequence[Rule], context: Context, run_rule: defects.RunRule) -> tuple[CanaryResult, ...]:
        return whole(chosen(rules, context), context, run_rule)

    patch.setattr(defects, "run", run)
    patch.setattr(auditing, "_plant_all", there)


def _there(how: Callable[[pytest.MonkeyPatch], None], *given: object) -> list[tuple[CanaryResult, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        plant = auditing._plant_all
        how(patch)
        return plant(*given)  # type: ignore[arg-type]
