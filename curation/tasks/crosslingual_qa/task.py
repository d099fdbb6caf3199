"""Cross-lingual question answering as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.tasks.crosslingual_qa.abstracts import ABSTRACTS
from curation.tasks.crosslingual_qa.asked_sql import ASKED
from curation.tasks.crosslingual_qa.parallel import PARALLEL, TRANSLATION_OF, VERSIONS
from curation.tasks.crosslingual_qa.passages import NAME, PER_ARTICLE
from curation.tasks.crosslingual_qa.questions import QUESTIONS
from curation.tasks.crosslingual_qa.sql import (
    DISPUTED,
    MENTION,
    NARROWER,
    OVER_ALL,
    SAME_CONCEPT,
    SHARE,
    UNDECIDED,
)
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Cross-lingual question answering",
    description="Given a question in one of several languages about one facet of a disorder, find the "
    "English passages that answer it.",
    per_article=PER_ARTICLE,
    steps=(VERSIONS, ABSTRACTS, ASKED, QUESTIONS),
    over_all=OVER_ALL,
    grades=(
        Grade(2, "Answers the question", "The passage is about the disorder and tells the facet asked."),
        Grade(1, "Neighbouring facet", "The passage is about the disorder and tells a neighbouring facet."),
        Grade(
            0,
            "Not relevant",
            "The passage is about another disorder, only names this one, or tells a far facet of it. People "
            "and judges give it, no rule does.",
        ),
    ),
    exclusions={
        UNDECIDED: "The passage is about the disorder; which of its facets it tells was not decided.",
        MENTION: "The passage names the disorder without being about it.",
        NARROWER: "The passage is about a narrower disorder, below the one asked about.",
        DISPUTED: "The passage is about a disorder that one source has below the one asked about, while "
        "another has them side by side.",
        SHARE: "The passage tells the facet asked or one next to it; its article has its share of such ones.",
        SAME_CONCEPT: "The document is about a disorder that the text to be found is about.",
    },
    question=Question(
        text="Does the passage answer this question?",
        left="Question",
        right="Passage",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
    ),
    scale=Scale(
        query="a question in any language about one facet of a disorder: what it is, its cause, "
        "presentation, diagnosis, treatment or prognosis",
        document="an English passage",
        need="the passage is about this disorder and tells the facet that is asked",
        levels=(
            Level(
                "about another disorder",
                0,
                "Query: wie wird Gicht behandelt? Document: how asthma is treated.",
            ),
            Level(
                "about the disorder, but a facet far from the one asked",
                0,
                "Same query. Document: gout was known to physicians of antiquity as a disease of the foot.",
            ),
            Level(
                "about the disorder, and a facet next to the one asked",
                1,
                "Same query. Document: untreated gout destroys joints within years.",
            ),
            Level(
                "tells the facet asked of this disorder",
                2,
                "Same query. Document: attacks of gout are treated with colchicine.",
            ),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    by_language=True,
    tiers_apart=(PARALLEL,),
    extra_tables=("strings", "recipes", "hard_pool"),
    gold_rules=(TRANSLATION_OF,),
    sure_rules=(TRANSLATION_OF,),
    candidates_because="Which facet a passage tells is read off headings and single sentences, and these "
    "rules are not yet right often enough.",
)
