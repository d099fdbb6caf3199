"""Specialty and body system of an article or a case, by points from every place that tells the topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from curation.labels import concepts
from curation.labels.concepts import Named
from curation.labels.taxonomy import load
from curation.labels.texts import Texts
from curation.labels.votes import (
    Tallies,
    Weight,
    confidence,
    count_fields,
    count_words,
    decided,
    ranked,
    undecided,
)
from schemas.label import Label, Undecided

TopicFacet = Literal["specialty", "body_system"]
FACETS: tuple[TopicFacet, ...] = ("specialty", "body_system")
TITLE = Weight(3.0, 1.0, 9.0)
KEYWORD = Weight(1.5, 0.5, 6.0)
SUBJECT = Weight(1.0, 0.3, 3.0)
ABSTRACT = Weight(0.6, 0.2, 5.0)
OPENING = Weight(0.6, 0.2, 4.0)
HEADING = Weight(0.3, 0.1, 1.5)
CAPTION = Weight(0.3, 0.1, 1.5)
JOURNAL_FIELD = 4.0
SUBJECT_FIELD = 2.5
INDEX_FIELD = 0.8
_MANY_SUBJECTS = 8
"""More subject headings than this are index terms (PLOS), not the section of the journal."""
MIN_POINTS = 3.0
ENOUGH = 10.0
_SECOND_SHARE = 0.4
_LEAD_OF_ORGAN = {"discipline": 0.38, "age": 0.25}
"""Kinds that lead only when the best organ specialty has less than this share of their points."""


def points(
    facet: TopicFacet,
    texts: Texts,
    named: Iterable[Named] = (),
    parents: Mapping[str, Sequence[str]] | None = None,
) -> Tallies:
    """Points of every label of a facet for an article.

    Args:
        facet: specialty or body_system.
        texts: the article's texts by place.
        named: concepts it affirms; none when it is not grounded.
        parents: CURIE -> parents, where the vocabulary's relations are at hand.
    """
    taxonomy = load(facet)
    found: Tallies = {}
    count_words(found, taxonomy, "title", texts.titles, TITLE)
    count_words(found, taxonomy, "keyword", texts.keywords, KEYWORD)
    count_fields(found, taxonomy, "journal", texts.journal, JOURNAL_FIELD)
    section = SUBJECT_FIELD if len(texts.subjects) <= _MANY_SUBJECTS else INDEX_FIELD
    count_fields(found, taxonomy, "subject", texts.subjects, section)
    count_words(found, taxonomy, "subject", texts.subjects, SUBJECT)
    count_words(found, taxonomy, "abstract", texts.abstract, ABSTRACT)
    count_words(found, taxonomy, "opening", texts.opening, OPENING)
    count_words(found, taxonomy, "heading", texts.headings, HEADING)
    count_words(found, taxonomy, "caption", texts.captions, CAPTION)
    concepts.count(found, taxonomy, named, parents)
    return found


def labels(
    record: str, article: str, facet: TopicFacet, tallies: Tallies, *, is_medical: bool = True
) -> Iterator[Label]:
    """Up to two labels of one facet, or the one row that says why there is none."""
    taxonomy = load(facet)
    order = ranked(tallies, list(taxonomy.labels))
    if not order or order[0][1] < MIN_POINTS or not is_medical:
        reason: Undecided = "not_medical" if not is_medical else "weak_evidence" if order else "no_evidence"
        near = [item for name, _ in order[:2] for item in tallies[name].evidence[:3]]
        yield undecided(record, article, facet, reason, near)
        return
    kinds = {name: entity.kind for name, entity in taxonomy.labels.items()}
    lead = _lead(order, kinds)
    others = [item for item in order if item[0] != lead[0]]
    rival = others[0][1] if others else 0.0
    if others and rival == lead[1] and kinds[others[0][0]] == kinds[lead[0]]:
        near = [item for name in (lead[0], others[0][0]) for item in tallies[name].evidence[:3]]
        yield undecided(record, article, facet, "tie", near)
        return
    sure = confidence(lead[1], rival, ENOUGH)
    yield decided(record, article, facet, 1, lead[0], sure, tallies[lead[0]])
    if others and rival >= max(MIN_POINTS, _SECOND_SHARE * lead[1]):
        sure = confidence(rival, lead[1], ENOUGH)
        yield decided(record, article, facet, 2, others[0][0], sure, tallies[others[0][0]])


def _lead(order: list[tuple[str, float]], kinds: dict[str, str]) -> tuple[str, float]:
    """The first label: the best organ specialty unless one that cuts across has far more points."""
    best = order[0]
    organ = next((item for item in order if kinds[item[0]] not in _LEAD_OF_ORGAN), None)
    if organ is None or organ is best:
        return best
    return organ if organ[1] >= max(MIN_POINTS, _LEAD_OF_ORGAN[kinds[best[0]]] * best[1]) else best
