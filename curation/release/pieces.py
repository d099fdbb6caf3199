"""Texts pieced together from an article's own words: a case over several passages, a context of sentences.

Such a text is no source's by hash. It is the article's all the same when it falls apart into long stretches
that each stand in one text of that article, or are such a text whole. A case in a book may go on in later
chapters, so for books the whole book is looked through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from curation.release.query import QueryRunner

SHORTEST = 20
"""Characters of the shortest stretch, but for the last: no name slips in as a stretch of its own."""
_AT_ONCE = 200
_TEXTS = {
    "passages": "SELECT article_id, text FROM passages WHERE article_id IN ({listed})",
    "figures": "SELECT article_id, caption FROM figures WHERE article_id IN ({listed})",
    "articles": """SELECT id, a.text FROM (
        SELECT id, unnest(abstracts) AS a FROM articles WHERE id IN ({listed}))""",
}


class Made(NamedTuple):
    """A released text that is no source's by hash; `article` is '' when its origin cannot be followed."""

    row: str
    text: str
    article: str
    source: str


def not_pieced(
    query: QueryRunner, tables: Mapping[str, Sequence[Path]], made: Iterable[Made]
) -> Iterator[Made]:
    """Those texts that are not pieces of their own article, some articles at a time.

    Args:
        query: runs SQL over Parquet.
        tables: `passages`, `figures` and `articles` (with abstracts), as far as they are there.
        made: texts to look at, in the order of their articles.
    """
    books: dict[str, list[str]] = {}
    groups = ((article, list(items)) for article, items in groupby(made, key=lambda item: item.article))
    while part := list(islice(groups, _AT_ONCE)):
        texts = _texts_of(query, tables, [article for article, _ in part])
        for article, items in part:
            left = [item for item in items if not is_pieced(item.source, texts.get(article, []))]
            if left and "/" in article:
                prefix = article.rpartition("/")[0] + "/"
                if prefix not in books:
                    books = {prefix: _texts_of_book(query, tables, prefix)}
                left = [item for item in left if not is_pieced(item.source, books[prefix])]
            yield from left


def is_pieced(text: str, sources: Sequence[str]) -> bool:
    """Whether a text falls apart into stretches of some texts, each of SHORTEST characters or to its end."""
    whole = "\x00".join(sources)
    complete = {" ".join(source.split()) for source in sources}
    place = 0
    for start in _starts(text):
        if start < place:
            continue
        length = _longest(text, start, whole)
        if length < SHORTEST and start + length < len(text.rstrip()):
            line = text[start:].partition("\n")[0]
            if " ".join(line.split()) not in complete:
                return False
            length = len(line)
        place = start + length
    return bool(text.strip()) and place >= len(text.rstrip())


def _starts(text: str) -> Iterator[int]:
    """Places where a stretch may begin: whitespace between stretches belongs to none."""
    return (place for place, character in enumerate(text) if not character.isspace())


def _longest(text: str, start: int, whole: str) -> int:
    """Characters of the longest stretch from `start` that stands in `whole`: by doubling, then halving."""
    low, high = 0, SHORTEST
    while start + high <= len(text) and text[start : start + high] in whole:
        low, high = high, high * 2
    high = min(high, len(text) - start + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if text[start : start + middle] in whole:
            low = middle
        else:
            high = middle
    return low


def _texts_of_book(query: QueryRunner, tables: Mapping[str, Sequence[Path]], prefix: str) -> list[str]:
    if not tables.get("passages"):
        return []
    start = prefix.replace("'", "''")
    text = f"SELECT text FROM passages WHERE starts_with(article_id, '{start}') ORDER BY ALL"
    batches = query(text, {"passages": tables["passages"]})
    return [words for batch in batches for words in batch.column(0).to_pylist()]


def _texts_of(
    query: QueryRunner, tables: Mapping[str, Sequence[Path]], articles: Sequence[str]
) -> dict[str, list[str]]:
    listed = ", ".join("'" + name.replace("'", "''") + "'" for name in sorted(set(articles)))
    found: dict[str, list[str]] = {}
    for name, text in _TEXTS.items():
        if tables.get(name):
            for batch in query(text.format(listed=listed) + " ORDER BY ALL", {name: tables[name]}):
                for article, words in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    found.setdefault(article, []).append(words or "")
    return found
