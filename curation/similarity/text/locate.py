"""Where two texts share words: the longest run, as offsets in both texts as written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from curation.similarity.text.ngrams import SPAN, gram_hashes, shared_runs
from curation.similarity.text.tokens import Tokens, is_solo, tokens_with_offsets

_LENGTHS = (SPAN, 5, 2, 1)


@dataclass(frozen=True, slots=True)
class Located:
    """The longest shared run: its span in each text, its tokens and its words."""

    one: tuple[int, int]
    other: tuple[int, int]
    tokens: int
    words: float
    """Tokens, a character of a script without spaces counted as half a word."""


def locate(one_text: str, other_text: str) -> Located | None:
    """The first longest run of equal tokens, None when no token is shared."""
    one, other = tokens_with_offsets(one_text), tokens_with_offsets(other_text)
    number: dict[str, int] = {}
    hashed = [
        np.array([number.setdefault(token, len(number) + 1) for token, _, _ in tokens], np.uint64)
        for tokens in (one, other)
    ]
    for length in _LENGTHS:
        mine, theirs = (_grams(values, length) for values in hashed)
        runs = _first_shared(mine, theirs) if length == 1 else shared_runs(mine, theirs, length)
        if runs:
            start, begin, count = runs[0]
            solo = sum(is_solo(token) for token, _, _ in one[start : start + count] if len(token) == 1)
            return Located(
                (one[start][1], one[start + count - 1][2]),
                (other[begin][1], other[begin + count - 1][2]),
                count,
                count - solo / 2,
            )
    return None


def char_span(text: str, token: int, tokens: int) -> tuple[int, int]:
    """Offsets of a run of tokens in a text as written."""
    found = tokens_with_offsets(text)
    return found[token][1], found[token + tokens - 1][2]


def _grams(values: np.typing.NDArray[np.uint64], length: int) -> np.typing.NDArray[np.uint64]:
    zeros = np.zeros(len(values), np.int32)
    return gram_hashes(Tokens(values, zeros, zeros.astype(np.bool_)), length)[0]


def _first_shared(
    one: np.typing.NDArray[np.uint64], two: np.typing.NDArray[np.uint64]
) -> list[tuple[int, int, int]]:
    """The first token both have: no run is longer here, and every pair of places would be very many."""
    places = np.flatnonzero(np.isin(one, two))
    return [(int(places[0]), int(np.flatnonzero(two == one[places[0]])[0]), 1)] if len(places) else []
