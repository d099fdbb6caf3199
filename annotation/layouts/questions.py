"""What is asked: the question, the names of both sides, and what every grade means.

Of relevance the task says so; the kinds without a task of their own are here.
"""

from __future__ import annotations

from dataclasses import dataclass

from annotation.layouts.fields import MAX_OPTIONS
from schemas.errors import UsageError
from schemas.review import CANNOT_JUDGE, Kind
from schemas.task import Grade, Task

RELEVANCE: tuple[Kind, ...] = ("relevance_image", "relevance_text")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a candidate; `grades` from the highest to 0, empty when options take their place."""

    text: str
    left: str
    right: str
    grades: tuple[Grade, ...]


_OTHER: dict[Kind, Asked] = {
    "confusion": Asked(
        "Which of these concepts does the marked term mean in this passage?",
        "Passage",
        "Concepts",
        (),
    ),
    "translation": Asked(
        "Does the translation say what the original says?",
        "Original",
        "Translation",
        (
            Grade(2, "Same meaning", "Nothing clinical is added, lost or changed; the wording is natural."),
            Grade(1, "Poor wording", "The clinical meaning is kept; terms or grammar are unusual."),
            Grade(0, "Other meaning", "A finding, negation, number, side or diagnosis differs."),
        ),
    ),
    "figure_caption": Asked(
        "Does the caption belong to this image?",
        "Image",
        "Caption",
        (
            Grade(2, "Belongs", "All that the caption says is seen; it tells of the whole image."),
            Grade(1, "In part", "It tells of more panels than are seen, or of a part of the image."),
            Grade(0, "Does not belong", "The caption tells of another image."),
        ),
    ),
    "case_boundary": Asked(
        "Is the marked text the whole story of one patient, and of no other?",
        "Text",
        "",
        (
            Grade(2, "Whole case", "It begins and ends where the story of one patient does."),
            Grade(1, "Wrong ends", "One patient; parts of the story are missing or other text is in."),
            Grade(0, "Not one case", "Several patients are mixed, or it does not tell of a patient."),
        ),
    ),
    "answer_key": Asked(
        "Is the key the right answer to this question?",
        "Question",
        "Key",
        (
            Grade(2, "Right", "The key is right, and no other answer is as good."),
            Grade(1, "One of several", "The key can be defended, and so can another answer."),
            Grade(0, "Wrong", "Another answer is right, or none is."),
        ),
    ),
}  # fmt: skip
NONE_OF_THEM = Grade(0, "None of them", "The term means something that is not in the list.")
_WITH_IMAGE: tuple[Kind, ...] = ("relevance_image", "figure_caption")


def asked(kind: Kind, task: Task | None) -> Asked:
    """What is asked in a project of a kind; only a relevance kind needs the task.

    Raises:
        UsageError: a relevance kind without a task.
    """
    if kind not in RELEVANCE:
        return _OTHER[kind]
    if task is None:
        raise UsageError(f"items of the kind {kind} are of a task, and none was given")
    told = task.question
    return Asked(told.text, told.left, told.right, task.choices)


def grades(kind: Kind, task: Task | None) -> tuple[int, ...]:
    """Grades that can be given, ascending; for a confusion set the numbers of its options and 0.

    Raises:
        UsageError: as :func:`asked`.
    """
    if kind == "confusion":
        return tuple(range(MAX_OPTIONS + 1))
    return tuple(sorted(grade.score for grade in asked(kind, task).grades))


def reasons(kind: Kind) -> dict[str, str]:
    """Reasons for which an item of a kind may be left without a grade, in order."""
    has_image = kind in _WITH_IMAGE
    return {key: text for key, text in CANNOT_JUDGE.items() if has_image or key != "image_unreadable"}
