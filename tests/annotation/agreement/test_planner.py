from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from annotation.agreement.coefficients import Coefficient
from annotation.agreement.planner import items_for_proportion, model, plan, unit_variance
from annotation.agreement.precision import wilson
from benchmarks.agreement import mean_half_width
from schemas.errors import UsageError


def test_the_smallest_sample_for_a_proportion() -> None:
    for half, prior in ((0.05, 0.5), (0.05, 0.9), (0.02, 0.97), (0.1, 0.0)):
        items = items_for_proportion(half, prior)
        widths = [wilson(prior * n, n) for n in (items - 1, items)]
        assert (widths[1][1] - widths[1][0]) / 2 <= half + 1e-9 or prior == 0.0
        if prior:
            assert (widths[0][1] - widths[0][0]) / 2 > half
    assert items_for_proportion(0.05, 0.5) == 381  # 1.96^2 / 4 / .05^2 is 384.1, less 1.96^2 for Wilson


def test_the_variance_of_kappa_is_that_of_fleiss_cohen_and_everitt() -> None:
    prevalence, kappa = np.asarray([0.5, 0.3, 0.2]), 0.6
    joint = (1 - kappa) * np.outer(prevalence, prevalence) + kappa * np.diag(prevalence)
    agreed, chance = np.trace(joint), float(prevalence @ prevalence)
    diagonal = sum(joint[i, i] * ((1 - chance) - 2 * prevalence[i] * (1 - agreed)) ** 2 for i in range(3))
    beside = (1 - agreed) ** 2 * sum(
        joint[i, j] * (prevalence[i] + prevalence[j]) ** 2 for i in range(3) for j in range(3) if i != j
    )
    last = (agreed * chance - 2 * chance + agreed) ** 2
    expected = (diagonal + beside - last) / (1 - chance) ** 4
    assert unit_variance(Coefficient.KAPPA, kappa, prevalence.tolist(), 2) == pytest.approx(
        expected, rel=1e-4
    )


@pytest.mark.parametrize(
    ("measure", "prior", "raters", "half"),
    [(Coefficient.KAPPA_QUADRATIC, 0.8, 2, 0.1), (Coefficient.AC1, 0.7, 3, 0.1)],
)
def test_a_sample_as_planned_reaches_the_half_width(
    measure: Coefficient, prior: float, raters: int, half: float
) -> None:
    items = plan(half, prior=prior, measure=measure, per_item=raters, annotators=raters).items
    reached = mean_half_width(np.random.default_rng(2), measure, prior, raters, items, times=12)
    assert reached == pytest.approx(half, rel=0.1)


def test_the_work_that_a_plan_is() -> None:
    found = plan(
        0.05, prior=0.9, measure="proportion", per_item=2, annotators=3, seconds_per_item=60, gold_share=0.1
    )
    assert found.items == items_for_proportion(0.05, 0.9)
    assert found.judgements == 2 * found.items
    assert found.items_per_annotator == math.ceil(math.ceil(found.judgements / 3) / 0.9)
    assert found.hours_per_annotator == pytest.approx(found.items_per_annotator / 60)
    assert found.hours == pytest.approx(3 * found.hours_per_annotator)


def test_a_small_pool_needs_fewer() -> None:
    free = plan(0.05, prior=0.7).items
    assert plan(0.05, prior=0.7, pool=100).items < 100 < free
    assert plan(0.001, prior=0.7, pool=100).items == 100
    assert plan(0.05, prior=0.7, pool=10**9).items == free


def test_the_model_has_the_prior() -> None:
    table, share = model(Coefficient.PERCENT, 0.8, (0.4, 0.3, 0.3), 3)
    assert share.sum() == pytest.approx(1)
    same = [(row[a] == row[b]) for row in table.codes for a, b in ((0, 1), (0, 2), (1, 2))]
    assert np.asarray(same).reshape(-1, 3).mean(1) @ share == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        {"half_width": 0.0},
        {"half_width": 1.0},
        {"confidence": 1.0},
        {"per_item": 7, "annotators": 9},
        {"per_item": 1, "annotators": 1},
        {"per_item": 3, "annotators": 2},
        {"seconds_per_item": 0.0},
        {"gold_share": 1.0},
        {"pool": 0},
        {"prior": 1.0},
        {"prior": -0.2},
        {"prior": 0.2, "measure": Coefficient.PERCENT},
        {"prior": 1.2, "measure": "proportion"},
        {"prevalence": (1.0, 0.0)},
        {"prevalence": (0.5, 0.4)},
    ],
)
def test_what_cannot_be_planned(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        plan(**{"half_width": 0.05, "prior": 0.7, **wrong})
