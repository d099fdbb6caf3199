"""Case study retrieval: a patient's case with its images must find other patients with the same diagnosis.

Relevance rests on one principal diagnosis per case: the same is grade 2, a near relative in the vocabulary 1.
After M3Retrieve (arXiv 2510.06888), which does not say how diagnoses were compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.tasks.case_study.images import CaseImage, choose
from curation.tasks.case_study.settings import Settings
from curation.tasks.case_study.sql import NAME
from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.case_facts import why_unpaired
from curation.tasks.shared.case_reports import (
    ACCOUNTS,
    FACTS,
    CaseReport,
    Fact,
    drop_both,
    drop_query,
)
from curation.tasks.shared.case_text import assemble
from curation.tasks.shared.words import word_count
from schemas.article import Article
from schemas.benchmark import Document, Query
from schemas.case import Case
from schemas.concept import DocumentConcept, Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Figure, Passage, Source
from schemas.ids import query_id
from schemas.image import FigureImage
from schemas.label import RecordLabels
from schemas.stages import Drop, Input, Reason, RecordStage, Table

Row = Query | Document | Fact | Drop


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the cases of an article show."""

    figures: Mapping[str, Figure]
    images: Mapping[str, FigureImage]


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
    report = CaseReport.of(
        source, articles, passages, mentions, named, labels, diagnoses, types=types, relations=relations
    )
    shown = _Shown({figure.id: figure for figure in figures}, {image.id: image for image in images})
    barred = article_bar(source, settings.licence_profile, judges_books=False)
    for case in sorted(cases, key=lambda item: item.number):
        yield from drop_both(case, *barred) if barred else _case(report, shown, case, settings)


def _case(report: CaseReport, shown: _Shown, case: Case, settings: Settings) -> Iterator[Row]:
    """One case: its document, its query, its facts."""
    source = report.source
    text = assemble(case, report.passages, report.later, source.language)
    if text is None:
        yield from drop_both(case, Reason.RECORD_INVALID, "a passage of the case is not there")
        return
    words = word_count(text.released)
    if words < settings.min_words:
        yield from drop_both(case, Reason.SHORT_CASE, f"{words} words")
        return
    image = choose(case, shown.figures, shown.images, source.licence, settings.licence_profile)
    usable = image if isinstance(image, CaseImage) else None
    document = report.document(
        NAME, case, text, usable.graphic if usable else None, usable.licence if usable else None
    )
    found = report.diagnoses.get(case.id)
    open_because = why_unpaired(found, report.concepts, settings.min_confidence)
    yield document
    yield from report.facts(case, text, None if open_because else found, settings.max_family)
    if found is None or open_because:
        yield drop_query(case, *(open_because or (Reason.OPEN_DIAGNOSIS, "")))
    elif isinstance(image, CaseImage):
        yield _query(report, document, found.concept, image)
    elif settings.require_image:
        yield drop_query(case, *image)
    else:
        yield _query(report, document, found.concept, None)


def _query(report: CaseReport, document: Document, concept: str, image: CaseImage | None) -> Query:
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
        modality=report.first(image.figure_id, "modalities") if image else "",
        region=(report.first(image.figure_id, "regions") if image else "")
        or report.first(document.id, "regions"),
    )


PER_ARTICLE = RecordStage(
    name=NAME,
    version=5,
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
        *FACTS,
    ),
    process=build,
    accounts=ACCOUNTS,
    settings=Settings,
    resources=("types", "relations"),
)
