from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement.drift import Chart, GoldAnswer, alarm_chance, chart, check, first_alarm
from annotation.agreement.precision import wilson
from schemas.errors import InputError, UsageError


def answers(annotator: str, wrong: list[bool]) -> list[GoldAnswer]:
    return [GoldAnswer(annotator, n, f"gold{n}", 3 if bad else 2, 2) for n, bad in enumerate(wrong)]


def test_the_chance_of_an_alarm_is_exact() -> None:
    # An error adds 1 and the limit is 2: two errors with no right answer between them.
    assert alarm_chance(0.3, 2, 2, 2) == pytest.approx(0.09)
    assert alarm_chance(0.3, 2, 2, 3) == pytest.approx(0.09 + 0.7 * 0.09)
    limits = chart()
    generator = np.random.default_rng(1)
    runs = [first_alarm(row, limits) is not None for row in generator.random((3_000, limits.horizon)) < 0.1]
    assert np.mean(runs) == pytest.approx(limits.false_alarm, abs=0.012)


def test_the_limit_is_the_lowest_that_keeps_false_alarms_rare() -> None:
    limits = chart(0.1, 0.3, 100, 0.05)
    assert limits.false_alarm <= 0.05 < alarm_chance(0.1, limits.step, limits.limit - 1, 100)
    assert chart(0.1, 0.3, 100, 0.01).limit > limits.limit
    assert alarm_chance(0.3, limits.step, limits.limit, 100) > 0.95


def test_an_alarm_names_where_the_rise_began() -> None:
    limits = Chart(step=3, limit=5, horizon=10, false_alarm=0.0)
    wrong = [True, False, False, False, True, True, True]
    assert first_alarm(wrong, limits) == (4, 6)
    assert first_alarm(wrong[:6], limits) is None


def test_each_annotator_is_checked_in_their_own_order() -> None:
    steady = [n % 12 == 0 for n in range(60)]
    tired = [False] * 40 + [n % 2 == 0 for n in range(20)]
    rows = [*answers("B", tired), *answers("A", steady)]
    good, bad = check(rows[::-1])
    assert (good.annotator, good.answers, good.accuracy) == ("A", 60, 55 / 60)
    assert (good.low, good.high) == wilson(55, 60)
    assert good.bias == pytest.approx(5 / 60)
    assert good.alarm_at is None and good.since is None
    assert bad.since == "gold40"
    assert bad.alarm_at is not None and 45 <= int(bad.alarm_at[4:]) < 60


def test_a_distance_within_tolerance_is_right() -> None:
    rows = answers("A", [True, False])
    assert check(rows)[0].accuracy == 0.5
    assert check(rows, tolerance=1)[0].accuracy == 1.0
    assert check([]) == []


def test_what_cannot_be_checked() -> None:
    with pytest.raises(InputError) as error:
        check([*answers("A", [True]), *answers("A", [False])])
    assert error.value.record == "gold0"
    for wrong in ((0.3, 0.1, 100, 0.05), (0.0, 0.3, 100, 0.05), (0.1, 0.3, 0, 0.05), (0.1, 0.3, 100, 0.0)):
        with pytest.raises(UsageError):
            chart(*wrong)
