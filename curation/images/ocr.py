"""Text burned into images, read by Tesseract through pytesseract, the extra `ocr`.

Names, dates and record numbers are printed into scans; what is read here is for checks and review, never a
document's text.
"""

from __future__ import annotations

import importlib
import re
import shutil
from typing import Any

from PIL import Image

from schemas.errors import UsageError

MAX_SIDE, MIN_SIDE = 2_000, 1_000
MIN_CONFIDENCE = 60
_WORD = re.compile(r"\w")


def read_text(image: Image.Image, languages: str = "eng") -> str:
    """Words read with a confidence of at least 60, in reading order, one space between; '' when none.

    Args:
        image: upright, mode L or RGB; small ones are enlarged to 1,000 pixels a side.
        languages: Tesseract language codes joined by '+'.

    Raises:
        UsageError: pytesseract, the tesseract program or a language is missing.
    """
    return " ".join(word for word, sure in read_words(image, languages) if sure >= MIN_CONFIDENCE)


def read_words(image: Image.Image, languages: str = "eng") -> list[tuple[str, float]]:
    """Every word read, in reading order, with its confidence from 0 to 100; arguments as `read_text`.

    Raises:
        UsageError: pytesseract, the tesseract program or a language is missing.
    """
    engine = _engine()
    grey = image.convert("L")
    scale = min(MAX_SIDE / max(grey.size), max(1.0, MIN_SIDE / max(grey.size)))
    if scale != 1.0:
        size = (max(1, round(grey.width * scale)), max(1, round(grey.height * scale)))
        grey = grey.resize(size, Image.Resampling.LANCZOS)
    try:
        found = engine.image_to_data(
            grey,
            lang=languages,
            config="--psm 11",
            output_type=engine.Output.DICT,
        )
    except engine.TesseractError as error:
        raise UsageError(
            f"tesseract cannot read with languages {languages!r}",
            hint="install the language packs, e.g. apt-get install tesseract-ocr-deu",
        ) from error
    pairs = zip(found["text"], found["conf"], strict=True)
    return [(word.strip(), float(sure)) for word, sure in pairs if _WORD.search(word)]


def _engine() -> Any:
    try:
        engine: Any = importlib.import_module("pytesseract")
    except ImportError as error:
        raise UsageError(
            "reading text in images needs pytesseract, which is not installed",
            hint="install the extra: make setup EXTRAS=ocr",
        ) from error
    if shutil.which("tesseract") is None:
        raise UsageError(
            "reading text in images needs the program tesseract, which is not on the path",
            hint="apt-get install tesseract-ocr",
        )
    return engine
