"""How long a text is."""

from __future__ import annotations

import re

from schemas.hashing import normalise_text

_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def word_count(text: str) -> int:
    """Words of a text; two Chinese or Japanese characters count as one word."""
    characters = len(_CJK.findall(text))
    return len(normalise_text(_CJK.sub(" ", text)).split()) + characters // 2
