"""Image search: a short clinical text must find the clinical image it tells of.

Queries are captions and the stories of cases; documents are images alone, without text or title. Whole images
are ranked: panels stay together. After M3Retrieve's query-to-image task, whose pool kept no track of copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from curation.extract.neutralise import neutralise_caption
from curation.tasks.image_search.caption import ShownConcepts, caption_bar, read_shown, vagueness
from curation.tasks.image_search.facts import (
    Held,
    ImageFacts,
    Report,
    image_ids,
    images_of,
    shown_figures,
    why_none,
)
from curation.tasks.image_search.labels import caption_span, citing_spans, common, is_alike, label_spans
from curation.tasks.image_search.settings import OwnReason, Settings
from curation.tasks.image_search.sql import CASE_IMAGE, NAME, OWN_IMAGE, SAME_CASE
from curation.tasks.image_search.story import Story, tell
from curation.tasks.shared.bars import Bar, article_bar
from curation.tasks.shared.case_text import CaseText
from schemas.article import Article
from schemas.benchmark import Document, Evidence, Excluded, Qrel, Query
from schemas.case import Case
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.image import FigureImage
from schemas.label import Label, RecordLabels
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

Row = Query | Document | Qrel | Excluded | ImageFacts | Drop


def build(
    source: Source,
    articles: Sequence[Article],
    figures: Sequence[Figure],
    passages: Sequence[Passage],
    cases: Sequence[Case],
    images: Sequence[FigureImage],
    mentions: Sequence[Mention],
    labels: Sequence[Label],
    records: Sequence[RecordLabels],
    diagnoses: Sequence[PrincipalDiagnosis],
    settings: Settings,
    *,
    types: Path,
) -> Iterator[Row]:
    """Queries, image documents, qrels and excluded pairs of one article.

    Args:
        source: the article.
        articles: the same as parsed, for cases that go on in a later document of the book.
        figures: its figures.
        passages: its passages.
        cases: its cases.
        images: its images as they were looked at.
        mentions: concepts named in it: the names its diagnoses go by.
        labels: modality and region of its figures, with their evidence.
        records: the same, one row per record.
        diagnoses: principal diagnoses of its cases.
        settings: what it is built with.
        types: Parquet of ConceptType rows of the vocabulary.

    Yields:
        Every image as a Document with its ImageFacts or a Drop, every figure and case as a Query or a Drop,
        their Qrels and Excluded.
    """
    report = Report.of(
        source, articles, figures, passages, cases, images, mentions, labels, records, diagnoses
    )
    barred = article_bar(source, settings.licence_profile)
    if barred:
        yield from _drop_all(report, *barred)
        return
    shown = shown_figures(report, settings)
    stories = {case.id: tell(report, case, shown, settings.max_case_words) for case in report.cases}
    told = {name: story.text.source for name, story in stories.items() if story.text}
    held = {figure.id: images_of(report, figure, told, settings) for figure in report.figures}
    for figure in report.figures:
        yield from _documents(report, figure, held[figure.id])
    pairs: dict[tuple[str, str], Qrel | Excluded] = {}
    for figure in report.figures:
        yield from _unpaired(_of_caption(report, figure, held, settings, read_shown(types)), pairs)
    for case in report.cases:
        yield from _unpaired(_of_case(report, case, stories[case.id], held, settings), pairs)
    yield from (pairs[key] for key in sorted(pairs))


def _unpaired(rows: Iterator[Row], pairs: dict[tuple[str, str], Qrel | Excluded]) -> Iterator[Row]:
    """Rows that are no pairs; of pairs the best is kept: figures with one caption are one query."""
    for row in rows:
        if not isinstance(row, Qrel | Excluded):
            yield row
            continue
        key = row.query_id, row.corpus_id
        known = pairs.get(key)
        if known is None or _worth(row) > _worth(known):
            pairs[key] = row


def _worth(row: Qrel | Excluded) -> int:
    return row.score if isinstance(row, Qrel) else -1 if row.reason == "own_article" else 0


def _drop(unit: str, name: str, report: Report, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit=unit, id=name, article_id=report.source.id, reason=reason, detail=detail)


def _drop_all(report: Report, reason: StrEnum, detail: str) -> Iterator[Drop]:
    for figure in report.figures:
        for name in image_ids(figure):
            yield _drop("document", name, report, reason, detail)
    for asked in (*(item.id for item in report.figures), *(item.id for item in report.cases)):
        yield _drop("query", asked, report, reason, detail)


def _documents(report: Report, figure: Figure, found: Sequence[Held | Drop]) -> Iterator[Row]:
    """Every image of a figure: the image is the document, its text is empty."""
    source, owners = report.source, report.owners(figure.id)
    for item in found:
        if isinstance(item, Drop):
            yield item
            continue
        yield Document(
            id=item.id,
            task=NAME,
            title="",
            text="",
            language=source.language,
            article_id=source.id,
            license=figure.licence.spdx,
            license_evidence=figure.licence.evidence,
            text_sha256=sha256_text(""),
            is_synthetic=source.is_synthetic or item.graphic.is_synthetic,
            image=item.graphic,
            patient_id=owners[0] if len(owners) == 1 else "",
            specialty=report.first(figure.id, "specialties"),
            genre="book" if source.is_book else source.article_type,
        )
        yield item.facts


def _of_caption(
    report: Report,
    figure: Figure,
    held: dict[str, list[Held | Drop]],
    settings: Settings,
    shown: ShownConcepts,
) -> Iterator[Row]:
    """The caption of a figure as a query: its own images are the answer."""
    source, owners = report.source, report.owners(figure.id)
    text, transforms = neutralise_caption(figure.caption, source.language)
    own = [item for item in held[figure.id] if isinstance(item, Held)]
    barred = caption_bar(figure, text, settings)
    if barred is None and not own:
        barred = why_none(held[figure.id])
    if barred is None and (vague := vagueness(report, figure, text, shown)):
        barred = Reason.VAGUE_CAPTION, vague
    if barred:
        yield _drop("query", figure.id, report, *barred)
        return
    query = Query(
        id=query_id(NAME, text),
        task=NAME,
        text=text,
        language=source.language,
        source_id=figure.id,
        article_id=source.id,
        license=figure.licence.spdx,
        license_evidence=figure.licence.evidence,
        text_sha256=sha256_text(figure.caption),
        transforms=transforms,
        is_synthetic=source.is_synthetic,
        patient_id=owners[0] if len(owners) == 1 else "",
        specialty=report.first(figure.id, "specialties"),
        modality=common([report.all_of(figure.id, "modalities")]),
        region=common([report.all_of(figure.id, "regions")]),
    )
    yield query
    for other in report.figures:
        for item in held[other.id]:
            if isinstance(item, Held):
                yield _judged(report, query, figure, other, item)


def _judged(report: Report, query: Query, figure: Figure, other: Figure, item: Held) -> Qrel | Excluded:
    """The label of one image of the query's article."""
    if other.id == figure.id:
        return _qrel(query, item, 2, OWN_IMAGE, (caption_span(figure),))
    shared = sorted(set(report.owners(figure.id)) & set(report.owners(other.id)))
    if shared and is_alike(report.records.get(figure.id), report.records.get(other.id)):
        tie = citing_spans(other, report.cases_by_id[shared[0]], report.passages)[:1]
        evidence = (*label_spans(report, figure), *label_spans(report, other), *tie)
        return _qrel(query, item, 1, SAME_CASE, evidence)
    return Excluded(
        query_id=query.id,
        corpus_id=item.id,
        task=NAME,
        reason="same_case_image" if shared else "own_article",
    )


