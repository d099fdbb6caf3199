"""Texts pieced together from an article's own words: a case over several passages, a context of sentences.

Such a text is no source's by hash. It is the article's all the same when it falls apart into long stretches
that each stand in one text of that article, or are such a text whole. A case in a book may go on in later
chapters, so for books the whole book is looked through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from curation.published.query import QueryRunner

SHORTEST = 20
"""Characters of the shortest stretch, but for the last and whole sentences: no name slips in by itself."""
_FILLED = re.compile(r"\S")
_MARKS = r"[.!?。！？][\"'”’)\]]*"
_CLOSED = re.compile(rf"{_MARKS}(?=\s|$)")
_TEXTS = {
    "passages": "SELECT article_id, text FROM passages",
    "figures": "SELECT article_id, caption FROM figures",
    "floats": """SELECT article_id, concat_ws(chr(10), nullif(caption, ''), "rows", nullif(notes, ''))
        FROM floats WHERE "rows" <> ''""",
    "articles": "SELECT id, a.text FROM (SELECT id, unnest(abstracts) AS a FROM articles)",
}


class Made(NamedTuple):
    """A released text that is no source's by hash; `article` is '' when its origin cannot be followed.

    `place` is its table and its column.
    """

    place: tuple[str, str]
    row: str
    text: str
    article: str
    source: str


def not_pieced(
    query: QueryRunner, tables: Mapping[str, Sequence[Path]], made: Iterable[Made], wanted: str
) -> Iterator[Made]:
    """Those texts that are not pieces of their own article; everything is read once, in order.

    Args:
        query: runs SQL over Parquet.
        tables: `passages`, `figures`, `floats` and `articles` (with abstracts), as far as they are there, and
            what `wanted` reads.
        made: texts to look at, in the order of their articles.
        wanted: SELECT of one column, the articles of `made` or more.
    """
    books: dict[str, list[str]] = {}
    texts = _texts(query, tables, wanted)
    at: tuple[str, list[str]] = ("", [])
    for article, items in groupby(made, key=lambda item: item.article):
        while at[0] < article and (following := next(texts, None)):
            at = following
        sources = at[1] if article and at[0] == article else []
        left = [item for item in items if not is_pieced(item.source, sources)]
        if left and "/" in article:
            prefix = article.rpartition("/")[0] + "/"
            if prefix not in books:
                books = {prefix: _texts_of_book(query, tables, prefix)}
            left = [item for item in left if not is_pieced(item.source, books[prefix])]
        yield from left


def _texts(
    query: QueryRunner, tables: Mapping[str, Sequence[Path]], wanted: str
) -> Iterator[tuple[str, list[str]]]:
    """(article, its texts) of some articles, in their order."""
    present = [name for name in _TEXTS if tables.get(name)]
    if not present:
        return
    every = " UNION ALL ".join(_TEXTS[name] for name in present)
    text = f"SELECT * FROM ({every}) AS t(article_id, text) WHERE article_id IN ({wanted}) ORDER BY ALL"
    rows = (
        pair
        for batch in query(text, {name: files for name, files in tables.items() if files})
        for pair in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    for article, found in groupby(rows, key=lambda pair: pair[0]):
        yield article, [words or "" for _, words in found]


def is_pieced(text: str, sources: Sequence[str]) -> bool:
    """Whether a text falls apart into stretches of some texts: long ones, whole sentences, whole texts."""
    whole = "\x00".join(sources)
    end = len(text.rstrip())
    place = 0
    while found := _FILLED.search(text, place):  # whitespace between stretches belongs to none
        start = found.start()
        length = _longest(text, start, whole)
        if length < SHORTEST and start + length < end:
            line = text[start:].partition("\n")[0]
            if " ".join(line.split()) in {" ".join(source.split()) for source in sources}:
                length = len(line)
            elif not (length := _whole_sentences(text[start : start + length], whole)):
                return False
        place = start + length
    return end > 0


def _whole_sentences(stretch: str, whole: str) -> int:
    """Characters of a stretch that are whole sentences of a source: what stood around them was left out."""
    ends = [found.end() for found in _CLOSED.finditer(stretch)]
    if not ends:
        return 0
    words = re.escape(stretch[: ends[-1]])
    found = re.search(rf"(?:^|[\x00\n]|{_MARKS}\s){words}(?=[\x00\s]|$)", whole)
    return ends[-1] if found else 0


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
