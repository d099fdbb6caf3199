"""How long a text is, and the tokens it is compared by."""

from __future__ import annotations

import re

from schemas.hashing import normalise_text

GRAM = 13
"""Tokens in a row that two independent texts do not share."""
_CHARACTER = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])")
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def word_count(text: str) -> int:
    """Words of a text; two Chinese or Japanese characters count as one word."""
    characters = len(_CJK.findall(text))
    return len(normalise_text(_CJK.sub(" ", text)).split()) + characters // 2


def tokens_of(text: str) -> list[str]:
    """Normalised tokens; every Chinese or Japanese character is one."""
    return normalise_text(_CHARACTER.sub(r" \1 ", text)).split()
