"""Clinical case retrieval as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.tasks.clinical_case.build import PER_ARTICLE
from curation.tasks.clinical_case.sql import NAME, OVER_ALL
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Clinical case retrieval",
    description="Given a patient's presentation and findings, the diagnosis hidden, find other patients' "
    "cases of the same diagnosis.",
    per_article=PER_ARTICLE,
    over_all=OVER_ALL,
    grades=(
        Grade(2, "Same diagnosis", "Another patient's case with the same principal diagnosis."),
        Grade(0, "Not relevant", "Another principal diagnosis, even if findings or treatment are alike."),
    ),
    question=Question(
        text="Do both patients have the same principal diagnosis?",
        left="Presentation and findings",
        right="Another patient's case",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
        with_diagnosis=True,
    ),
    scale=Scale(
        query="presentation and findings of one patient, without the diagnosis",
        document="the report of another patient",
        need="the other patient has the disease that the findings turned out to be",
        levels=(
            Level(
                "another disease of another kind",
                0,
                "Query: heart block, hilar lymph nodes, granulomas. Document: a patient with a broken wrist.",
            ),
            Level(
                "findings, organ or treatment in common, but another disease; or the disease is only named, "
                "as excluded, suspected, past or of a relative",
                0,
                "Same query. Document: myocarditis after a virus infection.",
            ),
            Level(
                "a closely related disease: a broader or narrower form, or a near relative",
                0,
                "Same query. Document: a patient with sarcoidosis of the skin alone.",
            ),
            Level(
                "the same disease",
                2,
                "Same query. Document: heart block that turned out to be cardiac sarcoidosis.",
            ),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    extra_tables=("same_article", "cuts", "gives_away"),
    candidates_because="A pair is right only if both diagnoses are, and the rules that read diagnoses are "
    "not yet right often enough on cases that no rule was made for.",
)
