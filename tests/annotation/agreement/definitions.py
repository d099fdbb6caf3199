"""The coefficients written out from their definitions in exact fractions, apart from the product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations

Row = Sequence[int | None]
Distance = Callable[[int, int], Fraction]


def nominal(a: int, b: int) -> Fraction:
    return Fraction(int(a != b))


def linear(scale: Sequence[int]) -> Distance:
    return lambda a, b: Fraction(abs(a - b), scale[-1] - scale[0])


def quadratic(scale: Sequence[int]) -> Distance:
    return lambda a, b: linear(scale)(a, b) ** 2


def _given(row: Row) -> list[int]:
    return [grade for grade in row if grade is not None]


def percent(rows: Sequence[Row]) -> Fraction:
    shares = []
    for row in rows:
        pairs = list(combinations(_given(row), 2))
        if pairs:
            shares.append(Fraction(sum(a == b for a, b in pairs), len(pairs)))
    return sum(shares, Fraction(0)) / len(shares)


def kappa(rows: Sequence[Row], distance: Distance) -> Fraction:
    """Observed and expected disagreement of each pair of raters, each pair counting by its items."""
    observed, expected = Fraction(0), Fraction(0)
    for first, second in combinations(range(len(rows[0])), 2):
        both = [(a, b) for row in rows if (a := row[first]) is not None and (b := row[second]) is not None]
        observed += sum((distance(a, b) for a, b in both), Fraction(0))
        if both:
            expected += sum((distance(a, b) for a, _ in both for _, b in both), Fraction(0)) / len(both)
    return 1 - observed / expected


def alpha(rows: Sequence[Row], level: str) -> Fraction:
    pairable = [_given(row) for row in rows if len(_given(row)) >= 2]
    counts = Counter(grade for row in pairable for grade in row)
    total = sum(counts.values())

    def squared(a: int, b: int) -> Fraction:
        low, high = min(a, b), max(a, b)
        if level == "nominal":
            return nominal(a, b)
        if level == "interval":
            return Fraction(a - b) ** 2
        between = sum(number for grade, number in counts.items() if low <= grade <= high)
        return (between - Fraction(counts[a] + counts[b], 2)) ** 2

    observed = sum(
        (squared(a, b) / (len(row) - 1) for row in pairable for a, b in permutations(row, 2)), Fraction(0)
    )
    everyone = [(a, b, counts[a] * counts[b]) for a in counts for b in counts]
    expected = sum((squared(a, b) * number for a, b, number in everyone), Fraction(0)) / (total - 1)
    return 1 - observed / expected


def gwet(rows: Sequence[Row], scale: Sequence[int], distance: Distance) -> Fraction:
    def weight(a: int, b: int) -> Fraction:
        return 1 - distance(a, b)

    shares = []
    for row in rows:
        pairs = list(permutations(_given(row), 2))
        if pairs:
            shares.append(sum((weight(a, b) for a, b in pairs), Fraction(0)) / len(pairs))
    agreed = sum(shares, Fraction(0)) / len(shares)
    rated = [_given(row) for row in rows if _given(row)]
    prevalence = {
        grade: sum((Fraction(row.count(grade), len(row)) for row in rated), Fraction(0)) / len(rated)
        for grade in scale
    }
    weights = sum((weight(a, b) for a in scale for b in scale), Fraction(0))
    chance = sum((part * (1 - part) for part in prevalence.values()), Fraction(0))
    chance *= weights / (len(scale) * (len(scale) - 1))
    return (agreed - chance) / (1 - chance)


def everything(rows: Sequence[Row], scale: Sequence[int]) -> dict[str, Fraction]:
    """Every figure by its name in the product."""
    return {
        "percent_agreement": percent(rows),
        "cohen_kappa": kappa(rows, nominal),
        "cohen_kappa_linear": kappa(rows, linear(scale)),
        "cohen_kappa_quadratic": kappa(rows, quadratic(scale)),
        "krippendorff_alpha_nominal": alpha(rows, "nominal"),
        "krippendorff_alpha_ordinal": alpha(rows, "ordinal"),
        "krippendorff_alpha_interval": alpha(rows, "interval"),
        "gwet_ac1": gwet(rows, scale, nominal),
        "gwet_ac2_linear": gwet(rows, scale, linear(scale)),
        "gwet_ac2_quadratic": gwet(rows, scale, quadratic(scale)),
    }
