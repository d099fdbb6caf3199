"""Which captions are queries of image search: those that tell one image from others of its kind."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.concepts.abbreviations import definitions
from curation.labels.taxonomy import load
from curation.tasks.image_search.facts import Report
from curation.tasks.image_search.settings import OwnReason, Settings
from curation.tasks.shared.bars import Bar, rights_bar
from curation.tasks.shared.general_words import telling
from curation.tasks.shared.words import word_count
from schemas.concept import Mention
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
_BEFORE = re.compile(r"(?:[^\W\d_][\w-]* ){1,2}\Z")
"""One or two words that belong to the one after them."""
_ORGANISMS = ("T001", "T004", "T005", "T007", "T194", "T204")
"""UMLS types Organism, Fungus, Virus, Bacterium, Archaeon, Eukaryote: not people, plants, beasts."""
_PLACES = ("T023", "T029", "T030")
"""UMLS types Body Part, Body Location, Body Space: not cells and tissues, which are everywhere."""


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


@dataclass(frozen=True, slots=True)
class ShownConcepts:
    """Concepts that an image can show: not the method, device or ward it was made with."""

    findings: frozenset[str]
    """disorders and findings"""
    organisms: frozenset[str]
    """what causes infections"""
    places: frozenset[str]
    """parts of the body"""


@functools.lru_cache(maxsize=2)
def read_shown(types: Path) -> ShownConcepts:
    """What an image can show, by the semantic types of a vocabulary (Parquet of ConceptType rows)."""
    rows = pq.read_table(types, columns=["concept", "semantic_type", "group"])

    def concepts(chosen: pc.Expression) -> frozenset[str]:
        return frozenset(rows.filter(chosen)["concept"].to_pylist())

    return ShownConcepts(
        concepts(pc.field("group") == "DISO"),
        concepts(pc.field("semantic_type").isin(_ORGANISMS)),
        concepts(pc.field("semantic_type").isin(_PLACES)),
    )


def vagueness(report: Report, figure: Figure, text: str, shown: ShownConcepts) -> str:
    """Why a caption fits images of many patients, '' when it does not.

    A short caption must name a part of the body by more than a method that is used on no other ("ECG"), an
    organism, or a finding in more than one word ("fracture" fits thousands); in English it must also tell a
    finding: name one, or come to what is seen ("showing").

    Args:
        report: the article.
        figure: one of its figures.
        text: its caption without pointers.
        shown: concepts that an image can show.
    """
    named = report.concepts.get(figure.id, ())
    if not named and not report.words_of(figure, "region"):
        return "names no concept and no part of the body"
    if word_count(text) >= _TELLING_WORDS:
        return ""
    named = [item for item in named if sum(map(str.isalpha, item.text)) >= _MIN_LETTERS]
    findings = [item for item in named if item.concept in shown.findings]
    organisms = [item for item in named if item.concept in shown.organisms]
    is_english = report.source.language.startswith("en")
    is_telling = bool(organisms) or any(_is_special(item, figure, is_english) for item in findings)
    if not is_telling and not _is_placed(report, figure, named, shown):
        return "short, names no part of the body and no finding of more than one word"
    is_told = bool(findings or organisms) or _FINDING.search(text)
    if is_english and not is_told:
        return "short, tells no finding"
    return ""


def _is_special(finding: Mention, figure: Figure, is_english: bool) -> bool:
    """Whether a finding is named in more than one word, or by a telling word before it: "clival tumor"."""
    if len(finding.text.split()) > 1:
        return True
    before = _BEFORE.search(figure.caption, 0, finding.start)
    words = before.group().split() if before else []
    return any(
        load("region").words.find(word) or (is_english and telling(word) and not _FINDING.fullmatch(word))
        for word in words
    )


def _is_placed(report: Report, figure: Figure, named: Sequence[Mention], shown: ShownConcepts) -> bool:
    """Whether a caption names a part of the body, in words or by a short form that its article explains."""
    methods = report.words_of(figure, "modality")
    if report.words_of(figure, "region") - methods:
        return True
    if any(item.concept in shown.places and item.text.casefold() not in methods for item in named):
        return True
    known = {
        item.short: item.long for passage in report.passages.values() for item in definitions(passage.text)
    }
    used = [known[word] for word in re.findall(r"[\w-]+", figure.caption) if word in known]
    return any(load("region").words.find(long) and not load("modality").words.find(long) for long in used)
