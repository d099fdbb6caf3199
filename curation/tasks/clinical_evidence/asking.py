"""What models are asked of a vignette, and what is read of their answers: one row or one drop each.

Four kinds of prompt, in this order: intent and closed book of a question, its rewrite, the reasoning path of
every vignette. Nothing is asked of a text that a release would withhold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from curation.privacy import CERTAIN, hits
from curation.prompts import closed_book, intent, material, reasoning_path, rewrite
from curation.prompts.answers import read_answer
from curation.prompts.question import QuestionKind
from curation.prompts.texts import NotUsed
from curation.tasks.clinical_evidence.records import Attempt, Intent, ReasoningPath, Rewrite, Vignette
from curation.tasks.clinical_evidence.vignettes import NAME
from schemas.benchmark import Evidence
from schemas.prompt import ModelAnswer, Prompt
from schemas.stages import Drop, Reason

SAMPLES: Final = 3
"""Closed-book answers of each model to each question."""
Answered = Intent | Attempt | Rewrite | ReasoningPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One kind of prompt of this task.

    Attributes:
        name: of the stage, after the task's.
        kinds: what is asked; of several the one that fits the vignette.
        row: record of a read answer.
        reasons: why an answer gives none, beside the common ones.
        ask: the prompts about one vignette.
        read: the row of an answer, or why there is none.
    """

    name: str
    kinds: tuple[QuestionKind, ...]
    row: type
    reasons: type[StrEnum]
    ask: Callable[[Vignette], Sequence[Prompt]]
    read: Callable[[Vignette, Prompt, Mapping[str, Any], Mapping[str, str]], Answered | StrEnum]


def prompts(asking: Asking, vignette: Vignette) -> Iterator[Prompt | Drop]:
    """What is asked of one vignette, or why nothing is."""
    told = (vignette.text, vignette.answer, vignette.explanation)
    found = next((hit for text in told for hit in hits(text, CERTAIN)), None)
    if found is not None:
        yield _drop(vignette, Reason.NAMES_A_PATIENT, found[0])
        return
    rows = asking.ask(vignette)
    if any(material.size(row) > material.MAX_BYTES for row in rows):
        yield _drop(vignette, Reason.TOO_LONG, "")
        return
    yield from rows


def answers(
    asking: Asking, vignette: Vignette, asked: Sequence[Prompt], given: Sequence[ModelAnswer]
) -> Iterator[Answered | Drop]:
    """The rows of the answers to prompts about one vignette, in order; what has none is a drop.

    Args:
        asking: which kind.
        vignette: what was asked about.
        asked: the prompts about it.
        given: answers to them, of one model.
    """
    by_prompt = {answer.prompt_id: answer for answer in given}
    hashes = {kind.label: kind.sha256 for kind in asking.kinds}
    for prompt in asked:
        answer = by_prompt.get(prompt.id)
        if answer is None:
            yield _drop(vignette, Reason.NOT_RUN, prompt.id)
            continue
        values = read_answer(answer.text, json.loads(prompt.answer_schema))
        if answer.state != "answered" or values is None:
            why = Reason.INVALID if answer.state == "answered" else Reason(answer.state)
            yield _drop(vignette, why, prompt.id)
            continue
        made_by = {
            "model": answer.model,
            "served_model": answer.served_model,
            "prompt_sha256": hashes[prompt.kind],
        }
        row = asking.read(vignette, prompt, values, made_by)
        yield _drop(vignette, row, prompt.id) if isinstance(row, StrEnum) else row


def _ask_intent(one: Vignette) -> list[Prompt]:
    return [intent.ask(one.unit, NAME, one.text, one.options)]


def _read_intent(
    vignette: Vignette, prompt: Prompt, values: Mapping[str, Any], made_by: Mapping[str, str]
) -> Intent | StrEnum:
    scenario = intent.read(values)
    if isinstance(scenario, intent.NotAsked):
        return scenario
    asks = " ".join(material.sendable(values["asks"]).split())
    return Intent(unit=vignette.unit, scenario=scenario, asks=asks, **made_by)


def _ask_attempt(one: Vignette) -> list[Prompt]:
    return closed_book.ask(one.unit, NAME, one.text, one.options, SAMPLES)


def _read_attempt(
    vignette: Vignette, prompt: Prompt, values: Mapping[str, Any], made_by: Mapping[str, str]
) -> Attempt | StrEnum:
    answered = closed_book.read(prompt, values)
    if isinstance(answered, StrEnum):
        return answered
    return Attempt(
        unit=vignette.unit,
        form=prompt.form,
        options=len(vignette.options),
        answered=answered,
        is_right=closed_book.is_right(answered, vignette.answer),
        **made_by,
    )


def _ask_rewrite(one: Vignette) -> list[Prompt]:
    return [rewrite.ask(one.unit, NAME, one.text, one.options)]


def _read_rewrite(
    vignette: Vignette, prompt: Prompt, values: Mapping[str, Any], made_by: Mapping[str, str]
) -> Rewrite | StrEnum:
    text = rewrite.read(values)
    if isinstance(text, StrEnum):
        return text
    if next(iter(hits(text, CERTAIN)), None) is not None:
        return Reason.NAMES_A_PATIENT
    return Rewrite(unit=vignette.unit, text=text, **made_by)


def _ask_path(one: Vignette) -> list[Prompt]:
    return [reasoning_path.ask(one.unit, NAME, one.text, one.answer, one.explanation)]


def _read_path(
    vignette: Vignette, prompt: Prompt, values: Mapping[str, Any], made_by: Mapping[str, str]
) -> ReasoningPath | StrEnum:
    path = reasoning_path.read(prompt, values)
    if isinstance(path, StrEnum):
        return path
    return ReasoningPath(
        unit=vignette.unit,
        text=path.text,
        quotes=tuple(
            Evidence(text_id=vignette.id, start=start, end=end, text=vignette.text[start:end])
            for start, end in path.quotes
        ),
        **made_by,
    )


def _drop(vignette: Vignette, reason: StrEnum, detail: str) -> Drop:
    return Drop(
        unit="vignette", id=vignette.unit, article_id=vignette.article_id, reason=reason, detail=detail
    )


INTENT: Final = Asking(
    name="intent",
    kinds=(intent.INTENT,),
    row=Intent,
    reasons=intent.NotAsked,
    ask=_ask_intent,
    read=_read_intent,
)
CLOSED_BOOK: Final = Asking(
    name="closed_book",
    kinds=(closed_book.CHOICE, closed_book.OPEN),
    row=Attempt,
    reasons=closed_book.NotCounted,
    ask=_ask_attempt,
    read=_read_attempt,
)
REWRITE: Final = Asking(
    name="rewrite",
    kinds=(rewrite.REWRITE,),
    row=Rewrite,
    reasons=NotUsed,
    ask=_ask_rewrite,
    read=_read_rewrite,
)
PATH: Final = Asking(
    name="reasoning_path",
    kinds=(reasoning_path.REASONING_PATH,),
    row=ReasoningPath,
    reasons=reasoning_path.NotAPath,
    ask=_ask_path,
    read=_read_path,
)
ASKED: Final = (INTENT, CLOSED_BOOK, REWRITE, PATH)
"""In the order in which they are asked."""
