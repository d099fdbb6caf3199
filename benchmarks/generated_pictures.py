"""Invented pictures, each unlike the others: a look of its kind, shapes and grain of its own; as JPEG."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from schemas.hashing import sha256_bytes

_KINDS = 40
_SHARED = 0.35
"""How much of the coarse look is the kind's; the rest is the picture's own."""
Array = Any


@dataclass(frozen=True, slots=True)
class Picture:
    """Where a picture's JPEG lies, its SHA-256 and size in pixels."""

    path: Path
    offset: int
    length: int
    sha256: str
    width: int
    height: int


def pictures(path: Path, seed: int, task: int, first: int, count: int) -> list[Picture]:
    """Draw some pictures of a task into one file."""
    looks = np.random.default_rng([seed, 2]).normal(size=(_KINDS, 5, 5))
    found: list[Picture] = []
    with path.open("wb") as out:
        for number in range(first, first + count):
            data, width, height = _picture(np.random.default_rng([seed, task, 6, number]), looks)
            found.append(Picture(path, out.tell(), len(data), sha256_bytes(data), width, height))
            out.write(data)
    return found


def _picture(random: np.random.Generator, looks: Array) -> tuple[bytes, int, int]:
    width, height = int(random.integers(12, 21)) * 8, int(random.integers(12, 21)) * 8
    coarse = _SHARED * looks[int(random.integers(len(looks)))] + (1 - _SHARED) * random.normal(size=(5, 5))
    fine = random.normal(size=(14, 14))
    field = 34 * _grown(coarse, width, height) + 24 * _grown(fine, width, height) + 120
    for _ in range(int(random.integers(4, 9))):
        left, top = int(random.integers(width - 8)), int(random.integers(height - 8))
        right, bottom = left + int(random.integers(5, 40)), top + int(random.integers(5, 40))
        field[top:bottom, left:right] += random.normal() * 40
    field += random.normal(size=field.shape) * 3
    image = Image.fromarray(np.clip(field, 0, 255).astype(np.uint8))
    out = io.BytesIO()
    image.save(out, format="JPEG", quality=80)
    return out.getvalue(), width, height


def _grown(small: Array, width: int, height: int) -> Array:
    """A small field of numbers stretched over the picture."""
    image = Image.fromarray(small.astype(np.float32))
    return np.asarray(image.resize((width, height), Image.Resampling.BICUBIC))
