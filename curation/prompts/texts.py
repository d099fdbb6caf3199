"""Checks of texts that models write to search with: what is no such text is not kept."""

from __future__ import annotations

import enum
import re
from typing import Final

from schemas.hashing import normalise_text

LEAST: Final = 60
"""Characters, punctuation and spacing folded, below which a text is too short to search with."""
HOLDS_A_MARK = re.compile(r"[0-9a-f]{32}")
"""Between such lines material stands; an answer that quotes one would pass them on."""


class NotUsed(enum.StrEnum):
    """Why a text is not kept."""

    TOO_SHORT = "too_short"
    REPEATS_QUERY = "repeats_query"
    HOLDS_MARK = "holds_mark"


def check_text(query: str, text: str) -> NotUsed | None:
    """Why a text cannot be used, None if it can: short, a part of the query, or with a prompt's mark."""
    if HOLDS_A_MARK.search(text.casefold()):
        return NotUsed.HOLDS_MARK
    said, asked = normalise_text(text), normalise_text(query)
    if said in asked or (asked and not said.replace(asked, "").strip()):
        return NotUsed.REPEATS_QUERY
    return NotUsed.TOO_SHORT if len(said) < LEAST else None
