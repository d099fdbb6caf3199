"""Which articles claim to report patient cases, and on what grounds: the units the case stage accounts for.

A claim is not a case: trials, surveys and veterinary reports are typed so too, and are dropped later.
"""

from __future__ import annotations

import re

from curation.cases.headings import Kind, numbered, read
from curation.cases.narrative import Paragraph, is_narrative
from curation.cases.patient import introduces
from curation.extract.sentences import sentence_spans
from schemas.article import Article, Box

_TITLE = re.compile(
    r"\bcase (?:reports?|series|presentation)\b|\bcase stud(?:y|ies)\b(?! (?:from|in"
    r"|of (?:the )?\w+ (?:river|region|district)))|\b(?:a|an|the|one|two|three|four|five|rare|unusual"
    r"|unique|first|interesting) (?:[\w-]+ ){0,2}cases? (?:of|with)\b|\breports? of (?:an?|one|two|three"
    r"|four|five|six|\d+) (?:[\w-]+ ){0,3}(?:cases?|patients?)\b|\b\d+-year-old\b|\bcase in point\b"
    r"|\bin an? (?:[\w-]+ ){0,3}(?:patient|man|woman|boy|girl|child|infant|newborn|neonate|adolescent"
    r"|teenager)\b(?![-'’]| (?:population|cohort|sample|group|home|care|room|model|organi[sz]ation))"
    r"|\b(?:relato|reporte|informe|presentaci[oó]n|apresentaç[aã]o|descripci[oó]n) d(?:el?|o|os|e un"
    r"|e um|e dos)s? casos?\b|\bcaso cl[ií]nico\b|\brapport d['’]un cas\b|\b(?:à propos d['’]un"
    r"|présentation d['’]un) cas\b|\bcas clinique\b|\bfallbericht|\bkasuistik|\bcaso clinico\b",
    re.IGNORECASE,
)
_NOT_TITLE = re.compile(
    r"\bcase[- ]control\b|\bsystematic review\b|\bmeta-analys|\bretrospective (?:study|analysis"
    r"|review)\b|\bprotocol\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\bcase (?:reports?|series|stud(?:y|ies)|letters?)\b|\bclinical (?:cases?|image|picture"
    r"|vignette)s?\b|\bimages? in\b|\bcasos? cl[ií]nicos?\b|\brelatos? de casos?\b|\breporte de casos?\b"
    r"|\bcas cliniques?\b|\bkasuistik\b|\bfallbericht\b",
    re.IGNORECASE,
)
_JOURNAL = re.compile(
    r"\bcase (?:reports?|rep|studies)\b|\bcases journal\b|\bimages in\b|\bclin(?:ical)? case\b", re.IGNORECASE
)
_BOX = re.compile(
    r"\bclinical[- ]focus\b|\bcase[- ](?:in[- ]point|stud(?:y|ies)|reports?|presentation|vignette)\b"
    r"|\bclinical (?:case|vignette|scenario)\b|\bpatient (?:case|vignette|story)\b|\bcaso cl[ií]nico\b"
    r"|\bcas clinique\b|\bfallbeispiel\b|\bstudium przypadku\b",
    re.IGNORECASE,
)
_LETTERS = frozenset({"letter", "correspondence"})
"""Article types whose title and sections seldom say that a case is told."""
_SHOWN = 80
_LATER_PART = re.compile(
    r"\bpart\s+(?:[2-9]|two|three|four|five)\b|\bresolution\b|\bcontinued\b|\bconclusion\b", re.IGNORECASE
)


def own_claims(article: Article) -> tuple[str, ...]:
    """What the article calls itself: evidence like 'type: case-report'.

    Only of letters the text is read: what they call themselves does not say that they tell of a patient.
    """
    found = []
    if article.article_type == "case-report":
        found.append("type: case-report")
    found += [f"subject: {subject}" for subject in article.subjects if _SUBJECT.search(subject)]
    if _JOURNAL.search(article.journal):
        found.append(f"journal: {article.journal}")
    if _TITLE.search(article.title) and not _NOT_TITLE.search(article.title):
        found.append(f"title: {article.title}")
    if not found and article.article_type in _LETTERS:
        found += [f"letter: {sentence}" for sentence in _introduced(article)]
    return tuple(dict.fromkeys(found))


def claims(article: Article) -> tuple[str, ...]:
    """All grounds on which an article may hold cases; empty when there are none.

    Returns:
        Evidence lines: type, subject, journal and title of the article, its case headings and case boxes.
    """
    found = list(own_claims(article))
    for section in article.sections:
        kind = read(section.title).kind
        if section.part == "body" and kind in {Kind.CASE, Kind.PATIENT}:
            found.append(f"heading: {section.title}")
    found += [f"box: {box.title or box.type}" for box in article.boxes if box.number in case_boxes(article)]
    return tuple(dict.fromkeys(found))


def _introduced(article: Article) -> list[str]:
    """The sentence by which a letter introduces a patient, in a paragraph that goes on to tell of him."""
    body = {0, *(section.number for section in article.sections if section.part == "body")}
    for passage in article.passages:
        if passage.section not in body:
            continue
        for start, end in sentence_spans(passage.text):
            if introduces(passage.text[start:end]):
                if is_narrative(Paragraph(passage.id, 0, passage.text[start:], 0)):
                    return [passage.text[start:end][:_SHOWN]]
                break
    return []


def case_boxes(article: Article) -> dict[int, int]:
    """Case boxes of an article: number of each box -> number of the box in which its case begins.

    A box that goes on with a case of an earlier document belongs to that document.
    """
    begins: dict[int, int] = {}
    for box in article.boxes:
        if box.continues and box.continues in begins:
            begins[box.number] = begins[box.continues]
        elif not box.continues and _is_case(box):
            begins[box.number] = box.number
    return begins


def _is_case(box: Box) -> bool:
    if _LATER_PART.search(box.title):
        return False
    return bool(_BOX.search(f"{box.type} ; {box.title}") or numbered(box.title))
