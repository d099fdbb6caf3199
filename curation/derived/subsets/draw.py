"""Draws by hash: which queries and documents a part gets depends on their ids and on nothing else.

Ids of queries hash their content, so an unchanged query keeps its place from release to release.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from curation.evaluation.collection import EvaluationQuery

SEED = "medqrels-parts@1"
"""Put before every id that is hashed."""


def lot(name: str) -> int:
    """The number an id draws, below 2^64: the first eight bytes of SHA-256 over seed and id, big-endian."""
    return int.from_bytes(hashlib.sha256(f"{SEED}:{name}".encode()).digest()[:8], "big")


def lots(names: Iterable[str], count: int) -> NDArray[np.uint64]:
    """The numbers of `count` ids, shape (count,)."""
    return np.fromiter((lot(name) for name in names), np.uint64, count)


def shared_out(sizes: Sequence[int], total: int) -> list[int]:
    """`total` places in proportion to sizes, by largest remainder; equal remainders go to the earlier.

    Args:
        sizes: members of each group.
        total: places, at most sum(sizes); no group gets more than it has members.

    Raises:
        ValueError: there are more places than members.
    """
    whole = sum(sizes)
    if total > whole:
        raise ValueError(f"{total} places for {whole} members")
    if not total:
        return [0] * len(sizes)
    places = [size * total // whole for size in sizes]
    order = sorted(range(len(sizes)), key=lambda number: (-(sizes[number] * total % whole), number))
    for number in order[: total - sum(places)]:
        places[number] += 1
    return places


def stratified(
    queries: Sequence[EvaluationQuery], count: int, facets: Sequence[str], taken: Counter[str] | None = None
) -> list[EvaluationQuery]:
    """`count` queries in proportion to the values of the first facet, within each to those of the second.

    So on to the last; within it, queries of articles that gave none yet come first, then the lowest lots.

    Args:
        queries: what is drawn from, in id order; the draw does not hang on their order.
        count: how many, at most len(queries).
        facets: names of facets; a query without one counts as undecided.
        taken: how often each article was drawn before; counted on.
    """
    taken = Counter() if taken is None else taken
    if not facets:
        return _spread(queries, count, taken)
    groups: dict[str, list[EvaluationQuery]] = {}
    for query in queries:
        groups.setdefault(query.facets.get(facets[0], ""), []).append(query)
    names = sorted(groups)
    drawn = []
    for name, places in zip(names, shared_out([len(groups[name]) for name in names], count), strict=True):
        drawn += stratified(groups[name], places, facets[1:], taken)
    return drawn


def _spread(queries: Sequence[EvaluationQuery], count: int, taken: Counter[str]) -> list[EvaluationQuery]:
    """The queries with the lowest lots, over as many articles as there are."""
    left = sorted(queries, key=lambda query: (lot(query.id), query.id)) if count else []
    drawn: list[EvaluationQuery] = []
    level = min((taken[query.group] for query in left), default=0)
    while len(drawn) < count:
        rest = []
        for query in left:
            if len(drawn) < count and taken[query.group] <= level:
                drawn.append(query)
                taken[query.group] += 1
            else:
                rest.append(query)
        left, level = rest, level + 1
    return drawn
