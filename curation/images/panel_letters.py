"""Finds printed panel letters (A, b, (C)) in a figure by matching glyph shapes against a sans-serif face.

A letter counts only when it stands alone: letters in words, axis labels and formulas are no panel marks.
Which of the letters found are marks is for panel_marks to say. numpy, scipy and Pillow suffice.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Mask = npt.NDArray[np.bool_]
Grey = npt.NDArray[np.uint8]
Shapes = npt.NDArray[np.float64]

_SIDE = 20
_FONT_PIXELS = 64
_STROKES = (0, 2, 5)
_MIN_SCORE = 0.5
_CASE_MARGIN = 0.06
_MIN_HEIGHT = 7
_MAX_HEIGHT = 0.09
_DARK, _LIGHT = 110, 200
_NIGHT, _DIM = 40, 130
"""A figure on a ground so dark shows letters of this brightness, too."""
_LARGE = 1.8
_BOX = 2.6
_FREE, _BRACKET, _TEXT = range(3)
_BRACKETS = 0.1
_BRACKET_HEIGHT = 2.4
_SAMPLES = 12
_ROWS = 8
_BITS = 24
"""Of a pixel's share of a glyph: products of two glyphs stay below 2**53, so any order of adding is exact."""
_TWINS = frozenset("COSUVWXZ")
"""Letters of one form in both cases: only their size beside the others tells them apart."""
_SOLID = np.empty(0, dtype=np.uint8)


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
    is_bracketed: bool = False


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


class _Glyph(NamedTuple):
    """A place's print to be read; an empty shape where it is too solid or thin to be told."""

    spot: Spot
    shape: Grey
    is_bracketed: bool


class _Faces(NamedTuple):
    """The n letters known: (n, 400) shapes, (n,) widths and heights, of capitals or not.

    others: (n,) the same letter in the other case where that has the same form, else itself.
    """

    letters: tuple[str, ...]
    uppers: Mask
    shapes: Shapes
    aspects: npt.NDArray[np.float32]
    heights: npt.NDArray[np.float64]
    others: npt.NDArray[np.intp]


class _Ground(NamedTuple):
    """Connected things, dark or light, from 1 in (height, width) `labels`.

    places: (n + 1, 4) left, top, right, bottom; heights: (n + 1,); row 0 is nothing.
    """

    labels: npt.NDArray[np.int32]
    places: npt.NDArray[np.int32]
    heights: npt.NDArray[np.uint32]


def read_print(grey: Grey, wanted: Collection[str]) -> Print:
    """Letters of a figure that stand alone.

    Args:
        grey: (height, width) uint8.
        wanted: upper-case letters to look for.
    """
    edge = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    is_dark = float(np.median(edge)) < _NIGHT
    dark, light = _ground(grey < _DARK), _ground(grey > (_DIM if is_dark else _LIGHT))
    glyphs = [*_glyphs(dark, light, 255 - grey), *_glyphs(light, dark, grey)]
    letters = tuple(_read([glyph for glyph in glyphs if glyph.shape.size], wanted))
    return Print(letters, tuple(glyph.spot for glyph in glyphs))


def _glyphs(print_: _Ground, paper: _Ground, shade: Grey) -> Iterator[_Glyph]:
    """Things of a letter's size that stand alone; `shade` is bright where the print is."""
    candidates = _candidates(print_, shade.shape)
    boxed = _are_boxed(print_, paper, candidates)
    kept = boxed | ~_are_in_text(print_, candidates)
    for number, is_boxed in zip(candidates[kept], boxed[kept], strict=True):
        sides = _sides(print_, number)
        if _TEXT in sides and not is_boxed:
            continue
        left, top, right, bottom = (int(value) for value in print_.places[number])
        part = print_.labels[top:bottom, left:right] == number
        is_solid = not 0.15 <= part.mean() <= 0.9 or right - left < 0.25 * (bottom - top)
        shape = _SOLID if is_solid else _shape(shade[top:bottom, left:right], part)
        is_bracketed = sides == (_BRACKET, _BRACKET) or _stands_in_brackets(print_, number)
        yield _Glyph(Spot(left, top, right, bottom), shape, is_bracketed)


def _ground(mask: Mask) -> _Ground:
    from scipy import ndimage  # slow to load, and most commands see no image

    labels, _ = ndimage.label(mask, structure=np.ones((3, 3), dtype=int))
    found = ((x.start, y.start, x.stop, y.stop) for y, x in ndimage.find_objects(labels))
    places = np.array([(0, 0, 0, 0), *found], dtype=np.int32)
    heights = (places[:, 3] - places[:, 1]).astype(np.uint32)
    return _Ground(labels, places, heights)


