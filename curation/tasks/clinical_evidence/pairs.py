"""Which passages may not be evidence for a vignette, whatever a judge would say of them."""

from __future__ import annotations

from collections.abc import Iterator

from curation.tasks.clinical_evidence.patient import same_patient
from curation.tasks.clinical_evidence.settings import REASONS, OwnReason
from curation.tasks.clinical_evidence.vignettes import NAME
from curation.tasks.shared.judging.records import AskedPair
from schemas.benchmark import Excluded
from schemas.stages import Account, Drop, Input, RecordStage, Table

PAIRS = f"{NAME}_apart.pairs"
"""Pairs that a judge is asked about."""


def apart(pair: AskedPair) -> Iterator[AskedPair | Excluded | Drop]:
    """A pair as it is judged; one whose passage tells the vignette's own patient again is set apart.

    Passages of the vignette's own article are not searched at all. One of another article that tells the same
    story is no evidence either: it holds the answer because it is the same case.
    """
    told = same_patient(pair.question, pair.passage)
    if not told:
        yield pair
        return
    reason = OwnReason.SAME_PATIENT
    yield Excluded(query_id=pair.query_id, corpus_id=pair.corpus_id, task=NAME, reason=reason)
    yield Drop(unit="pair", id=pair.id, article_id=pair.article_id, reason=reason, detail=told[:100])


def _own_id(pair: AskedPair) -> list[str]:
    return [pair.id]


APART = RecordStage(
    name=f"{NAME}_apart",
    version=3,
    inputs=(Input(f"{NAME}_pairs.candidates", AskedPair, by="id"),),
    outputs=(Table("pairs", AskedPair, ("id",)), Table("excluded", Excluded, ("query_id", "corpus_id"))),
    process=apart,
    accounts=(Account("pair", _own_id, "pairs", "id"),),
    reasons=REASONS,
)
