"""The gate for restricted vocabulary: no string of it leaves the machine in a release.

Text that traces back to a source is the article's own, whatever words it shares with a vocabulary: with its
transforms undone it is a passage or caption by hash, or is pieced together from long stretches of its article
(curation.release.pieces). A definition that a vocabulary may pass on is its own, too. Any other text is made
by a task, and must hold no name that only restricted sources give (UMLS restriction level > 0, WHO ICD).
Which texts were made is published, and hashes of those names with them, so that an audit can look again
without the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from curation.published.query import QueryRunner
from curation.release.pieces import Made, not_pieced
from schemas.errors import ReleaseError
from schemas.hashing import normalise_text, sha256_text
from schemas.tables import MADE_TEXTS, RESTRICTED_NAMES

MAX_WORDS = 16
"""Longest piece looked for, in words; of a longer name its beginning."""
MAX_CHARACTERS = 32
"""Longest piece of text without spaces, in characters."""
MIN_LENGTH = 4
"""Shorter names count only when they are the whole text."""

_TEXTS = """
    SELECT tab, id, article_id, text, text_sha256, transforms, title,
        {has_source} AS has_source,
        title = '' OR title IN (SELECT title FROM sources) AS has_title
    FROM (
        SELECT 'queries' AS tab, id, article_id, text, text_sha256, transforms, '' AS title FROM queries
        UNION ALL SELECT 'corpus', id, article_id, text, text_sha256, transforms, title FROM documents
    ) ORDER BY article_id, id, text"""
_HAS_SOURCE = "text = '' OR text_sha256 IN ({sources})"
_UNTRACED = """
    SELECT article_id FROM (SELECT article_id, text, text_sha256 FROM queries
        UNION ALL SELECT article_id, text, text_sha256 FROM documents) WHERE NOT ({has_source})"""
_SOURCES = {
    "passages": "SELECT text_sha256 FROM passages",
    "figures": """SELECT sha256(caption) FROM figures
        UNION ALL SELECT sha256(t.text) FROM (SELECT unnest(translations) AS t FROM figures)""",
    "floats": "SELECT sha256(caption) FROM floats WHERE caption <> ''",
    "articles": """SELECT sha256(title) FROM articles
        UNION ALL SELECT sha256(t.text) FROM (SELECT unnest(translated_titles) AS t FROM articles)
        UNION ALL SELECT sha256(a.text) FROM (SELECT unnest(abstracts) AS a FROM articles)""",
    "definitions": "SELECT sha256(trim(text)) FROM definitions WHERE tier <> 'restricted'",
}
_NAMES = "SELECT name, bool_and(tier = 'restricted') AS is_restricted FROM names GROUP BY name ORDER BY name"
_COUNT = f"SELECT count(*) AS n FROM ({_NAMES}) WHERE is_restricted"


class Strings(NamedTuple):
    """What the gate found; `hashes` only where there are both made texts and restricted names."""

    made: tuple[tuple[str, str, str], ...]
    """(table, id, field) of every text and title that is no source's own, sorted."""
    restricted_names: int
    """Names in the vocabulary that only restricted sources give."""
    hashes: tuple[str, ...]
    """Their hashes, sorted; of those only that no open source gives in another spelling."""

    def tables(self) -> Iterator[tuple[Any, pa.Table]]:
        """The published tables that hold it, those with rows."""
        if self.made:
            rows = [dict(zip(MADE_TEXTS.schema.names, row, strict=True)) for row in self.made]
            yield MADE_TEXTS, pa.Table.from_pylist(rows, schema=MADE_TEXTS.schema)
        if self.made and self.restricted_names:
            columns = [pa.array(self.hashes, pa.string())]
            yield RESTRICTED_NAMES, pa.Table.from_arrays(columns, schema=RESTRICTED_NAMES.schema)


