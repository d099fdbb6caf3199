"""Where the cases of an article stand: sections, run-in headings, boxes, or the plain body of a short report.

A layout chooses paragraphs; `patients.part` parts them by patient; what they say is read later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from curation.cases.headings import Heading, Kind, is_final_diagnosis, numbered, read
from curation.cases.narrative import Paragraph, closes, is_general, is_narrative, reports
from curation.cases.patient import introduces
from curation.cases.patients import Draft, part, topics
from schemas.article import Section

_RUN_IN = re.compile(
    r"^(?:case (?:report|presentation|description|history|summary)|clinical case|caso cl[ií]nico"
    r"|relato d[eo] caso|fallbericht|cas clinique)\s*[.:–—-]",
    re.IGNORECASE,
)
_OF_STUDY = re.compile(
    r"[\W\d]*(?:materials?|(?:patients?|subjects?|cases?) (?:and|&) methods?|methods?|results)\b",
    re.IGNORECASE,
)
_HEADING_WORDS = 14
"""A paragraph of at most so many words without a full stop is a heading or a box title, not a story."""


class _Sections:
    """Which sections of an article are inside a case: True, False, or None where only the text can tell."""

    def __init__(self, sections: Sequence[Section], *, is_claimed: bool) -> None:
        self._headings = {section.number: read(section.title) for section in sections}
        self._parents = {section.number: section.parent for section in sections}
        self._inside: dict[int, bool | None] = {0: None}
        before: dict[int, bool | None] = {}
        for section in sections:
            status = self._status(section, before.get(section.parent), is_claimed)
            self._inside[section.number] = status
            if status is not None:  # a title that says nothing does not end the case
                before[section.parent] = status

    def _status(self, section: Section, before: bool | None, is_claimed: bool) -> bool | None:
        """Status of a section; `before` is that of the last before it at its level that has one."""
        kind = self._headings[section.number].kind
        if section.part != "body" or kind is Kind.CLOSED:
            return False
        if kind in {Kind.CASE, Kind.PATIENT} or (kind is Kind.WEAK and is_claimed):
            return True
        enclosing = self._inside.get(section.parent)
        if enclosing is not None:
            return enclosing
        return True if kind is Kind.MORE and before else None

    def status(self, number: int) -> bool | None:
        """Whether a section is inside a case."""
        return self._inside.get(number)

    def entered(self, number: int, before: int) -> Iterator[Heading]:
        """Headings of the sections entered between two passages, from the top down."""
        known = set(self._path(before))
        for section in self._path(number):
            if section not in known:
                yield self._headings[section]

    def _path(self, number: int) -> list[int]:
        path: list[int] = []
        while number > 0:
            path.append(number)
            number = self._parents.get(number, 0)
        return path[::-1]


def find(
    paragraphs: Sequence[Paragraph],
    sections: Sequence[Section],
    boxes: Mapping[int, int],
    *,
    is_claimed: bool,
    title: str,
    abstract: str,
) -> list[Draft]:
    """Drafts of an article's cases, in reading order.

    Args:
        paragraphs: its passages, those that continue its boxes in later documents at the end.
        sections: its sections.
        boxes: case boxes: number of a box -> number of the box its case began in.
        is_claimed: the article calls itself a case report by type, subject, title or journal.
        title: its title.
        abstract: its abstracts.
    """
    drafts: list[Draft] = []
    for first in sorted(set(boxes.values())):
        inside = [item for item in paragraphs if boxes.get(item.box) == first and not _is_aside(item)]
        drafts += part(inside, _no_headings, "box", title, abstract)
    known = _Sections(sections, is_claimed=is_claimed)
    running = [item for item in paragraphs if item.section >= 0 and not item.box and not _is_heading(item)]
    chosen, rule = _under_headings(running, known), "section"
    if not chosen and is_claimed and not drafts:
        chosen, rule = _in_body(running, known) or _under_methods(running), "body"
    drafts += part(chosen, known.entered, rule, title, abstract)
    return sorted(drafts, key=lambda draft: draft.pieces[0].paragraph.order)


def _no_headings(number: int, before: int) -> Iterator[Heading]:
    return iter(())


def _is_aside(paragraph: Paragraph) -> bool:
    """Headings, and the questions a textbook puts to its readers."""
    text = paragraph.text
    asked = [text[start:end].rstrip(' )”"').endswith("?") for start, end in paragraph.spans()]
    return _is_heading(paragraph) or (bool(asked) and all(asked))


def _is_heading(paragraph: Paragraph) -> bool:
    """A paragraph that only titles what follows; one that numbers a patient is kept as its head.

    So is a diagnosis under a heading of its own, which may be no sentence.
    """
    text = paragraph.text.rstrip()
    if paragraph.titles and is_final_diagnosis(paragraph.titles[-1]):
        return False
    is_short = (
        paragraph.kind == "paragraph"
        and len(text.split()) <= _HEADING_WORDS
        and not text.endswith((".", "?", "!", "。"))
    )
    return is_short and numbered(text) is None and not _RUN_IN.match(text + ":")


def _under_headings(running: Sequence[Paragraph], known: _Sections) -> list[Paragraph]:
    """Paragraphs under case headings; sections that follow, and whose titles leave it open, by their text."""
    chosen: list[Paragraph] = []
    is_open = False
    run_in: int | None = None
    for paragraph in running:
        inside = known.status(paragraph.section)
        if inside is None and _RUN_IN.match(paragraph.text):
            run_in = paragraph.section
        elif run_in is not None and (paragraph.section != run_in or closes(paragraph.text)):
            run_in = None
        inside = True if inside is None and run_in is not None else inside
        if inside:
            is_open = True
            if not is_general(paragraph):
                chosen.append(paragraph)
        elif inside is None and is_open and is_narrative(paragraph):
            chosen.append(paragraph)
        elif inside is False:
            is_open = False
    return chosen


def _under_methods(running: Sequence[Paragraph]) -> list[Paragraph]:
    """Paragraphs of a report that goes by the sections of a study: its patient is under methods."""
    chosen: list[Paragraph] = []
    for paragraph in running:
        title = paragraph.titles[0] if paragraph.titles else ""
        if paragraph.part != "body" or not _OF_STUDY.match(title):
            continue
        spans = paragraph.spans()
        is_start = any(introduces(paragraph.text[start:end]) for start, end in spans[:2])
        is_told = is_narrative(paragraph) or any(topics(paragraph.text[start:end]) for start, end in spans)
        if (chosen or is_start) and is_told:
            chosen.append(paragraph)
    return chosen


def _in_body(running: Sequence[Paragraph], known: _Sections) -> list[Paragraph]:
    """Paragraphs from the introduction of a patient to the first that no longer tells of one."""
    chosen: list[Paragraph] = []
    for paragraph in running:
        if known.status(paragraph.section) is False or paragraph.part != "body":
            if chosen:
                break
            continue
        is_start = numbered(paragraph.text) is not None or any(
            introduces(paragraph.text[start:end]) or reports(paragraph.text[start:end])
            for start, end in paragraph.spans()
        )
        if chosen and not is_start and (is_general(paragraph) or not is_narrative(paragraph)):
            break
        if chosen or is_start:
            chosen.append(paragraph)
    return chosen
