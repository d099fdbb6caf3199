"""Queries over several images: a figure with several, and figures that a passage cites together.

Stands beside what curation.tasks.visual_context.build makes of single figures, and changes none of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from curation.tasks.shared.bars import file_problem, first_image
from curation.tasks.shared.several_images import KEY, Row, Shown, listed
from curation.tasks.shared.words import word_count
from curation.tasks.visual_context.build import cited_by, evidence_of, is_self_match
from curation.tasks.visual_context.captions import Captions
from curation.tasks.visual_context.figure import Kinds, bar, kinds_of
from curation.tasks.visual_context.settings import OwnReason, Settings
from schemas.benchmark import Document, Evidence, Excluded, Qrel, Query, RowImage, Transform
from schemas.extracted import Figure, FigureMention, Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.image import FigureImage
from schemas.stages import Drop, Input, Reason, RecordStage, Table

NAME = "visual_context_images"
TASK = "visual_context"
CITES_ALL = f"{TASK}/cites-all@1"
CITES_SOME = "cites_some"
SEVERAL = "several figures"
"""Tier of queries over more than one figure."""
JOINT = "\n"
"""Between the captions of a query, as written and as released."""

Made = Query | Qrel | Excluded | RowImage | Drop


@dataclass(frozen=True, slots=True)
class _Article:
    """One article: its figures and passages by id, its documents, and which figures a passage cites."""

    captions: Captions
    figures: Mapping[str, Figure]
    passages: Mapping[str, Passage]
    documents: Sequence[Document]
    cited: Mapping[str, frozenset[str]]
    settings: Settings
    kinds: Kinds | None = None

    def sets(self) -> list[tuple[Figure, ...]]:
        """Figures that a document cites together, each set once, in the order of the article."""
        found = {
            self.cited[document.id] for document in self.documents if len(self.cited.get(document.id, ())) > 1
        }
        known = [chosen for chosen in found if chosen <= self.figures.keys()]
        ordered = (
            tuple(sorted((self.figures[name] for name in chosen), key=lambda one: (one.number, one.id)))
            for chosen in known
        )
        return sorted(ordered, key=lambda members: [(one.number, one.id) for one in members])


def build(
    source: Source,
    figures: Sequence[Figure],
    passages: Sequence[Passage],
    queries: Sequence[Query],
    documents: Sequence[Document],
    images: Sequence[FigureImage] = (),
    *,
    settings: Settings,
) -> Iterator[Made]:
    """Queries over several figures of one article with their pairs, and the images of all queries.

    Args:
        source: the article.
        figures: its figures.
        passages: its passages.
        queries: what visual_context made of single figures.
        documents: its documents.
        images: its images, which tell what is clinical where the settings ask.
        settings: what it is built with; one image a row asks for nothing.

    Yields:
        Every set of figures that a document cites together as a Query with Qrels, Excluded and RowImages, or
        as a Drop; RowImages of every query whose figure has several images.
    """
    if settings.max_images < 2:
        return
    by_id = {figure.id: figure for figure in figures}
    captions = Captions.of(source, figures, passages)
    for query in sorted(queries, key=lambda item: item.id):
        yield from _of_figure(_row(query, captions), by_id[query.source_id], settings.max_images)
    article = _Article(
        captions,
        by_id,
        {passage.id: passage for passage in passages},
        sorted(documents, key=lambda item: item.id),
        {name: frozenset(found) for name, found in cited_by(figures).items()},
        settings,
        kinds_of(images) if settings.clinical_only else None,
    )
    made: dict[str, str] = {}
    for members in article.sets():
        result = _of_set(article, members)
        if isinstance(result, Drop):
            yield result
            continue
        query, pairs = result
        if query.id in made:
            yield _dropped(members, Reason.DUPLICATE_QUERY, made[query.id])
            continue
        made[query.id] = query.source_id
        yield query
        yield from pairs
        yield from listed(_row(query, captions), _first_of(members), settings.max_images, with_captions=True)


def _of_figure(row: Row, figure: Figure, most: int) -> Iterator[RowImage | Drop]:
    """Images of a query of one figure."""
    shown = [
        Shown(figure, graphic, number)
        for number, graphic in enumerate(figure.graphics, start=1)
        if file_problem(graphic) is None
    ]
    if len(shown) > 1:
        yield from listed(row, shown, most, with_captions=True)


def _row(query: Query, captions: Captions) -> Row:
    return Row(query.id, "query", query.source_id, query.article_id, query.language, captions.names)


def _first_of(members: Sequence[Figure]) -> Iterator[Shown]:
    """The first usable image of each figure."""
    for figure in members:
        for number, graphic in enumerate(figure.graphics, start=1):
            if file_problem(graphic) is None:
                yield Shown(figure, graphic, number)
                break


def _of_set(article: _Article, members: tuple[Figure, ...]) -> tuple[Query, list[Qrel | Excluded]] | Drop:
    """The query of figures that are cited together, with its pairs; or why there is none."""
    settings = article.settings
    if len(members) > settings.max_images:
        return _dropped(members, OwnReason.MANY_FIGURES, f"{len(members)} figures")
    for figure in members:
        if barred := bar(figure, settings.licence_profile, require_image=True, kinds=article.kinds):
            return _dropped(members, barred[0], f"{figure.id}: {barred[1]}".removesuffix(": "))
        text, _ = article.captions.released(figure.caption)
        if barred := article.captions.bar(text, settings.min_caption_words):
            return _dropped(members, barred[0], f"{figure.id}: {barred[1]}")
    licences = sorted({figure.licence.spdx for figure in members})
    if len(licences) > 1:
        return _dropped(members, Reason.LICENCE_NOT_ALLOWED, f"of several licences: {', '.join(licences)}")
    if len({one.graphic.sha256 for one in _first_of(members)}) < len(members):
        return _dropped(members, Reason.DUPLICATE_IMAGE, "two of the figures show the same file")
    query = _query(article, members)
    pairs = _pairs(article, members, query)
    if not any(isinstance(pair, Qrel) for pair in pairs):
        return _unanswered(members, [pair.reason for pair in pairs if isinstance(pair, Excluded)])
    return query, pairs


def _query(article: _Article, members: tuple[Figure, ...]) -> Query:
    source = article.captions.source
    captions = [article.captions.released(figure.caption) for figure in members]
    text = JOINT.join(caption for caption, _ in captions)
    changes: list[Transform] = []
    at = 0
    for caption, transforms in captions:
        changes += [replace(one, start=one.start + at, end=one.end + at) for one in transforms]
        at += len(caption) + len(JOINT)
    shown = list(_first_of(members))
    return Query(
        id=query_id(TASK, text, *(one.graphic.sha256 or "" for one in shown)),
        task=TASK,
        text=text,
        language=source.language,
        image=first_image(members[0]),
        image_count=len(shown),
        tier=SEVERAL,
        source_id="+".join([members[0].id, *(figure.id.rpartition("#")[2] for figure in members[1:])]),
        article_id=source.id,
        license=members[0].licence.spdx,
        license_evidence="; ".join(dict.fromkeys(figure.licence.evidence for figure in members)),
        text_sha256=sha256_text(JOINT.join(figure.caption for figure in members)),
        transforms=tuple(changes),
        is_synthetic=source.is_synthetic or any(one.graphic.is_synthetic for one in shown),
    )


def _pairs(article: _Article, members: tuple[Figure, ...], query: Query) -> list[Qrel | Excluded]:
    """Every document of the article as a positive or an excluded pair."""
    wanted = frozenset(figure.id for figure in members)
    mentions: dict[str, list[FigureMention]] = defaultdict(list)
    for figure in article.figures.values():
        if (figure.parent or figure.id) in wanted:
            for mention in figure.mentions:
                mentions[mention.passage_id].append(mention)
    found: list[Qrel | Excluded] = []
    for document in article.documents:
        reason = _exclusion(article, members, query, document)
        if reason:
            found.append(Excluded(query_id=query.id, corpus_id=document.id, task=TASK, reason=reason))
            continue
        evidence = _evidence(article.passages[document.id], mentions[document.id])
        found.append(
            Qrel(
                query_id=query.id,
                corpus_id=document.id,
                score=2,
                task=TASK,
                rule=CITES_ALL,
                label_status="structural",
                evidence=evidence,
            )
        )
    return found


def _evidence(passage: Passage, mentions: Sequence[FigureMention]) -> tuple[Evidence, ...]:
    """The sentences that cite the figures, each once."""
    spans = sorted({(mention.sentence_start, mention.sentence_end) for mention in mentions})
    return tuple(evidence_of(passage, *span) for span in spans)


def _exclusion(article: _Article, members: Sequence[Figure], query: Query, document: Document) -> str:
    """Why a document is no positive of figures that are asked for together, '' if it is one."""
    wanted = {figure.id for figure in members}
    cited = article.cited.get(document.id, frozenset())
    if not cited & wanted:
        return "own_article"
    if not wanted <= cited:
        return CITES_SOME
    if word_count(document.text) < article.settings.min_words:
        return "short_passage"
    if len(cited) > max(article.settings.max_figures, len(wanted)):
        return "many_figures"
    source = article.passages[document.id].text
    if any(is_self_match(figure.caption, source) for figure in members):
        return "self_match"
    released = (caption for caption in query.text.split(JOINT) if caption)
    return "self_match" if any(is_self_match(caption, document.text) for caption in released) else ""


def _unanswered(members: Sequence[Figure], reasons: Sequence[str]) -> Drop:
    """The drop of figures that no passage answers; the reason nearest to an answer is named."""
    for reason in (Reason.SELF_MATCH, OwnReason.MANY_FIGURES, Reason.SHORT_PASSAGE):
        if reason.value in reasons:
            return _dropped(members, reason, "of every passage that cites all")
    return _dropped(members, Reason.NO_CITING_PASSAGE, "")


def _dropped(members: Sequence[Figure], reason: StrEnum, detail: str) -> Drop:
    return Drop(
        unit="figure_set",
        id="+".join([members[0].id, *(figure.id.rpartition("#")[2] for figure in members[1:])]),
        article_id=members[0].article_id,
        reason=reason,
        detail=detail,
    )


PER_ARTICLE = RecordStage(
    name=NAME,
    version=5,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("visual_context.queries", Query, by="article_id"),
        Input("visual_context.documents", Document, by="article_id"),
        Input("images.images", FigureImage, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "source_id")),
        Table("qrels", Qrel, ("query_id", "corpus_id")),
        Table("excluded", Excluded, ("query_id", "corpus_id")),
        Table("images", RowImage, KEY),
    ),
    process=build,
    accounts=(),
    settings=Settings,
    reasons=frozenset(OwnReason),
)
