"""Finds printed panel letters (A, b, (C)) in a figure by matching glyph shapes against a sans-serif face.

A letter counts only when it stands alone and all letters asked for appear in one size and case: single
letters in words, axis labels and formulas are no panel marks. numpy, scipy and Pillow suffice.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage  # type: ignore[import-untyped]

Mask = npt.NDArray[np.bool_]
Grey = npt.NDArray[np.uint8]

_SIDE = 20
_FONT_PIXELS = 64
_STROKES = (0, 2, 5)
_MIN_SCORE = 0.66
_CASE_MARGIN = 0.06
_MIN_HEIGHT = 7
_MAX_HEIGHT = 0.09
_SIZE_BAND = 1.18
_DARK, _LIGHT = 110, 200
_MAX_GROUPS = 12


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


@dataclass(frozen=True, slots=True)
class _Glyph:
    letter: str
    is_upper: bool
    shape: npt.NDArray[np.float32]
    aspect: float
    height: float


def letter_sets(grey: Grey, letters: Sequence[str]) -> Iterator[tuple[Letter, ...]]:
    """Sets of one printed mark per letter, of one size and case, the largest print first.

    Args:
        grey: (height, width) uint8.
        letters: upper-case letters the caption names.
    """
    wanted = frozenset(letters)
    found = [*_marks(grey < _DARK, 255 - grey, wanted), *_marks(grey > _LIGHT, grey, wanted)]
    seen: set[tuple[Letter, ...]] = set()
    for is_upper in (True, False):
        marks = [mark for mark in found if mark.is_upper == is_upper]
        for size in sorted({mark.size for mark in marks}, reverse=True):
            alike = [mark for mark in marks if size / _SIZE_BAND <= mark.size <= size]
            chosen = _one_each(alike, letters)
            if chosen and chosen not in seen and len(seen) < _MAX_GROUPS:
                seen.add(chosen)
                yield chosen


def filled(mask: Mask, axis: int) -> Mask:
    """Whether any pixel is set, along an axis of a (height, width) mask."""
    return np.asarray(mask.any(axis=axis), dtype=np.bool_)


def _one_each(marks: Sequence[Letter], letters: Sequence[str]) -> tuple[Letter, ...]:
    """The most alike mark of every letter; () when one is absent."""
    best: dict[str, Letter] = {}
    for mark in marks:
        if mark.letter not in best or mark.score > best[mark.letter].score:
            best[mark.letter] = mark
    return tuple(best[letter] for letter in letters) if len(best) == len(letters) else ()


def _marks(mask: Mask, shade: Grey, wanted: frozenset[str]) -> Iterator[Letter]:
    """Glyphs of a mask that may be wanted letters; `shade` is bright where the print is."""
    labels, _ = ndimage.label(mask, structure=np.ones((3, 3), dtype=int))
    highest = max(_MAX_HEIGHT * max(mask.shape), 2 * _MIN_HEIGHT)
    for number, place in enumerate(ndimage.find_objects(labels), start=1):
        rows, columns = place
        height, width = rows.stop - rows.start, columns.stop - columns.start
        if not _MIN_HEIGHT <= height <= highest or not 0.25 <= width / height <= 1.5:
            continue
        part = labels[place] == number
        if not 0.15 <= part.mean() <= 0.9 or not _is_alone(mask, rows, columns):
            continue
        for glyph, score in _readings(shade[place], part, wanted):
            size = round(height / glyph.height, 2)
            left, top, right, bottom = columns.start, rows.start, columns.stop, rows.stop
            yield Letter(glyph.letter, left, top, right, bottom, round(score, 4), size, glyph.is_upper)


def _is_alone(mask: Mask, rows: slice, columns: slice) -> bool:
    """Whether no word goes on beside the glyph; brackets and a full stop may stand there."""
    height = rows.stop - rows.start
    reach = max(2, round(0.9 * height))
    bracket, space = max(1, round(0.5 * height)), max(2, round(0.45 * height))
    right = filled(mask[rows, columns.stop : columns.stop + reach], 0)
    left = filled(mask[rows, max(columns.start - reach, 0) : columns.start], 0)[::-1]
    return all(_is_free(side, bracket, space) for side in (right, left))


def _is_free(columns: Mask, bracket: int, space: int) -> bool:
    """Whether a wide space comes next, or a bracket and then a free end."""
    used = np.flatnonzero(columns)
    if not len(used) or used[0] >= space:
        return True
    return bool(used[-1] - used[0] < bracket and used[-1] < len(columns) - 1)


def _readings(shade: Grey, part: Mask, wanted: frozenset[str]) -> Iterator[tuple[_Glyph, float]]:
    """Wanted letters the glyph may be, at most one of each case: unwanted ones compete and win their share.

    C and c differ in size alone, which only the other letters tell.
    """
    near = ndimage.binary_dilation(part)
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
