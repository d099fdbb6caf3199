"""What reviewed samples say: precision of structural rules, and positives missed among unjudged results.

Samples are simple random samples within strata whose sizes are known; strata count by their size.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from scipy.special import betaincinv

from annotation.agreement.intervals import CONFIDENCE
from schemas.errors import InputError
from schemas.exact import normal_quantile

_PLACES = 9
"""Of scipy's beta quantiles: processors differ in their sixteenth place."""

Method = Literal["clopper_pearson", "wilson"]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One reviewed item of a rule or ranking; `is_positive` is None when it could not be judged."""

    item_id: str
    group: str
    stratum: str
    is_positive: bool | None


@dataclass(frozen=True, slots=True)
class Stratum:
    """`positive` of `reviewed` items, drawn from `population`; `unclear` more could not be judged.

    `is_random` is false when what was judged first was chosen by what it is, and the rest is not judged yet.
    """

    name: str
    population: int
    reviewed: int
    positive: int
    unclear: int = 0
    is_random: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.positive <= self.reviewed or self.reviewed + self.unclear > self.population:
            raise InputError(
                f"{self.positive} positive of {self.reviewed} reviewed (and {self.unclear} unclear) "
                f"cannot come from {self.population} items",
                record=self.name,
            )


class Reason(StrEnum):
    """Why a proportion is null, or why a rule was kept, downgraded or not measured."""

    NO_ITEMS = "no_items"
    STRATUM_NOT_REVIEWED = "stratum_not_reviewed"
    NOT_RANDOM = "not_random"
    TOO_FEW = "too_few"
    UNDER_FLOOR = "under_floor"
    AT_FLOOR = "at_floor"


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of the population with its interval; all None when undefined, and `reason` says why."""

    value: float | None
    low: float | None
    high: float | None
    reason: Reason | None
    population: int
    reviewed: int
    unclear: int


@dataclass(frozen=True, slots=True)
class RuleDecision:
    """What becomes of a rule: `downgrade` forces a major version; `not_run` claims nothing."""

    rule: str
    decision: Literal["keep", "downgrade", "not_run"]
    reason: Reason
    precision: Proportion
    floor: float
    minimum: int
    version_bump: Literal["major", "none"]


@dataclass(frozen=True, slots=True)
class Missed:
    """Positives among unjudged results: their rate, their number, and the share of positives that are judged.

    `found_share` is found / (found + missed). Bounds belong to the rate's interval.
    """

    rate: Proportion
    bands: tuple[tuple[str, Proportion], ...]
    missed: float | None
    missed_low: float | None
    missed_high: float | None
    found: int
    found_share: float | None
    found_share_low: float | None
    found_share_high: float | None


def strata(
    rows: Iterable[Reviewed], populations: Mapping[tuple[str, str], int]
) -> dict[str, tuple[Stratum, ...]]:
    """Count reviewed rows by group and stratum; strata nobody reviewed stay in, with zero reviewed.

    Args:
        rows: reviewed items.
        populations: (group, stratum) -> items the sample was drawn from.

    Raises:
        InputError: an item counted twice in a group, a stratum of unknown size, more rows than it has items.
    """
    seen: set[tuple[str, str]] = set()
    counts: Counter[tuple[str, str, bool | None]] = Counter()
    for row in rows:
        if (row.group, row.item_id) in seen:
            raise InputError(f"reviewed twice for {row.group}", record=row.item_id)
        if (row.group, row.stratum) not in populations:
            raise InputError(f"no size is known of {row.group}, stratum {row.stratum}", record=row.item_id)
        seen.add((row.group, row.item_id))
        counts[row.group, row.stratum, row.is_positive] += 1
    made: dict[str, list[Stratum]] = {}
    for (group, name), population in sorted(populations.items()):
        yes, no, unclear = (counts[group, name, answer] for answer in (True, False, None))
        made.setdefault(group, []).append(Stratum(name, population, yes + no, yes, unclear))
    return {group: tuple(found) for group, found in made.items()}


