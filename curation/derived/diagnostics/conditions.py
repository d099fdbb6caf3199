"""Which of its modalities a query needs, told from nDCG@10 under the conditions it was asked in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CONDITIONS = ("text_only", "image_only", "text_and_image", "shuffled_image", "caption_for_image")
"""Columns of the diagnostics table, each an nDCG@10 or null."""
NEEDS = ("text", "image", "either", "both", "neither")
TOLERANCE = 0.05
"""A condition reaches the best one when its nDCG@10 is above 0 and at most this much lower."""
LEVEL = 0.01
"""An image–text model reads images when the query's own image finds more than another query's: two-sided p of
the paired randomisation test over articles at most this."""
PLACES = 6
"""Decimals published; needs is told from the published numbers, so that anyone can tell it again."""

Values = NDArray[np.float64]
"""(queries,) nDCG@10, NaN where not run."""


def needs(text: Values, image: Values, both: Values) -> list[str]:
    """What each query needs.

    The best of the three conditions is the mark. `text` and `image`: that modality alone reaches it and the
    other does not; `either`: each does; `both`: only the two together do; `neither`: nothing was found.

    Args:
        text: nDCG@10 by text alone, rounded to PLACES.
        image: by image alone.
        both: by both.

    Returns:
        One of NEEDS per query, '' where a condition was not run.
    """
    known = ~(np.isnan(text) | np.isnan(image) | np.isnan(both))
    best = np.fmax(np.fmax(text, image), both)
    by_text, by_image = _reaches(text, best), _reaches(image, best)
    rules = (
        (~known, ""),
        (best <= 0, "neither"),
        (by_text & by_image, "either"),
        (by_text, "text"),
        (by_image, "image"),
    )
    found = np.select([rule for rule, _ in rules], [name for _, name in rules], "both")
    return [str(name) for name in found]


def _reaches(value: Values, best: Values) -> NDArray[np.bool_]:
    """Compared after rounding: the last bits of a difference are not anyone's finding."""
    gap = np.round(best - value, PLACES)
    return np.asarray((value > 0) & (gap <= TOLERANCE))
