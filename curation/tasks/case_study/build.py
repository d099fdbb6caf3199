"""Case study retrieval: a patient's case with its images must find other patients with the same diagnosis.

Relevance rests on one principal diagnosis per case: the same is grade 2, a near relative in the vocabulary 1.
After M3Retrieve (arXiv 2510.06888), which does not say how diagnoses were compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from curation.diagnosis.concepts import Concepts
from curation.tasks.case_study.facts import (
    CaseFacts,
    NamedConcept,
    Neighbour,
    Shingle,
    evidence_of,
    named_anywhere,
    named_in,
    neighbours,
    read_concepts,
    why_unpaired,
)
from curation.tasks.case_study.images import CaseImage, choose
from curation.tasks.case_study.settings import OwnReason, Settings
from curation.tasks.case_study.sql import NAME
from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.case_text import CaseText, assemble, sketch
from curation.tasks.shared.words import word_count
from schemas.article import Article, ArticlePassage
from schemas.benchmark import Document, Query
from schemas.case import Case
from schemas.concept import DocumentConcept, Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import family_key, query_id
from schemas.image import FigureImage
from schemas.label import RecordLabels
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

Row = Query | Document | CaseFacts | Neighbour | NamedConcept | Shingle | Drop


@dataclass(frozen=True, slots=True)
class _Report:
    """One article's records, by id where they are looked up, and what they are judged by."""

    source: Source
    passages: Mapping[str, Passage]
    later: Mapping[str, ArticlePassage]
    figures: Mapping[str, Figure]
    images: Mapping[str, FigureImage]
    mentions: Sequence[Mention]
    named: Sequence[DocumentConcept]
    labels: Mapping[str, RecordLabels]
    diagnoses: Mapping[str, PrincipalDiagnosis]
    concepts: Concepts
    settings: Settings


def build(
    source: Source,
    articles: Sequence[Article],
    cases: Sequence[Case],
    figures: Sequence[Figure],
    passages: Sequence[Passage],
    images: Sequence[FigureImage],
    mentions: Sequence[Mention],
    named: Sequence[DocumentConcept],
    labels: Sequence[RecordLabels],
    diagnoses: Sequence[PrincipalDiagnosis],
    *,
    settings: Settings,
    types: Path,
    relations: Path,
) -> Iterator[Row]:
    """Queries and documents of one article's cases, and what their pairs rest on.

    Args:
        source: the article.
        articles: the same as parsed, for cases that go on in a later document of the book.
        cases: its cases.
        figures: its figures.
        passages: its passages.
        images: its images.
        mentions: concepts named in it.
        named: the same, summed up.
        labels: what its cases and figures are about.
        diagnoses: principal diagnoses of its cases.
        settings: what it is built with.
        types: Parquet of ConceptType rows of the vocabulary.
        relations: Parquet of its ConceptRelation rows.

    Yields:
        Every case as a Document or a Drop and as a Query or a Drop; of every Document its facts.
    """
    if not cases:
        return
    report = _Report(
        source=source,
        passages={passage.id: passage for passage in passages},
        later={item.passage.id: item.passage for one in articles for item in one.continuations},
        figures={figure.id: figure for figure in figures},
        images={image.id: image for image in images},
        mentions=mentions,
        named=named,
        labels={item.id: item for item in labels},
        diagnoses={item.case_id: item for item in diagnoses},
        concepts=read_concepts(types, relations),
        settings=settings,
    )
    barred = article_bar(source, settings.licence_profile, judges_books=False)
    for case in sorted(cases, key=lambda item: item.number):
        yield from _drop_both(case, *barred) if barred else _case(report, case)


def _drop_both(case: Case, reason: StrEnum, detail: str) -> Iterator[Drop]:
    for unit in ("document", "query"):
        yield Drop(unit=unit, id=case.id, article_id=case.article_id, reason=reason, detail=detail)


def _case(report: _Report, case: Case) -> Iterator[Row]:
    """One case: its document, its query, its facts."""
    source, settings = report.source, report.settings
    text = assemble(case, report.passages, report.later, source.language)
    if text is None:
        yield from _drop_both(case, Reason.RECORD_INVALID, "a passage of the case is not there")
        return
    words = word_count(text.released)
    if words < settings.min_words:
        yield from _drop_both(case, Reason.SHORT_CASE, f"{words} words")
        return
    image = choose(case, report.figures, report.images, source.licence, settings.licence_profile)
    document = _document(report, case, text, image if isinstance(image, CaseImage) else None)
    found = report.diagnoses.get(case.id)
    open_because = why_unpaired(found, report.concepts, settings.min_confidence)
    yield document
    yield from _facts(report, case, text, None if open_because else found)
    if found is None or open_because:
        yield _no_query(case, *(open_because or (OwnReason.OPEN_DIAGNOSIS, "")))
    elif isinstance(image, CaseImage):
        yield _query(report, document, found.concept, image)
    elif settings.require_image:
        yield _no_query(case, *image)
    else:
        yield _query(report, document, found.concept, None)


