"""What a system that mined pairs must be said to score without the positives that it alone found.

Written apart from `curation.evaluation`: from the table of judgements, labels and run files.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.audit.rule import Context
from curation.audit.rules.runs_reading import codes
from curation.audit.rules.runs_tally import Keys, Split, Tally, within
from curation.evaluation.measures import PRIMARY
from curation.evaluation.systems import parse_system
from schemas.errors import UsageError
from schemas.judged_tables import JUDGEMENTS

FINDERS = f"""SELECT "query-id" AS q, "corpus-id" AS c, array_to_string(list_sort(list_distinct(
    list_transform(found_by, lambda one: regexp_replace(one, ':[^:]*:[^:]*$', '')))), chr(10)) AS names
    FROM {JUDGEMENTS.name} WHERE len(found_by) > 0 ORDER BY ALL"""
"""Mined pairs with the systems that found them, a line each; `system:view:rank` without view and rank."""


@dataclass(frozen=True, slots=True)
class Mined:
    """What found the mined pairs of a split: keys in order, and for each its place in `groups` of systems.

    `systems` are all that found a pair, of whatever split.
    """

    keys: Keys
    codes: Keys
    groups: tuple[frozenset[str], ...]
    systems: frozenset[str]

    def own(self, parts: AbstractSet[str], split: Split) -> Keys:
        """Keys in order of the positives that a system made of some parts alone found."""
        alone = np.array([names <= parts for names in self.groups], np.bool_)
        keys = self.keys[alone[self.codes]] if len(self.groups) else self.keys
        return keys[within(keys, split.labels[split.grades > 0])[0]]


def mined(context: Context, splits: Mapping[str, Split], corpus: pa.Array) -> dict[str, Mined]:
    """What found the mined pairs of each split; empty where the release does not say so."""
    if JUDGEMENTS.name not in context.views:
        return {}
    found: dict[str, list[tuple[Keys, Keys]]] = {split: [] for split in splits}
    groups: dict[str, int] = {}
    for batch in context.batches(FINDERS, JUDGEMENTS.name):
        named = batch.column("names").dictionary_encode()
        known = [groups.setdefault(name, len(groups)) for name in named.dictionary.to_pylist()]
        group = np.array(known, np.int64)[np.asarray(pc.fill_null(named.indices, 0))]
        documents = codes(batch.column("c"), corpus)
        for split, data in splits.items():
            owners = codes(batch.column("q"), data.queries)
            kept = (owners >= 0) & (documents >= 0)
            found[split].append((owners[kept] * len(corpus) + documents[kept], group[kept]))
    names = tuple(frozenset(name.split("\n")) for name in groups)
    return {split: _joined(parts, names) for split, parts in found.items()}


def _joined(parts: list[tuple[Keys, Keys]], names: tuple[frozenset[str], ...]) -> Mined:
    empty = np.empty(0, np.int64)
    keys, group = (np.concatenate([empty, *column]) for column in zip(*parts, strict=True)) if parts else (
        empty, empty,
    )  # fmt: skip
    order = np.argsort(keys, kind="stable")
    return Mined(keys[order], group[order], names, frozenset().union(*names))


def parts_of(system: str) -> frozenset[str]:
    """Names a system may have mined under: its own, and those of what it is made of."""
    try:
        return parse_system(system).parts | {system}
    except UsageError:
        return frozenset({system})


def without_own(tally: Tally) -> dict[str, Any]:
    """nDCG@10 over the queries that keep a positive, with and without those of `tally.own`."""
    split, rest = tally.split, tally.rest
    chosen = np.flatnonzero(rest.relevant)
    before = tally.sums[PRIMARY][chosen] / split.ideal[chosen]
    after = tally.rest_sums[chosen] / rest.ideal[chosen]
    return {
        "measure": PRIMARY,
        "before": float(before.mean()) if len(chosen) else None,
        "mean": float(after.mean()) if len(chosen) else None,
        "queries": len(chosen),
        "positives": int(rest.relevant[chosen].sum()),
        "left_out": len(tally.own),
    }
