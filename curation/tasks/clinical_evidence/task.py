"""Clinical evidence retrieval as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.prompts.support import ANSWER_REASONING
from curation.tasks.clinical_evidence.asking import CLOSED_BOOK, INTENT, PATHS, REWRITE
from curation.tasks.clinical_evidence.cells import conclusion
from curation.tasks.clinical_evidence.difficulty import DIFFICULTY
from curation.tasks.clinical_evidence.exams import CHECKED, QUESTIONS
from curation.tasks.clinical_evidence.keys import KEYS
from curation.tasks.clinical_evidence.pairs import APART
from curation.tasks.clinical_evidence.pairs import PAIRS as ASKED
from curation.tasks.clinical_evidence.paths import VIEWS
from curation.tasks.clinical_evidence.sql import CASES, EXAMS, OVER_ALL, PAIRS, TRIES, VIGNETTES
from curation.tasks.clinical_evidence.vignettes import NAME, PER_ARTICLE
from curation.tasks.shared.judging.stage import concluding, judge_stage
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Clinical evidence retrieval",
    description="Given a patient's story up to a decision, find passages that support the right decision and "
    "the reasoning behind it.",
    per_article=PER_ARTICLE,
    steps=(
        CASES,
        QUESTIONS,
        EXAMS,
        INTENT,
        CLOSED_BOOK,
        TRIES,
        DIFFICULTY,
        KEYS,
        REWRITE,
        CHECKED,
        VIGNETTES,
        PATHS,
        VIEWS,
        PAIRS,
        APART,
        judge_stage(NAME, ASKED, ANSWER_REASONING),
        concluding(NAME, ASKED, conclusion),
    ),
    over_all=OVER_ALL,
    grades=(
        Grade(2, "Supports both", "The passage supports the answer and the reasoning that leads to it."),
        Grade(0, "Not relevant", "The passage supports neither the answer nor a step towards it."),
    ),
    between=Grade(
        1,
        "One of the two",
        "The passage supports the answer or a step towards it, but not both, or gives only background.",
    ),
    question=Question(
        text="Does the passage support the right answer and the reasoning that leads to it?",
        left="Story and question",
        right="Passage",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
        with_answer=True,
        with_reasoning=True,
    ),
    scale=Scale(
        query="the story of a patient up to a decision, and the question what should be decided",
        document="a passage of running text",
        need="the passage supports the right decision and the reasoning that leads to it",
        levels=(
            Level(
                "the passage is about something else",
                0,
                "Story: a tired woman with a slow pulse and dry skin. Passage: how wrists are splinted.",
            ),
            Level(
                "same organ or group of diseases, but no support",
                0,
                "Same story. Passage: surgery of thyroid cancer.",
            ),
            Level(
                "supports the decision or a step towards it, but not both",
                0,
                "Same story. Passage: hypothyroidism is common in women.",
            ),
            Level(
                "supports the decision and a step that leads to it",
                2,
                "Same story. Passage: a failing thyroid slows the pulse and dries the skin.",
            ),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    extra_tables=("answers", "judgements"),
    asking=f"{NAME}_views",
    candidates_because="A language model judged the pairs, and how far it agrees with experts has not been "
    "measured.",
)
