"""Sentences copied with changes: one that stands in another text but for a third of its words.

A run of thirteen words (`engine`) misses a copy with a word changed here and there; this looks at the words
that two sentences have in common in the same order (longest common subsequence).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rapidfuzz.distance import LCSseq

from curation.extract.sentences import sentence_spans
from curation.similarity.text.tokens import tokens_with_offsets

MIN_COPY = 8
"""Tokens of a sentence from which it can be a copy; shorter ones are turns of the trade."""
MIN_RUN = 5
"""Tokens of a short sentence from which standing whole in another one is a copy."""
_CHANGED = 3
"""One in so many tokens of the shorter sentence may be missing from the other."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: where it stands in its text, its tokens."""

    start: int = field(compare=False)
    end: int = field(compare=False)
    tokens: tuple[str, ...]
    counted: Counter[str] = field(compare=False, repr=False)


def sentences_of(text: str) -> Iterator[Sentence]:
    """The sentences of a text; every line is a text of its own."""
    at = 0
    for line in text.split("\n"):
        for start, end in sentence_spans(line):
            tokens = tuple(token for token, _, _ in tokens_with_offsets(line[start:end]))
            yield Sentence(at + start, at + end, tokens, Counter(tokens))
        at += len(line) + 1


def copyable(texts: Iterable[str]) -> tuple[Sentence, ...]:
    """The sentences of texts that another text can hold a copy of, each once."""
    found = {item.tokens: item for text in texts for item in sentences_of(text)}
    return tuple(found[tokens] for tokens in sorted(found) if len(tokens) >= MIN_RUN)


def edited_copies(text: str, others: Iterable[Sentence]) -> list[tuple[Sentence, Sentence]]:
    """Sentences of a text that copy another one, hold one or are part of one, each with the first such.

    Args:
        text: where copies are looked for.
        others: of `copyable`. A short one must stand there whole, in one run.
    """
    others = tuple(others)
    pairs = (
        (item, next((other for other in others if _is_copy(item, other)), None))
        for item in sentences_of(text)
    )
    return [(item, other) for item, other in pairs if other is not None]


def _is_copy(item: Sentence, other: Sentence) -> bool:
    shorter = min(len(item.tokens), len(other.tokens))
    if shorter < MIN_COPY:
        return MIN_RUN <= len(other.tokens) == shorter and _holds(other.tokens, item.tokens)
    # Counting is cheap and rules out nearly all pairs; only the order of the rest has to be looked at.
    needed = shorter - shorter // _CHANGED
    if (item.counted & other.counted).total() < needed:
        return False
    return _common_nearby(item.tokens, other.tokens) >= needed


def _holds(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether all of one stands in the other in one run."""
    size = len(short)
    return any(long[at : at + size] == short for at in range(len(long) - size + 1))


def _common_nearby(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Most tokens in common in the same order within a stretch half as long again as the shorter one."""
    short, long = sorted((one, other), key=len)
    width = len(short) + len(short) // 2
    step = max(1, len(short) // 4)
    starts = range(0, max(1, len(long) - width + step), step)
    return max(LCSseq.similarity(short, long[start : start + width]) for start in starts)
