"""Images made by code, for what the shared data does not hold."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT / "../shared/data"


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


def marked() -> list[tuple[dict[str, Any], Path]]:
    """The hand-marked shared images: entry and file; none where the shared data is absent."""
    if not SHARED.is_dir():
        return []
    entries = json.loads((ROOT / "tests/gold/image_kinds.json").read_text("utf-8"))["images"]
    found = []
    for entry in entries:
        book = SHARED / "openstax" / entry["source"] / "media" / entry["file"]
        article = SHARED / "jats-with-images" / entry["source"] / entry["file"]
        found.append((entry, book if book.is_file() else article))
    return found


@pytest.fixture(scope="session")
def shared_images() -> list[tuple[dict[str, Any], Path]]:
    """See :func:`marked`."""
    if not SHARED.is_dir():
        pytest.skip("the shared data is not here")
    return marked()
