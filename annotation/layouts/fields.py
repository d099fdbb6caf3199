"""Which fields each kind of review shows, in order; a candidate's `shown` holds these and no others.

A value is text as it is. Fields ending in `_image` hold the hex SHA-256 of an image, of several with a space
between, in the order of the article. `concepts` and `options` hold JSON, see CONCEPTS and OPTIONS. A field
that a candidate has nothing for is left out.
"""

from __future__ import annotations

from typing import Final

from schemas.review import Kind

SHOWN: Final[dict[Kind, tuple[str, ...]]] = {
    "relevance_image": (
        "language",
        "query_text",
        "query_image",
        "reference_diagnosis",
        "document_title",
        "document_text",
        "document_image",
        "concepts",
    ),
    "relevance_text": (
        "language",
        "query_text",
        "reference_diagnosis",
        "answer",
        "reasoning",
        "document_title",
        "document_text",
        "concepts",
    ),
    "confusion": ("language", "query_text", "concepts", "options", "query_source_url", "query_license"),
    "translation": ("source_language", "source_text", "language", "translated_text", "source_url", "license"),
    "figure_caption": ("language", "document_image", "caption_text", "source_url", "license"),
    "case_boundary": (
        "language",
        "document_title",
        "text_before",
        "case_text",
        "text_after",
        "source_url",
        "license",
    ),
    "answer_key": ("language", "query_text", "answer_options", "answer_key", "explanation"),
}
"""kind -> fields in the order of `ReviewCandidate.shown`.

language: BCP-47 of the query, translation, caption, case or question. reference_diagnosis: the query case's
principal diagnosis; only where the question needs it. answer, reasoning: of the query, where the question is
about them: what a judge was told, so that people answer the same question. source_url, license: of the
record; query_…: of the query. The relevance kinds show neither, for two sides of one article would give the
answer away: their projects list all sources together, see `annotation.layouts.guidelines.sources`.
"""
REQUIRED: Final[dict[Kind, tuple[tuple[str, ...], ...]]] = {
    "relevance_image": (
        ("query_text", "query_image"),
        ("document_text", "document_image"),
        ("query_image", "document_image"),
    ),
    "relevance_text": (("query_text",), ("document_text",)),
    "confusion": (("query_text",), ("options",)),
    "translation": (("source_text",), ("translated_text",), ("language",)),
    "figure_caption": (("document_image",), ("caption_text",)),
    "case_boundary": (("case_text",),),
    "answer_key": (("query_text",), ("answer_key",)),
}
"""kind -> groups of fields; of each group at least one must be there and not empty."""

CONCEPTS: Final = '[{"field": "query_text", "start": 0, "end": 9, "id": "HP:0001250", "name": "Seizure"}]'
"""Form of `concepts`: half-open character offsets into the named field, concept id and preferred name.

Of spans that overlap the longer is shown. The `concepts` of a confusion set hold the one mention asked of;
its id and name are left empty, for they are the answer.
"""
OPTIONS: Final = '[{"id": "MONDO:0005015", "name": "diabetes mellitus", "text": "A disease of …"}]'
"""Form of `options`: 2 to 9 concept documents, in an order that says nothing about which is right.

The answer's grade is the 1-based number of the option chosen, 0 for none of them.
"""
MAX_OPTIONS: Final = 9
TEXTS: Final = (
    "query_text",
    "document_title",
    "document_text",
    "caption_text",
    "case_text",
    "text_before",
    "text_after",
    "source_text",
    "translated_text",
    "answer_options",
    "answer_key",
    "explanation",
    "answer",
    "reasoning",
)
"""Fields that show text of an article."""
IMAGES: Final = ("query_image", "document_image")
