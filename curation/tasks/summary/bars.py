"""What the text of a summary query may not hold: words of the abstract and of the title, the study's name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from curation.extract.sentences import sentence_spans
from curation.tasks.shared.words import GRAM, tokens_of
from curation.tasks.summary.names import Names, names_of

MIN_STEM = 5
"""Tokens from which a title's part before its colon counts as a title of its own."""
MIN_COPY = 8
"""Tokens of a sentence from which it can be a copy; shorter ones are turns of the trade."""
COPIED = 2 / 3
"""Share of the shorter sentence's tokens that stand in the other one, in order: an edited copy."""
MIN_RUN = 5
"""Tokens of a short sentence from which standing whole in another one is a copy."""
_SUBTITLE = re.compile(r"\s*[:：–—?]\s*")
_REGISTERED = re.compile(r"[a-z]{2,}\d{5,}")
"""A number in a registry of trials: NCT, ISRCTN, ACTRN and the like, as a token."""

Grams = Mapping[int, frozenset[tuple[str, ...]]]
Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Grams and sentences that keep a sentence out, and names that are taken out of one."""

    grams: Grams
    sentences: tuple[Tokens, ...]
    names: Names


def bars_of(abstracts: Sequence[str], titles: Sequence[str], texts: Iterable[str]) -> Bars:
    """All that an article's query may not hold.

    Args:
        abstracts: every abstract of the article in every language, as written and as released.
        titles: its title and translated titles.
        texts: its passages and captions, which show how its names are used.
    """
    names = names_of(titles, abstracts, texts)
    return Bars(barred_grams(abstracts, titles), abstract_sentences([*abstracts, *titles]), names)


def barred_grams(abstracts: Iterable[str], titles: Iterable[str]) -> Grams:
    """What no query may hold, by length: 13-grams of abstracts, registration numbers, and titles.

    Args:
        abstracts: every abstract of the article in every language, as written and as released.
        titles: its title and translated titles (13-grams of longer ones); a long enough part before the
            subtitle counts as well.
    """
    found: dict[int, set[Tokens]] = {}
    for text in abstracts:
        tokens = tokens_of(text)
        _add(found, tokens, GRAM)
        for token in filter(_REGISTERED.fullmatch, tokens):
            _add(found, [token], 1)
    for title in titles:
        stem = tokens_of(_SUBTITLE.split(title, maxsplit=1)[0])
        for tokens in (tokens_of(title), stem if len(stem) >= MIN_STEM else []):
            _add(found, tokens, min(GRAM, len(tokens)))
    return {size: frozenset(grams) for size, grams in sorted(found.items())}


def _add(found: dict[int, set[Tokens]], tokens: Sequence[str], size: int) -> None:
    if size:
        grams = (tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1))
        found.setdefault(size, set()).update(grams)


def abstract_sentences(abstracts: Iterable[str]) -> tuple[Tokens, ...]:
    """The tokens of the sentences of abstracts and titles, each once; headings are lines of their own."""
    found = {
        tuple(tokens_of(line[start:end]))
        for text in abstracts
        for line in text.split("\n")
        for start, end in sentence_spans(line)
    }
    return tuple(sorted(tokens for tokens in found if len(tokens) >= MIN_RUN))


def is_edited_copy(text: str, sentences: Iterable[Tokens]) -> bool:
    """Whether a sentence is one of the abstract's, holds one or is part of one, but for a third of its words.

    The title counts as a sentence. A short one of the abstract must be there whole, in one run; a short one
    of the text is a turn of the trade.
    """
    tokens = tuple(tokens_of(text))
    counted = Counter(tokens)
    return any(_is_copy(tokens, counted, other) for other in sentences)


def _is_copy(tokens: Tokens, counted: Counter[str], other: Tokens) -> bool:
    shorter = min(len(tokens), len(other))
    if shorter < MIN_COPY:
        return MIN_RUN <= len(other) == shorter and _holds(other, tokens)
    # Counting is cheap and rules out nearly all pairs; only the order of the rest has to be looked at.
    needed = COPIED * shorter
    return (counted & Counter(other)).total() >= needed and _common_nearby(tokens, other) >= needed


def _holds(short: Tokens, long: Tokens) -> bool:
    """Whether all of one stands in the other in one run."""
    size = len(short)
    return any(long[at : at + size] == short for at in range(len(long) - size + 1))


def _common_nearby(one: Tokens, other: Tokens) -> int:
    """Most words in common in the same order within a stretch half as long again as the shorter one."""
    short, long = sorted((one, other), key=len)
    width = len(short) + len(short) // 2
    if len(long) <= width:
        return _common(short, long)
    step = max(1, len(short) // 4)
    starts = range(0, len(long) - width + step, step)
    return max(_common(short, long[start : start + width]) for start in starts)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for token in one:
        diagonal = 0
        for at, candidate in enumerate(other, start=1):
            above = row[at]
            row[at] = diagonal + 1 if token == candidate else max(above, row[at - 1])
            diagonal = above
    return row[-1]
