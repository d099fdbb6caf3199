"""The published tables by which an audit looks for restricted names without the vocabulary."""

from __future__ import annotations

import pyarrow as pa

from curation.release.published import Published, columns

_STR = pa.string()
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
