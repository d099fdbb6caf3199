"""Case study retrieval as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.tasks.case_study import several
from curation.tasks.case_study.build import PER_ARTICLE
from curation.tasks.case_study.sql import NAME, OVER_ALL
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Case study retrieval",
    description="Given a patient's case with its images, find other patients' cases of the same diagnosis.",
    per_article=PER_ARTICLE,
    steps=(several.PER_ARTICLE,),
    over_all=OVER_ALL,
    grades=(
        Grade(2, "Same diagnosis", "Another patient's case with the same principal diagnosis."),
        Grade(
            1,
            "Closely related diagnosis",
            "Another patient's case, its principal diagnosis one or two hops up or down, or a near sibling.",
        ),
        Grade(0, "Not relevant", "Another principal diagnosis, even if findings or treatment are alike."),
    ),
    question=Question(
        text="Do both patients have the same principal diagnosis?",
        left="Case",
        right="Another patient's case",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
        with_diagnosis=True,
    ),
    scale=Scale(
        query="the full report of one patient, with its diagnosis",
        document="the report of another patient",
        need="the other patient has the same principal diagnosis",
        levels=(
            Level(
                "another disease of another kind",
                0,
                "Query: sarcoidosis of the heart. Document: a patient with a broken wrist.",
            ),
            Level(
                "findings, organ or treatment in common, but another disease; or the diagnosis is only "
                "named, as excluded, suspected, past or of a relative",
                0,
                "Same query. Document: myocarditis after a virus infection, sarcoidosis excluded.",
            ),
            Level(
                "a closely related diagnosis: a broader or narrower form of the disease, or a near relative",
                1,
                "Same query. Document: a patient with sarcoidosis of the lungs.",
            ),
            Level(
                "the same principal diagnosis",
                2,
                "Same query. Document: heart block that turned out to be cardiac sarcoidosis.",
            ),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    extra_tables=("same_article", "images"),
    shows_captions=frozenset({"query", "document"}),
)
