"""Which pairs measure how far a judge agrees with people: drawn from all it was to judge, cell by cell.

A cell is what the judge scored in its first order. Low and high cells alike are drawn from: agreement on
positives alone says nothing of what the judge missed. Inside a stratum pairs are ordered by a hash of seed
and pair, so each has the same chance, and a larger sample holds a smaller one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from annotation.candidates import Facets, seats
from schemas.hashing import sha256_text
from schemas.review import CalibrationPair

UNSTABLE: Final = "unstable"
NOT_JUDGED: Final = "not_judged"
UNJUDGED: Final = "unjudged"
WITHOUT_CELL: Final = {
    UNSTABLE: "The judge concluded otherwise when the same pair was shown in another order.",
    NOT_JUDGED: "Mined for the judge, which gave no valid answer.",
    UNJUDGED: "Among the first 20 results of a system, and without a label.",
}
"""Strata that are no cell: in none of them has the judge a conclusion."""
PER_CELL: Final = 30
"""Pairs of each stratum before the rest is shared out by size; with fewer, no figure of it is claimed."""


@dataclass(frozen=True, slots=True)
class Mined:
    """One pair that may be drawn: its stratum, and what the judge concluded (None in strata without cell)."""

    query_id: str
    corpus_id: str
    stratum: str
    judge: int | None
    facets: Facets


def draw_pairs(pairs: Iterable[Mined], count: int, per_cell: int, seed: str) -> list[CalibrationPair]:
    """The sample, by query and document.

    Args:
        pairs: all that may be drawn, each once.
        count: how many pairs; all of them where there are no more.
        per_cell: pairs of each stratum, turn by turn, before the rest follows the sizes of the strata.
        seed: orders the pairs of a stratum.
    """
    strata: dict[str, list[Mined]] = defaultdict(list)
    for pair in pairs:
        strata[pair.stratum].append(pair)
    sizes = {name: len(found) for name, found in strata.items()}
    made = []
    for name, number in seats(sizes, sizes, count, each=per_cell).items():
        for pair in sorted(strata[name], key=lambda one: _order(seed, one))[:number]:
            made.append(
                CalibrationPair(
                    query_id=pair.query_id,
                    corpus_id=pair.corpus_id,
                    stratum=name,
                    population=sizes[name],
                    drawn=number,
                    judge=pair.judge,
                    specialty=pair.facets.specialty,
                    language=pair.facets.language,
                    tier=pair.facets.tier,
                )
            )
    return sorted(made, key=lambda row: (row.query_id, row.corpus_id))


def _order(seed: str, pair: Mined) -> str:
    return sha256_text(f"{seed}\x00calibration\x00{pair.query_id}\x00{pair.corpus_id}")
