"""Closed book: a model answers without looking anything up; what many models know, no search has to find."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final

from curation.prompts.material import read_block
from curation.prompts.options import listed, turned
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


def read(prompt: Prompt, answer: Mapping[str, Any]) -> str | NotCounted:
    """What was answered in words: the text of the option whose letter was given, or the open answer."""
    given = str(answer["answer"]).strip()
    if prompt.kind == OPEN.label:
        return given
    shown = dict(line.split(": ", 1) for line in read_block(prompt, "options").splitlines())
    bare = given.strip("().: ").upper()
    if bare in shown:
        return shown[bare]
    said = normalise_text(given)
    found = [
        text
        for letter, text in shown.items()
        if said in (normalise_text(text), normalise_text(f"{letter} {text}"))
    ]
    return found[0] if len(found) == 1 else NotCounted.NO_SUCH_OPTION