def _of_case(
    report: Report, case: Case, story: Story, held: dict[str, list[Held | Drop]], settings: Settings
) -> Iterator[Row]:
    """The story of a case as a query: all images of the case are the answer."""
    mine = [name for name in case.figures if name in held]
    own = [item for name in mine for item in held[name] if isinstance(item, Held)]
    text = story.text
    barred: Bar | None = None
    if text is None or story.words < settings.min_case_words:
        barred = Reason.SHORT_CASE, f"{story.words} words of presentation and findings"
    elif not own:
        barred = why_none([item for name in mine for item in held[name]])
    if text is None or barred:
        yield _drop("query", case.id, report, *(barred or (Reason.SHORT_CASE, "")))
        return
    regions = [report.all_of(item.figure_id, "regions") for item in own]
    query = Query(
        id=query_id(NAME, text.released),
        task=NAME,
        text=text.released,
        language=text.language,
        source_id=case.id,
        article_id=case.article_id,
        license=report.source.licence.spdx,
        license_evidence=report.source.licence.evidence,
        text_sha256=sha256_text(text.source),
        transforms=text.transforms,
        is_synthetic=report.source.is_synthetic,
        patient_id=case.id,
        specialty=report.first(case.id, "specialties"),
        modality=common(report.all_of(item.figure_id, "modalities") for item in own),
        region=common(filter(None, regions)) if any(regions) else common([report.all_of(case.id, "regions")]),
    )
    yield query
    for figure in report.figures:
        for item in (one for one in held[figure.id] if isinstance(one, Held)):
            if figure.id in mine:
                yield _qrel(query, item, 2, CASE_IMAGE, _told(report, case, text, figure))
            else:
                yield Excluded(query_id=query.id, corpus_id=item.id, task=NAME, reason="own_article")


def _told(report: Report, case: Case, text: CaseText, figure: Figure) -> tuple[Evidence, ...]:
    """Sentences of a story that cite a figure; its caption when none does."""
    spans = citing_spans(figure, case, report.passages)
    told = [span for span in spans if text.locate(span.text_id, span.start, span.end)]
    return tuple(told[:2]) or (caption_span(figure),)


def _qrel(query: Query, item: Held, score: int, rule: str, evidence: tuple[Evidence, ...]) -> Qrel:
    return Qrel(
        query_id=query.id,
        corpus_id=item.id,
        score=score,
        task=NAME,
        rule=rule,
        label_status="structural",
        evidence=evidence,
    )


# Named functions, not lambdas: stages travel to worker processes.
def _image_ids(source: Source, _: Sequence[Article], figures: Sequence[Figure], *__: object) -> list[str]:
    return [name for figure in figures for name in image_ids(figure)]


def _query_ids(
    source: Source,
    _: Sequence[Article],
    figures: Sequence[Figure],
    __: Sequence[Passage],
    cases: Sequence[Case],
    *___: object,
) -> list[str]:
    return [*(figure.id for figure in figures), *(case.id for case in cases)]


PER_ARTICLE = RecordStage(
    name=NAME,
    version=8,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("parse.articles", Article, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("cases.cases", Case, by="article_id"),
        Input("images.images", FigureImage, by="article_id"),
        Input("ground.mentions", Mention, by="article_id"),
        Input("labels.labels", Label, by="article_id"),
        Input("labels.records", RecordLabels, by="article_id"),
        Input("diagnoses.diagnoses", PrincipalDiagnosis, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("documents", Document, ("id",)),
        Table("facts", ImageFacts, ("id",)),
        Table("qrels", Qrel, ("query_id", "corpus_id")),
        Table("excluded", Excluded, ("query_id", "corpus_id")),
    ),
    process=build,
    accounts=(
        Account("document", _image_ids, "documents", "id"),
        Account("query", _query_ids, "queries", "source_id"),
    ),
    settings=Settings,
    resources=("types",),
    reasons=frozenset(OwnReason),
)
