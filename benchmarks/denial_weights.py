"""Weights of what speaks for a denial, fitted to known translations; their bounds are from held-out folds.

No planted error is looked at: what weights are worth is told from known translations alone, by the share of
held-out texts that would be rejected if the English had said the opposite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.translation_pairs import Pair
from curation.multilingual.denial import features, is_weighed
from curation.multilingual.numbers import plain
from curation.multilingual.words import Denial, Words, denies, words_of

SHARE = 0.035
"""Long known translations that may be rejected for a denial: with what else is rejected, and what differs
between halves, .05 of all."""
LEAST_DENYING = 100
"""English texts that deny, from which on a language gets weights."""
_FOLDS = 5
_RARE = 3
_STEPS = 400
_STRENGTHS = (0.5, 1.0, 2.0)
"""Of the L1 penalty, for each text."""
_TRIED = range(-400, 1, 10)
"""Bounds tried: what is likelier than not is never rejected."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least log-odds of either finding, in hundredths, and what they come to on texts held out."""

    lost: int
    new: int
    rejected: float
    found_lost: float
    found_new: float

    @property
    def found(self) -> float:
        """Both kinds count alike, however often either is met."""
        return self.found_lost + self.found_new


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights of a language, and what they and the lists are worth on texts held out."""

    denial: Denial
    bounds: Bounds
    listed_rejected: float
    listed_found: float


def fit(known: Sequence[Pair], language: str, neutral: Mapping[int | None, Sequence[str]]) -> Fit | None:
    """Weights of one language, None with too few texts that deny.

    Args:
        known: of all languages.
        language: the one that weights are wanted of.
        neutral: fold -> pairs of words learnt without that fold; None: from all.
    """
    chosen = [pair for pair in known if pair.language == language and is_weighed(plain(pair.source))]
    told = np.array([denies(plain(pair.source).lower(), words_of("en")) for pair in chosen])
    if told.sum() < LEAST_DENYING:
        return None
    folds = np.array([fold_of(pair) for pair in chosen])
    tried = {
        strength: _bounds(_held_out(chosen, told, folds, language, neutral, strength) * 100, told)
        for strength in _STRENGTHS
    }
    best = max(_STRENGTHS, key=lambda strength: tried[strength].found)
    bounds = tried[best]
    words = _learnt(language, neutral[None])
    bias, weights = _weights([features_of(pair, words) for pair in chosen], told, best)
    listed = [_listed(pair, _learnt(language, neutral[fold_of(pair)])) for pair in chosen]
    return Fit(
        Denial(bias, bounds.lost, bounds.new, weights),
        bounds,
        sum(known for known, _ in listed) / len(listed),
        sum(opposite for _, opposite in listed) / len(listed),
    )


def _bounds(held: Floats, told: NDArray[np.bool_]) -> Bounds:
    """The two bounds that find most of both kinds of error while they reject no more known texts than may be.

    Args:
        held: log-odds of a denial, in hundredths, of texts held out.
        told: whether the English of each denies.
    """
    tried = [
        Bounds(
            lost,
            new,
            float(((held < lost) & told).mean() + ((-held < new) & ~told).mean()),
            float((held < lost)[~told].mean()),
            float((-held < new)[told].mean()),
        )
        for lost in _TRIED
        for new in _TRIED
    ]
    fitting = [bounds for bounds in tried if bounds.rejected <= SHARE]
    return max(fitting, key=lambda bounds: (bounds.found, bounds.lost, bounds.new))


def fold_of(pair: Pair) -> int:
    """By the document: what is learnt of one is never tried on another part of it."""
    return pair.place[1] % _FOLDS


def without(known: Iterable[Pair], fold: int | None) -> list[Pair]:
    """The texts of the other folds."""
    return [pair for pair in known if fold_of(pair) != fold]


FOLDS: Sequence[int | None] = (None, *range(_FOLDS))


def features_of(pair: Pair, words: Words) -> Mapping[str, int]:
    """What is weighed of one pair."""
    return features(plain(pair.source), plain(pair.text), words)


def _learnt(language: str, neutral: Sequence[str]) -> Words:
    words = words_of(language)
    return replace(words, neutral=words.written | frozenset(neutral))


def _listed(pair: Pair, words: Words) -> tuple[bool, bool]:
    """Whether the lists reject a pair, and whether they would if the English had said the opposite."""
    english, source, text = words_of("en"), plain(pair.source).lower(), plain(pair.text).lower()
    told, retold = denies(source, english), denies(text, words)
    own, more = len(english.hints.findall(source)), len(words.hints.findall(text))
    excused = {True: more > own, False: own > more}
    return told != retold and not excused[told], told == retold and not excused[not told]


def _held_out(
    chosen: Sequence[Pair],
    told: NDArray[np.bool_],
    folds: NDArray[np.int64],
    language: str,
    neutral: Mapping[int | None, Sequence[str]],
    strength: float,
) -> Floats:
    """Log-odds of a denial of each text, by weights that were fitted without its fold."""
    held = np.zeros(len(chosen))
    for fold in range(_FOLDS):
        words = _learnt(language, neutral[fold])
        rows = [features_of(pair, words) for pair in chosen]
        rest = folds != fold
        bias, weights = _weights(
            [row for row, kept in zip(rows, rest, strict=True) if kept], told[rest], strength
        )
        for at in np.flatnonzero(~rest):
            held[at] = (bias + sum(weights.get(name, 0) * count for name, count in rows[at].items())) / 100
    return held


def _weights(
    rows: Sequence[Mapping[str, int]], told: NDArray[np.bool_], strength: float
) -> tuple[int, dict[str, int]]:
    """Bias and weights in hundredths, none of 0: proximal gradient with momentum (Beck and Teboulle 2009)."""
    counts = Counter(name for row in rows for name, count in row.items() if count)
    names = sorted(name for name, count in counts.items() if count >= _RARE)
    place = {name: at for at, name in enumerate(names, start=1)}
    cells = [
        (at, place[name], count)
        for at, row in enumerate(rows)
        for name, count in row.items()
        if name in place
    ]
    cells += [(at, 0, 1) for at in range(len(rows))]
    where, column, value = (np.array(part) for part in zip(*cells, strict=True))
    table = sparse.csr_matrix((value.astype(float), (where, column)), shape=(len(rows), len(names) + 1))
    wanted = told.astype(float)
    penalty = np.full(len(names) + 1, strength)
    penalty[0] = 0.0
    step = 1 / _steepest(table)
    at = ahead = np.zeros(len(names) + 1)
    momentum = 1.0
    for _ in range(_STEPS):
        error = 1 / (1 + np.exp(-(table @ ahead))) - wanted
        moved = ahead - step * (table.T @ error)
        following = np.sign(moved) * np.maximum(np.abs(moved) - step * penalty, 0)
        grown = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = following + (momentum - 1) / grown * (following - at)
        at, momentum = following, grown
    rounded = np.rint(at * 100).astype(int)
    found = {name: int(rounded[index]) for name, index in place.items() if rounded[index]}
    return int(rounded[0]), found


def _steepest(table: sparse.csr_matrix) -> float:
    """A bound of the curvature of the loss, by the power method."""
    at: Floats = np.ones(table.shape[1])
    for _ in range(30):
        at = table.T @ (table @ at)
        size = float(np.linalg.norm(at))
        at /= size
    return 0.3 * size
