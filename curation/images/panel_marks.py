"""Chooses the panel marks among the letters printed in a figure: one per letter, of one size and case.

A letter that could not be read is placed where the others leave room for it: on their lines, in their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from curation.images.panel_letters import Letter, Print

UNSEEN = 0.0
_READ, _WELL_READ = 0.6, 0.66
_CLEAR = 0.75
_MIN_READ = 3
_FEW = 3
_LOOSELY = 3.0
_SIZE_BAND = 1.18
_MAX_GROUPS = 12
_MAX_GUESSES = 8
_PER_LETTER = 3
_ALIGNED = 0.45
_BONUS = 0.04
_SPOT = (0.55, 1.5)
_UNREAD = 0.4
_SEEN = 4


class _Guess(NamedTuple):
    """A place for a letter not read; `rank` 0 is the best kind."""

    rank: int
    unlike: float
    mark: Letter


def mark_sets(found: Print, letters: Sequence[str]) -> Iterator[tuple[Letter, ...]]:
    """Sets of one mark per letter, in their order: wholly read ones first, the largest print first."""
    seen: set[tuple[Letter, ...]] = set()
    partial = []
    for group in _groups(found.letters):
        best = _best(group, letters)
        if _goes_on(group, best, found, letters):  # smaller print than this is no better evidence
            return
        chosen = tuple(best[letter] for letter in letters if letter in best)
        if chosen in seen or len(seen) >= _MAX_GROUPS:
            continue
        seen.add(chosen)
        if len(chosen) == len(letters):
            if _are_sure(chosen):
                yield chosen
        elif len(chosen) >= max(_MIN_READ, len(letters) - len(letters) // 2):
            partial.append(best)
    partial.sort(key=len, reverse=True)
    for best in partial:
        yield from _completed(best, found, letters)


def _are_sure(chosen: Sequence[Letter]) -> bool:
    """Whether marks read faintly stand in line with others, and few marks all do, at least nearly.

    Three that are read beyond doubt may stand anywhere: the cuts have to fit them.
    """
    few = len(chosen) <= _FEW and not (len(chosen) == _FEW and min(mark.score for mark in chosen) >= _CLEAR)
    return all(
        any(_in_line(mark, other, 1.0 if faint else _LOOSELY) for other in chosen if other is not mark)
        for mark in chosen
        if (faint := mark.score < _WELL_READ) or few
    )


def _goes_on(
    group: Sequence[Letter], best: Mapping[str, Letter], found: Print, letters: Sequence[str]
) -> bool:
    """Whether the letter after the last one is printed too: the figure has more panels than the caption."""
    if len(best) < max(2, len(letters) - 1):
        return False
    last = chr(ord(max(letters)) + 1)
    size = min(mark.size for mark in best.values())
    columns, lines = _lattice(best, size)
    are_bracketed = all(mark.is_bracketed for mark in best.values())
    next_ = [mark for mark in group if mark.letter == last and mark.is_bracketed >= are_bracketed]
    if len(columns) * len(lines) == len(letters) + 1:  # one place is left: something unread may stand there
        next_ += _unread(last, best, found, size)
    return any(_follows(mark, best, (*letters, last), len(letters), size) for mark in next_)


def _groups(found: Sequence[Letter]) -> Iterator[list[Letter]]:
    """Well read letters of one case and of about one size, the largest size first; then those in brackets."""
    for in_brackets, is_upper in itertools.product((False, True), (True, False)):
        read = [
            mark
            for mark in found
            if mark.is_upper == is_upper and (mark.is_bracketed if in_brackets else mark.score >= _READ)
        ]
        for size in sorted({mark.size for mark in read}, reverse=True):
            yield [mark for mark in read if size / _SIZE_BAND <= mark.size <= size]


def _best(marks: Sequence[Letter], letters: Sequence[str]) -> dict[str, Letter]:
    """The mark of every letter that is most alike and best in line with the others'."""
    best: dict[str, tuple[float, Letter]] = {}
    for mark in marks:
        if mark.letter not in letters:
            continue
        others = {other.letter for other in marks if other.letter != mark.letter and _in_line(mark, other)}
        worth = mark.score + _BONUS * min(len(others), 3)
        if mark.letter not in best or worth > best[mark.letter][0]:
            best[mark.letter] = (worth, mark)
    return {letter: mark for letter, (_, mark) in best.items()}


def _in_line(one: Letter, other: Letter, loosely: float = 1.0) -> bool:
    size = loosely * one.size
    return _near(one.left, other.left, size) or _near(one.bottom, other.bottom, size)


def _near(one: float, other: float, size: float) -> bool:
    return abs(one - other) <= _ALIGNED * size


