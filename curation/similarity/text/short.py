"""Near-duplicates among texts of less than 13 words, where shared runs say too little.

The same words in any order; or all words but one, and that one (five letters or more, no digit) differs by
one letter: "cause of asthma", "causes of asthma". "type 1" and "type 2", "HIV" and "HCV" stay apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from rapidfuzz.distance import OSA

from curation.similarity.text.candidates import by_left_out
from curation.similarity.text.sketch import Texts
from curation.similarity.text.tokens import Bool, tokens_with_offsets

MIN_LETTERS = 5
MAX_LETTERS = 64
"""Longer words are only compared whole."""


def pairs(one: Texts, other: Texts | None = None, used: Bool | None = None) -> list[tuple[int, int, float]]:
    """Rows of near-duplicate short texts with their share of equal words.

    Args:
        one: the texts.
        other: another set; pairs are then between the sets.
        used: which rows of `one` take part; all when not given.
    """
    size = len(one)
    groups = by_left_out(one.sketch, None if other is None else other.sketch)
    if used is not None:
        groups = [rows[used[rows]] for rows in groups]
    if other is not None:
        groups = [rows for rows in groups if rows[0] < size <= rows[-1]]
    groups = [rows for rows in groups if len(rows) > 1]
    if not groups:
        return []
    words = _words(one, other, np.unique(np.concatenate(groups)))
    found: dict[tuple[int, int], float] = {}
    for rows in groups:
        for a, b in _alike(rows.tolist(), words):
            if other is None or a < size <= b:
                found[a, b if other is None else b - size] = _share(words[a], words[b])
    return [(a, b, value) for (a, b), value in sorted(found.items())]


def _words(one: Texts, other: Texts | None, rows: np.typing.NDArray[np.int64]) -> dict[int, Counter[str]]:
    size = len(one)
    texts = one.take(rows[rows < size])
    if other is not None:
        texts |= {row + size: text for row, text in other.take(rows[rows >= size] - size).items()}
    return {row: Counter(token for token, _, _ in tokens_with_offsets(text)) for row, text in texts.items()}


def _alike(rows: list[int], words: dict[int, Counter[str]]) -> Iterator[tuple[int, int]]:
    """Pairs of a group whose one differing word, if any, differs by one letter."""
    common = words[rows[0]] & words[rows[1]]
    for row in rows[2:]:
        common &= words[row]
    by_word: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        rest = list((words[row] - common).elements())
        if len(rest) <= 1:
            by_word[rest[0] if rest else ""].append(row)
    for members in by_word.values():
        for place, a in enumerate(members):
            for b in members[place + 1 :]:
                yield a, b
    for first, second in _one_letter(sorted(by_word)):
        for a in by_word[first]:
            for b in by_word[second]:
                yield min(a, b), max(a, b)


def _one_letter(found: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of words that one letter added, removed, changed or swapped makes equal."""
    near: dict[str, list[str]] = defaultdict(list)
    for word in found:
        if MIN_LETTERS <= len(word) <= MAX_LETTERS and word.isalpha():
            for key in {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}:
                near[key].append(word)
    seen: set[tuple[str, str]] = set()
    for members in near.values():
        for place, first in enumerate(members):
            for second in members[place + 1 :]:
                if (first, second) not in seen and OSA.distance(first, second, score_cutoff=1) <= 1:
                    seen.add((first, second))
                    yield first, second


def _share(one: Counter[str], two: Counter[str]) -> float:
    total = one.total() + two.total()
    return round(2 * (one & two).total() / total, 4) if total else 0.0
