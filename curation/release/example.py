"""One row of a release as its card shows it: a query, a document that answers it, and whom to credit.

Nobody chooses it: of the queries of split test, the first by id that is short enough to be read at a
glance and has a positive document as short. Images flagged as showing a face or a wound are not shown, nor
those whose text says that they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curation.images.flags import FACE, PRIVATE, SENSITIVE, caption_is_sensitive, caption_shows_face
from curation.published.query import QueryRunner, Views, fetch
from schemas.hashing import sha256_bytes

FILES = "figures/example-"
"""Beginning of the paths where images of an example stand."""
MAX_CHARACTERS = 600
"""A text up to this length is short; a longer one is cut here, between words."""

_CHOSEN = """
    SELECT pair."query-id" AS query_id, pair."corpus-id" AS document_id, pair.score, pair.rule,
        asked.image_sha256 AS query_image, found.image_sha256 AS document_image,
        asked.article_id AS query_article, found.article_id AS document_article
    FROM (SELECT * FROM qrels WHERE score > 0) pair
    JOIN (SELECT id, length(text) AS long FROM queries) q ON q.id = pair."query-id"
    JOIN (SELECT id, length(text) AS long FROM corpus) c ON c.id = pair."corpus-id"
    JOIN (SELECT * FROM provenance_queries WHERE split = 'test') asked ON asked.id = q.id
    JOIN provenance_corpus found ON found.id = c.id
    {unflagged}
    ORDER BY greatest(q.long, c.long) > {limit}, pair.score DESC, q.id, c.id LIMIT {tried}"""
_TRIED = 20
_UNFLAGGED = f"""JOIN (SELECT id FROM image_checks
        WHERE NOT list_has_any(flags, ['{FACE}', '{SENSITIVE}', '{PRIVATE}'])) clear ON clear.id = c.id"""
_TEXT = "SELECT text, license FROM {table} WHERE id = {id}"
_SOURCE = "SELECT title, journal, year, doi, license FROM sources WHERE id = {id}"
_IMAGE = "SELECT image.bytes AS bytes FROM {table} WHERE id = {id}"
_KINDS = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpg"))


def example(query: QueryRunner, given: Views) -> dict[str, Any] | None:
    """The row to show; None where there is no positive pair to show.

    `query` and `document` each have id, text (cut), is_cut, license, image (hex SHA-256 or None), file (where
    the card's copy of the image stands, '' without one) and source (title, journal, year, doi, or None).
    """
    unflagged = _UNFLAGGED if "image_checks" in given else ""
    chosen = _CHOSEN.format(unflagged=unflagged, limit=MAX_CHARACTERS, tried=_TRIED)
    for pair in fetch(query, chosen, given):
        sides = {
            name: _side(query, given, table, *(pair[f"{name}_{part}"] for part in ("id", "image", "article")))
            for name, table in (("query", "queries"), ("document", "corpus"))
        }
        if not any(_may_upset(side) for side in sides.values()):
            return {"score": pair["score"], "rule": pair["rule"], **sides}
    return None


def _may_upset(side: Mapping[str, Any]) -> bool:
    """Whether an image shows what many would not want to see unasked, by the text beside it."""
    text = side["text"]
    return bool(side["file"]) and (caption_shows_face(text, "") or caption_is_sensitive(text, ""))


def _side(
    query: QueryRunner, given: Views, table: str, name: str, image: str | None, article: str
) -> dict[str, Any]:
    (row,) = fetch(query, _TEXT.format(table=table, id=_literal(name)), given)
    sources = fetch(query, _SOURCE.format(id=_literal(article)), given)
    text = row["text"] or ""
    shown = text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS].rsplit(maxsplit=1)[0]
    data = _bytes(query, given, table, name) if image else b""
    kind = next((kind for head, kind in _KINDS if data.startswith(head)), "")
    return {
        "id": name,
        "text": shown,
        "is_cut": shown != text,
        "license": row["license"],
        "image": image if kind else None,
        "file": f"{FILES}{'query' if table == 'queries' else 'document'}.{kind}" if kind else "",
        "source": sources[0] if sources else None,
    }


def images(query: QueryRunner, given: Views, shown: Mapping[str, Any] | None) -> dict[str, bytes]:
    """File -> bytes of the images of an example, as published.

    Args:
        query: runs SQL over Parquet.
        given: the tables.
        shown: what `example` gave.
    """
    found = {}
    for table, side in (("queries", "query"), ("corpus", "document")) if shown else ():
        if shown and shown[side]["file"]:
            found[shown[side]["file"]] = _bytes(query, given, table, shown[side]["id"])
    return found


def write(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write the images of an example into a task directory."""
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


def unlike(directory: Path, shown: Mapping[str, Any] | None) -> list[str]:
    """Files beside the card that are no image of the example, or should be one and are not."""
    wanted = {side["file"]: side["image"] for side in _sides(shown) if side["file"]}
    there = {
        path.relative_to(directory).as_posix(): sha256_bytes(path.read_bytes())
        for path in sorted(directory.glob(f"{FILES}*"))
        if path.is_file()
    }
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def _sides(shown: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    return [shown["query"], shown["document"]] if shown else []


def _bytes(query: QueryRunner, given: Views, table: str, name: str) -> bytes:
    (row,) = fetch(query, _IMAGE.format(table=table, id=_literal(name)), given)
    return row["bytes"] or b""


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
