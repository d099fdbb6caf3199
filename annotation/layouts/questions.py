"""What is asked in each task: the question, the names of both sides, and what every grade means.

Definitions of grades come from `schemas.grades`; grade 0 and the kinds without a task of their own are here.
"""

from __future__ import annotations

from dataclasses import dataclass

from annotation.layouts.fields import MAX_OPTIONS
from schemas.errors import UsageError
from schemas.grades import GRADES
from schemas.review import CANNOT_JUDGE, Kind

RELEVANCE: tuple[Kind, ...] = ("relevance_image", "relevance_text")


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade as its button shows it: short name and definition."""

    grade: int
    name: str
    definition: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a candidate; `grades` from the highest to 0, empty when options take their place."""

    text: str
    left: str
    right: str
    grades: tuple[Grade, ...]


_ASKED: dict[str, tuple[str, str, str]] = {
    "visual_context": ("Does the passage speak about this figure?", "Figure and caption", "Passage"),
    "image_search": ("Does the image show what the text asks for?", "Clinical text", "Image"),
    "summary": (
        "Is this the abstract of the article the left side was taken from?",
        "Parts of an article",
        "Abstract",
    ),
    "case_study": ("Do both patients have the same principal diagnosis?", "Case", "Another patient's case"),
}
_NAMES: dict[str, dict[int, str]] = {
    "visual_context": {2: "This figure", 1: "Its context", 0: "Not relevant"},
    "image_search": {2: "This image", 1: "Same case, similar image", 0: "Not relevant"},
    "summary": {2: "Its abstract", 0: "Not its abstract"},
    "case_study": {2: "Same diagnosis", 1: "Closely related diagnosis", 0: "Not relevant"},
}
_ZERO: dict[str, str] = {
    "visual_context": "The passage does not speak about this figure, even if the subject is the same.",
    "image_search": "Another patient, or another examination or region than the text asks for.",
    "summary": "The abstract is that of another article, even if the subject is the same.",
    "case_study": "Another principal diagnosis, even if findings or treatment are alike.",
}
_OTHER: dict[str, Question] = {
    "confusion": Question(
        "Which of these concepts does the marked term mean in this passage?",
        "Passage",
        "Concepts",
        (),
    ),
    "translation": Question(
        "Does the translation say what the original says?",
        "Original",
        "Translation",
        (
            Grade(2, "Same meaning", "Nothing clinical is added, lost or changed; the wording is natural."),
            Grade(1, "Poor wording", "The clinical meaning is kept; terms or grammar are unusual."),
            Grade(0, "Other meaning", "A finding, negation, number, side or diagnosis differs."),
        ),
    ),
    "figure_caption": Question(
        "Does the caption belong to this image?",
        "Image",
        "Caption",
        (
            Grade(2, "Belongs", "All that the caption says is seen; it tells of the whole image."),
            Grade(1, "In part", "It tells of more panels than are seen, or of a part of the image."),
            Grade(0, "Does not belong", "The caption tells of another image."),
        ),
    ),
    "case_boundary": Question(
        "Is the marked text the whole story of one patient, and of no other?",
        "Text",
        "",
        (
            Grade(2, "Whole case", "It begins and ends where the story of one patient does."),
            Grade(1, "Wrong ends", "One patient; parts of the story are missing or other text is in."),
            Grade(0, "Not one case", "Several patients are mixed, or it does not tell of a patient."),
        ),
    ),
}  # fmt: skip
NONE_OF_THEM = Grade(0, "None of them", "The term means something that is not in the list.")
_WITH_IMAGE: tuple[Kind, ...] = ("relevance_image", "figure_caption")


def question(kind: Kind, task: str) -> Question:
    """What is asked in a task.

    Raises:
        UsageError: a relevance task without grades in `schemas.grades` or without its question here.
    """
    if kind not in RELEVANCE:
        return _OTHER[kind]
    if task not in GRADES or task not in _ASKED:
        raise UsageError(
            f"no review question is defined for the task {task!r}",
            hint=f"tasks that can be reviewed: {', '.join(sorted(set(GRADES) & set(_ASKED)))}",
        )
    definitions = {**GRADES[task], 0: _ZERO[task]}
    grades = tuple(Grade(n, _NAMES[task][n], definitions[n]) for n in sorted(definitions, reverse=True))
    return Question(*_ASKED[task], grades)


def grades(kind: Kind, task: str) -> tuple[int, ...]:
    """Grades that can be given, ascending; for a confusion set the numbers of its options and 0.

    Raises:
        UsageError: as :func:`question`.
    """
    if kind == "confusion":
        return tuple(range(MAX_OPTIONS + 1))
    return tuple(sorted(grade.grade for grade in question(kind, task).grades))


def reasons(kind: Kind) -> dict[str, str]:
    """Reasons for which an item of a kind may be left without a grade, in order."""
    has_image = kind in _WITH_IMAGE
    return {key: text for key, text in CANNOT_JUDGE.items() if has_image or key != "image_unreadable"}
