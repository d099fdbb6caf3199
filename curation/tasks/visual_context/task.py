"""Visual context retrieval as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.tasks.visual_context import larger, panels, several
from curation.tasks.visual_context.build import NAME, PER_ARTICLE
from curation.tasks.visual_context.sql import OVER_ALL
from schemas.larger_tables import LARGER_TABLES
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Visual context retrieval",
    description="Given a figure and its caption, find the passages that discuss the figure.",
    per_article=PER_ARTICLE,
    steps=(several.PER_ARTICLE, panels.PER_ARTICLE, larger.PER_ARTICLE),
    over_all=OVER_ALL,
    grades=(
        Grade(
            2,
            "This figure",
            "The passage cites the query's figure by cross-reference or by an unambiguous figure number.",
            "The passage describes or discusses what this very figure shows.",
        ),
        Grade(
            1,
            "Its context",
            "Books only: the passage stands in the same section as the figure.",
            "Books only: the passage explains what the figure is about, but not the figure itself.",
        ),
        Grade(
            0,
            "Not relevant",
            "The passage does not speak about this figure, even if the subject is the same.",
        ),
    ),
    exclusions={
        "short_passage": "The passage cites the figure but is too short to be an answer.",
        "many_figures": "The passage cites the figure among several others, so it is not about this one.",
        "cites_some": "The query asks for several figures, and the passage cites some of them but not all.",
        "cites_figure": "The query asks for a panel, and the passage cites its figure or other panels of it.",
    },
    question=Question(
        text="Does the passage speak about this figure?",
        left="Figure and caption",
        right="Passage",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
    ),
    scale=Scale(
        query="a figure of a medical text, told by its caption and, where it is shown, its image",
        document="a passage of running text",
        need="the passage says what this very figure shows: its finding, structure, measurement or result",
        levels=(
            Level(
                "the passage is about something else",
                0,
                "Figure: axial CT with a cyst in the left kidney. Passage: how blood cultures are taken.",
            ),
            Level(
                "same field or organ, but nothing of what this figure shows",
                0,
                "Same figure. Passage: how common kidney stones are in adults.",
            ),
            Level(
                "about the kind of thing shown, without describing what is to be seen in this figure",
                1,
                "Same figure. Passage: how simple and complex renal cysts differ on CT.",
            ),
            Level(
                "describes or explains exactly what this figure shows",
                2,
                "Same figure. Passage: our patient's CT showed a thin-walled cyst of the left kidney.",
            ),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    gold_rules=(f"{NAME}/cites-xref@",),
    lacks=frozenset({"target_concept"}),
    draws_articles=True,
    extra_tables=("images", "panels", *(table.name for table in LARGER_TABLES)),
    shows_captions=frozenset({"query"}),
    caption_in_query="the query's text is the caption of its image",
)
