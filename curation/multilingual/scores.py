"""What a check of a translation found, and why a translation is rejected."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["passed", "failed", "not_run"]


class Fault(enum.StrEnum):
    """Why a translation is rejected, in the order in which reasons are told."""

    EMPTY = "empty"
    WRONG_SCRIPT = "wrong_script"
    WRONG_LANGUAGE = "wrong_language"
    UNTRANSLATED = "untranslated"
    LENGTH_UNLIKELY = "length_unlikely"
    NUMBER_CHANGED = "number_changed"
    UNIT_CHANGED = "unit_changed"
    NEGATION_CHANGED = "negation_changed"
    SIDE_CHANGED = "side_changed"
    CONCEPT_CHANGED = "concept_changed"
    ANSWER_LEFT = "answer_left"
    BACK_CHANGED = "back_changed"


@dataclass(frozen=True, slots=True)
class Score:
    """What one check found. `value` is null where it did not run; `detail` says by what, or why not."""

    check: str
    status: Status
    value: float | None
    detail: str = ""
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """All scores of one translation, in a fixed order."""

    scores: tuple[Score, ...] = field(repr=False)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Why it is rejected; empty: it is kept."""
        return tuple(score.fault for score in self.scores if score.fault is not None)

    @property
    def is_kept(self) -> bool:
        """Whether no check failed."""
        return not self.faults


def scored(name: str, fault: Fault, is_failed: bool, value: float, detail: str = "") -> Score:
    """The score of a check that ran."""
    value = round(value, 4)
    return Score(name, "failed", value, detail, fault) if is_failed else Score(name, "passed", value, detail)
