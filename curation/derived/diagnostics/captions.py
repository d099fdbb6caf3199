"""The published words of a query's image, to stand in its place; or why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.evaluation.collection import Collection
from curation.evaluation.reading import column_names, rows
from schemas.tables import CORPUS, ORIGIN_CORPUS, ORIGIN_QUERIES

NO_IMAGE = "the query has no image"
NO_WORDS = "no words of the image are published beside the query's text"


@dataclass(frozen=True, slots=True)
class Captions:
    """Query -> words of its image; `why_not` has the reason for each other query."""

    words: Mapping[str, str]
    why_not: Mapping[str, str]


def captions(collection: Collection, directory: Path, in_text: str = "") -> Captions:
    """Words published with the same image elsewhere in the task: title and text of a document that shows it.

    The query's own record does not count, nor do words that stand in the query's text already.

    Args:
        collection: one split.
        directory: the task folder.
        in_text: how the words of its image stand in every query of the task already, '' where they do not.
    """
    files = ORIGIN_QUERIES.files(directory)
    if "image_sha256" not in column_names(files):
        return Captions({}, {query.id: NO_IMAGE for query in collection.queries})
    made = {row["id"]: row for row in rows(files, ["id", "source_id", "image_sha256"])}
    shown = {made[query.id]["image_sha256"] for query in collection.queries if query.id in made} - {None}
    known = dict(_words(directory, shown)) if shown and not in_text else {}
    words, why_not = {}, {}
    for query in collection.queries:
        row: Mapping[str, Any] = made.get(query.id, {})
        own, image = row.get("source_id"), row.get("image_sha256")
        if not image:
            why_not[query.id] = NO_IMAGE
        elif in_text:
            why_not[query.id] = in_text
        else:
            chosen = sorted(
                text for record, text in known.get(image, ()) if record != own and text not in query.text
            )
            if chosen:
                words[query.id] = chosen[0]
            else:
                why_not[query.id] = NO_WORDS
    return Captions(words, why_not)


def _words(directory: Path, shown: set[str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Image hash -> (document, its words), for documents that show one of some images and have words."""
    files = ORIGIN_CORPUS.files(directory)
    if "image_sha256" not in column_names(files):
        return
    images = {
        row["id"]: row["image_sha256"]
        for row in rows(files, ["id", "image_sha256"])
        if row["image_sha256"] in shown
    }
    found: dict[str, list[tuple[str, str]]] = {}
    for row in rows(CORPUS.files(directory), ["id", "title", "text"]) if images else ():
        if row["id"] in images and row["text"]:
            text = f"{row['title']} {row['text']}".strip()
            found.setdefault(images[row["id"]], []).append((row["id"], text))
    yield from found.items()