def proportion(
    parts: Sequence[Stratum], confidence: float = CONFIDENCE, method: Method = "clopper_pearson"
) -> Proportion:
    """Share of positives in the population, each stratum weighted by its size.

    The interval is that of a simple random sample of the effective size p(1 - p) / variance (Korn and
    Graubard 1998). The variance has a finite population correction, and takes strata as if one positive
    and one negative more had been seen, so that a small stratum without either does not count as certain.
    Items that could not be judged count as not drawn.

    Args:
        parts: the strata; one for a simple random sample.
        confidence: of the interval.
        method: Clopper-Pearson holds its confidence for every share; Wilson is shorter, and does on average.
    """
    population = sum(part.population for part in parts)
    reviewed, unclear = sum(part.reviewed for part in parts), sum(part.unclear for part in parts)
    size = population, reviewed, unclear
    present = [part for part in parts if part.population]
    if not present:
        return Proportion(None, None, None, Reason.NO_ITEMS, *size)
    if not all(part.is_random for part in present):  # then a stratum may be without answers for now, too
        return Proportion(None, None, None, Reason.NOT_RANDOM, *size)
    if any(not part.reviewed for part in present):
        return Proportion(None, None, None, Reason.STRATUM_NOT_REVIEWED, *size)
    share = sum(part.population / population * part.positive / part.reviewed for part in present)
    effective = _effective_size(present, population)
    if math.isinf(effective):
        return Proportion(share, share, share, None, *size)
    interval = clopper_pearson if method == "clopper_pearson" else wilson
    low, high = interval(share * effective, effective, confidence)
    # What was seen is certain: no bound lies beyond the positives and negatives already found.
    positive = sum(part.positive for part in present)
    low, high = max(low, positive / population), min(high, 1 - (reviewed - positive) / population)
    return Proportion(share, min(low, share), max(high, share), None, *size)


def clopper_pearson(positive: float, total: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Exact binomial interval (Clopper and Pearson 1934); fractions allowed, for effective sizes."""
    tail, negative = (1 - confidence) / 2, total - positive
    low = 0.0 if positive <= 1e-9 else float(betaincinv(positive, negative + 1, tail))
    high = 1.0 if negative <= 1e-9 else float(betaincinv(positive + 1, negative, 1 - tail))
    return round(low, _PLACES), round(high, _PLACES)


def wilson(positive: float, total: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Score interval (Wilson 1927); fractions allowed, for effective sizes."""
    z = normal_quantile((1 + confidence) / 2)
    share = positive / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    return max(0.0, middle - half), min(1.0, middle + half)


def decide(
    rule: str, parts: Sequence[Stratum], floor: float, minimum: int, confidence: float = CONFIDENCE
) -> RuleDecision:
    """Whether a rule keeps its grade: the precision's lower bound must reach the floor.

    Args:
        rule: its id.
        parts: the reviewed sample of pairs the rule made.
        floor: least precision.
        minimum: least number of judged pairs; with fewer the rule is not measured.
        confidence: of the interval.
    """
    found = proportion(parts, confidence)
    if found.low is None:
        return RuleDecision(rule, "not_run", found.reason or Reason.NO_ITEMS, found, floor, minimum, "none")
    # All pairs of a small rule may be fewer than the minimum; then nothing is left to sample.
    if found.reviewed < min(minimum, found.population):
        return RuleDecision(rule, "not_run", Reason.TOO_FEW, found, floor, minimum, "none")
    if found.low < floor:
        return RuleDecision(rule, "downgrade", Reason.UNDER_FLOOR, found, floor, minimum, "major")
    return RuleDecision(rule, "keep", Reason.AT_FLOOR, found, floor, minimum, "none")


def missed_positives(bands: Sequence[Stratum], found: int, confidence: float = CONFIDENCE) -> Missed:
    """Estimate the positives among unjudged results from a sample stratified by rank band.

    Args:
        bands: reviewed samples of the unjudged top-k, one stratum for each band of ranks.
        found: positives the dataset has among the same queries.
        confidence: of the intervals.
    """
    rate = proportion(bands, confidence)
    each = tuple((band.name, proportion([band], confidence)) for band in bands)
    number = [
        None if share is None else share * rate.population for share in (rate.value, rate.low, rate.high)
    ]
    judged = [None if n is None or not found + n else found / (found + n) for n in number]
    return Missed(rate, each, number[0], number[1], number[2], found, judged[0], judged[2], judged[1])


def _effective_size(parts: Sequence[Stratum], population: int) -> float:
    variance, share = 0.0, 0.0
    for part in parts:
        weight, likely = part.population / population, (part.positive + 1) / (part.reviewed + 2)
        left = 1 - part.reviewed / part.population
        variance += weight**2 * left * likely * (1 - likely) / part.reviewed
        share += weight * likely
    return share * (1 - share) / variance if variance > 0 else math.inf
