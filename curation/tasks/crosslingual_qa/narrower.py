"""Concepts above the one a passage is about, and whether all sources agree that they are."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal

from curation.diagnosis.concepts import Concepts
from curation.tasks.shared.case_facts import rows_of
from schemas.vocabulary import ConceptRelation

Link = tuple[str, str]
"""A concept and one right above it."""


@functools.lru_cache(maxsize=1)
def disputed_links(relations: Path) -> frozenset[Link]:
    """Links of one source between two concepts that another source has side by side, or the other way round.

    Args:
        relations: Parquet of ConceptRelation rows; the last vocabulary is kept.
    """
    above: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows_of(ConceptRelation, relations):
        if row.relation == "parent":
            above[row.source][row.concept].add(row.other)
        elif row.relation == "child":
            above[row.source][row.other].add(row.concept)
    return frozenset(
        (low, high)
        for source, links in above.items()
        for low, found in links.items()
        for high in found
        if any(_differs(low, high, other) for name, other in above.items() if name != source)
    )


def _differs(low: str, high: str, links: Mapping[str, Collection[str]]) -> bool:
    """Whether a source that has both concepts has them otherwise than one above the other."""
    over_low, over_high = links.get(low, ()), links.get(high, ())
    return high not in over_low and (low in over_high or not set(over_low).isdisjoint(over_high))


def above(
    concepts: Iterable[str], known: Concepts, disputed: Collection[Link]
) -> dict[str, Literal["narrower", "disputed"]]:
    """Concepts above any of some, sorted, each with whether all sources agree on some way up to it."""
    start = frozenset(concepts)
    sure, waiting = set[str](), list(start)
    while waiting:
        low = waiting.pop()
        for high in known.parents.get(low, ()):
            if high not in sure and (low, high) not in disputed:
                sure.add(high)
                waiting.append(high)
    found = {high for low in start for high in known.ancestors(low)} - start
    return {high: "narrower" if high in sure else "disputed" for high in sorted(found)}