def _completed(
    best: Mapping[str, Letter], found: Print, letters: Sequence[str]
) -> Iterator[tuple[Letter, ...]]:
    """Sets with the letters that are not in `best` placed by alignment and order."""
    size = sorted(mark.size for mark in best.values())[len(best) // 2]
    choices = []
    for position, letter in enumerate(letters):
        if letter in best:
            choices.append([best[letter]])
            continue
        guesses = _guesses(best, found, letters, position, size)
        if not guesses:
            return
        choices.append([guess.mark for guess in guesses[:_PER_LETTER]])
    tried = 0
    for chosen in itertools.product(*choices):
        unseen = sum(mark.score == UNSEEN for mark in chosen)
        if unseen > len(letters) // _SEEN or len({(mark.left, mark.top) for mark in chosen}) < len(chosen):
            continue
        tried += 1
        if tried > _MAX_GUESSES:
            return
        yield chosen


def _guesses(
    best: Mapping[str, Letter], found: Print, letters: Sequence[str], position: int, size: float
) -> list[_Guess]:
    """Places for one letter, the likeliest first: read faintly, something unread, or nothing seen at all."""
    letter = letters[position]
    is_upper = next(iter(best.values())).is_upper
    columns, lines = _lattice(best, size)
    taken = [(mark.left, mark.bottom) for mark in best.values()]
    guesses = []
    for mark in found.letters:
        if mark.letter != letter or mark.is_upper != is_upper or not 1 / 1.35 <= mark.size / size <= 1.35:
            continue
        on = sum((_on(mark.left, columns, size), _on(mark.bottom, lines, size)))
        if on:
            guesses.append(_Guess(2 - on, 1 - mark.score, mark))
    guesses += [_Guess(1, 1.0, mark) for mark in _unread(letter, best, found, size)]
    is_full = len(columns) * len(lines) == len(letters)
    for left, bottom in itertools.product(columns, lines) if is_full else ():
        place = (round(left), round(bottom - size), round(left + 0.6 * size), round(bottom))
        guesses.append(_Guess(3, 1.0, Letter(letter, *place, UNSEEN, size, is_upper)))
    free = [
        guess
        for guess in guesses
        if not any(
            _near(guess.mark.left, left, 2 * size) and _near(guess.mark.bottom, bottom, 2 * size)
            for left, bottom in taken
        )
        and _follows(guess.mark, best, letters, position, size)
    ]
    return sorted(free, key=lambda guess: (guess.rank, guess.unlike, guess.mark.top, guess.mark.left))


def _unread(letter: str, best: Mapping[str, Letter], found: Print, size: float) -> list[Letter]:
    """Spots of about a letter's size where a column of marks meets a line of marks."""
    columns, lines = _lattice(best, size)
    is_upper = next(iter(best.values())).is_upper
    return [
        Letter(letter, *spot, _UNREAD, size, is_upper)
        for spot in found.spots
        if _SPOT[0] <= (spot.bottom - spot.top) / size <= _SPOT[1]
        and _on(spot.left, columns, size)
        and _on(spot.bottom, lines, size)
    ]


def _lattice(best: Mapping[str, Letter], size: float) -> tuple[list[float], list[float]]:
    """Where columns of marks begin and lines of marks end."""
    columns = _clusters([mark.left for mark in best.values()], size)
    return columns, _clusters([mark.bottom for mark in best.values()], size)


def _on(value: float, lines: Sequence[float], size: float) -> bool:
    return any(_near(value, line, size) for line in lines)


def _clusters(values: Sequence[int], size: float) -> list[float]:
    """Middles of the groups that values nearer than a letter's size form."""
    groups: list[list[int]] = []
    for value in sorted(values):
        if groups and value - groups[-1][-1] <= size:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [sum(group) / len(group) for group in groups]


def _follows(
    mark: Letter, best: Mapping[str, Letter], letters: Sequence[str], position: int, size: float
) -> bool:
    """Whether a place comes after the letters before it and before those after it, by rows or by columns."""

    def by_rows(one: Letter, other: Letter) -> bool:
        is_level = abs(one.bottom - other.bottom) <= size
        return one.left < other.left if is_level else one.bottom < other.bottom

    def by_columns(one: Letter, other: Letter) -> bool:
        is_level = abs(one.left - other.left) <= size
        return one.bottom < other.bottom if is_level else one.left < other.left

    before = [best[letter] for letter in letters[:position] if letter in best]
    after = [best[letter] for letter in letters[position + 1 :] if letter in best]
    return any(
        all(comes(other, mark) for other in before) and all(comes(mark, other) for other in after)
        for comes in (by_rows, by_columns)
    )
