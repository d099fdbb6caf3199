"""Sections and articles as documents of visual_context, where the spec asks for them.

All queries share one corpus, and a document that shows a query's figure or caption contains that query. So
the captions of all figures that are queries leave every document, and with them each sentence that repeats
one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from curation.similarity.text.repeats import Repeats
from curation.tasks.shared.granularity import JOINT, LeftOut, Piece, larger, pieces_of, without
from curation.tasks.visual_context.settings import Settings
from schemas.benchmark import Document, Part, Query, QueryPanel
from schemas.extracted import Figure, Float, Passage, Source
from schemas.ids import article_of
from schemas.stages import Input, RecordStage, Table

NAME = "visual_context_parts"
TASK = "visual_context"
CAPTION_RULE = "query_caption"
"""Of the transform that takes a sentence out of a passage because it repeats the caption of a query."""


def build(
    source: Source,
    figures: Sequence[Figure],
    floats: Sequence[Float],
    passages: Sequence[Passage],
    documents: Sequence[Document],
    queries: Sequence[Query],
    several: Sequence[Query],
    cut: Sequence[Query],
    panels: Sequence[QueryPanel],
    *,
    settings: Settings,
) -> Iterator[Document | Part]:
    """Larger documents of one article; of passages nothing, they are documents already.

    Args:
        source: the article.
        figures: its figures.
        floats: where figures and tables stand.
        passages: its passages.
        documents: those that visual_context made documents of.
        queries: its queries of single figures.
        several: its queries over several.
        cut: its queries of single panels.
        panels: of which figures these are.
        settings: what it is built with.

    Yields:
        Documents, and every passage, figure and table as a Part.
    """
    if settings.granularity == "passage" or not documents:
        return
    made = {document.id: document for document in documents}
    pieces = pieces_of(
        TASK,
        source,
        sorted(passages, key=lambda item: item.number),
        made,
        figures,
        floats,
        settings.licence_profile,
    )
    asked = {name for query in (*queries, *several) for name in _figures_of(query)}
    asked |= {panel.figure_id for panel in panels}
    captions = {figure.id: figure.caption for figure in figures if figure.id in asked}
    released = [line for query in (*queries, *several, *cut) for line in query.text.split(JOINT) if line]
    repeats = Repeats((*released, *captions.values()))
    yield from larger(
        source,
        [_without_queries(piece, asked, repeats) for piece in pieces],
        made,
        settings.granularity,
    )


def _figures_of(query: Query) -> list[str]:
    """The figures that a query shows: its source, `pmc:PMC1.1#F1+F2` for several."""
    first, *others = query.source_id.split("+")
    return [first, *(f"{article_of(first)}#{name}" for name in others)]


def _without_queries(piece: Piece, asked: set[str], repeats: Repeats) -> Piece:
    """The part without what shows a query: sentences of a passage, a caption or table as a whole."""
    if piece.left_out:
        return piece
    if piece.id in asked:
        return replace(piece, left_out=LeftOut.SHOWS_QUERY)
    spans = repeats.sentences(piece.text)
    if not spans:
        return piece
    shorter = without(piece, spans, CAPTION_RULE) if piece.kind == "passage" else piece
    is_clean = bool(shorter.text.strip()) and not repeats.sentences(shorter.text)
    return shorter if is_clean else replace(piece, left_out=LeftOut.SELF_MATCH)


PER_ARTICLE = RecordStage(
    name=NAME,
    version=2,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.floats", Float, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("visual_context.documents", Document, by="article_id"),
        Input("visual_context.queries", Query, by="article_id"),
        Input("visual_context_images.queries", Query, by="article_id"),
        Input("visual_context_panels.queries", Query, by="article_id"),
        Input("visual_context_panels.panels", QueryPanel, by="article_id"),
    ),
    outputs=(
        Table("documents", Document, ("id",)),
        Table("parts", Part, ("part_id",)),
    ),
    process=build,
    accounts=(),
    settings=Settings,
)
