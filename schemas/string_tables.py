"""The published tables by which an audit looks for names without the vocabulary."""

from __future__ import annotations

import pyarrow as pa

from schemas.published import Published, columns

_STR, _INT = pa.string(), pa.int64()
TARGET_NAMES = Published(
    "target_names",
    "provenance/target_names",
    columns(
        ("concept", _STR, "target concept (CURIE)"),
        ("language", _STR, "BCP-47 language of the name"),
        (
            "words",
            _INT,
            "words of the normalised name; minus its characters where the script writes no spaces",
        ),
        ("name_hash", _STR, "first 16 hex digits of SHA-256 over '<concept> <normalised name>'"),
    ),
    ("concept", "language", "name_hash"),
    is_optional=True,
)
MADE_TEXTS = Published(
    "made_texts",
    "provenance/made_texts",
    columns(
        ("table", _STR, "queries or corpus"),
        ("id", _STR, "id in that table"),
        ("field", _STR, "text or title"),
    ),
    ("table", "id", "field"),
    is_optional=True,
)
"""Texts and titles that are no source's own words: what a restricted name could stand in."""
RESTRICTED_NAMES = Published(
    "restricted_names",
    "provenance/restricted_names",
    columns(
        ("name_hash", _STR, "first 16 hex digits of SHA-256 over 'restricted <normalised name>'"),
    ),
    ("name_hash",),
    is_optional=True,
)
"""Names that only restricted sources of the vocabulary in use give, where there are made texts to look in."""
