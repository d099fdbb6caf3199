"""Compound figures of odd shapes: nested rows and columns, frames, titles beside letters, unread letters.

They stand beside the regular grids of benchmarks.panels; the same for the same seed.
"""

from __future__ import annotations

import io
import random
from dataclasses import dataclass, field

from PIL import Image, ImageDraw, ImageFont

from benchmarks.panels import LETTERS, Compound, chart, ink_box, photo
from curation.images.panels import Box

_LABELS = ("plain", "bracket", "title", "lower", "stop", "inside", "faint", "one unread")
_WIDE, _HIGH = 1_000, 800
_LEAST = 150
Place = tuple[int, int, int, int]
"""Left, top, right, bottom."""


@dataclass(slots=True)
class _Figure:
    """A figure in the making."""

    rng: random.Random
    image: Image.Image
    label: str
    is_dark: bool
    boxes: list[Box] = field(default_factory=list)


def odd_compound(seed: int) -> Compound:
    """One generated figure of an odd shape."""
    rng = random.Random(f"odd {seed}")
    gutter = rng.choice((6, 10, 16, 24))
    is_dark = rng.random() < 0.2
    margin = rng.choice((0, 4, 12))
    figure = _Figure(
        rng,
        Image.new("RGB", (_WIDE + 2 * margin, _HIGH + 2 * margin), "black" if is_dark else "white"),
        rng.choice(_LABELS),
        is_dark,
    )
    count = rng.randint(2, 8)
    places = _parted(rng, (margin, margin, margin + _WIDE, margin + _HIGH), count, gutter)
    unread = rng.randrange(len(places)) if figure.label == "one unread" and len(places) > 2 else -1
    content = rng.choice(("photo", "chart", "mixed"))
    for number, place in enumerate(places):
        _add(figure, LETTERS[number], place, content, is_read=number != unread)
    image = figure.image
    shift = 0
    if rng.random() < 0.15:
        shift = rng.choice((2, 5))
        framed = Image.new("RGB", (image.width + 2 * shift, image.height + 2 * shift), "white")
        framed.paste(image, (shift, shift))
        image = framed
    packed = io.BytesIO()
    image.save(packed, "JPEG", quality=rng.choice((75, 90)))
    boxes = tuple(
        Box(box.letter, box.left + shift, box.top + shift, box.right + shift, box.bottom + shift)
        for box in figure.boxes
    )
    return Compound(
        Image.open(packed).convert("RGB"),
        tuple(box.letter for box in boxes),
        boxes,
        f"{content} {figure.label}{' dark' if is_dark else ''}",
    )


def _parted(rng: random.Random, place: Place, count: int, gutter: int) -> list[Place]:
    """A place cut into parts in reading order: rows of columns, or columns of rows."""
    left, top, right, bottom = place
    if count == 1:
        return [place]
    is_across = (right - left) > (bottom - top) if rng.random() < 0.8 else rng.random() < 0.5
    length = (right - left) if is_across else (bottom - top)
    if length < 2 * _LEAST + gutter:
        is_across = not is_across
        length = (right - left) if is_across else (bottom - top)
        if length < 2 * _LEAST + gutter:
            return [place]
    first = rng.randint(1, count - 1)
    share = min(max(first / count + rng.uniform(-0.1, 0.1), 0.25), 0.75)
    at = min(max(round(length * share), _LEAST), length - _LEAST - gutter)
    if is_across:
        sides = (left, top, left + at, bottom), (left + at + gutter, top, right, bottom)
    else:
        sides = (left, top, right, top + at), (left, top + at + gutter, right, bottom)
    return _parted(rng, sides[0], first, gutter) + _parted(rng, sides[1], count - first, gutter)


def _add(figure: _Figure, letter: str, place: Place, content: str, *, is_read: bool) -> None:
    """Draw one panel with its letter."""
    rng, (left, top, right, bottom) = figure.rng, place
    is_photo = content == "photo" or (content == "mixed" and rng.random() < 0.5)
    room = 0 if figure.label == "inside" else 30
    size = right - left, bottom - top - room
    figure.image.paste(photo(rng, *size) if is_photo else chart(rng, *size), (left, top + room))
    if is_read:
        _letter(figure, letter, left, top, is_photo=is_photo)
    figure.boxes.append(ink_box(figure.image, letter, place, figure.is_dark))


def _letter(figure: _Figure, letter: str, left: int, top: int, *, is_photo: bool) -> None:
    draw = ImageDraw.Draw(figure.image)
    font = ImageFont.load_default(22)
    ink = "white" if figure.is_dark else "black"
    stroke = 1
    text = {"bracket": f"({letter.lower()})", "lower": letter.lower(), "stop": f"{letter}."}.get(
        figure.label, letter
    )
    if figure.label == "title":
        draw.text((left + 40, top + 4), "Response", fill=ink, font=ImageFont.load_default(15))
    if figure.label == "faint":
        ink, stroke = ("#aaaaaa" if figure.is_dark else "#555555"), 0
    if figure.label == "inside" and is_photo:
        draw.rectangle((left + 6, top + 6, left + 32, top + 34), fill="white")
        draw.text((left + 11, top + 6), text, fill="black", font=font, stroke_width=1)
    else:
        draw.text((left + 2, top + 1), text, fill=ink, font=font, stroke_width=stroke)
