"""Rewrite: an exam question as an open question about the same patient, nothing added and nothing left out.

The model is not shown which option is correct. Whether the facts are the same is checked by
curation.fidelity, not believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curation.prompts.options import listed
from curation.prompts.question import QuestionKind
from curation.prompts.texts import HOLDS_A_MARK, LEAST, NotUsed
from schemas.hashing import normalise_text, sendable
from schemas.prompt import Prompt
from schemas.question import Option

REWRITE = QuestionKind(
    name="rewrite",
    version=1,
    role="You turn multiple-choice questions of medical exams into open questions.",
    instructions="""\
Write the same case and question so that it can be answered without options, in the language of the material.
Keep every fact: each finding, what is denied, every number with its unit, left and right, who has what.
Add no fact, leave none out, name none of the options, and do not answer the question. End with one open \
question. Give the whole text in `text`.""",
    properties={"text": {"type": "string"}},
    max_tokens=1024,
)


def ask(subject: str, task: str, text: str, options: Sequence[Option]) -> Prompt:
    """The prompt about one question."""
    return REWRITE.ask(subject, task, [("question", text), ("options", listed(options))])


def read(answer: Mapping[str, Any]) -> str | NotUsed:
    """The rewritten question, white space folded, or why it is none."""
    text = " ".join(sendable(str(answer["text"])).split())
    if HOLDS_A_MARK.search(text.casefold()):
        return NotUsed.HOLDS_MARK
    return NotUsed.TOO_SHORT if len(normalise_text(text)) < LEAST else text