def check_strings(query: QueryRunner, tables: Mapping[str, Sequence[Path]]) -> Strings:
    """Refuse a release with a restricted string in a text that is no article's; what there was to look at.

    Args:
        query: runs SQL over Parquet.
        tables: `queries`, `documents`, `sources`; `passages`, `figures` and `floats` of the extraction,
            `articles` with their abstracts and `definitions`, what texts may trace back to; `names` of the
            vocabulary, absent or empty when there is none.

    Raises:
        ReleaseError: names the row and the source's name.
    """
    has_source, views = _traced(tables)
    untraced = _UNTRACED.format(has_source=has_source)
    made = list(not_pieced(query, views, _made_texts(query, has_source, views), untraced))
    places = tuple(sorted({(item.place[0], item.row, item.place[1]) for item in made}))
    if not tables.get("names"):
        return Strings(places, 0, ())
    names = {"names": tables["names"]}
    count = sum(row["n"] for batch in query(_COUNT, names) for row in batch.to_pylist())
    if not made or not count:
        return Strings(places, count, ())
    restricted, open_names = _keys(query, names)
    held = pieces((item.row, item.text) for item in made)
    wrong = sorted((set(restricted) & set(held)) - open_names)
    if wrong:
        raise ReleaseError(
            f"a text holds a name that only restricted sources give ({len(wrong)} such names)",
            record=held[wrong[0]],
            hint="build the task from names of open sources; `medqrels vocabulary info` lists licence tiers",
        )
    return Strings(places, count, tuple(sorted(piece_hash(key) for key in restricted - open_names)))


def piece_hash(piece: str) -> str:
    """First 16 hex digits of SHA-256 over 'restricted <piece>'."""
    return sha256_text(f"restricted {piece}")[:16]


def _keys(query: QueryRunner, names: Mapping[str, Sequence[Path]]) -> tuple[set[str], set[str]]:
    """Names of restricted sources alone, and all others, as their pieces are looked for."""
    restricted: set[str] = set()
    others: set[str] = set()
    for batch in query(_NAMES, names):
        for row in batch.to_pylist():
            (restricted if row["is_restricted"] else others).add(_key(row["name"]))
    return restricted, others


def _traced(tables: Mapping[str, Sequence[Path]]) -> tuple[str, dict[str, Sequence[Path]]]:
    """The condition under which a row's text is by hash a source's own, and the views it needs."""
    present = [name for name in sorted(_SOURCES) if tables.get(name)]
    sources = " UNION ALL ".join(_SOURCES[name] for name in present) or "SELECT '' WHERE false"
    views = {name: tables[name] for name in ("queries", "documents", "sources", *present)}
    return _HAS_SOURCE.format(sources=sources), views


def _made_texts(query: QueryRunner, has_source: str, views: Mapping[str, Sequence[Path]]) -> Iterator[Made]:
    """Every text and title that is by hash no source's own; titles and what does not undo have no article."""
    for batch in query(_TEXTS.format(has_source=has_source), views):
        for row in batch.to_pylist():
            source = _undone(row["text"], row["transforms"])
            is_true = sha256_text(source) == row["text_sha256"]
            if not row["has_source"] or not is_true:
                article = row["article_id"] if is_true else ""
                yield Made((row["tab"], "text"), row["id"], row["text"], article, source)
            if not row["has_title"]:
                yield Made((row["tab"], "title"), row["id"], row["title"], "", "")


def _undone(text: str, transforms: Sequence[Mapping[str, Any]]) -> str:
    for change in sorted(transforms or (), key=lambda item: item["start"], reverse=True):
        text = text[: change["start"]] + change["original"] + text[change["end"] :]
    return text


def _key(name: str) -> str:
    """A name as its pieces are looked for: normalised, cut to the longest piece."""
    words = normalise_text(name).split()
    if len(words) == 1:
        return words[0][:MAX_CHARACTERS]
    return " ".join(words[:MAX_WORDS])


def pieces(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Every piece of some texts that could be a name, and the row it stands in."""
    found: dict[str, str] = {}
    for row, text in texts:
        words = normalise_text(text).split()
        found.setdefault(_key(text), row)
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + MAX_WORDS) + 1):
                piece = " ".join(words[start:end])
                if len(piece) >= MIN_LENGTH or not piece.isascii():
                    found.setdefault(piece if end - start > 1 else piece[:MAX_CHARACTERS], row)
        for word in words:
            if not word.isascii():  # scripts without spaces: a name may stand anywhere in a word
                for start in range(len(word)):
                    for end in range(start + 2, min(len(word), start + MAX_CHARACTERS) + 1):
                        found.setdefault(word[start:end], row)
    return found
