from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike

from annotation.agreement.coefficients import (
    COEFFICIENTS,
    Coefficient,
    Rating,
    Table,
    tabulate,
    to_array,
    values,
)
from schemas.errors import InputError
from tests.annotation.agreement.definitions import Row, everything

NO = None
FOUR_OBSERVERS: Sequence[Row] = (
    (1, 1, NO, 1), (2, 2, 3, 2), (3, 3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2), (1, 2, 3, 4),
    (4, 4, 4, 4), (1, 1, 2, 1), (2, 2, 2, 2), (NO, 5, 5, 5), (NO, NO, 1, 1), (NO, NO, 3, NO),
)  # fmt: skip
"""Krippendorff 2011, section C; Gwet 2014 uses the same table."""


def figures(rows: ArrayLike, scale: Sequence[int] = (0, 1, 2, 3)) -> dict[str, float]:
    return dict(zip(map(str, COEFFICIENTS), values(tabulate(rows, scale))[0].tolist(), strict=True))


def crossed(table: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The rows behind a contingency table of two raters."""
    return [(a, b) for a, line in enumerate(table) for b, count in enumerate(line) for _ in range(count)]


def as_float(rows: Sequence[Row]) -> list[list[float]]:
    return [[np.nan if grade is None else float(grade) for grade in row] for row in rows]


def test_the_published_example_of_four_observers() -> None:
    found = figures(as_float(FOUR_OBSERVERS), (1, 2, 3, 4, 5))
    published = {
        "percent_agreement": 0.81818,
        "krippendorff_alpha_nominal": 0.74342,
        "krippendorff_alpha_ordinal": 0.815,
        "krippendorff_alpha_interval": 0.849,
        "gwet_ac1": 0.77544,
    }
    for name, value in published.items():
        assert round(found[name], len(str(value)) - 2) == value


def test_a_hand_worked_table_of_two_raters() -> None:
    # 100 patients, three diagnoses (Gwet 2014): agreed .89; margins .13 .27 .60 and .13 .24 .63.
    found = figures(crossed([[13, 0, 0], [0, 20, 7], [0, 4, 56]]), (0, 1, 2))
    by_chance = 0.13 * 0.13 + 0.27 * 0.24 + 0.60 * 0.63
    assert found["percent_agreement"] == pytest.approx(0.89, abs=1e-12)
    assert found["cohen_kappa"] == pytest.approx((0.89 - by_chance) / (1 - by_chance), abs=1e-12)
    assert round(found["cohen_kappa"], 7) == 0.7964094
    # Neighbouring diagnoses only: half of the distance, a quarter of its square.
    far = 0.13 * 0.63 + 0.60 * 0.13
    near = 1 - by_chance - far
    assert found["cohen_kappa_linear"] == pytest.approx(1 - 0.055 / (near / 2 + far), abs=1e-12)
    assert found["cohen_kappa_quadratic"] == pytest.approx(1 - 0.0275 / (near / 4 + far), abs=1e-12)
    prevalence = (0.13 * 0.87 + 0.255 * 0.745 + 0.615 * 0.385) / 2
    assert found["gwet_ac1"] == pytest.approx((0.89 - prevalence) / (1 - prevalence), abs=1e-12)
    # Linear weights sum to 5 of 9 cells: chance is 5 / 6 of the sum of p(1 - p); observed .89 + .11 / 2.
    weighted = prevalence * 2 * 5 / 6
    assert found["gwet_ac2_linear"] == pytest.approx((0.945 - weighted) / (1 - weighted), abs=1e-12)


def test_high_agreement_on_one_grade_is_not_no_agreement_for_gwet() -> None:
    # The paradox of kappa (Feinstein and Cicchetti 1990): 90 % agreed, kappa below zero.
    found = figures(crossed([[90, 5], [5, 0]]), (0, 1))
    assert found["cohen_kappa"] == pytest.approx(1 - 0.10 / 0.095, abs=1e-12)
    assert found["gwet_ac1"] == pytest.approx((0.90 - 0.095) / (1 - 0.095), abs=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_every_figure_equals_its_definition(seed: int) -> None:
    generator = np.random.default_rng(seed)
    scale = ((0, 1), (0, 1, 2), (0, 1, 2, 3), (0, 2, 3, 7))[seed % 4]
    items, raters = int(generator.integers(4, 20)), int(generator.integers(2, 6))
    at = np.where(
        generator.random((items, raters)) < 0.5,
        generator.integers(0, len(scale), (items, 1)),
        generator.integers(0, len(scale), (items, raters)),
    )
    missing = generator.random((items, raters)) < (0.0, 0.3)[seed % 2]
    rows = [
        tuple(None if hole else scale[code] for code, hole in zip(line, holes, strict=True))
        for line, holes in zip(at.tolist(), missing.tolist(), strict=True)
    ]
    found, expected = figures(as_float(rows), scale), everything(rows, scale)
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), abs=1e-9), name


def test_order_of_items_and_raters_and_grades_without_use_do_not_matter() -> None:
    generator = np.random.default_rng(3)
    rows = np.asarray(as_float(FOUR_OBSERVERS))
    shuffled = rows[generator.permutation(12)][:, [2, 0, 3, 1]]
    first, second = figures(rows, (1, 2, 3, 4, 5)), figures(shuffled, (1, 2, 3, 4, 5))
    assert second == pytest.approx(first, abs=1e-12)
    wider = figures(rows, (1, 2, 3, 4, 5, 6))
    for name in COEFFICIENTS:
        if "gwet" not in name:
            assert wider[name] == pytest.approx(first[name], abs=1e-12)
    assert wider["gwet_ac1"] > first["gwet_ac1"]


def test_weightings_are_the_same_as_repeated_items() -> None:
    rows = np.asarray([[0, 0, 1], [1, 1, 1], [2, np.nan, 3], [3, 3, 3]], dtype=np.float64)
    table = tabulate(rows)
    weights = np.asarray([[1.0, 2, 3, 4], [5, 0, 1, 1]])
    found = values(table, weights)
    order = [tuple(code) for code in table.codes.tolist()]
    for line, weight in zip(found, weights, strict=True):
        repeated = [
            [np.nan if code < 0 else code for code in row]
            for row, n in zip(order, weight, strict=True)
            for _ in range(int(n))
        ]
        assert line == pytest.approx(list(figures(repeated).values()), abs=1e-12)


def test_more_raters_than_fit_into_one_number() -> None:
    generator = np.random.default_rng(5)
    rows = np.full((60, 40), np.nan)
    for row in rows:
        row[generator.choice(40, 3, replace=False)] = generator.integers(0, 4, 3)
    assert tabulate(rows).counts.sum() == 60
    alone = [line[~np.isnan(line)] for line in rows]
    for name in (Coefficient.ALPHA_ORDINAL, Coefficient.AC2_LINEAR):
        assert figures(rows)[name] == pytest.approx(figures(alone)[name], abs=1e-9)


def test_only_the_chosen_figures_in_their_order() -> None:
    chosen = [Coefficient.AC1, Coefficient.KAPPA]
    table = tabulate([[0, 0], [1, 2], [2, 2]])
    assert isinstance(table, Table)
    found = figures([[0, 0], [1, 2], [2, 2]])
    assert values(table, chosen=chosen)[0].tolist() == [found[name] for name in chosen]


def test_long_rows_become_the_same_array() -> None:
    rows = [Rating("b", "Y", 2), Rating("a", "X", 0), Rating("b", "X", 3), Rating("a", "Y", None)]
    array, items, annotators = to_array(rows)
    assert (items, annotators) == (("a", "b"), ("X", "Y"))
    np.testing.assert_array_equal(array, [[0, np.nan], [3, 2]])
    empty, _, _ = to_array([])
    assert empty.shape == (0, 0)


def test_input_that_cannot_be_used_is_named() -> None:
    with pytest.raises(InputError, match="graded an item twice") as twice:
        to_array([Rating("a", "X", 0), Rating("a", "X", None)])
    assert twice.value.record == "a"
    with pytest.raises(InputError, match="grade 4 is not in") as grade:
        tabulate([[0, 1], [4, 1]])
    assert grade.value.record == "item 1"
    with pytest.raises(InputError, match=r"grade 1\.5"):
        tabulate([[0, 1.5]])
    with pytest.raises(InputError, match="dimensions"):
        tabulate([0, 1, 2])
    with pytest.raises(InputError, match="two grades"):
        tabulate([[0, 0]], scale=(0,))
