"""Domain of an article: single patients, clinical studies, laboratory, populations, teaching, not medical."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curation.labels.lexicon import Hit
from curation.labels.taxonomy import load
from curation.labels.texts import Texts
from curation.labels.votes import (
    Tallies,
    Tally,
    Weight,
    confidence,
    count_fields,
    count_types,
    count_words,
    decided,
    ranked,
    undecided,
)
from schemas.label import Label

TYPE = 7.0
BOOK = 12.0
JOURNAL_FIELD = 2.0
SUBJECT_FIELD = 1.0
TITLE = Weight(2.0, 0.7, 6.0)
KEYWORD = Weight(1.0, 0.4, 4.0)
ABSTRACT = Weight(0.6, 0.25, 5.0)
OPENING = Weight(0.6, 0.25, 4.0)
HEADING = Weight(0.3, 0.1, 1.5)
MIN_POINTS = 1.9
ENOUGH = 8.0
NON_MEDICAL = "non_medical"


def points(texts: Texts) -> Tallies:
    """Points of every domain for an article."""
    taxonomy = load("domain")
    found: Tallies = {}
    if texts.is_book:
        found["education"] = Tally()
        found["education"].add("domain.education.type", "type", "book chapter", BOOK)
    else:
        count_types(found, taxonomy, "type", (*texts.types, *texts.subjects), TYPE)
        _move_animals(found, texts)
    count_fields(found, taxonomy, "journal", texts.journal, JOURNAL_FIELD)
    count_fields(found, taxonomy, "subject", texts.subjects, SUBJECT_FIELD)
    count_words(found, taxonomy, "title", texts.titles, TITLE)
    count_words(found, taxonomy, "keyword", texts.keywords, KEYWORD)
    count_words(found, taxonomy, "abstract", texts.abstract, ABSTRACT)
    count_words(found, taxonomy, "opening", texts.opening, OPENING)
    count_words(found, taxonomy, "heading", texts.headings, HEADING)
    return found


def _move_animals(found: Tallies, texts: Texts) -> None:
    """A report on animals is not medical: title or keywords name one, abstract and opening no person."""
    report = found.get("clinical_case")
    if report is None:
        return
    beings = load("domain").beings
    named = [hit for text in (*texts.titles, *texts.keywords) for hit in beings.find(text)]
    told = [hit for text in (*texts.abstract, *texts.opening) for hit in beings.find(text)]
    if _holds(named, "animal") and not _holds((*named, *told), "person"):
        shown = next(hit.text for hit in named if hit.entries[0].strength == "animal")
        found[NON_MEDICAL] = Tally()
        found[NON_MEDICAL].add("domain.non_medical.animal", "title", shown, report.points)
        del found["clinical_case"]


def _holds(hits: Sequence[Hit], strength: str) -> bool:
    return any(entry.strength == strength for hit in hits for entry in hit.entries)


def labels(record: str, article: str, tallies: Tallies) -> Iterator[Label]:
    """The domain of one article, or why it was not decided."""
    order = ranked(tallies, list(load("domain").labels))
    if not order or order[0][1] < MIN_POINTS:
        near = [item for name, _ in order[:2] for item in tallies[name].evidence[:3]]
        yield undecided(record, article, "domain", "weak_evidence" if order else "no_evidence", near)
        return
    (name, best), rival = order[0], order[1][1] if len(order) > 1 else 0.0
    if best == rival:
        near = [item for label, _ in order[:2] for item in tallies[label].evidence[:3]]
        yield undecided(record, article, "domain", "tie", near)
        return
    yield decided(record, article, "domain", 1, name, confidence(best, rival, ENOUGH), tallies[name])
