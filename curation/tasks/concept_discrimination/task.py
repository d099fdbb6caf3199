"""Concept discrimination as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.tasks.concept_discrimination.anchors import NAME, PER_ARTICLE
from curation.tasks.concept_discrimination.sql import EARLIER, OVER_ALL
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Concept discrimination",
    description="Given a passage with one mention marked, find the concept it names among eight documents.",
    per_article=PER_ARTICLE,
    steps=(EARLIER,),
    over_all=OVER_ALL,
    grades=(
        Grade(2, "The concept", "The document is about the concept that the marked words name here."),
        Grade(0, "Another concept", "The document is about another concept, however near the two are."),
    ),
    question=Question(
        text="Is the document about the concept that the marked words name?",
        left="Passage with marked words",
        right="Document about a concept",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
    ),
    scale=Scale(
        query="a passage of a medical article in which one mention stands between [[ and ]]",
        document="the definition of a concept",
        need="the document defines what the marked words mean in the passage",
        levels=(
            Level(
                "a concept of another kind",
                0,
                "Query: a child with [[ fever ]]. Document: a bone between hip and knee.",
            ),
            Level(
                "another concept of the same kind",
                0,
                "Same query. Document: an unusually low temperature of the body.",
            ),
            Level(
                "a broader or narrower concept, or one that often goes with it",
                0,
                "Same query. Document: fever that comes back every third day.",
            ),
            Level("the concept itself", 2, "Same query. Document: a raised temperature of the body."),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    candidates_because="What an author's word is taken to name agrees with others' gold for 62 and 78 of a "
    "hundred words on the two sets measured, and 90 are asked for.",
    extra_tables=("confusions", "named_corpus", "named_queries", "named_qrels", "name_recipes"),
)