def _no_query(case: Case, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit="query", id=case.id, article_id=case.article_id, reason=reason, detail=detail)


def _document(report: _Report, case: Case, text: CaseText, image: CaseImage | None) -> Document:
    source = report.source
    licence = image.licence if image else source.licence
    return Document(
        id=case.id,
        task=NAME,
        title=source.title,
        text=text.released,
        language=text.language,
        article_id=source.id,
        license=licence.spdx,
        license_evidence=licence.evidence,
        text_sha256=sha256_text(text.source),
        transforms=text.transforms,
        is_synthetic=source.is_synthetic or (image is not None and image.graphic.is_synthetic),
        image=image.graphic if image else None,
        patient_id=case.id,
        specialty=_first(report, case.id, "specialties"),
        genre="book" if source.is_book else source.article_type,
    )


def _query(report: _Report, document: Document, concept: str, image: CaseImage | None) -> Query:
    """The case of a document as a query; what both publish is the same."""
    graphic = document.image
    return Query(
        id=query_id(NAME, document.text, (graphic.sha256 or "") if graphic else ""),
        task=NAME,
        text=document.text,
        language=document.language,
        image=graphic,
        image_count=image.count if image else 0,
        source_id=document.id,
        article_id=document.article_id,
        license=document.license,
        license_evidence=document.license_evidence,
        text_sha256=document.text_sha256,
        transforms=document.transforms,
        is_synthetic=document.is_synthetic,
        targets=(concept,),
        hides_target=False,
        patient_id=document.patient_id,
        specialty=document.specialty,
        modality=_first(report, image.figure_id, "modalities") if image else "",
        region=(_first(report, image.figure_id, "regions") if image else "")
        or _first(report, document.id, "regions"),
    )


def _first(report: _Report, name: str, facet: Literal["specialties", "modalities", "regions"]) -> str:
    """The main label of a record in a facet, '' when undecided."""
    labels = report.labels.get(name)
    values: tuple[str, ...] = getattr(labels, facet) if labels else ()
    return values[0] if values else ""


def _facts(report: _Report, case: Case, text: CaseText, found: PrincipalDiagnosis | None) -> Iterator[Row]:
    """What the pairs of a case rest on; `found` is None when it may not be paired by its diagnosis."""
    concepts = report.concepts
    yield CaseFacts(
        case_id=case.id,
        article_id=case.article_id,
        family=family_key(case.article_id),
        concept=found.concept if found else "",
        age_years=case.age_years,
        sex=case.sex,
        authors=report.source.authors,
        systems=labels.body_systems if (labels := report.labels.get(case.id)) else (),
        evidence=evidence_of(found, text) if found else (),
    )
    if found:
        yield from neighbours(case.id, found.concept, concepts, report.settings.max_family)
        yield from named_in(case, text, report.mentions, concepts)
    else:
        yield from named_anywhere(case, report.diagnoses.get(case.id), report.named, concepts)
    for shingle in sketch(text.released):
        yield Shingle(case_id=case.id, hash=shingle)


# A named function, not a lambda: stages travel to worker processes.
def _case_ids(
    source: Source, articles: Sequence[Article], cases: Sequence[Case], *_: Iterable[object]
) -> list[str]:
    return [case.id for case in cases]


PER_ARTICLE = RecordStage(
    name=NAME,
    version=3,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("parse.articles", Article, by="id"),
        Input("cases.cases", Case, by="article_id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("images.images", FigureImage, by="article_id"),
        Input("ground.mentions", Mention, by="article_id"),
        Input("ground.concepts", DocumentConcept, by="article_id"),
        Input("labels.records", RecordLabels, by="article_id"),
        Input("diagnoses.diagnoses", PrincipalDiagnosis, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("documents", Document, ("id",)),
        Table("facts", CaseFacts, ("case_id",)),
        Table("neighbours", Neighbour, ("case_id", "other")),
        Table("named", NamedConcept, ("case_id", "concept")),
        Table("shingles", Shingle, ("case_id", "hash")),
    ),
    process=build,
    accounts=(
        Account("document", _case_ids, "documents", "id"),
        Account("query", _case_ids, "queries", "source_id"),
    ),
    settings=Settings,
    reasons=frozenset(OwnReason),
    resources=("types", "relations"),
)
