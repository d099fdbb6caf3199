"""The published table of what was withdrawn."""

from __future__ import annotations

from schemas.columns import text
from schemas.published import Published

WITHDRAWN = Published(
    "withdrawn",
    "provenance/withdrawn",
    "What was withdrawn: no row of the release rests on it. A line stays in every later release.",
    (
        text("id", "article, figure, passage, patient, query or document id; of an image its SHA-256"),
        text("unit", "what the id names", repeats=True),
        text("reason", "closed reason code", repeats=True),
        text("notice", "what was said of it, one line", is_prose=True),
        text("parent", "id whose withdrawal took this one along, '' for what was named"),
    ),
    ("unit", "id"),
    reader="auditor",
    is_optional=True,
)
