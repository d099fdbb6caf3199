"""What a calibration comes to: may a judge's grades count as labels, and what is to be known of them.

A judge is calibrated when the lower bound of weighted κ reaches the floor on enough queries. Else its pairs
stay candidates, and the reason is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from annotation.agreement.precision import Stratum, proportion
from annotation.judge.sampling import UNJUDGED, WITHOUT_CELL
from annotation.judge.weighted import FEWEST_PAIRS, Both, Pool, Weighed
from schemas.review import CalibrationPair

Status = Literal["calibrated", "under_floor", "few_queries", "not_run"]
STATUSES: Final[Mapping[Status, str]] = {
    "calibrated": "The lower bound of weighted κ reaches the floor.",
    "under_floor": "The lower bound of weighted κ is below the floor, or there is none.",
    "few_queries": "People have graded pairs of too few queries.",
    "not_run": "Agreement with people was not measured.",
}
NOT_DRAWN: Final = "no calibration sample was drawn"
NOT_ANSWERED: Final = "people have not graded a pair of the calibration sample yet"
NOT_RANDOM: Final = "what was judged first was chosen by doubt, and the rest is not judged yet"
OTHER_JUDGE: Final = "the sample was drawn for another judge or another wording of its prompts"
_DIGITS = 4
Key = tuple[str, str]
"""Query and document."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What a judge has to reach: least lower bound of κ, and on how many queries."""

    floor: float
    queries: int


def standing(
    rows: Sequence[CalibrationPair],
    people: Mapping[Key, int],
    strata: Mapping[str, int],
    scale: Sequence[int],
    relevant: Collection[int],
    bar: Bar,
    order: Mapping[str, Any],
    seeds: Mapping[str, Any],
    *,
    not_run: str = "",
) -> dict[str, Any]:
    """All figures of one judge as plain JSON values.

    Args:
        rows: the calibration sample.
        people: pair -> the grade that two people, or an adjudicator, came to.
        strata: stratum -> pairs of the pool, those without a drawn pair too.
        scale: grades that could be given, ascending.
        relevant: those of them that make a positive.
        bar: what the judge has to reach.
        order: what the order of the parts does to its scores: the fields of an OrderEffect.
        seeds: the same of a seed.
        not_run: why nothing may be measured, '' when it may.
    """
    both = [
        (row, Both(row.query_id, row.stratum, row.judge, people[row.query_id, row.corpus_id]))
        for row in rows
        if row.judge is not None and (row.query_id, row.corpus_id) in people
    ]
    reason = not_run or ("" if rows else NOT_DRAWN) or ("" if both else NOT_ANSWERED)
    cells = {name: size for name, size in strata.items() if name not in WITHOUT_CELL}
    conclusions = {row.stratum: row.judge for row in rows if row.judge is not None}
    known = {name: size for name, size in cells.items() if name in conclusions}
    pool = Pool([pair for _, pair in both], known, conclusions, scale)
    whole = pool.agreement([pair for _, pair in both] if not reason else [], fewest=1)
    status, why = _status(whole, bar, reason)
    return {
        "status": status,
        "why": why,
        "floor": bar.floor,
        "least_queries": bar.queries,
        "drawn": len(rows),
        "judged_by_people": sum((row.query_id, row.corpus_id) in people for row in rows),
        "undrawn_strata": sorted(cells.keys() - known.keys()),
        **_figures(whole),
        "is_biased": whole.is_biased,
        "groups": list(_groups(both, pool)) if not reason else [],
        "cells": list(_cells(rows, people, strata, scale)),
        "missed": _missed(rows, {} if not_run else people, strata, relevant),
        "order": _rounded(order),
        "seeds": _rounded(seeds),
    }


def _status(whole: Weighed, bar: Bar, reason: str) -> tuple[Status, str]:
    if reason:
        return "not_run", reason
    if whole.queries < bar.queries:
        told = f"people graded pairs of {whole.queries} queries, {bar.queries} are needed"
        return "few_queries", told
    low = whole.kappa.low
    if low is None:
        return "under_floor", f"weighted κ has no interval: {whole.kappa.reason}"
    told = f"the lower bound of weighted κ is {low:.3f}, the floor {bar.floor:g}"
    return ("calibrated" if low >= bar.floor else "under_floor"), told


def _figures(found: Weighed) -> dict[str, Any]:
    return {
        "pairs": found.pairs,
        "queries": found.queries,
        "kappa": _rounded(asdict(found.kappa)),
        "bias": _rounded(asdict(found.bias)),
    }


def _groups(both: Sequence[tuple[CalibrationPair, Both]], pool: Pool) -> Iterable[dict[str, Any]]:
    """Figures by specialty, language and tier; of fewer than FEWEST_PAIRS pairs none."""
    for dimension in ("specialty", "language", "tier"):
        values = sorted({getattr(row, dimension) for row, _ in both})
        for value in values if len(values) > 1 else ():
            mine = [pair for row, pair in both if getattr(row, dimension) == value]
            made = _figures(pool.agreement(mine, fewest=FEWEST_PAIRS))
            yield {"dimension": dimension, "value": value or "undecided", **made}


def _cells(
    rows: Sequence[CalibrationPair],
    people: Mapping[Key, int],
    strata: Mapping[str, int],
    scale: Sequence[int],
) -> Iterable[dict[str, Any]]:
    """Each stratum with what people said of it; the share that agrees only of FEWEST_PAIRS pairs or more."""
    for name, population in sorted(strata.items()):
        mine = [row for row in rows if row.stratum == name]
        judge = next((row.judge for row in mine), None)
        said = Counter(
            people[row.query_id, row.corpus_id] for row in mine if (row.query_id, row.corpus_id) in people
        )
        enough = said.total() >= FEWEST_PAIRS and judge is not None
        yield {
            "stratum": name,
            "population": population,
            "drawn": len(mine),
            "judge": judge,
            "people": {str(grade): said[grade] for grade in scale},
            "agree": round(said[judge] / said.total(), _DIGITS) if enough and judge is not None else None,
        }


def _missed(
    rows: Sequence[CalibrationPair],
    people: Mapping[Key, int],
    strata: Mapping[str, int],
    relevant: Collection[int],
) -> dict[str, Any]:
    """Share of positives among unjudged results near the top, from those that people judged."""
    keys = [(row.query_id, row.corpus_id) for row in rows if row.stratum == UNJUDGED]
    graded = [people[key] in relevant for key in keys if key in people]
    found = proportion([Stratum(UNJUDGED, strata.get(UNJUDGED, 0), len(graded), sum(graded))])
    made: dict[str, Any] = _rounded(asdict(found))
    return made


def _rounded(values: Any) -> Any:
    """The same with decimals rounded, names for reasons, and lists for tuples."""
    if isinstance(values, Mapping):
        return {name: _rounded(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [_rounded(value) for value in values]
    return round(values, _DIGITS) if isinstance(values, float) else values
