"""What a judge's scores mean in each task, and the grade each one gives: the one table of both variants.

The four-point scale is that of UMBRELA (Upadhyay et al. 2024, arXiv 2406.06519), after Bing's assessor
(Thomas et al. 2024, arXiv 2309.10621): related or not, and if it is, how much of the need is met. The
wording is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

VERSION: Final = 1
"""Of prompts, parsing and tables together; part of a judge's name, so that old rows keep theirs."""
Variant = Literal["umbrela", "two-axis"]
VARIANTS: Final[tuple[Variant, ...]] = ("umbrela", "two-axis")

SCORES: Final = (0, 1, 2, 3)
AXIS: Final = (0, 1, 2)
TWO_AXIS: Final[dict[tuple[int, int], int]] = {
    (0, 0): 0,
    (0, 1): 0,
    (0, 2): 0,
    (1, 0): 0,
    (1, 1): 1,
    (1, 2): 2,
    (2, 0): 1,
    (2, 1): 2,
    (2, 2): 3,
}
"""(topic, need) -> score. A document of another topic meets no need, whatever is claimed for it."""

JUDGE_REASONS: Final[dict[str, str]] = {
    "unstable": "The grade changed when query and document, and the order of the options, were swapped.",
    "refused": "The model refused, or a filter of its server did.",
    "too_long": "The prompt is longer than the model reads.",
    "invalid": "No answer in the form asked for after all attempts.",
}
"""Why a judge gave no grade; stands in ReviewAnnotation.reason."""


@dataclass(frozen=True, slots=True)
class Level:
    """One score of one task: what it means, the grade it gives, an invented example."""

    meaning: str
    grade: int
    example: str


@dataclass(frozen=True, slots=True)
class Scale:
    """What is judged in one task; `levels` are those of scores 0 to 3."""

    query: str
    document: str
    need: str
    levels: tuple[Level, Level, Level, Level]

    def grade(self, score: int) -> int:
        """Grade of a score 0 to 3."""
        return self.levels[score].grade


SCALES: Final[dict[str, Scale]] = {
    "visual_context": Scale(
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
    "case_study": Scale(
        query="the full report of one patient, with its diagnosis",
        document="the report of another patient",
        need="the other patient has the same principal diagnosis",
        levels=(
            Level(
                "another disease of another kind",
                0,
                "Query: sarcoidosis of the heart. Document: a patient with a broken wrist.",
            ),
            Level(
                "findings, organ or treatment in common, but another disease; or the diagnosis is only "
                "named, as excluded, suspected, past or of a relative",
                0,
                "Same query. Document: myocarditis after a virus infection, sarcoidosis excluded.",
            ),
            Level(
                "a closely related diagnosis: a broader or narrower form of the disease, or a near relative",
                1,
                "Same query. Document: a patient with sarcoidosis of the lungs.",
            ),
            Level(
                "the same principal diagnosis",
                2,
                "Same query. Document: heart block that turned out to be cardiac sarcoidosis.",
            ),
        ),
    ),
    "summary": Scale(
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
    "image_search": Scale(
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
}
"""task -> scale. Grades are those of schemas.grades.GRADES, 0 is not relevant."""


def table() -> list[dict[str, str | int]]:
    """The table as rows: task, score, grade, meaning, example."""
    return [
        {
            "task": task,
            "score": score,
            "grade": level.grade,
            "meaning": level.meaning,
            "example": level.example,
        }
        for task, scale in sorted(SCALES.items())
        for score, level in enumerate(scale.levels)
    ]


def variant_name(variant: Variant) -> str:
    """Variant and version, e.g. umbrela@1."""
    return f"{variant}@{VERSION}"


def judge_name(model: str, variant: Variant) -> str:
    """Annotator name of a judge."""
    return f"judge:{model}/{variant_name(variant)}"
