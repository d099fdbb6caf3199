"""Marks around the mention that a query asks about.

`[[ ` and ` ]]`: printable ASCII, which no normalisation of Unicode changes; WordPiece and SentencePiece
vocabularies have brackets as pieces of their own, and analysers that split at other signs than letters keep
the words between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schemas.benchmark import Transform

OPEN, CLOSE = "[[ ", " ]]"
RULE = "mention_mark"


def is_markable(text: str) -> bool:
    """Whether a text is free of the marks."""
    return "[[" not in text and "]]" not in text


def mark(
    text: str, transforms: Sequence[Transform], start: int, end: int
) -> tuple[str, tuple[Transform, ...]]:
    """A released text with one stretch marked, and the transforms that undo it.

    Args:
        text: released text.
        transforms: what made it of its source.
        start: offset of the stretch; no transform may touch it.
        end: offset after it.
    """
    marked = f"{text[:start]}{OPEN}{text[start:end]}{CLOSE}{text[end:]}"
    before = [change for change in transforms if change.start < start]
    width = len(OPEN) + len(CLOSE)
    after = [
        replace(change, start=change.start + width, end=change.end + width)
        for change in transforms
        if change.start > end
    ]
    begins, closes = start, end + len(OPEN)
    marks = [
        Transform(start=begins, end=begins + len(OPEN), original="", rule=RULE),
        Transform(start=closes, end=closes + len(CLOSE), original="", rule=RULE),
    ]
    return marked, (*before, *marks, *after)


def is_touched(transforms: Sequence[Transform], start: int, end: int) -> bool:
    """Whether a transform changed, or borders on, a stretch of a released text."""
    return any(change.start <= end and change.end >= start for change in transforms)
