"""Support: how far a passage supports an answer, and the reasoning that leads there, in words it quotes.

Each pair is put twice: the second time the blocks, the axes and the order of scores are reversed. Of a task
without reasoning only the first axis is asked.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from curation.prompts.material import read_block
from curation.prompts.question import QuestionKind
from curation.prompts.quotes import locate
from schemas.hashing import canonical_json, sha256_text
from schemas.prompt import Prompt

Axis = Literal["answer", "reasoning"]
Form = Literal["forward", "reversed"]
FORMS: Final[tuple[Form, ...]] = ("forward", "reversed")
SCORES: Final = (0, 1, 2, 3)
QUOTED_FROM: Final = 2
"""Lowest score that must show its words: from here on a pair can become a positive."""
ANSWER: Final[tuple[Axis, ...]] = ("answer",)
ANSWER_REASONING: Final[tuple[Axis, ...]] = ("answer", "reasoning")
PASSAGE: Final = "passage"
MAX_TOKENS: Final = 768

_ROLE: Final = (
    "You judge, for a medical retrieval benchmark, whether one passage supports the answer to one question."
)
_ASKED: Final[Mapping[Axis, str]] = {
    "answer": "how far the passage supports that the answer is right",
    "reasoning": "how far the passage supports the steps that lead from the question to the answer",
}
_MEANS: Final = (
    "0: not at all; the passage may share words or a subject.",
    "1: it holds background, without which the point could still be doubted.",
    "2: it supports an essential part of it in so many words.",
    "3: whoever reads it needs nothing else to be convinced.",
)


class NotJudged(enum.StrEnum):
    """Why what a judge said of a pair does not count."""

    NO_QUOTE = "no_quote"
    QUOTE_MISSING = "quote_missing"


@dataclass(frozen=True, slots=True)
class Judged:
    """Scores in the order of the axes, 0 to 3, and offsets of the words quoted in the passage."""

    scores: tuple[int, ...]
    quotes: tuple[tuple[int, int], ...]


def kind_of(axes: tuple[Axis, ...], form: Form, max_tokens: int = MAX_TOKENS) -> QuestionKind:
    """What is asked of a pair in one order; both orders bear one name."""
    order, means = (axes, _MEANS) if form == "forward" else (axes[::-1], _MEANS[::-1])
    properties: dict[str, Any] = {}
    for axis in order:
        properties[axis] = {"type": "integer", "enum": list(SCORES)}
        properties[f"{axis}_quotes"] = {"type": "array", "items": {"type": "string"}}
    lines = [
        "Give a whole number from 0 to 3 for each of the following, each by itself.",
        *(f"{axis}: {_ASKED[axis]}." for axis in order),
        "The numbers mean:",
        *means,
        "When two seem to fit, the lower one holds. Beside each number, copy word for word the stretches of "
        "the passage that it rests on, each of three words or more; for 0 the list is empty.",
    ]
    return QuestionKind(
        name="-".join(axes), version=1, role=_ROLE, instructions="\n".join(lines), properties=properties,
        max_tokens=max_tokens,
    )  # fmt: skip


def label(axes: tuple[Axis, ...]) -> str:
    """Kind and version, e.g. answer-reasoning@1."""
    return kind_of(axes, "forward").label


def asked_sha256(axes: tuple[Axis, ...]) -> str:
    """Hex SHA-256 of all that the prompts of both orders have in common."""
    return sha256_text(canonical_json([kind_of(axes, form).sha256 for form in FORMS]))


def ask(
    subject: str,
    task: str,
    question: str,
    answer: str,
    passage: str,
    reasoning: str = "",
    max_tokens: int = MAX_TOKENS,
) -> tuple[Prompt, ...]:
    """The two prompts about one pair; with reasoning, on both axes.

    Args:
        subject: id of the pair.
        task: task name.
        question: the question or vignette.
        answer: its answer, in words.
        passage: the passage as the corpus shows it.
        reasoning: how the answer follows, '' where only the answer is judged.
        max_tokens: most tokens of an answer.
    """
    axes = ANSWER_REASONING if reasoning else ANSWER
    shown = [("question", question), ("answer", answer), (PASSAGE, passage)]
    if reasoning:
        shown.insert(2, ("reasoning", reasoning))
    return tuple(
        kind_of(axes, form, max_tokens).ask(subject, task, shown if form == "forward" else shown[::-1], form)
        for form in FORMS
    )


def axes_of(prompt: Prompt) -> tuple[Axis, ...]:
    """The axes a prompt asks for."""
    return ANSWER_REASONING if prompt.kind == label(ANSWER_REASONING) else ANSWER


def read(prompt: Prompt, values: Mapping[str, Any]) -> Judged | NotJudged:
    """Scores and quotes of one answer.

    A quote that does not stand in the passage makes it invalid, whatever the scores; so does a score from
    QUOTED_FROM on without any.

    Args:
        prompt: what was asked.
        values: the answer, in the form of the prompt's schema.
    """
    passage = read_block(prompt, PASSAGE)
    axes = axes_of(prompt)
    places: set[tuple[int, int]] = set()
    for axis in axes:
        quotes = values[f"{axis}_quotes"]
        found = [locate(quote, passage) for quote in quotes]
        if None in found:
            return NotJudged.QUOTE_MISSING
        if values[axis] >= QUOTED_FROM and not quotes:
            return NotJudged.NO_QUOTE
        places.update(place for place in found if place is not None)
    return Judged(tuple(values[axis] for axis in axes), tuple(sorted(places)))
