"""Choosing among concepts that share a name.

One sense per text: a concept the text names unmistakably elsewhere wins; else the semantic group most of the
text's unmistakable mentions have; else the lowest id, with a score that says it is a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from schemas.concept import MatchRule

SUPPORTED, GUESSED = 0.95, 0.7
"""What an ambiguous reading's score is multiplied by, with and without support from the text."""
_TIE = 0.005


class Reading(NamedTuple):
    """One concept a stretch of text may name."""

    concept: str
    name: str
    rule: MatchRule
    score: float
    group: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Concepts and semantic groups the text names unmistakably."""

    concepts: frozenset[str]
    groups: Counter[int]


_NONE = Evidence(frozenset(), Counter())


def best(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """The readings that share the best score, one per concept, by id."""
    if len(readings) > 1:
        least = max([reading.score for reading in readings]) - _TIE
        readings = [reading for reading in readings if reading.score >= least]
    if len(readings) < 2:
        return tuple(readings)
    ranked: dict[str, Reading] = {}
    for reading in sorted(readings, key=lambda item: (item.concept, -item.score, item.name)):
        ranked.setdefault(reading.concept, reading)
    return tuple(ranked.values())


def evidence(spans: Iterable[Sequence[Reading]]) -> Evidence:
    """What the spans of a text that have one reading say; nothing when no other span asks."""
    spans = list(spans)
    if all(len(readings) == 1 for readings in spans):
        return _NONE
    single = [readings[0] for readings in spans if len(readings) == 1]
    return Evidence(
        frozenset([reading.concept for reading in single]),
        Counter([reading.group for reading in single if reading.group]),
    )


def choose(readings: Sequence[Reading], known: Evidence) -> tuple[Reading, float]:
    """The reading to report, and its score."""
    if len(readings) == 1:
        return readings[0], readings[0].score
    named = [reading for reading in readings if reading.concept in known.concepts]
    if len(named) == 1:
        return named[0], named[0].score * SUPPORTED
    left = named or list(readings)
    chosen = min(left, key=lambda item: (-known.groups[item.group], item.concept))
    rivals = [item for item in left if known.groups[item.group] == known.groups[chosen.group]]
    return chosen, chosen.score * (SUPPORTED if len(rivals) == 1 else GUESSED)
