"""What a record is about: specialty, body system, domain, modality, region, country, with the evidence."""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

Facet = Literal["specialty", "body_system", "domain", "modality", "country", "region"]
"""specialty, body_system: articles, cases, figures, questions; domain, country: articles; modality: figures;
region: figures and cases."""
Place = Literal[
    "type",
    "journal",
    "subject",
    "title",
    "keyword",
    "abstract",
    "opening",
    "heading",
    "concept",
    "caption",
    "panel",
    "citing sentence",
    "image",
    "case",
    "question",
    "affiliation",
]
Undecided = Literal[
    "",
    "no_evidence",
    "weak_evidence",
    "tie",
    "no_affiliation",
    "no_country",
    "not_medical",
    "not_anatomical",
]


@record
class LabelEvidence:
    """One reason for a label."""

    rule: str = column("rule id: <facet>.<label>.<strong|weak|field|type|concept|…>")
    place: Place = column("where the words stand")
    text: str = column("the words as written, or the concept, country element or image kind that decided")
    points: float = column("points it gave, rounded to two decimals")


@record
class Label:
    """One decision on one facet of one record; a facet that could not be decided is a row too."""

    id: str = column("id of the record: article, figure, panel, case or question")
    article_id: str = column("article id; of a question the file or chapter it stands in")
    facet: Facet = column("what is decided")
    rank: int = column("1 is the main label, 2 and on further ones that hold as well")
    value: str = column("id in the facet's taxonomy (ISO 3166-1 alpha-2 for country), '' when undecided")
    parent: str = column(
        "the level above: group of a modality, region of a part, WHO region of a country, else ''", default=""
    )
    confidence: float = column("0 to 1, rounded to two decimals; 0 when undecided")
    evidence: tuple[LabelEvidence, ...] = column("what decided, most points first", default=())
    reason: Undecided = column("why it is undecided, '' when decided", default="")


@record
class RecordLabels:
    """All that was decided of one record; figures and cases take their article's topic, domain and country.

    What decided it stands in the Label rows of the same id, or of the article for what was taken from it.
    """

    id: str = column("id of the record: article, figure, case or question")
    article_id: str = column("article id; of a question the file or chapter it stands in")
    unit: Literal["article", "figure", "panel", "case", "question"] = column("what the record is")
    specialties: tuple[str, ...] = column("at most two, the main one first", default=())
    body_systems: tuple[str, ...] = column("at most two, the main one first", default=())
    body_system_confidence: float = column("of the main body system, 0 when undecided", default=0.0)
    domain: str = column("domain, '' when undecided", default="")
    domain_confidence: float = column("of the domain, 0 when undecided", default=0.0)
    modalities: tuple[str, ...] = column(
        "of a figure or panel: leaf, or group where no leaf was told", default=()
    )
    modality_groups: tuple[str, ...] = column(
        "of a figure: the groups of `modalities`, place by place", default=()
    )
    country: str = column("ISO 3166-1 alpha-2, '' when undecided", default="")
    who_region: str = column("AFR, AMR, EMR, EUR, SEAR, WPR, '' for none or undecided", default="")
    regions: tuple[str, ...] = column("of a figure or case: main region first", default=())
    region_parts: tuple[str, ...] = column("parts of `regions` that were told", default=())
