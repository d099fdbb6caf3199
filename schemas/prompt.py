"""What a language model is asked and what it answered, as rows.

A pure stage writes prompts, an adapter in flows has them answered, another pure stage reads the answers: so a
build that rests on a model repeats byte for byte from the answers on disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from schemas.hashing import canonical_json, sha256_text
from schemas.record import column, record

PartKind = Literal["text", "image"]
AnswerState = Literal["answered", "refused", "too_long", "invalid"]
Mode = Literal["json_schema", "plain", "scripted"]
By = Literal["model", "engine", "human"]
_SEED: Final = "#"


@record
class PromptPart:
    """One piece of the user message, in order."""

    kind: PartKind = column("text, or an image")
    value: str = column("the text, or the hex SHA-256 of the image")


@record
class Prompt:
    """One question to a language model; rendered whole, so that its hash stands for all that was asked."""

    id: str = column("prompt: and 16 hex digits of the hash of subject, form and all that is asked")
    subject: str = column("record asked about: a candidate, a query")
    task: str = column("task name")
    kind: str = column("kind of prompt and its version, e.g. umbrela@1")
    form: str = column(
        "single, or the order of blocks and options: forward, reversed; forward#1: that again with seed 1"
    )
    system: str = column("system message")
    parts: tuple[PromptPart, ...] = column("user message")
    answer_schema: str = column("JSON Schema of the answer, canonical JSON")
    max_tokens: int = column("most tokens the answer may have")


@record
class ModelAnswer:
    """What a model answered to one prompt. Prompts that were not answered have no row."""

    prompt_id: str = column("prompt")
    subject: str = column("record asked about")
    model: str = column("model as it was asked for")
    served_model: str = column("model as the server named it, '' when it did not")
    state: AnswerState = column("whether there is an answer in the form asked for")
    text: str = column("answer as it came; of an invalid one at most 2,000 characters")
    mode: Mode = column(
        "structured output, plain text where the server does not have it, or scripted: no server answered"
    )
    tokens_in: int | None = column("tokens of the prompt as the server counted them, null when it did not")
    tokens_out: int | None = column("tokens of the answer")
    by: By = column(
        "who answered: a model, a person, or an engine, which reads the text alone and no instruction",
        default="model",
    )


def as_params(models: Sequence[str]) -> str | list[str]:
    """Models of a stage as its settings (`model`) name them: one by its name, several as a list."""
    return models[0] if len(models) == 1 else list(models)


def models_in(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The models that the settings of a stage name; none where nobody was named or nothing was asked."""
    named = params.get("model") or ()
    return (named,) if isinstance(named, str) else tuple(named)


def prompt_sha256(system: str, parts: tuple[PromptPart, ...], answer_schema: str, max_tokens: int) -> str:
    """Hex SHA-256 of everything that is asked."""
    listed = [[part.kind, part.value] for part in parts]
    return sha256_text(canonical_json([system, listed, answer_schema, max_tokens]))


def prompt_id(subject: str, form: str, asked_sha256: str) -> str:
    """Id of a prompt: the same question about the same record has the same id in every workspace."""
    return f"prompt:{sha256_text(canonical_json([subject, form, asked_sha256]))[:16]}"


def asked_again(prompt: Prompt, seed: int) -> Prompt:
    """The same prompt to be answered with a seed, by chance: how far an answer is of the model's own making.

    Args:
        prompt: as it is answered without chance.
        seed: from 1.
    """
    form = f"{prompt.form}{_SEED}{seed}"
    asked = prompt_sha256(prompt.system, prompt.parts, prompt.answer_schema, prompt.max_tokens)
    return replace(prompt, id=prompt_id(prompt.subject, form, asked), form=form)


def seed_of(form: str) -> int:
    """The seed a prompt of this form is answered with, 0 where no chance is to play a part."""
    return int(form.partition(_SEED)[2] or 0)


@record
class Expansion:
    """A text that a model wrote to search with in the place of a query, or beside it. It is no evidence."""

    query_id: str = column("query")
    kind: str = column("kind of prompt and its version, e.g. hyde@1")
    text: str = column("the text as the model wrote it, white space folded")
    model: str = column("model as it was asked for")
    served_model: str = column("model as the server named it, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts of this kind have in common")
