"""Where the figures and tables of an article stand among its passages, and what its tables say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from curation.extract.figures import elsewhere
from schemas.article import Article, ArticleFigure, ArticleTable
from schemas.extracted import FigureMention, Float

NOWHERE = -1
_Place = tuple[int, int]
"""Passages before it, and its section."""


def floats_of(article: Article, mentions: Mapping[int, Sequence[FigureMention]]) -> Iterator[Float]:
    """Every figure and table of an article in reading order.

    Args:
        article: the parsed article.
        mentions: in-text mentions by position of the figure.
    """
    numbers = {passage.id: number for number, passage in enumerate(article.passages, start=1)}
    cited = _tables_cited(article)
    placed: list[tuple[tuple[float, ...], ArticleFigure | ArticleTable, _Place]] = []
    for at, figure in enumerate(article.figures):
        first = min((numbers[mention.passage_id] for mention in mentions.get(at, ())), default=NOWHERE)
        place = _place(article, figure, first)
        placed.append(((place[0], figure.number, 0), figure, place))
    for table in article.tables:
        place = _place(article, table, cited.get(table.xml_id or "", NOWHERE))
        placed.append(((place[0], table.after_figures + 0.5, table.number), table, place))
    unplaced_last = sorted(placed, key=lambda item: (item[2][0] == NOWHERE, item[0]))
    for position, (_, item, (after, section)) in enumerate(unplaced_last, start=1):
        if isinstance(item, ArticleFigure):
            yield Float(
                id=item.id,
                article_id=article.id,
                kind="figure",
                position=position,
                after=after,
                section=section,
            )
        else:
            yield _table(article, item, position, after, section)


def _tables_cited(article: Article) -> dict[str, int]:
    """XML id of a table -> number of the first passage that links to it."""
    wanted = {table.xml_id for table in article.tables if table.xml_id}
    found: dict[str, int] = {}
    for number, passage in enumerate(article.passages, start=1):
        for xref in passage.xrefs:
            for name in xref.rids:
                if name in wanted:
                    found.setdefault(name, number)
    return found


def _place(article: Article, item: ArticleFigure | ArticleTable, first: int) -> _Place:
    """Where something stands; what the file keeps apart stands behind the passage that cites it first."""
    if item.part != "floats":
        return item.after, item.section
    if first == NOWHERE:
        return NOWHERE, 0
    return first, article.passages[first - 1].section


def _table(article: Article, table: ArticleTable, position: int, after: int, section: int) -> Float:
    return Float(
        id=table.id,
        article_id=article.id,
        kind="table",
        position=position,
        after=after,
        section=section,
        caption=table.caption,
        rows=table.rows,
        notes=table.notes,
        is_third_party=bool(elsewhere(table, article.licence, (table.rights, table.caption, table.notes))),
        licence=table.licence or article.licence,
    )
