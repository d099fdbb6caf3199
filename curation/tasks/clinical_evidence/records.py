"""What is known of a vignette on its way to a query, and of its answer."""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

Scenario = Literal["examination", "diagnosis", "treatment"]
Origin = Literal["case", "exam"]


@record
class Decision:
    """Where a case report says what was decided: the vignette made of it ends before these words."""

    vignette_id: str = column("vignette")
    case_id: str = column("case it was made of")
    scenario: Scenario = column("what was decided: an examination, a diagnosis, a treatment")
    passage_id: str = column("passage the answer stands in")
    start: int = column("offset of the answer's sentence in that passage")
    end: int = column("offset after it")
    text: str = column("the sentence as written; re-extracts")
    words: tuple[str, ...] = column("words that say what was decided; none stands in the vignette")
    cut_start: int = column("offset in the source text of the case of the sentence it was cut before")
    cut_text: str = column("the first words of that sentence; they re-extract")
