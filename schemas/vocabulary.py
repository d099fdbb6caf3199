"""Vocabularies: names, types and relations of concepts, with the licence each string came under.

A merged vocabulary holds one concept for what its sources call the same; columns follow UMLS
(https://www.ncbi.nlm.nih.gov/books/NBK9685/) where it has the notion.
"""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

Tier = Literal["open", "terms", "restricted"]
"""open: CC0, public domain, CC BY. terms: may be published as its terms say (HPO, MeSH). restricted: never
leaves the machine (UMLS restriction level > 0, WHO ICD)."""
UNCONFIRMED = "CAND"
"""Term type of a translation that no one has confirmed (babelon status CANDIDATE: mostly by machine)."""
ClueKind = Literal["drug", "gene", "test"]
"""What points to a disease: a drug that treats it, a gene that has a part in it, a test that shows it."""
RelationKind = Literal[
    "parent",
    "child",
    "sibling",
    "broader",
    "narrower",
    "related",
    "synonym",
    "drug",
    "gene",
    "test",
    "excludes",
]
"""excludes: never said of one patient together (Excludes1 of ICD-10-CM), of codes that concepts map to."""


@record
class ConceptName:
    """One name of one concept as one source gives it."""

    concept: str = column("CURIE, e.g. HP:0001250 or UMLS:C0011849")
    name: str = column("name as the vocabulary writes it")
    language: str = column("BCP-47", default="en")
    source: str = column("abbreviation of the source, e.g. HPO, MONDO, SNOMEDCT_US", default="")
    code: str = column("the concept's own id in that source, as CURIE; '' when it is `concept`", default="")
    term_type: str = column("PT, SY, EP, … (UMLS TTY); OBO labels are PT, exact synonyms SY", default="")
    restriction: int = column("UMLS source restriction level (SRL) 0 to 9, 0 elsewhere", default=0)
    tier: Tier = column("licence tier of the string", default="open")
    is_preferred: bool = column(
        "the concept's label in this language (UMLS), or in this source", default=False
    )
    is_suppressed: bool = column("obsolete or suppressible in its source", default=False)
    atom: str = column("UMLS atom (AUI) the string is of, the first of several; '' elsewhere", default="")


@record
class ConceptType:
    """One semantic type of one concept."""

    concept: str = column("CURIE")
    semantic_type: str = column("UMLS type id, e.g. T047")
    group: str = column("UMLS semantic group, e.g. DISO")
    rule: str = column("'source', or the documented mapping it rests on", default="source")


@record
class ConceptRelation:
    """`other` is the `relation` of `concept`: (seizure, parent, abnormal nervous system physiology)."""

    concept: str = column("CURIE")
    relation: RelationKind = column("what `other` is to `concept`")
    other: str = column("CURIE")
    source: str = column("abbreviation of the source")


@record
class ConceptDefinition:
    """One definition of one concept."""

    concept: str = column("CURIE")
    text: str = column("definition as written")
    language: str = column("BCP-47", default="en")
    source: str = column("abbreviation of the source")
    tier: Tier = column("licence tier of the string", default="open")


@record
class ConceptMapping:
    """A cross-reference one source states between two ids, and what the merge made of it."""

    concept: str = column("CURIE in the source that states it; the merged id after a merge")
    other: str = column("CURIE it is mapped to, e.g. UMLS:C0036572, MESH:D012640, ICD10CM:R56.9")
    source: str = column("abbreviation of the source that states it")
    status: Literal["stated", "merged", "kept", "refused"] = column(
        "stated: before a merge; merged: one concept now; kept: a cross-reference only; refused: it would "
        "have joined two ids of one source",
        default="stated",
    )


@record
class RetiredConcept:
    """An id that is no more."""

    concept: str = column("CURIE of old")
    replacement: str = column("CURIE that takes its place, '' when there is none", default="")
    source: str = column("abbreviation of the source")


@record
class VocabularySource:
    """One source of a vocabulary."""

    source: str = column("abbreviation, e.g. HPO")
    title: str = column("name of the source")
    release: str = column("release as the source states it")
    licence: str = column("SPDX id, or the name of its terms")
    tier: Tier = column("licence tier of its strings")
    url: str = column("where it is published", default="")
    citation: str = column("how to cite it", default="")
    sha256: str = column("hex SHA-256 over the files that were read")
