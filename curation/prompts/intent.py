"""Intent: which decision a question asks for: an examination, a diagnosis, a treatment, or something else."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

from curation.prompts.options import listed
from curation.prompts.question import QuestionKind
from schemas.prompt import Prompt
from schemas.question import Option

Scenario = Literal["examination", "diagnosis", "treatment"]
SCENARIOS: Final[tuple[Scenario, ...]] = get_args(Scenario)
OTHER: Final = "other"


class NotAsked(enum.StrEnum):
    """Why a question has no scenario."""

    NOT_CLINICAL = "not_clinical"


INTENT = QuestionKind(
    name="intent",
    version=1,
    role="You sort questions of medical exams by what they ask for.",
    instructions="""\
Which decision about one patient does the question ask for?
examination: which test, imaging or procedure should be done to find out what the patient has.
diagnosis: which disease or condition the patient has, or what causes the findings.
treatment: what should be given, done or changed to treat or prevent it in this patient.
other: anything else, such as a mechanism, a definition, statistics, ethics, or a question about no patient.
Give the scenario, and in `asks` what is asked for in at most 12 words, without answering it.""",
    properties={
        "scenario": {"type": "string", "enum": [*SCENARIOS, OTHER]},
        "asks": {"type": "string"},
    },
    max_tokens=128,
)


def ask(subject: str, task: str, text: str, options: Sequence[Option]) -> Prompt:
    """The prompt about one question."""
    return INTENT.ask(subject, task, [("question", text), ("options", listed(options))])


def read(answer: Mapping[str, Any]) -> Scenario | NotAsked:
    """The scenario of an answer, or why there is none."""
    return next((one for one in SCENARIOS if one == answer["scenario"]), NotAsked.NOT_CLINICAL)
