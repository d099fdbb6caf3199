"""Keys of queries that are nearly the same: every such pair rests on a key of its own.

The measure is that of the audit's rules on near copies of queries
(`curation.similarity.text.engine.near_pairs`). A key stands for one pair: it is named after both texts, so
that no later query changes it, and a query near two others does not make those two alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from curation.partition.records import NearQuery
from curation.similarity.text.engine import near_pairs
from curation.similarity.text.sketch import Texts
from schemas.hashing import normalise_text, sha256_text

VERSION = 2
PREFIX = "near:"
"""Such keys are of the dimension `query`."""


def near_keys(queries: Mapping[str, Sequence[Path]]) -> list[NearQuery]:
    """The keys of all queries that are nearly the same as another, in order.

    Queries of the same text all get the key; so do those of one family, which share a key anyway. Not nearly
    the same are two that both name target concepts and share none.

    Args:
        queries: task -> its query tables.
    """
    names, texts, targets = _read(queries)
    groups: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        groups.setdefault(normalise_text(text), []).append(place)
    groups.pop("", None)
    forms = sorted(groups)
    found: set[tuple[str, str, str]] = set()
    held = Texts.of("queries", [str(number) for number in range(len(forms))], forms)
    for pair in near_pairs(held).pairs:
        one, other = sorted((forms[pair.one_row], forms[pair.other_row]))
        key = PREFIX + sha256_text(f"{sha256_text(one)} {sha256_text(other)}")
        for a in groups[one]:
            for b in groups[other]:
                if not _ask_of_others(targets[a], targets[b]):
                    found |= {(*names[a], key), (*names[b], key)}
    return [NearQuery(task=task, query_id=query, key=key) for task, query, key in sorted(found)]


def _ask_of_others(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two queries ask about target concepts of which they share none."""
    return bool(one) and bool(other) and not one & other


def _read(
    queries: Mapping[str, Sequence[Path]],
) -> tuple[list[tuple[str, str]], list[str], list[frozenset[str]]]:
    """(task, id), text and target concepts of every query."""
    names: list[tuple[str, str]] = []
    texts: list[str] = []
    targets: list[frozenset[str]] = []
    for task, row_id, text, named in _rows(queries):
        names.append((task, row_id))
        texts.append(text)
        targets.append(frozenset(named))
    return names, texts, targets


def _rows(queries: Mapping[str, Sequence[Path]]) -> Iterator[tuple[str, str, str, Sequence[str]]]:
    for task in sorted(queries):
        for path in queries[task]:
            with pq.ParquetFile(path) as source:
                for batch in source.iter_batches(columns=["id", "text", "targets"], use_threads=False):
                    for row in batch.to_pylist():
                        yield task, row["id"], row["text"] or "", row["targets"] or ()
