"""Patient cases found in case reports and books: one record per patient, as spans of passages.

Offsets are in Unicode code points of the passage's text; nothing is copied, everything re-extracts.
"""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record


@record
class CaseSpan:
    """One stretch of a case inside one passage."""

    passage_id: str = column("passage it stands in; of a later document for cases continued there")
    start: int = column("offset of the stretch in the passage")
    end: int = column("offset after it")
    role: Literal["presentation", "findings", "course"] = column(
        "presentation: who, history, complaints; findings: examination, laboratory, imaging, pathology; "
        "course: treatment, outcome, follow-up"
    )


@record
class Case:
    """One patient of one article or book."""

    id: str = column("case id, e.g. pmc:PMC123.1#case1")
    article_id: str = column("article id")
    number: int = column("1-based, reading order")
    label: str = column("how the text calls it, e.g. 'Case 2' or 'The first patient'; '' for the only one")
    rule: str = column("how it was found: section, heading, numbered, ordinal, body, box")
    age_years: float | None = column("age in years (days and months as fractions)", default=None)
    age_text: str = column("the age as written, '' if not stated", default="")
    sex: Literal["female", "male", ""] = column("sex as stated, '' if not stated", default="")
    spans: tuple[CaseSpan, ...] = column(
        "the case in reading order; its spans do not overlap, those of relatives may share a passage"
    )
    figures: tuple[str, ...] = column("ids of figures that show this patient", default=())


@record
class CaseReport:
    """One article that was found to report cases, and on what grounds it was read as a report."""

    article_id: str = column("article id")
    claims: tuple[str, ...] = column("what made it a candidate, e.g. 'type: case-report', 'heading: Case 1'")
    cases: int = column("number of patients found")
