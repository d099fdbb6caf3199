"""How hard a question is without looking anything up, from what several models answered several times.

A model that does no better than chance on a control set says nothing about any question: its answers are
`not_run`. What most answers get right needs no search; what no answer gets right may have a wrong key.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from curation.tasks.clinical_evidence.records import Attempt

LEVEL = Fraction(1, 20)
"""Chance that guessing does as well as a model that counts, at most."""


class Difficulty(enum.StrEnum):
    """What closed-book answers say of a question."""

    HARD_ENOUGH = "hard_enough"
    TOO_EASY = "too_easy"
    KEY_SUSPECT = "key_suspect"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the answers to one question say, and how many there were of models that count."""

    difficulty: Difficulty
    right: int
    tries: int
    models: int


def guessing(options: Iterable[int], right: int) -> Fraction:
    """The chance that guesses get at least so many questions right.

    Args:
        options: of each question, two or more.
        right: how many.
    """
    exactly = [Fraction(1)]
    for count in options:
        hit = Fraction(1, count)
        longer = [*exactly, Fraction(0)]
        for number in range(len(exactly), 0, -1):
            longer[number] = longer[number] * (1 - hit) + exactly[number - 1] * hit
        longer[0] = exactly[0] * (1 - hit)
        exactly = longer
    return sum(exactly[max(0, right) :], Fraction(0))


def counting_models(tries: Sequence[Attempt], control: Iterable[str]) -> frozenset[str]:
    """Models that do better than chance on the questions of a control set that have options.

    A question counts once for a model, as right when most of its answers to it are.
    """
    wanted = set(control)
    by_model: dict[str, dict[str, list[Attempt]]] = {}
    for item in tries:
        if item.unit in wanted and item.options > 1:
            by_model.setdefault(item.model, {}).setdefault(item.unit, []).append(item)
    return frozenset(model for model, asked in by_model.items() if _is_above_chance(asked))


def _is_above_chance(asked: Mapping[str, Sequence[Attempt]]) -> bool:
    right = sum(2 * sum(one.is_right for one in tries) > len(tries) for tries in asked.values())
    return guessing((tries[0].options for tries in asked.values()), right) <= LEVEL


def judge(tries: Sequence[Attempt], counting: frozenset[str], max_right: Fraction) -> Judged:
    """What the answers to one question say.

    Args:
        tries: all answers to it.
        counting: models that count.
        max_right: share of right answers from which it is too easy.
    """
    counted = [item for item in tries if item.model in counting]
    right, models = sum(item.is_right for item in counted), len({item.model for item in counted})
    if not counted:
        return Judged(Difficulty.NOT_RUN, 0, 0, 0)
    if right == 0:
        return Judged(Difficulty.KEY_SUSPECT, 0, len(counted), models)
    is_easy = Fraction(right, len(counted)) >= max_right
    return Judged(Difficulty.TOO_EASY if is_easy else Difficulty.HARD_ENOUGH, right, len(counted), models)


def difficulties(attempts: Sequence[Attempt], units: Iterable[str], max_right: Fraction) -> dict[str, Judged]:
    """What the answers to each question say; all questions together are the control set.

    Args:
        attempts: all answers of all models.
        units: the questions.
        max_right: share of right answers from which a question is too easy.
    """
    listed = sorted(set(units))
    counting = counting_models(attempts, listed)
    return {
        unit: judge([item for item in attempts if item.unit == unit], counting, max_right) for unit in listed
    }
