"""What must be said of systems under the judge's labels and under people's, from the calibration's pairs.

Written apart from `curation.evaluation`: from the table of the calibration and the run files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from curation.audit.rule import Context
from curation.audit.rules.runs_reading import codes
from curation.audit.rules.runs_tally import Keys, Split, Tally
from curation.evaluation.judges import PLACES, why_not
from curation.evaluation.measures import CONDENSED
from schemas.judged_tables import CALIBRATION

BOTH = f"""SELECT "query-id" AS q, "corpus-id" AS c, judge, people FROM {CALIBRATION.name}
    WHERE judge IS NOT NULL AND people IS NOT NULL ORDER BY q, c"""
Sides = tuple[Split, Split]
"""A split under the judge's labels and under people's, of the queries with a positive in both."""


def label_sides(
    context: Context, splits: Mapping[str, Split], corpus: pa.Array, *, has_judge: bool
) -> dict[str, Sides]:
    """Each split under both label sets; empty where there is no judge, and no pair that both graded."""
    rows = context.select(BOTH) if CALIBRATION.name in context.views else []
    if not rows and not has_judge:
        return {}
    queries, documents = (pa.array([row[name] for row in rows], pa.string()) for name in ("q", "c"))
    grades = [np.array([row[name] for row in rows], np.int64) for name in ("judge", "people")]
    places = codes(documents, corpus)
    found = {}
    for split, data in splits.items():
        owners = codes(queries, data.queries)
        known = (owners >= 0) & (places >= 0)
        keys = owners * len(corpus) + places
        sides = [_labelled(data, keys[known], side[known]) for side in grades]
        is_kept = np.logical_and(*(side.relevant > 0 for side in sides))
        chosen = known & is_kept[np.maximum(owners, 0)] if len(is_kept) else known
        one, other = (_labelled(data, keys[chosen], side[chosen]) for side in grades)
        found[split] = (one, other)
    return found


def _labelled(data: Split, keys: Keys, grades: Keys) -> Split:
    order = np.argsort(keys, kind="stable")
    return Split(data.queries, data.corpus, keys[order], grades[order], np.empty(0, np.int64))


def of_people(sides: Sides, tallies: Mapping[str, tuple[Tally, Tally]]) -> dict[str, Any]:
    """What must be said of the systems that ran; `tallies` hold their runs under both label sets."""
    queries = int(np.count_nonzero(sides[0].relevant))
    lacking = why_not(queries, len(tallies))
    about = {"measure": CONDENSED, "queries": queries, "pairs": len(sides[0].labels)}
    if lacking:
        return {"status": "not_run", "why_not": lacking, **about}
    means = {name: tuple(_mean(tally) for tally in pair) for name, pair in tallies.items()}
    return {
        "status": "measured",
        "why_not": "",
        **about,
        "systems": {name: {"judge": one, "people": other} for name, (one, other) in means.items()},
        "tau": _tau(list(means.values())),
    }


def _mean(tally: Tally) -> float:
    """Mean nDCG@10 of the labelled documents of each ranking."""
    return round(float(tally.values([CONDENSED])[:, 0].mean()), PLACES)


def _tau(means: list[tuple[float, ...]]) -> float | None:
    """Kendall's τ-b: pairs in the same order minus pairs in the other, over those without ties."""
    score, untied = 0, [0, 0]
    for one, other in combinations(means, 2):
        signs = [(a > b) - (a < b) for a, b in zip(one, other, strict=True)]
        score += signs[0] * signs[1]
        untied = [count + abs(sign) for count, sign in zip(untied, signs, strict=True)]
    return score / math.sqrt(untied[0] * untied[1]) if all(untied) else None
