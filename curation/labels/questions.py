"""Specialty and body system of questions, by the words of the question alone: a label tells no answer.

Exercises of a chapter get a row of their own, too; one that does not decide takes what the chapter has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from curation.labels import concepts, topic
from curation.labels.concepts import named_in
from curation.labels.summary import summaries
from curation.labels.taxonomy import load
from curation.labels.votes import Tallies, Weight, count_fields, count_words
from schemas.concept import Mention
from schemas.label import Label, RecordLabels
from schemas.question import Question, QuestionCollection
from schemas.stages import Account, Input, RecordStage, Table

_ASKED: Final = Weight(3.0, 1.0, 9.0)
_SUBJECT: Final = 2.5
_SHORT: Final = 200
"""Characters of a question that asks and tells nothing."""
_MIN_TOLD: Final = 6.0
"""Points of a label below which a longer one is not about it: two strong phrases."""


def label_questions(
    collection: QuestionCollection, questions: Sequence[Question], mentions: Sequence[Mention]
) -> Iterator[Label | RecordLabels]:
    """Labels of the questions of one file, or of the exercises of one chapter: a pure generator.

    Args:
        collection: the file or the chapter.
        questions: its questions.
        mentions: concepts named in their texts, options, answers and explanations; only those of the texts
            count.

    Yields:
        For each facet up to two Label rows, or the one that says why there is none; then a RecordLabels of
        every question.
    """
    asked: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        asked[mention.text_id].append(mention)
    rows: list[Label] = []
    for question in questions:
        named = named_in(asked[question.id])
        for facet in topic.FACETS:
            taxonomy, tallies = load(facet), Tallies()
            count_words(tallies, taxonomy, "question", (question.text,), _ASKED)
            count_fields(tallies, taxonomy, "subject", (question.subject,), _SUBJECT)
            concepts.count(tallies, taxonomy, named)
            if len(question.text) > _SHORT:  # a story names much that it is not about
                tallies = {name: tally for name, tally in tallies.items() if tally.points >= _MIN_TOLD}
            rows += topic.labels(question.id, collection.id, facet, tallies)
    yield from rows
    yield from summaries(collection.id, {"question": [question.id for question in questions]}, rows)


# Named function, not a lambda: stages travel to worker processes.
def _ids(_: QuestionCollection, questions: Sequence[Question], __: Sequence[Mention]) -> list[str]:
    return [question.id for question in questions]


LABEL_QUESTIONS = RecordStage(
    name="label_questions",
    version=1,
    inputs=(
        Input("questions.collections", QuestionCollection, by="id"),
        Input("questions.questions", Question, by="collection"),
        Input("ground_questions.mentions", Mention, by="article_id"),
    ),
    outputs=(
        Table("labels", Label, ("id", "facet", "rank")),
        Table("records", RecordLabels, ("id",)),
    ),
    process=label_questions,
    accounts=(Account("question", _ids, "records", "id"),),
)
LABEL_EXERCISES = replace(
    LABEL_QUESTIONS,
    name="label_exercises",
    inputs=(
        Input("exercises.collections", QuestionCollection, by="id"),
        Input("exercises.questions", Question, by="collection"),
        Input("ground_exercises.mentions", Mention, by="article_id"),
    ),
)
