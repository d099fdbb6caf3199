"""One article's cases as tasks that pair cases read them: their documents, and what their pairs rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from curation.diagnosis.concepts import Concepts
from curation.tasks.shared.case_facts import (
    CaseFacts,
    NamedConcept,
    Neighbour,
    Shingle,
    evidence_of,
    named_anywhere,
    named_in,
    neighbours,
    read_concepts,
)
from curation.tasks.shared.case_text import CaseText, sketch
from schemas.article import Article, ArticlePassage, Graphic, Licence
from schemas.benchmark import Document
from schemas.case import Case
from schemas.concept import DocumentConcept, Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import family_key
from schemas.label import RecordLabels
from schemas.stages import Account, Drop, Table

Fact = CaseFacts | Neighbour | NamedConcept | Shingle
FACTS = (
    Table("facts", CaseFacts, ("case_id",)),
    Table("neighbours", Neighbour, ("case_id", "other")),
    Table("named", NamedConcept, ("case_id", "concept")),
    Table("shingles", Shingle, ("case_id", "hash")),
)
"""Tables of what pairs rest on, for `curation.tasks.shared.case_pairs`."""


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One article's records, by id where they are looked up."""

    source: Source
    passages: Mapping[str, Passage]
    later: Mapping[str, ArticlePassage]
    mentions: Sequence[Mention]
    named: Sequence[DocumentConcept]
    labels: Mapping[str, RecordLabels]
    diagnoses: Mapping[str, PrincipalDiagnosis]
    concepts: Concepts

    @classmethod
    def of(
        cls,
        source: Source,
        articles: Sequence[Article],
        passages: Sequence[Passage],
        mentions: Sequence[Mention],
        named: Sequence[DocumentConcept],
        labels: Sequence[RecordLabels],
        diagnoses: Sequence[PrincipalDiagnosis],
        *,
        types: Path,
        relations: Path,
    ) -> CaseReport:
        """The records of an article; `types` and `relations` are tables of the vocabulary."""
        return cls(
            source=source,
            passages={passage.id: passage for passage in passages},
            later={item.passage.id: item.passage for one in articles for item in one.continuations},
            mentions=mentions,
            named=named,
            labels={item.id: item for item in labels},
            diagnoses={item.case_id: item for item in diagnoses},
            concepts=read_concepts(types, relations),
        )

    def first(self, name: str, facet: Literal["specialties", "modalities", "regions"]) -> str:
        """The main label of a record in a facet, '' when undecided."""
        labels = self.labels.get(name)
        values: tuple[str, ...] = getattr(labels, facet) if labels else ()
        return values[0] if values else ""

    def document(
        self,
        task: str,
        case: Case,
        text: CaseText,
        image: Graphic | None = None,
        licence: Licence | None = None,
    ) -> Document:
        """A case as a document; `licence` is that of text and image together, without one the text's."""
        stated = licence or self.source.licence
        return Document(
            id=case.id,
            task=task,
            title=self.source.title,
            text=text.released,
            language=text.language,
            article_id=self.source.id,
            license=stated.spdx,
            license_evidence=stated.evidence,
            text_sha256=sha256_text(text.source),
            transforms=text.transforms,
            is_synthetic=self.source.is_synthetic or (image is not None and image.is_synthetic),
            image=image,
            patient_id=case.id,
            specialty=self.first(case.id, "specialties"),
            genre="book" if self.source.is_book else self.source.article_type,
        )

    def facts(
        self, case: Case, text: CaseText, found: PrincipalDiagnosis | None, max_family: int
    ) -> Iterator[Fact]:
        """What the pairs of a case rest on; `found` is None when it may not be paired by its diagnosis."""
        labels = self.labels.get(case.id)
        yield CaseFacts(
            case_id=case.id,
            article_id=case.article_id,
            family=family_key(case.article_id),
            concept=found.concept if found else "",
            age_years=case.age_years,
            sex=case.sex,
            authors=self.source.authors,
            systems=labels.body_systems if labels else (),
            regions=labels.regions if labels else (),
            evidence=evidence_of(found, text) if found else (),
        )
        if found:
            yield from neighbours(case.id, found.concept, self.concepts, max_family)
            yield from named_in(case, text, self.mentions, self.concepts)
        else:
            yield from named_anywhere(case, self.diagnoses.get(case.id), self.named, self.concepts)
        for shingle in sketch(text.released):
            yield Shingle(case_id=case.id, hash=shingle)


def drop_query(case: Case, reason: StrEnum, detail: str) -> Drop:
    """A case that makes no query."""
    return Drop(unit="query", id=case.id, article_id=case.article_id, reason=reason, detail=detail)


def drop_both(case: Case, reason: StrEnum, detail: str) -> Iterator[Drop]:
    """A case that is neither query nor document."""
    for unit in ("document", "query"):
        yield Drop(unit=unit, id=case.id, article_id=case.article_id, reason=reason, detail=detail)


# A named function, not a lambda: stages travel to worker processes.
def case_ids(source: Source, articles: Sequence[Article], cases: Sequence[Case], *_: object) -> list[str]:
    """What the accounts count, of a stage whose third input is the cases."""
    return [case.id for case in cases]


ACCOUNTS = (
    Account("document", case_ids, "documents", "id"),
    Account("query", case_ids, "queries", "source_id"),
)
