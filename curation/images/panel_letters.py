"""Finds printed panel letters (A, b, (C)) in a figure by matching glyph shapes against a sans-serif face.

A letter counts only when it stands alone: letters in words, axis labels and formulas are no panel marks.
Which of the letters found are marks is for panel_marks to say. numpy, scipy and Pillow suffice.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage  # type: ignore[import-untyped]

Mask = npt.NDArray[np.bool_]
Grey = npt.NDArray[np.uint8]

_SIDE = 20
_FONT_PIXELS = 64
_STROKES = (0, 2, 5)
_MIN_SCORE = 0.5
_CASE_MARGIN = 0.06
_MIN_HEIGHT = 7
_MAX_HEIGHT = 0.09
_DARK, _LIGHT = 110, 200
_LARGE = 1.8
_BOX = 2.6
_FREE, _BRACKET, _TEXT = range(3)
_BRACKETS = 0.1


@dataclass(frozen=True, slots=True)
class Letter:
    """One printed letter: its place (pixels), how alike its glyph is (0 to 1), and the font size implied."""

    letter: str
    left: int
    top: int
    right: int
    bottom: int
    score: float
    size: float
    is_upper: bool


class Spot(NamedTuple):
    """Something of a letter's height that stands alone, read or not."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Print:
    """What a figure's print may be: letters read, and places where a letter may stand unread."""

    letters: tuple[Letter, ...]
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class _Glyph:
    letter: str
    is_upper: bool
    shape: npt.NDArray[np.float32]
    aspect: float
    height: float


@dataclass(frozen=True, slots=True)
class _Ground:
    """Connected components of dark or light pixels, from 1 in `labels`; (n + 1,) sizes, 0 for none."""

    labels: npt.NDArray[np.int32]
    places: list[tuple[slice, slice]]
    widths: npt.NDArray[np.int32]
    heights: npt.NDArray[np.int32]


def read_print(grey: Grey, wanted: Collection[str]) -> Print:
    """Letters of a figure that stand alone.

    Args:
        grey: (height, width) uint8.
        wanted: upper-case letters to look for.
    """
    dark, light = _ground(grey < _DARK), _ground(grey > _LIGHT)
    letters: list[Letter] = []
    spots: list[Spot] = []
    for print_, paper, shade in ((dark, light, 255 - grey), (light, dark, grey)):
        for number in _candidates(print_, grey.shape):
            rows, columns = print_.places[number - 1]
            sides = _sides(print_, number)
            if _TEXT in sides and not _is_boxed(print_, paper, number):
                continue
            worth = _BRACKETS if sides == (_BRACKET, _BRACKET) else 0.0
            place = (rows, columns)
            left, top, right, bottom = columns.start, rows.start, columns.stop, rows.stop
            spots.append(Spot(left, top, right, bottom))
            for glyph, score in _readings(shade[place], print_.labels[place] == number, wanted):
                size = round((bottom - top) / glyph.height, 2)
                score = round(min(score + worth, 1.0), 4)
                letters.append(Letter(glyph.letter, left, top, right, bottom, score, size, glyph.is_upper))
    return Print(tuple(letters), tuple(spots))


def _ground(mask: Mask) -> _Ground:
    labels, _ = ndimage.label(mask, structure=np.ones((3, 3), dtype=int))
    places = ndimage.find_objects(labels)
    widths = np.array([0, *(columns.stop - columns.start for _, columns in places)], dtype=np.int32)
    heights = np.array([0, *(rows.stop - rows.start for rows, _ in places)], dtype=np.int32)
    return _Ground(labels, places, widths, heights)


def _candidates(ground: _Ground, shape: tuple[int, ...]) -> list[int]:
    """Components of a letter's height and width, in reading order of their first pixels."""
    highest = max(_MAX_HEIGHT * max(shape), 2 * _MIN_HEIGHT)
    widths, heights = ground.widths, ground.heights
    fits = (
        (heights >= _MIN_HEIGHT)
        & (heights <= highest)
        & (widths >= 0.08 * heights)
        & (widths <= 1.6 * heights)
    )
    return [int(number) for number in np.flatnonzero(fits)]


def _sides(ground: _Ground, number: int) -> tuple[int, int]:
    """What stands to the left and right of a glyph; things much larger than print are as good as nothing."""
    rows, columns = ground.places[number - 1]
    height = rows.stop - rows.start
    reach = max(2, round(0.9 * height))
    bracket, space = max(1, round(0.5 * height)), max(2, round(0.45 * height))
    right = ground.labels[rows, columns.stop : columns.stop + reach]
    left = ground.labels[rows, max(columns.start - reach, 0) : columns.start][:, ::-1]
    small = ground.heights <= _LARGE * height
    small[0] = False
    before, after = (_side(filled(small[side], 0), bracket, space) for side in (left, right))
    return before, after


