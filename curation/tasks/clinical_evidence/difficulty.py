"""How hard a question is without looking anything up, from what several models answered several times.

A model that does no better than chance on a control set says nothing about any question: its answers are
`not_run`. What most answers get right needs no search; what no answer gets right may have a wrong key, which
people are asked about (keys.py).
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from curation.tasks.clinical_evidence.records import Asked, Attempt, ControlSet, Hardness
from curation.tasks.clinical_evidence.settings import Settings
from curation.tasks.clinical_evidence.vignettes import NAME
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table


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
    exactly, all_ways = [1], 1
    for count, questions in sorted(Counter(options).items()):
        own = [
            math.comb(questions, hits) * (count - 1) ** (questions - hits) for hits in range(questions + 1)
        ]
        longer = [0] * (len(exactly) + questions)
        for before, ways in enumerate(exactly):
            for hits, more in enumerate(own):
                longer[before + hits] += ways * more
        exactly, all_ways = longer, all_ways * count**questions
    return Fraction(sum(exactly[max(0, right) :]), all_ways)


def counting_models(tries: Sequence[Attempt], control: Iterable[str], level: Fraction) -> frozenset[str]:
    """Models that do better than chance on the questions of a control set that have options.

    A question counts once for a model, as right when most of its answers to it are.

    Args:
        tries: all answers of all models.
        control: the questions of the set.
        level: chance that guessing does as well as a model that counts, at most.
    """
    wanted = set(control)
    by_model: dict[str, dict[str, list[Attempt]]] = {}
    for item in tries:
        if item.unit in wanted and item.options > 1:
            by_model.setdefault(item.model, {}).setdefault(item.unit, []).append(item)
    return frozenset(model for model, asked in by_model.items() if _is_above_chance(asked, level))


def _is_above_chance(asked: Mapping[str, Sequence[Attempt]], level: Fraction) -> bool:
    right = sum(2 * sum(one.is_right for one in tries) > len(tries) for tries in asked.values())
    return guessing((tries[0].options for tries in asked.values()), right) <= level


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


def difficulties(
    attempts: Sequence[Attempt], units: Iterable[str], max_right: Fraction, level: Fraction
) -> dict[str, Judged]:
    """What the answers to each question say; all questions together are the control set.

    Args:
        attempts: all answers of all models.
        units: the questions.
        max_right: share of right answers from which a question is too easy.
        level: as :func:`counting_models`.
    """
    listed = sorted(set(units))
    counting = counting_models(attempts, listed, level)
    by_unit: dict[str, list[Attempt]] = {}
    for item in attempts:
        by_unit.setdefault(item.unit, []).append(item)
    return {unit: judge(by_unit.get(unit, []), counting, max_right) for unit in listed}


def hardness(
    control: ControlSet, asked: Sequence[Asked], attempts: Sequence[Attempt], *, settings: Settings
) -> Iterator[Hardness | Drop]:
    """The questions of one collection that are not too easy, those with a suspect key marked.

    Args:
        control: the collection.
        asked: its questions that were put to models.
        attempts: all answers to them.
        settings: `max_right` decides what is too easy, `chance_level` which models count.
    """
    max_right, level = (Fraction(str(value)) for value in (settings.max_right, settings.chance_level))
    found = difficulties(attempts, (item.unit for item in asked), max_right, level)
    for unit, judged in sorted(found.items()):
        if judged.difficulty in (Difficulty.HARD_ENOUGH, Difficulty.KEY_SUSPECT):
            yield Hardness(
                unit=unit,
                right=judged.right,
                tries=judged.tries,
                models=judged.models,
                is_suspect=judged.difficulty is Difficulty.KEY_SUSPECT,
            )
            continue
        is_unknown = judged.difficulty is Difficulty.NOT_RUN
        yield Drop(
            unit="question",
            id=unit,
            article_id=control.id,
            reason=Reason.NOT_RUN if is_unknown else judged.difficulty,
            detail="no model does better than chance"
            if is_unknown
            else f"{judged.right} of {judged.tries} right",
        )


def _units(_: ControlSet, asked: Sequence[Asked], __: Sequence[Attempt]) -> list[str]:
    return [item.unit for item in asked]


DIFFICULTY = RecordStage(
    name=f"{NAME}_difficulty",
    version=2,
    inputs=(
        Input(f"{NAME}_tries.sets", ControlSet, by="id"),
        Input(f"{NAME}_tries.asked", Asked, by="collection"),
        Input(f"{NAME}_tries.attempts", Attempt, by="collection"),
    ),
    outputs=(Table("hard", Hardness, ("unit",)),),
    process=hardness,
    accounts=(Account("question", _units, "hard", "unit"),),
    settings=Settings,
    reasons=frozenset({Difficulty.TOO_EASY}),
)
