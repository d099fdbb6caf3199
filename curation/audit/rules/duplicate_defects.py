"""Rows with invented texts that defects of the rules on texts are planted in."""

from __future__ import annotations

LONG = (
    "Grey basalt terraces above the northern harbour were mapped twice before the ferry service stopped and "
    "the lighthouse keeper moved his goats to the smaller island"
)
"""An invented text of 25 words that no release holds."""
SHORT = "Harbour lighthouses with broken lanterns"
UNSPACED = "港町の灯台守は北の島へ山羊を移したあと古い地図に玄武岩の段丘を描き足した"


def near(text: str) -> str:
    """The text with one word of twelve changed, and its last."""
    words = text.split()
    return " ".join(
        "canary" if at % 12 == 11 or at == len(words) - 1 else word for at, word in enumerate(words)
    )
