"""How well each annotator meets gold items, and an alarm when they begin to miss more of them.

The alarm is a Bernoulli CUSUM (Reynolds and Stoumbos 1999). Its limit comes from the exact Markov chain of
the chart, so that the chance of a false alarm within a stated number of gold items is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from annotation.agreement.intervals import CONFIDENCE
from annotation.agreement.precision import wilson
from schemas.errors import InputError, UsageError
from schemas.exact import log

ACCEPTED, TOO_MANY = 0.10, 0.30
HORIZON, FALSE_ALARMS = 200, 0.05


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An annotator's grade of a gold item; `order` counts their own answers, later ones higher."""

    annotator: str
    order: int
    item_id: str
    grade: int
    gold: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A CUSUM: an error adds `step` - 1, a right answer takes 1, never below 0; alarm at `limit`.

    `false_alarm` is the chance of an alarm within `horizon` answers at the accepted error rate.
    """

    step: int
    limit: int
    horizon: int
    false_alarm: float


@dataclass(frozen=True, slots=True)
class AnnotatorCheck:
    """One annotator on gold items.

    `bias` is the mean of grade minus gold: above 0 is lenient. `alarm_at` is the item at which the chart
    first reached its limit and `since` the item at which that rise began; both None without alarm.
    """

    annotator: str
    answers: int
    accuracy: float
    low: float
    high: float
    bias: float
    alarm_at: str | None
    since: str | None


def check(
    answers: Iterable[GoldAnswer],
    *,
    tolerance: int = 0,
    accepted: float = ACCEPTED,
    too_many: float = TOO_MANY,
    horizon: int = HORIZON,
    false_alarms: float = FALSE_ALARMS,
    confidence: float = CONFIDENCE,
) -> list[AnnotatorCheck]:
    """Accuracy with Wilson interval, bias and drift alarm of every annotator, by name.

    Args:
        answers: in any order.
        tolerance: the largest distance from gold that counts as right.
        accepted: error rate of an annotator in whom one trusts.
        too_many: error rate the alarm should find soon.
        horizon: gold items within which false alarms are bounded.
        false_alarms: the largest accepted chance of a false alarm within the horizon.
        confidence: of the intervals.

    Raises:
        InputError: two answers of one annotator have the same order.
        UsageError: the rates do not fit together.
    """
    by_annotator: dict[str, dict[int, GoldAnswer]] = {}
    for answer in answers:
        own = by_annotator.setdefault(answer.annotator, {})
        if answer.order in own:
            raise InputError(f"{answer.annotator} has two gold answers {answer.order}", record=answer.item_id)
        own[answer.order] = answer
    limits = chart(accepted, too_many, horizon, false_alarms)
    made = []
    for annotator, own in sorted(by_annotator.items()):
        rows = [own[order] for order in sorted(own)]
        wrong = [abs(row.grade - row.gold) > tolerance for row in rows]
        right = len(rows) - sum(wrong)
        found = first_alarm(wrong, limits)
        since, at = (rows[place].item_id for place in found) if found else (None, None)
        bias = sum(row.grade - row.gold for row in rows) / len(rows)
        bounds = wilson(right, len(rows), confidence)
        made.append(AnnotatorCheck(annotator, len(rows), right / len(rows), *bounds, bias, at, since))
    return made


def first_alarm(wrong: Iterable[bool], limits: Chart) -> tuple[int, int] | None:
    """Positions of the first alarm: where the rise began and where it met the limit; None without one."""
    state, since = 0, 0
    for place, is_wrong in enumerate(wrong):
        if state == 0:
            since = place
        state = max(0, state + (limits.step - 1 if is_wrong else -1))
        if state >= limits.limit:
            return since, place
    return None


@lru_cache(maxsize=64)
def chart(
    accepted: float = ACCEPTED,
    too_many: float = TOO_MANY,
    horizon: int = HORIZON,
    false_alarms: float = FALSE_ALARMS,
) -> Chart:
    """The chart with the lowest limit that keeps false alarms within bounds.

    The log-likelihood ratio of an answer is scaled so that a right one counts 1, and rounded to whole
    steps, so that the chart is a finite Markov chain.

    Raises:
        UsageError: not 0 < accepted < too_many < 1, an empty horizon, or no chance of a false alarm.
    """
    if not 0 < accepted < too_many < 1:
        raise UsageError(f"error rates must rise: 0 < {accepted:g} < {too_many:g} < 1 does not hold")
    if horizon < 1 or not 0 < false_alarms < 1:
        raise UsageError("the horizon needs one answer, the chance of a false alarm lies between 0 and 1")
    right = -log((1 - too_many) / (1 - accepted))
    wrong = log(too_many / accepted)
    step = max(2, round((right + wrong) / right))
    low, high = 0, horizon * (step - 1) + 1
    while high - low > 1:
        middle = (low + high) // 2
        too_low = alarm_chance(accepted, step, middle, horizon) > false_alarms
        low, high = (middle, high) if too_low else (low, middle)
    return Chart(step, high, horizon, alarm_chance(accepted, step, high, horizon))


def alarm_chance(error_rate: float, step: int, limit: int, horizon: int) -> float:
    """Exact chance that the chart meets its limit within `horizon` answers at this error rate."""
    chance = [0.0] * limit
    chance[0], alarm = 1.0, 0.0
    for _ in range(horizon):
        after = [0.0] * limit
        for state, now in enumerate(chance):
            if not now:
                continue
            after[max(0, state - 1)] += now * (1 - error_rate)
            up = state + step - 1
            if up >= limit:
                alarm += now * error_rate
            else:
                after[up] += now * error_rate
        chance = after
    return alarm
