"""Published tables of tasks that search sections or articles: their parts, and the labels of these."""

from __future__ import annotations

from typing import Any

from schemas.columns import OF_QUERY, number, text
from schemas.published import Published

_MARKS: dict[str, Any] = {"reader": "auditor", "is_optional": True}
PARTS = Published(
    "parts",
    "provenance/parts",
    "What each section or article that is a document is made of, and what of it was left out.",
    (
        text("corpus-id", "id in corpus", refers="corpus.id"),
        number("position", "1-based among the parts of the section or article, in reading order"),
        text("kind", "passage, figure (its caption) or table", repeats=True),
        text("part_id", "passage, figure or table id"),
        number("start", "offset in the text of the document"),
        number("end", "offset after it; the same where it is left out"),
        number("source_start", "offset in the source text of the document"),
        number("source_end", "offset after it"),
        text("left_out", "why it does not stand in the document, '' where it does", repeats=True),
        text("same_as", "passage of equal text whose labels hold for it, '' for none or itself"),
    ),
    ("corpus-id", "position"),
    **_MARKS,
)
PASSAGE_LABELS = Published(
    "passage_labels",
    "provenance/passage_labels",
    "Labels and exclusions of passages, from which those of sections or articles follow.",
    (
        OF_QUERY,
        text("passage_id", "passage; part_id or same_as of a part"),
        number("score", "relevance grade, null where the pair is left out", may_be_null=True),
        text("reason", "why it is neither positive nor negative, '' where it has a grade", repeats=True),
        text("rule", "named, versioned rule, '' where the pair is left out", repeats=True),
    ),
    ("query-id", "passage_id"),
    **_MARKS,
)
LARGER_TABLES = (PARTS, PASSAGE_LABELS)
