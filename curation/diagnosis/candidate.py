"""A concept that may be the principal diagnosis of a case, and what the article says of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.concept import Mention
from schemas.diagnosis import DiagnosisEvidence, EvidencePlace

ORDER: tuple[EvidencePlace, ...] = ("statement", "title", "keyword", "case")
"""Places from the one that says most."""


@dataclass(slots=True)
class Candidate:
    """A concept, what names it as the diagnosis, and how the article speaks of it besides.

    `title` is how far the title names it as what it is about, 0 to 1; `stated` where in the case, 0 to 1, the
    last sentence stands that states it; `last` where the case mentions it last; `count` is the number of its
    mentions in the running text, `defines` of the sentences that say what it is, and `opens` whether a part
    of the article begins with it.
    """

    concept: str
    name: str = ""
    is_finding: bool = False
    title: float = 0.0
    is_main: bool = False
    is_final: bool = False
    stated: float | None = None
    places: set[str] = field(default_factory=set)
    is_taken_back: bool = False
    is_beside: bool = False
    count: int = 0
    last: float = 0.0
    opens: bool = False
    defines: int = 0
    evidence: dict[tuple[int, str, int], DiagnosisEvidence] = field(default_factory=dict)

    def add(self, mention: Mention, place: EvidencePlace) -> None:
        """Note a mention that speaks for it."""
        key = (ORDER.index(place), mention.text_id, mention.start)
        self.evidence[key] = DiagnosisEvidence(
            place=place, text_id=mention.text_id, start=mention.start, end=mention.end, text=mention.text
        )
