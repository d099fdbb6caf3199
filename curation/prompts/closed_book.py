"""Closed book: a model answers without looking anything up; what many models know, no search has to find."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final

from curation.prompts.options import letter_of, listed, turned
from curation.prompts.question import QuestionKind
from schemas.hashing import normalise_text
from schemas.prompt import Prompt
from schemas.question import Option


class NotCounted(enum.StrEnum):
    """Why an answer says nothing of what a model knows."""

    NO_SUCH_OPTION = "no_such_option"


CHOICE: Final = QuestionKind(
    name="closed_book",
    version=1,
    role="You answer questions of medical exams from what you know.",
    instructions="Which option is correct? Give its letter alone in `answer`.",
    properties={"answer": {"type": "string"}},
    max_tokens=64,
)
OPEN: Final = QuestionKind(
    name="closed_book_open",
    version=1,
    role=CHOICE.role,
    instructions="Answer the question in at most eight words, in `answer`, without an explanation.",
    properties=CHOICE.properties,
    max_tokens=64,
)


def ask(subject: str, task: str, text: str, options: Sequence[Option], samples: int) -> list[Prompt]:
    """The prompts about one question: one for each sample, with the options in another order each time.

    An open question is asked once: at temperature 0 it would be answered alike.
    """
    if not options:
        return [OPEN.ask(subject, task, [("question", text)])]
    return [
        CHOICE.ask(
            subject,
            task,
            [("question", text), ("options", listed(turned(options, sample)))],
            f"sample-{sample + 1}",
        )
        for sample in range(samples)
    ]


def read(form: str, answer: Mapping[str, Any], options: Sequence[Option]) -> str | NotCounted:
    """What was answered: the letter of the question's own option, or the words of an open answer."""
    given = str(answer["answer"]).strip()
    if not options:
        return given
    letter = (
        given.strip("().: ").upper()[:1] if len(given.strip("().: ")) == 1 else _by_text(given, form, options)
    )
    return letter_of(options, int(form.rpartition("-")[2]) - 1, letter) or NotCounted.NO_SUCH_OPTION


def _by_text(given: str, form: str, options: Sequence[Option]) -> str:
    """The letter shown with an option that was answered in words, with or without its letter."""
    shown = turned(options, int(form.rpartition("-")[2]) - 1)
    said = normalise_text(given)
    found = [
        item.letter
        for item in shown
        if said in (normalise_text(item.text), normalise_text(f"{item.letter} {item.text}"))
    ]
    return found[0] if len(found) == 1 else ""


def is_right(answered: str, correct: Sequence[str], answer: str) -> bool:
    """Whether what was answered is the key: one of its letters, or the same words."""
    if correct:
        return answered in correct
    return bool(answer) and normalise_text(answered) == normalise_text(answer)
