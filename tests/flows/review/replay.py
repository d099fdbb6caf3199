"""What a review must come to, from the submitted answers, in plain Python apart from the product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

Pair = tuple[str, str]
Given = Mapping[str, int | None]
"""Annotator -> grade, None for "cannot judge"."""
Confusion = Mapping[str, Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Outcome:
    """The verdict on one candidate."""

    grade: int | None
    status: str
    rule: str


def dispute(given: Given, known: int | None) -> bool:
    """Whether three readers' answers to an item go to a third person."""
    grades = [grade for grade in given.values() if grade is not None]
    if known is not None and any(grade != known for grade in given.values()):
        return True
    if 0 < len(grades) < len(given):
        return True
    return bool(grades) and max(grades) - min(grades) > 1


def outcome(given: Given, known: int | None, third: int | None) -> Outcome:
    """The verdict on an item that three readers answered; `third` is the adjudicator's grade, if asked."""
    if dispute(given, known):
        return Outcome(third, "adjudicated", "review/adjudicated@1")
    ordered = sorted(grade for grade in given.values() if grade is not None)
    if not ordered:
        return Outcome(None, "expert", "review/unanimous@1")
    rule = "review/unanimous@1" if ordered[0] == ordered[-1] else "review/majority@1"
    return Outcome(ordered[1], "expert", rule)  # of three grades at most one apart the middle one has most


def released(
    before: Mapping[Pair, tuple[int, str]], outcomes: Mapping[Pair, Outcome]
) -> tuple[dict[Pair, tuple[int, str]], set[Pair]]:
    """Qrels (grade, status) after the verdicts, and pairs excluded because nobody could judge them."""
    after = dict(before)
    unjudged = set()
    for pair, found in outcomes.items():
        if found.grade is None:
            after.pop(pair, None)
            unjudged.add(pair)
        else:
            after[pair] = (found.grade, found.status)
    kept = {query for (query, _), (grade, _) in after.items() if grade > 0}
    return (
        {pair: label for pair, label in after.items() if pair[0] in kept},
        {pair for pair in unjudged if pair[0] in kept},
    )


def true_agreement(
    confusion: Confusion, prevalence: Sequence[float], first: str, second: str
) -> dict[str, float]:
    """Percent agreement, kappa and weighted kappas of two simulated people over infinitely many items."""
    size = len(prevalence)
    joint = [
        [
            sum(prevalence[t] * confusion[first][t][a] * confusion[second][t][b] for t in range(size))
            for b in range(size)
        ]
        for a in range(size)
    ]
    rows = [sum(row) for row in joint]
    columns = [sum(row[b] for row in joint) for b in range(size)]
    found = {"percent_agreement": sum(joint[a][a] for a in range(size))}
    for name, power in (("cohen_kappa", 0), ("cohen_kappa_linear", 1), ("cohen_kappa_quadratic", 2)):
        seen = expected = 0.0
        for a, b in product(range(size), repeat=2):
            weight = float(a != b) if power == 0 else abs(a - b) ** power
            seen += weight * joint[a][b]
            expected += weight * rows[a] * columns[b]
        found[name] = 1 - seen / expected
    return found


def near(value: float, figure: Mapping[str, Any]) -> bool:
    """Whether a true value lies in an interval twice as wide as the one of 95 %."""
    half = (figure["high"] - figure["low"]) / 2
    return bool(figure["low"] - half <= value <= figure["high"] + half)
