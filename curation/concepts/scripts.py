"""Cutting text into words and the gaps between them, for every script.

Letters and digits part ("NF2" = "NF-2" = "NF 2"). Scripts written without spaces give one word per character.
"""

from __future__ import annotations

import re

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Thai, Lao, Myanmar, Khmer, kana, Han, Hangul: a name may begin and end at any character."""

_POSSESSIVE = r"(?:['’]s(?![^\W_]))?"
_SIMPLE = re.compile(r"([a-zA-Z]+|\d+)", re.ASCII)
_ASCII = re.compile(r"([A-Za-z]+(?:'s(?![A-Za-z0-9]))?|[0-9]+)")
_EUROPEAN = re.compile(rf"([A-Za-zªµºÀ-ÖØ-öø-ʯͰ-ͳΆΈ-ϿЀ-ҁҊ-ӿ]+{_POSSESSIVE}|[0-9]+)")
_IS_EUROPEAN = re.compile(
    r"[\x00-\u02af\u0370-\u0373\u0386\u0388-\u0481\u048a-\u04ff\u2010-\u203a\u2190-\u22ff]*\Z"
)
_PLAIN = re.compile(rf"([^\W\d_]+{_POSSESSIVE}|\d+)")
_WIDE = re.compile(
    rf"([{UNSPACED}]|(?:(?![{UNSPACED}])[^\W\d_])(?:(?![{UNSPACED}])[^\W\d_]|[\u0300-\u036f])*{_POSSESSIVE}|\d+)"
)
_NEEDS_WIDE = re.compile(rf"[{UNSPACED}\u0300-\u036f]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc\uff66-\uff9f]")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")

SPACE, HYPHEN, COMMA, SLASH, SOFT, HARD = range(6)
"""Classes of what stands between two words."""
COMMAS = frozenset({",", "，", "、"})
_HARD = re.compile(
    r"[.!?;:。！？；：…\u2028\u2029\u0964](?:[\s\"'”’)\]]|$)|[。！？；]|[;:|•]|\n\s*\n|[=<>≥≤→]"
)


def split(text: str) -> list[str]:
    """Gaps and words in turn: gap, word, gap, …, word, gap. Joined they are the text."""
    if text.isascii():
        return (_ASCII if "'s" in text else _SIMPLE).split(text)
    if _IS_EUROPEAN.match(text):
        return _EUROPEAN.split(text)
    return (_PLAIN if _NEEDS_WIDE.search(text) is None else _WIDE).split(text)


def is_unspaced(word: str) -> bool:
    """Whether a word of :func:`split` is a character of a script written without spaces."""
    return len(word) == 1 and _IS_UNSPACED.match(word) is not None


def is_katakana(character: str) -> bool:
    """Whether a katakana run goes on through this character."""
    return _KATAKANA.match(character) is not None


def gap_class(gap: str) -> int:
    """What a gap between two words means for a name that would span it."""
    bare = gap.strip()
    if not bare:
        return HARD if gap.count("\n") > 1 else SPACE
    if bare in {"-", "‐", "‑", "–", "−"} or bare == "\u00ad":
        return HYPHEN if len(gap) == len(bare) else SOFT
    if bare in COMMAS:
        return COMMA
    if bare == "/":
        return SLASH
    return HARD if _HARD.search(gap) else SOFT
