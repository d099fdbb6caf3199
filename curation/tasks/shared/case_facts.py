"""What pairs of cases rest on: each case's diagnosis, what lies above it, names, shingles.

One table each, so that pairs over all articles are joins; the vocabulary is read per article, only upwards:
two diagnoses are related through a concept both lead up to.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from curation.diagnosis.concepts import Concepts, build
from curation.tasks.shared.bars import Bar
from curation.tasks.shared.case_text import CaseText
from curation.tasks.shared.sites import is_local, is_loose
from schemas.benchmark import Evidence
from schemas.case import Case
from schemas.concept import DocumentConcept, Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.ids import title_id
from schemas.record import column, from_table, record
from schemas.stages import Reason
from schemas.vocabulary import ConceptRelation, ConceptType

T = TypeVar("T")
MAX_EVIDENCE = 3
"""Spans kept of one case's diagnosis, best place first."""


@record
class CaseFacts:
    """One case of the corpus as its pairs see it."""

    case_id: str = column("case id")
    article_id: str = column("article id")
    family: str = column("article without version: copies in two repositories are one")
    concept: str = column("principal diagnosis (CURIE), '' unless decided, sure and specific", default="")
    age_years: float | None = column("age of the patient", default=None)
    sex: str = column("female, male, '' if not stated", default="")
    authors: tuple[str, ...] = column("authors of the article", default=())
    systems: tuple[str, ...] = column("body systems it is labelled with", default=())
    regions: tuple[str, ...] = column("regions of the body it is labelled with", default=())
    evidence: tuple[Evidence, ...] = column("spans the diagnosis rests on", default=())


@record
class Neighbour:
    """One concept the diagnosis of a case leads up to, itself included; none too general to pair by."""

    case_id: str = column("case id")
    concept: str = column("its principal diagnosis")
    other: str = column("the concept above it, or itself")
    path: str = column("'' for itself, else the hops: parent, parent.parent, …")
    hops: int = column("steps up, the shortest way")
    joins_siblings: bool = column("few enough concepts below `other` for its children to be near relatives")
    is_loose: bool = column(
        "`other` is a lesion or sign that may be anywhere: it joins only cases of one body system",
        default=False,
    )
    is_local: bool = column(
        "`other` is one of vessels, bones or skin: it joins no cases of different regions", default=False
    )


@record
class NamedConcept:
    """One disease or finding a case names, or, of a case without a diagnosis, its whole article."""

    case_id: str = column("case id")
    concept: str = column("CURIE")


@record
class Shingle:
    """One of the smallest hashes of a case's 13-grams."""

    case_id: str = column("case id")
    hash: str = column("16 hex digits")


@functools.lru_cache(maxsize=2)
def read_concepts(types: Path, relations: Path) -> Concepts:
    """Kinds and hierarchy of a vocabulary; the last two are kept."""
    return build(rows_of(ConceptType, types), rows_of(ConceptRelation, relations))


def rows_of(kind: type[T], path: Path) -> Iterator[T]:
    """Rows of a Parquet file, a batch at a time: UMLS has tens of millions of relations."""
    for batch in pq.ParquetFile(path).iter_batches():
        yield from from_table(kind, pa.Table.from_batches([batch]))


def why_unpaired(found: PrincipalDiagnosis | None, concepts: Concepts, min_confidence: float) -> Bar | None:
    """Why a case may not be paired by its diagnosis, or None."""
    if found is None or not found.concept:
        detail = ": ".join((found.reason, ", ".join(found.contenders))) if found else "no row"
        return Reason.OPEN_DIAGNOSIS, detail.removesuffix(": ")
    if found.confidence < min_confidence:
        return Reason.WEAK_DIAGNOSIS, f"{found.concept}, confidence {found.confidence:.2f}"
    if concepts.kind(found.concept) == "other" or concepts.is_general(found.concept):
        return Reason.GENERAL_DIAGNOSIS, found.concept
    return None


def neighbours(case_id: str, concept: str, concepts: Concepts, max_family: int) -> Iterator[Neighbour]:
    """The concept itself and every specific one above it with the shortest way there.

    Args:
        case_id: the case.
        concept: its diagnosis.
        concepts: the vocabulary.
        max_family: a concept with more below it does not make its children siblings.
    """
    hops = {concept: 0}
    layer = [concept]
    while layer:
        above = sorted({parent for one in layer for parent in concepts.parents.get(one, ())} - hops.keys())
        hops.update(dict.fromkeys(above, hops[layer[0]] + 1))
        layer = above
    for other, steps in sorted(hops.items()):
        if concepts.is_general(other) or concepts.kind(other) == "other":
            continue
        yield Neighbour(
            case_id=case_id,
            concept=concept,
            other=other,
            path=".".join(["parent"] * steps),
            hops=steps,
            joins_siblings=len(concepts.descendants(other)) <= max_family,
            is_loose=is_loose(other, concepts),
            is_local=is_local(other, concepts),
        )


def evidence_of(found: PrincipalDiagnosis, text: CaseText) -> tuple[Evidence, ...]:
    """Spans a diagnosis rests on; those inside the case as offsets in its own text, under the case's id."""
    spans: list[Evidence] = []
    for item in found.evidence[:MAX_EVIDENCE]:
        place, start, end = item.text_id, item.start, item.end
        if own := text.locate(place, start, end):
            place, (start, end) = found.case_id, own
        spans.append(Evidence(text_id=place, start=start, end=end, text=item.text))
    return tuple(spans)


def named_in(
    case: Case, text: CaseText, mentions: Sequence[Mention], concepts: Concepts
) -> Iterator[NamedConcept]:
    """Diseases and findings that a case's own text or its title says of the patient, the past included."""
    title = title_id(case.article_id)
    told = {
        mention.concept
        for mention in mentions
        if not (mention.is_negated or mention.is_hypothetical or mention.is_family)
        and (mention.text_id.startswith(title) or text.locate(mention.text_id, mention.start, mention.end))
    }
    yield from _named(case.id, told, concepts)


def named_anywhere(
    case: Case, found: PrincipalDiagnosis | None, of_article: Sequence[DocumentConcept], concepts: Concepts
) -> Iterator[NamedConcept]:
    """Diseases and findings that may be the diagnosis of a case without one: all its article names."""
    possible = {item.concept for item in of_article}
    if found is not None:
        possible |= {found.concept, *found.contenders} - {""}
    yield from _named(case.id, possible, concepts)


def _named(case_id: str, names: Iterable[str], concepts: Concepts) -> Iterator[NamedConcept]:
    for concept in sorted(names):
        if concepts.kind(concept) != "other":
            yield NamedConcept(case_id=case_id, concept=concept)
