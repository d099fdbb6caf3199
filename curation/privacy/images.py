"""Reads text burned into an image, and looks in it for what could name a patient."""

from __future__ import annotations

import re

from PIL import Image

from curation.images.decode import open_image
from curation.images.ocr import MIN_CONFIDENCE, read_words
from curation.privacy.burned_in import BURNED_IN, SURNAME
from curation.privacy.search import Hit, hits
from schemas.errors import InputError

READ_VERSION = 3
"""Raised when other things are looked for: images that were read before are read again."""
_BRIGHT = 180
"""Grey from which a pixel may belong to burned-in print."""


def read_hits(data: bytes) -> list[Hit] | None:
    """What text burned into one image holds, as (kind, start, end); None when the image does not open."""
    try:
        image = open_image(data).image
    except InputError:
        return None
    grey = image.convert("L")
    # Scanners print nearly white on dark: alone on paper it is read where the picture behind it confuses.
    alone = grey.point([255] * _BRIGHT + [0] * (256 - _BRIGHT))
    return list(hits(f"{_words(grey)}\n{_words(alone)}", BURNED_IN))


def _words(image: Image.Image) -> str:
    """What was read for sure, and whatever looks like a name as scanners print it, with the word after."""
    kept, follows = [], False
    for word, sure in read_words(image):
        is_name = bool(re.search(SURNAME, word))
        if sure >= MIN_CONFIDENCE or is_name or follows:
            kept.append(word)
        follows = is_name
    return " ".join(kept)