def _candidates(ground: _Ground, shape: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """Components of a letter's height and width, in reading order of their first pixels."""
    highest = max(_MAX_HEIGHT * max(shape), 2 * _MIN_HEIGHT)
    widths, heights = ground.places[:, 2] - ground.places[:, 0], ground.heights
    fits = (heights >= _MIN_HEIGHT) & (heights <= highest)
    return np.flatnonzero(fits & (widths >= 0.08 * heights) & (widths <= 1.6 * heights))


def _are_boxed(print_: _Ground, paper: _Ground, numbers: npt.NDArray[np.intp]) -> Mask:
    """Whether glyphs stand each in a small box of its own, as on a photograph."""
    left, top, right, bottom = print_.places[numbers].T
    middle = (top + bottom) // 2
    box = np.max([paper.labels[middle, np.maximum(left - step, 0)] for step in (1, 2, 3, 4)], axis=0)
    around = paper.places[box]
    is_small = (around[:, 2:] - around[:, :2]).max(axis=1) <= _BOX * (bottom - top)
    is_inside = (
        (around[:, 1] < top) & (bottom < around[:, 3]) & (around[:, 0] < left) & (right < around[:, 2])
    )
    return np.asarray((box > 0) & is_small & is_inside, dtype=np.bool_)


def _are_in_text(ground: _Ground, numbers: npt.NDArray[np.intp]) -> Mask:
    """Whether a few pixels to the right already show what `_side` would call text: most letters, at once."""
    _, top, right, bottom = ground.places[numbers].T[:, :, None]
    height = bottom - top
    reach = np.maximum(2, np.round(0.9 * height).astype(int))
    across = (np.linspace(0, 1, _SAMPLES) * (reach - 1)).astype(int)  # from 0 to the last pixel in reach
    is_used = np.zeros(across.shape, dtype=np.bool_)
    columns = right + across
    inside = columns < ground.labels.shape[1]
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        rows = top + (share * height).astype(int)
        heights = ground.heights[ground.labels[rows, np.where(inside, columns, 0)]]
        is_used |= inside & (heights - np.uint32(1) < (_LARGE * height).astype(np.uint32))
    first = np.take_along_axis(across, is_used.argmax(axis=1)[:, None], 1)
    last = np.take_along_axis(across, _SAMPLES - 1 - is_used[:, ::-1].argmax(axis=1)[:, None], 1)
    is_near = first < np.maximum(2, np.round(0.45 * height))
    is_long = last - first >= np.maximum(1, np.round(0.5 * height))
    return np.asarray(is_used.any(axis=1) & (is_near & is_long)[:, 0], dtype=np.bool_)


def _sides(ground: _Ground, number: int) -> tuple[int, int]:
    """What stands to the right and left of a glyph; things much larger than print are as good as nothing."""
    left, top, right, bottom = ground.places[number].tolist()
    height = bottom - top
    reach = max(2, round(0.9 * height))
    after = _side(ground, ground.labels[top:bottom, right : right + reach], height)
    if after == _TEXT:
        return after, after
    return after, _side(ground, ground.labels[top:bottom, max(left - reach, 0) : left][:, ::-1], height)


def _side(ground: _Ground, labels: npt.NDArray[np.int32], height: int) -> int:
    """Whether a wide space comes next, a bracket (or full stop) and then a free end, or text."""
    bracket, space = max(1, round(0.5 * height)), max(2, round(0.45 * height))
    heights = ground.heights[labels]
    used = _filled(heights - np.uint32(1) < np.uint32(_LARGE * height), 0).nonzero()[0]  # 0 - 1 is most
    if not len(used) or used[0] >= space:
        return _FREE
    is_bracket = used[-1] - used[0] < bracket and used[-1] < labels.shape[1] - 1
    return _BRACKET if is_bracket else _TEXT


def _stands_in_brackets(ground: _Ground, number: int) -> bool:
    """Whether the nearest thing on either side is slim and reaches above and below the glyph."""
    left, top, right, bottom = ground.places[number].tolist()
    height = bottom - top
    for near in (
        ground.labels[top:bottom, right : right + height],
        ground.labels[top:bottom, max(left - height, 0) : left][:, ::-1],
    ):
        used = _filled(near > 0, 0).nonzero()[0]
        if not len(used):
            return False
        x0, y0, x1, y1 = ground.places[int(near[:, used[0]].max())].tolist()
        is_tall = y0 <= top and bottom <= y1 and y1 - y0 <= _BRACKET_HEIGHT * height
        if not is_tall or x1 - x0 > 0.5 * (y1 - y0):
            return False
    return True


def _filled(mask: Mask, axis: int) -> Mask:
    """Whether any pixel is set, along an axis of a (height, width) mask."""
    return np.asarray(mask.any(axis=axis), dtype=np.bool_)


def _shape(shade: Grey, part: Mask) -> Grey:
    """A glyph's own pixels, and the soft ones of its outline, in the form of a template."""
    near = part.copy()
    near[1:] |= part[:-1]
    near[:-1] |= part[1:]
    near[:, 1:] |= part[:, :-1]
    near[:, :-1] |= part[:, 1:]
    return _resized(Image.fromarray(shade * near))


def _read(glyphs: Sequence[_Glyph], wanted: Collection[str]) -> Iterator[Letter]:
    """Wanted letters that glyphs may be, at most one of each case: unwanted ones compete and win their share.

    C and c differ in size alone, which only the other letters tell.
    """
    if not glyphs:
        return
    faces = _faces()
    spots = np.array([glyph.spot for glyph in glyphs], dtype=np.float32)
    aspects = (spots[:, 2] - spots[:, 0]) / (spots[:, 3] - spots[:, 1])
    ratios = aspects[:, None] / faces.aspects
    fits = (ratios >= 0.72) & (ratios <= 1.4)
    scores = np.where(fits, _likeness([glyph.shape for glyph in glyphs], faces), -1.0)
    scores = np.maximum(scores, scores[:, faces.others])
    least = np.maximum(_MIN_SCORE, scores.max(axis=1) - _CASE_MARGIN)
    chosen = {
        is_upper: np.where(faces.uppers == is_upper, scores, -1.0).argmax(axis=1)
        for is_upper in (True, False)
    }
    for is_upper, positions in chosen.items():
        reached = np.take_along_axis(scores, positions[:, None], 1)[:, 0]
        for number in map(int, np.flatnonzero(reached >= least)):
            face, glyph = int(positions[number]), glyphs[number]
            if faces.letters[face] not in wanted:
                continue
            size = round((glyph.spot.bottom - glyph.spot.top) / float(faces.heights[face]), 2)
            worth = round(min(float(reached[number]) + _BRACKETS * glyph.is_bracketed, 1.0), 4)
            yield Letter(faces.letters[face], *glyph.spot, worth, size, is_upper, glyph.is_bracketed)


def _likeness(shapes: Sequence[Grey], faces: _Faces) -> Shapes:
    """Correlation of every glyph with every letter; few rows at a time keep the product on one core."""
    rows = _normalised(shapes)
    parts = [rows[start : start + _ROWS] @ faces.shapes.T for start in range(0, len(rows), _ROWS)]
    return np.concatenate(parts) * 2.0 ** (-2 * _BITS)


def _resized(image: Image.Image) -> Grey:
    """A glyph's crop as 20 × 20 values in one row."""
    return np.asarray(image.resize((_SIDE, _SIDE), Image.Resampling.BOX)).ravel()


def _normalised(shapes: Sequence[Grey]) -> Shapes:
    """Glyphs one a row, of mean 0 and length 1 each, in whole steps of 2**-_BITS."""
    values = np.stack(shapes).astype(np.float64)
    centred = values * values.shape[1] - values.sum(axis=1, keepdims=True)
    lengths = np.sqrt((centred * centred).sum(axis=1, keepdims=True))
    return np.asarray(np.rint(centred * (2.0**_BITS / np.maximum(lengths, 1.0))), dtype=np.float64)


@functools.cache
def _faces() -> _Faces:
    """Letters of Pillow's own face (Aileron) in three weights; heights relative to a capital's."""
    font = ImageFont.load_default(_FONT_PIXELS)
    drawn = []
    for stroke, code in itertools.product(_STROKES, range(26)):
        capital = _drawn(font, "H", stroke).height
        for first in ("A", "a"):
            character = chr(ord(first) + code)
            if character not in "ij":  # two parts: never one component
                drawn.append((character, _drawn(font, character, stroke), capital))
    others = list(range(len(drawn)))
    for number, (one, other) in enumerate(itertools.pairwise(drawn)):
        if one[0].upper() in _TWINS and one[0] == other[0].upper():  # a capital, then the small letter
            others[number], others[number + 1] = number + 1, number
    for stroke, code in itertools.product(_STROKES[1:], range(26)):
        with_stop = _drawn(font, f"{chr(ord('A') + code)}.", stroke)  # bold print runs into its full stop
        drawn.append((chr(ord("A") + code), with_stop, _drawn(font, "H", stroke).height))
    others += range(len(others), len(drawn))
    return _Faces(
        others=np.array(others, dtype=np.intp),
        letters=tuple(character.upper() for character, _, _ in drawn),
        uppers=np.array([character.isupper() for character, _, _ in drawn]),
        shapes=_normalised([_resized(image) for _, image, _ in drawn]),
        aspects=np.array([image.width / image.height for _, image, _ in drawn], dtype=np.float32),
        heights=np.array([image.height / capital for _, image, capital in drawn]),
    )


def _drawn(font: ImageFont.FreeTypeFont | ImageFont.ImageFont, text: str, stroke: int) -> Image.Image:
    canvas = Image.new("L", (3 * _FONT_PIXELS, 3 * _FONT_PIXELS))
    draw = ImageDraw.Draw(canvas)
    draw.text((_FONT_PIXELS, _FONT_PIXELS), text, fill=255, font=font, stroke_width=stroke)
    return canvas.crop(canvas.getbbox())
