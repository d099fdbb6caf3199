"""What could name a patient in text read from an image: scanners print it without a sentence around it."""

from __future__ import annotations

import re

from curation.privacy.patterns import SHOWN_TO_NOBODY
from curation.privacy.search import Pattern
from curation.privacy.words import DATE, SHORT_MONTH

_SHORT_DATES = (
    rf"(?<!\d)\d{{1,2}}[-/. ]{SHORT_MONTH}[-/. ]\d{{2,4}}(?!\d)|(?<!\d)\d{{1,2}}/\d{{1,2}}/\d{{2}}(?!\d)"
)
_LABEL = r"(?i:\b(?:id|pid|mrn|acc(?:ession)?|exam|study|pat(?:ient)?\s{0,3}(?:id|no))\b)"
SURNAME = r"\b[A-ZÀ-Þ][A-ZÀ-Þ'’-]{1,40}[\^*~°“”‘]"
"""SURNAME^ as DICOM begins a name. Tesseract reads `^` as `*` or a quote, and is unsure of the word."""
BURNED_IN: tuple[Pattern, ...] = (
    *SHOWN_TO_NOBODY,
    Pattern("a date", re.compile(f"{DATE}|{_SHORT_DATES}")),
    Pattern(
        "a labelled name",
        re.compile(r"(?i:\b(?:patient|pat|name|surname)\b\.?\s{0,3}[:;])\s{0,3}[A-ZÀ-Þ][\w'^,. -]{2,60}"),
    ),
    Pattern(
        "a name as scanners print it",
        re.compile(rf"{SURNAME}\s?[A-ZÀ-Þ]{{2,40}}|\b[A-ZÀ-Þ]{{3,40}}, [A-ZÀ-Þ]{{3,40}}\b"),
    ),
    Pattern("a labelled number", re.compile(_LABEL + r"\s{0,3}[.:;#]{0,3}\s{0,3}[A-Z]{0,3}-?\d{5,20}")),
)
