"""A model stage of a task: a pure stage asks, an adapter (flows) has it answered, a pure stage reads.

Query -> Prompt -> ModelAnswer -> Expansion. Every unit is accounted for: a query that is not asked about, a
prompt that has no answer (`not_run`, …) and an answer that cannot be used are drops with a reason.
"""

from __future__ import annotations

import enum
import functools
import json
from collections.abc import Iterator, Sequence

from curation.privacy import CERTAIN, hits
from curation.prompts import material
from curation.prompts.answers import read_answer
from curation.prompts.kind import Kind
from curation.prompts.registry import KINDS
from schemas.benchmark import Query
from schemas.prompt import Expansion, ModelAnswer, Prompt
from schemas.stages import Account, Drop, Input, ModelStage, Reason, RecordStage, Table
from schemas.task import Scale, Task

VERSION = 1
PROMPTS = Table("prompts", Prompt, ("id",))
ANSWERS = Table("answers", ModelAnswer, ("prompt_id", "model"))
EXPANSIONS = Table("expansions", Expansion, ("query_id", "kind"))


class NotAsked(enum.StrEnum):
    """Why no prompt is made of a query."""

    NO_TEXT = "no_text"


def model_stage(kind: str, task: Task) -> ModelStage:
    """The stage of a kind, by its name, on the queries of a task."""
    return made(KINDS[kind], task)


def made(kind: Kind, task: Task) -> ModelStage:
    """One kind of prompt on the queries of one task."""
    name = f"{task.name}_{kind.name}"
    asked = {"prompt": kind.label, "prompt_sha256": kind.sha256(task.scale)}
    asking = RecordStage(
        name=name,
        version=VERSION,
        inputs=(Input(f"{task.over_all.name}.queries", Query, "id"),),
        outputs=(PROMPTS,),
        process=functools.partial(_ask, kind=kind, scale=task.scale),
        accounts=(Account("query", _own_id, PROMPTS.name, "subject"),),
        params=asked,
        reasons=frozenset(item.value for item in NotAsked),
    )
    reading = RecordStage(
        name=f"{name}_texts",
        version=VERSION,
        inputs=answered(name),
        outputs=(EXPANSIONS,),
        process=functools.partial(_read, kind=kind),
        accounts=(Account("answer", subjects, EXPANSIONS.name, "query_id"),),
        params=asked,
        reasons=frozenset(item.value for item in kind.reasons),
    )
    return ModelStage(task=task.name, kind=kind.name, asked=asked, asking=asking, reading=reading)


def answered(name: str) -> tuple[Input, Input]:
    """What the stage that reads the answers of a model stage is given: its prompts, each with its answers."""
    return (
        Input(f"{name}.prompts", Prompt, "id"),
        Input(f"{name}_answers.answers", ModelAnswer, "prompt_id"),
    )


def subjects(prompt: Prompt, answers: Sequence[ModelAnswer]) -> list[str]:
    """Units of a stage that reads answers: what each answer is about."""
    return [answer.subject for answer in answers]


def _own_id(query: Query) -> list[str]:
    return [query.id]


def _ask(
    query: Query, *, kind: Kind, scale: Scale, prompt: str, prompt_sha256: str
) -> Iterator[Prompt | Drop]:
    """The prompt about a query's text; an image is not sent. `prompt…` are of the stage's identity alone."""
    reason: NotAsked | Reason | None = None
    found = next(iter(hits(query.text, CERTAIN)), None)
    if not query.text.strip():
        reason = NotAsked.NO_TEXT
    elif found is not None:
        reason = Reason.NAMES_A_PATIENT  # as its release would withhold it, nobody else is shown it
    made = kind.ask(query.id, query.task, query.text, scale)
    if reason is None and material.size(made) > material.MAX_BYTES:
        reason = Reason.TOO_LONG
    yield (
        made
        if reason is None
        else Drop(
            unit="query",
            id=query.id,
            article_id=query.article_id,
            reason=reason,
            detail=found[0] if found and reason is Reason.NAMES_A_PATIENT else "",
        )
    )


def _read(
    prompt_row: Prompt, answers: Sequence[ModelAnswer], *, kind: Kind, prompt: str, prompt_sha256: str
) -> Iterator[Expansion | Drop]:
    """The text of an answer; a prompt without one has nothing to read, which the answers account for."""
    for answer in answers:
        values = read_answer(answer.text, json.loads(prompt_row.answer_schema))
        assert values is not None, f"an answer in no valid form was stored as valid: {prompt_row.id}"
        text: str | enum.StrEnum = kind.read(prompt_row, values)
        if not isinstance(text, enum.StrEnum) and next(iter(hits(text, CERTAIN)), None) is not None:
            text = Reason.NAMES_A_PATIENT  # an invented one as well: nobody can tell the two apart
        if isinstance(text, enum.StrEnum):
            yield Drop(unit="answer", id=answer.subject, article_id="", reason=text, detail=prompt_row.id)
        else:
            yield Expansion(
                query_id=answer.subject,
                kind=kind.label,
                text=text,
                model=answer.model,
                served_model=answer.served_model,
                prompt_sha256=prompt_sha256,
            )
