"""Which captions are queries of image search: those that tell one image from others of its kind."""

from __future__ import annotations

import re

from curation.tasks.image_search.facts import Report
from curation.tasks.image_search.settings import OwnReason, Settings
from curation.tasks.shared.bars import Bar, rights_bar
from curation.tasks.shared.words import word_count
from schemas.extracted import Figure
from schemas.stages import Reason

_TELLING_WORDS = 25
"""A caption of so many words is telling without a known name: it describes what it shows."""
_MIN_LETTERS = 4
"""Shorter names are mostly abbreviations of something else: 3D is no disease in a caption."""
_FINDING = re.compile(
    r"\b(?:show\w*|demonstrat\w*|reveal\w*|display\w*|depict\w*|illustrat\w*|indicat\w*|evidenc\w*|disclos\w*"
    r"|exhibit\w*|confirm\w*|suggest\w*|highlight\w*|identif\w*|denot\w*|notes?|noted|consistent|compatible"
    r"|seen|present|visible|appear\w*|arrow\w*|with|without|unremarkable|(?:ab)?normal\w*)\b",
    re.IGNORECASE,
)
"""Words by which an English caption comes to what is seen."""


def caption_bar(figure: Figure, text: str, settings: Settings) -> Bar | None:
    """Why the caption of a figure makes no query, or None; whether it is vague is asked apart.

    Args:
        figure: the figure.
        text: its caption without pointers.
        settings: what the task is built with.
    """
    if barred := rights_bar(figure, settings.licence_profile):
        return barred
    if not figure.caption.strip():
        return Reason.NO_CAPTION, ""
    words = word_count(text)
    if words < settings.min_caption_words:
        return Reason.SHORT_CAPTION, f"{words} words"
    if words > settings.max_caption_words:
        return OwnReason.LONG_CAPTION, f"{words} words"
    return None


def vagueness(report: Report, figure: Figure, text: str) -> str:
    """Why a caption fits images of many patients, '' when it does not.

    A short caption must name a part of the body by more than a method that is used on no other ("ECG"), or a
    concept in more than one word ("fracture" fits thousands); in English it must also tell a finding: name a
    concept, or come to what is seen ("showing").

    Args:
        report: the article.
        figure: one of its figures.
        text: its caption without pointers.
    """
    named = report.concepts.get(figure.id, ())
    places = report.words_of(figure, "region")
    if not named and not places:
        return "names no concept and no part of the body"
    if word_count(text) >= _TELLING_WORDS:
        return ""
    told = [name for name in named if sum(map(str.isalpha, name)) >= _MIN_LETTERS]
    is_placed = bool(places - report.words_of(figure, "modality"))
    if not is_placed and not any(len(name.split()) > 1 for name in told):
        return "short, names no part of the body and no concept of more than one word"
    if report.source.language.startswith("en") and not told and not _FINDING.search(text):
        return "short, tells no finding"
    return ""
