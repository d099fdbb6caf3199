"""The toy task as one declaration."""

from __future__ import annotations

from pathlib import Path

from schemas.task import Grade, Level, Question, Scale, Task
from tests.toy_task.build import FIRST, NAME, PER_ARTICLE
from tests.toy_task.sql import OVER_ALL

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Toy search",
    description="Given a caption, find the passages that cite its figure.",
    per_article=PER_ARTICLE,
    over_all=OVER_ALL,
    grades=(
        Grade(2, "Toy first", "The first passage of the article that cites the figure."),
        Grade(1, "Toy later", "Another passage of the article that cites the figure."),
        Grade(0, "Toy none", "The passage is about something else than the figure."),
    ),
    exclusions={"toy_repeats": "The passage cites the figure but repeats its caption word by word."},
    question=Question(
        text="Does this passage cite the toy figure?",
        left="Toy caption",
        right="Toy passage",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
    ),
    scale=Scale(
        query="a toy caption",
        document="a passage",
        need="the passage cites the figure of the caption",
        levels=(
            Level("about something else", 0, "Caption: a heart. Passage: on ships."),
            Level("about the same field", 0, "Same caption. Passage: on lungs."),
            Level("about the figure's subject", 1, "Same caption. Passage: on hearts."),
            Level("about this figure", 2, "Same caption. Passage: the heart is seen."),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    gold_rules=(FIRST,),
    lacks=frozenset({"target_concept"}),
    caption_in_query="the toy query is the caption",
)
