"""Words that a model says it quotes: they count only where they stand in the text."""

from __future__ import annotations

import re
from typing import Final

LEAST: Final = 3
"""Words of the shortest quote; a single word stands in most texts."""
_SAME: Final = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-"})
_EDGES = " \t\r\n\"'.,;:…"


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, as offsets; None when it does not, or is too short to say anything.

    Spacing, quotation marks, dashes and the punctuation at its edges may be printed otherwise; letters,
    digits and their case may not.
    """
    words = quote.translate(_SAME).strip(_EDGES).split()
    if len(words) < LEAST:
        return None
    wanted = r"\s+".join(map(re.escape, words))
    found = re.search(rf"(?<!\w){wanted}(?!\w)", text.translate(_SAME))
    return (found.start(), found.end()) if found else None
