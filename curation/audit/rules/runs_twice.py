"""What must be said of a judge that was asked twice, counted by SQL from what the release publishes of it.

Written apart from `curation.evaluation`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from curation.audit.rule import Context
from curation.evaluation.judges import PLACES
from schemas.grades import UNDECIDED
from schemas.judged_tables import JUDGEMENTS

CHANGED: Final[Mapping[str, tuple[str, str]]] = {
    "order": ("reversed", f"reason = '{UNDECIDED[1]}'"),
    "seeds": ("seeded", "forward <> seeded"),
}
"""What a pair was asked twice for -> column of the other scores, and whether the pair changed."""
Counts = Mapping[str, tuple[int, int]]
"""Query -> pairs asked twice, and those of them that changed."""


def counted(name: str) -> str:
    """SQL: pairs by query that were asked twice in one way, and those that changed."""
    column, is_other = CHANGED[name]
    return f"""SELECT "query-id" AS q, count(*) AS n, count(*) FILTER ({is_other}) AS other
        FROM {JUDGEMENTS.name} WHERE forward <> '' AND reversed <> '' AND {column} <> '' GROUP BY ALL"""


def asked_twice(context: Context) -> dict[str, Counts]:
    """By query, of each way in which any pair was asked twice; empty where the release does not say it."""
    if JUDGEMENTS.name not in context.views:
        return {}
    known = context.columns(JUDGEMENTS.name)
    found = {
        name: {row["q"]: (int(row["n"]), int(row["other"])) for row in context.select(counted(name))}
        for name, (column, _) in CHANGED.items()
        if {"forward", "reversed", column} <= set(known)
    }
    return {name: counts for name, counts in found.items() if counts}


def of_twice(twice: Mapping[str, Counts], queries: Collection[str]) -> dict[str, Any]:
    """What must be said of a split with some queries."""
    made = {}
    for name, counts in twice.items():
        mine = [counts[query] for query in counts.keys() & set(queries)]
        pairs, other = sum(n for n, _ in mine), sum(changed for _, changed in mine)
        made[name] = {
            "pairs": pairs, "changed": other, "share": round(other / pairs, PLACES) if pairs else None
        }  # fmt: skip
    return made
