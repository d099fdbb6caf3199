"""Images made by code, and those marked by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from sources.sample import bucket_dir
from tests.conftest import PLACES

ROOT = Path(__file__).resolve().parents[3]
Marked = list[tuple[dict[str, Any], Path]]
"""Images whose kind was marked by hand: entry and file."""


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    """An image as a file of a kind."""
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def corner(width: int = 40, height: int = 20, mode: str = "RGB") -> Image.Image:
    """White but for a red (dark in grey) quarter at the top left: tells every rotation and flip apart."""
    image = Image.new("RGB", (width, height), "white")
    image.paste((200, 0, 0), (0, 0, width // 2, height // 2))
    return image.convert(mode)


def samples(image: Image.Image) -> NDArray[Any]:
    """Pixels as an array."""
    return np.asarray(image)


@pytest.fixture(scope="session", params=PLACES)
def marked_images(request: pytest.FixtureRequest) -> Marked:
    """The hand-marked images of the sample, and of the shared data where it is."""
    is_sample = request.param == "sample"
    gold = ROOT / "tests/gold" / ("image_kinds_sample.json" if is_sample else "image_kinds.json")
    entries = json.loads(gold.read_text("utf-8"))["images"]
    if is_sample:
        return [(entry, bucket_dir() / entry["source"] / entry["file"]) for entry in entries]
    shared: Path = request.getfixturevalue("shared_data")
    found = []
    for entry in entries:
        book = shared / "openstax" / entry["source"] / "media" / entry["file"]
        article = shared / "jats-with-images" / entry["source"] / entry["file"]
        found.append((entry, book if book.is_file() else article))
    return found