def _is_boxed(print_: _Ground, paper: _Ground, number: int) -> bool:
    """Whether the glyph stands in a small box of its own, as on a photograph."""
    rows, columns = print_.places[number - 1]
    height = rows.stop - rows.start
    middle = (rows.start + rows.stop) // 2
    around = paper.labels[middle, max(columns.start - 4, 0) : columns.start]
    box = int(around.max(initial=0))
    if not box or max(paper.widths[box], paper.heights[box]) > _BOX * height:
        return False
    down, across = paper.places[box - 1]
    is_inside = down.start < rows.start and rows.stop < down.stop
    return bool(is_inside and across.start < columns.start and columns.stop < across.stop)


def _side(columns: Mask, bracket: int, space: int) -> int:
    """Whether a wide space comes next, a bracket (or full stop) and then a free end, or text."""
    used = np.flatnonzero(columns)
    if not len(used) or used[0] >= space:
        return _FREE
    is_bracket = used[-1] - used[0] < bracket and used[-1] < len(columns) - 1
    return _BRACKET if is_bracket else _TEXT


def filled(mask: Mask, axis: int) -> Mask:
    """Whether any pixel is set, along an axis of a (height, width) mask."""
    return np.asarray(mask.any(axis=axis), dtype=np.bool_)


def _readings(shade: Grey, part: Mask, wanted: Collection[str]) -> Iterator[tuple[_Glyph, float]]:
    """Wanted letters the glyph may be, at most one of each case: unwanted ones compete and win their share.

    C and c differ in size alone, which only the other letters tell.
    """
    if not 0.15 <= part.mean() <= 0.9 or part.shape[1] < 0.25 * part.shape[0]:
        return
    near = part.copy()  # and the soft pixels of its outline
    near[1:] |= part[:-1]
    near[:-1] |= part[1:]
    near[:, 1:] |= part[:, :-1]
    near[:, :-1] |= part[:, 1:]
    inside = np.where(near, shade, 0).astype(np.uint8)
    shape = _normalised(Image.fromarray(inside)).ravel()
    aspect = part.shape[1] / part.shape[0]
    stack, glyphs, aspects, uppers = _templates()
    fits = (aspect / aspects >= 0.72) & (aspect / aspects <= 1.4)
    scores = np.where(fits, stack @ shape, -1.0)
    best = float(scores.max())
    for case in (uppers, ~uppers):
        position = int(np.where(case, scores, -1.0).argmax())
        glyph, score = glyphs[position], float(scores[position])
        if score >= max(_MIN_SCORE, best - _CASE_MARGIN) and glyph.letter in wanted:
            yield glyph, score


def _normalised(image: Image.Image) -> npt.NDArray[np.float32]:
    """A glyph's crop as a 20 × 20 vector of mean 0 and length 1."""
    small = np.asarray(image.resize((_SIDE, _SIDE), Image.Resampling.BOX), dtype=np.float32)
    centred = small - np.float32(small.mean())
    length = np.float32(np.linalg.norm(centred))
    return np.asarray(centred / length if length else centred, dtype=np.float32)


@functools.cache
def _templates() -> tuple[npt.NDArray[np.float32], tuple[_Glyph, ...], npt.NDArray[np.float32], Mask]:
    """Letters of Pillow's own face (Aileron) in three weights; heights relative to a capital's."""
    font = ImageFont.load_default(_FONT_PIXELS)
    glyphs = []
    for stroke, code in itertools.product(_STROKES, range(26)):
        capital = _drawn(font, "H", stroke).height
        for first in ("A", "a"):
            character = chr(ord(first) + code)
            if character in "ij":  # two parts: never one component
                continue
            image = _drawn(font, character, stroke)
            glyphs.append(
                _Glyph(
                    character.upper(),
                    first == "A",
                    _normalised(image),
                    image.width / image.height,
                    image.height / capital,
                )
            )
    return (
        np.stack([glyph.shape.ravel() for glyph in glyphs]),
        tuple(glyphs),
        np.array([glyph.aspect for glyph in glyphs], dtype=np.float32),
        np.array([glyph.is_upper for glyph in glyphs]),
    )


def _drawn(font: ImageFont.FreeTypeFont | ImageFont.ImageFont, text: str, stroke: int) -> Image.Image:
    canvas = Image.new("L", (3 * _FONT_PIXELS, 3 * _FONT_PIXELS))
    draw = ImageDraw.Draw(canvas)
    draw.text((_FONT_PIXELS, _FONT_PIXELS), text, fill=255, font=font, stroke_width=stroke)
    return canvas.crop(canvas.getbbox())
