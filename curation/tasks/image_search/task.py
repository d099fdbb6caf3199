"""Image search as one declaration."""

from __future__ import annotations

from pathlib import Path

from curation.tasks.image_search.build import PER_ARTICLE
from curation.tasks.image_search.sql import NAME, OVER_ALL
from schemas.task import Grade, Level, Question, Scale, Task

_HERE = Path(__file__)

TASK = Task(
    name=NAME,
    title="Image search",
    description="Given a short clinical text, find the clinical images it tells of.",
    per_article=PER_ARTICLE,
    over_all=OVER_ALL,
    grades=(
        Grade(
            2,
            "This image",
            "The query's own image; of a case's story, every image that shows its patient.",
            "It fits the text in every point that can be seen; of a story, any image of its patient.",
        ),
        Grade(
            1,
            "Same case, similar image",
            "Another image of the same case, of the same modality and the same region of the body.",
        ),
        Grade(0, "Not relevant", "Another patient, or another examination or region than the text asks for."),
    ),
    exclusions={
        "same_case_image": "Another image of the same case, its modality or region another or not told.",
        "near_image": "An image that looks nearly like a positive one; whether it is a copy was not judged.",
    },
    question=Question(
        text="Does the image show what the text asks for?",
        left="Clinical text",
        right="Image",
        guideline=_HERE.with_name("guideline.md").read_text("utf-8"),
    ),
    scale=Scale(
        query="a short clinical text",
        document="a clinical image, told by its image and the words beside it",
        need="the image shows what the text describes",
        levels=(
            Level(
                "another modality or another part of the body, and nothing of what is described",
                0,
                "Query: chest radiograph with a large right effusion. Document: photograph of a skin rash.",
            ),
            Level(
                "modality or part of the body fits, the finding does not",
                0,
                "Same query. Document: chest radiograph without any finding.",
            ),
            Level(
                "modality, part of the body and kind of finding fit, details differ",
                1,
                "Same query. Document: chest radiograph with a small effusion on the right.",
            ),
            Level(
                "shows just what is described",
                2,
                "Same query. Document: chest radiograph, the right side opaque by a large effusion.",
            ),
        ),
    ),
    card=_HERE.with_name("card.md.jinja").read_text("utf-8"),
    gold_rules=(f"{NAME}/own-image@",),
    lacks=frozenset({"target_concept"}),
    extra_tables=("image_checks",),
)
