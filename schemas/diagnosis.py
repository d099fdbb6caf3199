"""The principal diagnosis of a case: one vocabulary concept with the words it rests on, or why there is none.

Clinical tasks pair cases by it, so a doubtful one is left open: `reason` then says what stood in the way.
"""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

EvidencePlace = Literal["title", "keyword", "statement", "case"]
"""title: the report's title; keyword: an author keyword; statement: a sentence that states the diagnosis;
case: the patient's own story."""
OpenReason = Literal["", "ambiguous", "not_named", "unsure", "not_in_vocabulary"]
"""Why a case has no principal diagnosis. ambiguous: several hold alike; not_named: nothing names a disease as
the patient's; unsure: one is named, but too little says that it is the diagnosis; not_in_vocabulary: it is
stated in words that are no concept, or only one too general to pair cases by."""


@record
class DiagnosisEvidence:
    """One mention a principal diagnosis rests on."""

    place: EvidencePlace = column("where it stands")
    text_id: str = column("text it lies in: passage id, or the id a mention has for a title or keyword")
    start: int = column("offset of the mention in that text")
    end: int = column("offset after it")
    text: str = column("the words as written; re-extracts")


@record
class Statement:
    """One place that states the final diagnosis of a case."""

    place: Literal["title", "keyword", "passage"] = column("where it stands")
    passage_id: str = column("passage or title it stands in, '' for keywords", default="")
    start: int = column("offset of the sentence in the passage or title, 0 for keywords")
    end: int = column("offset after it; length of the keyword for keywords")
    text: str = column("the sentence or keyword as written; re-extracts")
    rule: str = column("what made it a diagnosis statement, e.g. 'final diagnosis', 'diagnosed with'")


@record
class PrincipalDiagnosis:
    """The principal diagnosis of one case, or an open one."""

    case_id: str = column("case id, e.g. pmc:PMC123.1#case1")
    article_id: str = column("article id")
    concept: str = column("CURIE, '' when open", default="")
    name: str = column("the vocabulary name that matched, '' when open", default="")
    rule: str = column(
        "places that name it, statements first, e.g. 'final diagnosis+title+keyword'; case: the story alone",
        default="",
    )
    confidence: float = column("chance that it is the diagnosis, 0 to 1; 0 when open", default=0.0)
    reason: OpenReason = column("why it is open, else ''", default="")
    contenders: tuple[str, ...] = column("CURIEs between which an ambiguous case stands", default=())
    evidence: tuple[DiagnosisEvidence, ...] = column("mentions it rests on, best place first", default=())
    statements: tuple[Statement, ...] = column(
        "where the final diagnosis is stated, that of an open case too", default=()
    )
