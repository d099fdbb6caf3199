"""Sections and articles as documents of visual_context, where the spec asks for them.

All queries share one corpus, and a document that shows a query's figure or caption contains that query. So
the captions of all figures that are queries leave every document, and with them each part that repeats one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from curation.similarity.text.edited import copyable, edited_copies
from curation.tasks.shared.granularity import JOINT, LeftOut, Piece, larger, pieces_of
from curation.tasks.visual_context.build import SELF_MATCH_TOKENS
from curation.tasks.visual_context.settings import Settings
from schemas.benchmark import Document, Part, Query
from schemas.extracted import Figure, Float, Passage, Source
from schemas.hashing import normalise_text
from schemas.ids import article_of
from schemas.stages import Input, RecordStage, Table

NAME = "visual_context_parts"
TASK = "visual_context"


def build(
    source: Source,
    figures: Sequence[Figure],
    floats: Sequence[Float],
    passages: Sequence[Passage],
    documents: Sequence[Document],
    queries: Sequence[Query],
    several: Sequence[Query],
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
    captions = {figure.id: figure.caption for figure in figures if figure.id in asked}
    released = [line for query in (*queries, *several) for line in query.text.split(JOINT) if line]
    repeats = _Repeats(dict.fromkeys((*released, *captions.values())))
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


def _without_queries(piece: Piece, asked: set[str], repeats: _Repeats) -> Piece:
    """The part, left out where it shows a query."""
    if piece.left_out:
        return piece
    if piece.id in asked:
        return replace(piece, left_out=LeftOut.SHOWS_QUERY)
    is_copy = repeats.stand_in(piece.text) or (piece.source != piece.text and repeats.stand_in(piece.source))
    return replace(piece, left_out=LeftOut.SELF_MATCH) if is_copy else piece


class _Repeats:
    """Asks of many texts whether they repeat one of a few captions, as `build.is_self_match` does of one."""

    def __init__(self, captions: Mapping[str, None]) -> None:
        self.captions = tuple(captions)
        self.runs: dict[int, set[tuple[str, ...]]] = {}
        for caption in self.captions:
            tokens = normalise_text(caption).split()
            size = min(SELF_MATCH_TOKENS, len(tokens))
            if size:
                self.runs.setdefault(size, set()).update(_runs(tokens, size))

    def stand_in(self, text: str) -> bool:
        """Whether a text repeats a caption: a run of its words, or one of its sentences with changes."""
        tokens = normalise_text(text).split()
        if any(not found.isdisjoint(_runs(tokens, size)) for size, found in self.runs.items()):
            return True
        others = copyable([text])
        return any(edited_copies(caption, others) for caption in self.captions)


def _runs(tokens: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return (tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1))


PER_ARTICLE = RecordStage(
    name=NAME,
    version=1,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.floats", Float, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("visual_context.documents", Document, by="article_id"),
        Input("visual_context.queries", Query, by="article_id"),
        Input("visual_context_images.queries", Query, by="article_id"),
    ),
    outputs=(
        Table("documents", Document, ("id",)),
        Table("parts", Part, ("part_id",)),
    ),
    process=build,
    accounts=(),
    settings=Settings,
)
