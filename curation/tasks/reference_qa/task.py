"""Reference question answering as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.prompts.support import ANSWER
from curation.tasks.reference_qa.settings import Settings
from curation.tasks.reference_qa.sql import NAME, OVER_ALL
from curation.tasks.shared.judging.stage import by_answer, concluding, judge_stage
from curation.tasks.shared.support.corpus import corpus_stage
from curation.tasks.shared.support.labels import BY_ANSWER, labels_stage
from curation.tasks.shared.support.pairs_sql import pairs_stage
from curation.tasks.shared.support.questions import question_stages
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)
_PAIRS = f"{NAME}_pairs.to_judge"

TASK = Task(
    name=NAME,
    title="Reference question answering",
    description="Given a medical question, find the passages that support its answer.",
    per_article=corpus_stage(NAME, Settings),
    steps=(
        *question_stages(NAME, Settings),
        pairs_stage(NAME),
        judge_stage(NAME, _PAIRS, ANSWER),
        concluding(NAME, _PAIRS, by_answer),
        labels_stage(NAME),
    ),
    over_all=OVER_ALL,
    grades=(
        Grade(2, "Supports the answer", "The passage says in so many words what the answer rests on."),
        Grade(0, "Not relevant", "The passage does not support the answer, even if it shares its subject."),
    ),
    between=Grade(
        1, "Background", "The passage tells what the answer builds on; whether it is right could be doubted."
    ),
    question=Question(
        text="Does the passage support the answer to this question?",
        left="Question",
        right="Passage",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
        with_answer=True,
    ),
    scale=Scale(
        query="a question of medicine or its sciences, without the answer",
        document="a passage of running text",
        need="the passage says what a reader needs to answer the question rightly",
        levels=(
            Level(
                "the passage is about something else",
                0,
                "Query: which crystals prove gout? Document: how blood cultures are taken.",
            ),
            Level(
                "same subject, but nothing the answer could rest on",
                0,
                "Same query. Document: gout is more common in men than in women.",
            ),
            Level(
                "says an essential part of the answer",
                2,
                "Same query. Document: urate crystals were seen in the fluid of a patient with gout.",
            ),
            Level(
                "says the whole answer, so that nothing else need be read",
                2,
                "Same query. Document: gout is proven by monosodium urate crystals in joint fluid.",
            ),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    extra_tables=("answers", "judgements"),
    asking=f"{NAME}_pairs",
    sure_rules=(f"{NAME}/{BY_ANSWER}",),
    candidates_because="An answer cites documents, not passages: which passage supports it, only a judge or "
    "an expert can say.",
)
