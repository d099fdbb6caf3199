"""Drugs, genes and tests that point to a diagnosis: named in a query, they make it easier to answer."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.vocabulary import ClueKind

GIVES_AWAY, HIDDEN = "gives_away", "hidden"
"""Tiers of queries; '' where the vocabulary relates no drug, gene or test to any disease."""


@dataclass(frozen=True, slots=True, eq=False)
class Clues:
    """What points to the diseases of a vocabulary."""

    kinds: Mapping[str, Mapping[str, ClueKind]]
    """Disease -> drug, gene or test -> which of them it is."""
    diseases: Mapping[str, int]
    """Drug, gene or test -> how many diseases it is one of."""

    def of(self, near: Collection[str], max_diseases: int) -> dict[str, ClueKind]:
        """Concepts that point to one of some diseases, and to few others."""
        found = {
            other: kind for disease in sorted(near) for other, kind in self.kinds.get(disease, {}).items()
        }
        return {other: kind for other, kind in sorted(found.items()) if self.diseases[other] <= max_diseases}


@functools.lru_cache(maxsize=2)
def read_clues(relations: Path) -> Clues | None:
    """What a vocabulary's relations say of drugs, genes and tests; None when they say nothing.

    Args:
        relations: Parquet of ConceptRelation rows; the last two are kept.
    """
    table = pq.read_table(
        relations,
        columns=["concept", "relation", "other"],
        filters=pc.field("relation").isin(list(get_args(ClueKind))),
    )
    kinds: dict[str, dict[str, ClueKind]] = {}
    diseases: dict[str, set[str]] = {}
    for row in sorted(table.to_pylist(), key=lambda row: (row["concept"], row["other"], row["relation"])):
        kinds.setdefault(row["concept"], {}).setdefault(row["other"], row["relation"])
        diseases.setdefault(row["other"], set()).add(row["concept"])
    return Clues(kinds, {other: len(of) for other, of in diseases.items()}) if kinds else None
