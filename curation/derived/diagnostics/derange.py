"""Another query's image for each query: a seeded derangement that keeps away from what is related.

No query gets an image of its own article, patient or image family, nor of one its positives come from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from curation.evaluation.collection import Collection
from curation.evaluation.reading import rows
from schemas.hashing import sha256_text
from schemas.tables import KEYS

SEED = "shuffled-image@1"
_DIMENSIONS = frozenset({"article", "patient", "image_family"})


def families(collection: Collection, directory: Path) -> dict[str, int]:
    """Query -> number of its family: queries that share an article, patient or image family, over any chain.

    Read from `provenance/keys`, which holds those of the positives too, and from the article of each query.

    Args:
        collection: the queries of one split.
        directory: the task folder.
    """
    known = {query.id for query in collection.queries}
    keys = [(query.id, f"group {query.group}") for query in collection.queries]
    files = KEYS.files(directory)
    for row in rows(files, ["query-id", "dimension", "key"]):
        if row["dimension"] in _DIMENSIONS and row["query-id"] in known:
            keys.append((row["query-id"], f"{row['dimension']} {row['key']}"))
    return components(keys)


def components(keys: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Item -> number of its component, where items that share a key are joined; numbered by first item."""
    above: dict[str, str] = {}
    holder: dict[str, str] = {}

    def top(item: str) -> str:
        while above[item] != item:
            above[item] = above[above[item]]
            item = above[item]
        return item

    for item, key in keys:
        above.setdefault(item, item)
        first, second = top(holder.setdefault(key, item)), top(item)
        above[max(first, second)] = min(first, second)
    numbers: dict[str, int] = {}
    return {item: numbers.setdefault(top(item), len(numbers)) for item in sorted(above)}


def derange(queries: Sequence[str], family: Mapping[str, int], seed: str = SEED) -> dict[str, str]:
    """Query -> the query whose image it gets; each image is given once.

    Families stand in seeded order, their queries together; a turn by the size of the largest family takes
    every query out of its own. Where one family has more than half of the queries some cannot be served: they
    are left out, not given a related image.

    Args:
        queries: ids of the queries that have an image.
        family: number of each query's family.
        seed: text that the order hangs on.
    """
    members: dict[int, list[str]] = defaultdict(list)
    for query in queries:
        members[family[query]].append(query)
    ordered = [
        query
        for number in sorted(members, key=lambda number: sha256_text(f"{seed} {min(members[number])}"))
        for query in sorted(members[number], key=lambda query: sha256_text(f"{seed} {query}"))
    ]
    turn = max((len(found) for found in members.values()), default=0)
    pairs = ((query, ordered[(place + turn) % len(ordered)]) for place, query in enumerate(ordered))
    return {query: other for query, other in pairs if family[query] != family[other]}
