"""Summary retrieval as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.tasks.summary.build import PER_ARTICLE
from curation.tasks.summary.sql import NAME, OVER_ALL
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Summary retrieval",
    description="Given a figure and the text around it, find the abstract of the article they come from.",
    per_article=PER_ARTICLE,
    over_all=OVER_ALL,
    grades=(
        Grade(
            2,
            "Its abstract",
            "The abstract is that of the article the query was made of.",
            "The abstract tells of the very study or case on the left.",
        ),
        Grade(
            0,
            "Not its abstract",
            "The abstract is that of another article, even if the subject is the same.",
        ),
    ),
    exclusions={
        "other_language": "The article's own abstract in another language.",
        "other_version": "An abstract of the same article in another version or repository.",
        "own_family": "The abstract of an article linked with the query's: companion, correction, comment.",
        "near_duplicate": "The abstract shares long stretches of text with the query's own one.",
    },
    question=Question(
        text="Is this the abstract of the article the left side was taken from?",
        left="Parts of an article",
        right="Abstract",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
    ),
    scale=Scale(
        query="figures and running text of one article, without its title, abstract and conclusions",
        document="an abstract",
        need="the abstract is that of this very article",
        levels=(
            Level(
                "an article on something else",
                0,
                "Query: a trial of insulin pumps in 40 children. Document: abstract on hip replacement.",
            ),
            Level(
                "the same field",
                0,
                "Same query. Document: abstract of a review on type 1 diabetes.",
            ),
            Level(
                "the same question, but another study: methods, numbers or results differ",
                0,
                "Same query. Document: abstract of a trial of insulin pumps in 212 adults.",
            ),
            Level(
                "the abstract of this article: methods, numbers and results fit",
                2,
                "Same query. Document: abstract that tells of 40 children with pumps and the same results.",
            ),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    gold_rules=(f"{NAME}/own-abstract@",),
    lacks=frozenset({"target_concept"}),
    draws_articles=True,
    caption_in_query="the query's text opens with the caption of its image",
    extra_tables=("hard_pool",),
)
