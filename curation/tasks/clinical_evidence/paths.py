"""Vignettes as queries, and the three texts that each is searched with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from curation.tasks.clinical_evidence.asking import VIGNETTES
from curation.tasks.clinical_evidence.exams import mentions_in
from curation.tasks.clinical_evidence.records import EvidenceAnswer, ReasoningPath, Vignette
from curation.tasks.clinical_evidence.settings import REASONS, OwnReason
from curation.tasks.clinical_evidence.vignettes import NAME
from curation.tasks.shared.mining.index import view_of
from curation.tasks.shared.mining.records import IndexedView, View
from schemas.benchmark import Query
from schemas.stages import Account, Drop, Input, RecordStage, Table


def _unit(vignette: Vignette, *_: object) -> list[str]:
    return [vignette.unit]


def views(
    vignette: Vignette, paths: Sequence[ReasoningPath], *, vocabulary: Path
) -> Iterator[Query | EvidenceAnswer | IndexedView | Drop]:
    """A vignette as a query, its answer, and what is searched with; without a path nothing can be judged.

    Args:
        vignette: the vignette.
        paths: its reasoning path, one or none.
        vocabulary: index of the native matcher.
    """
    if not paths:
        yield Drop(
            unit="vignette",
            id=vignette.unit,
            article_id=vignette.article_id,
            reason=OwnReason.NO_PATH,
        )
        return
    yield _query(vignette)
    yield EvidenceAnswer(
        query_id=vignette.id,
        source_id=vignette.unit,
        answer=vignette.answer,
        explanation=paths[0].text,
    )
    texts: dict[View, str] = {
        "question": vignette.text,
        "answer": vignette.answer,
        "reasoning": paths[0].text,
    }
    for view, text in texts.items():
        yield view_of(
            vignette.id,
            vignette.source_id,
            view,
            text,
            vignette.language,
            own_article=vignette.article_id if vignette.origin == "case" else "",
            mentions=mentions_in(text, vocabulary),
        )


def _query(vignette: Vignette) -> Query:
    return Query(
        id=vignette.id,
        task=NAME,
        text=vignette.text,
        language=vignette.language,
        source_id=vignette.source_id,
        article_id=vignette.article_id,
        license=vignette.license,
        license_evidence=vignette.license_evidence,
        text_sha256=vignette.text_sha256,
        transforms=vignette.transforms,
        is_synthetic=vignette.is_synthetic,
        family=vignette.family,
        targets=vignette.targets,
        hides_target=vignette.scenario == "diagnosis",
        patient_id=vignette.patient_id,
        specialty=vignette.specialty,
        scenario=vignette.scenario,
    )


VIEWS = RecordStage(
    name=f"{NAME}_views",
    version=1,
    inputs=(
        Input(VIGNETTES, Vignette, by="unit"),
        Input(f"{NAME}_paths.paths", ReasoningPath, by="unit"),
    ),
    outputs=(
        Table("queries", Query, ("id",)),
        Table("answers", EvidenceAnswer, ("query_id",)),
        Table("views", IndexedView, ("query_id", "view")),
    ),
    process=views,
    accounts=(Account("vignette", _unit, "answers", "source_id"),),
    reasons=REASONS,
    resources=("vocabulary",),
)
