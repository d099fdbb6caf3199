"""Source text inside a prompt: between lines that only this prompt can have, instructions after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from schemas.hashing import canonical_json, sha256_text
from schemas.prompt import Prompt, PromptPart, prompt_id, prompt_sha256

MAX_BYTES: Final = 200_000
"""Bytes of system message and texts above which a prompt is not made."""
STRANGERS: Final = """\
Source material is set off by lines that begin and end with the mark {mark}. The mark was made for this \
request alone and stands nowhere else.
"""
"""What every system message says of the mark."""


def mark_of(identity: Sequence[Any], shown: Sequence[tuple[str, str]]) -> str:
    """The mark of one request: 32 hex digits.

    It hashes everything shown, so nobody can write a text that holds the mark of its own prompt; and no
    clock or random number is needed, so the same prompt is made again.

    Args:
        identity: what else tells this request from others: kind of prompt, version, task, form.
        shown: (name, text or hash of an image) of everything shown.
    """
    content = [[name, value] for name, value in shown]
    for attempt in range(1_000):
        mark = sha256_text(canonical_json([*identity, attempt, content]))[:32]
        if not any(mark in value.casefold() for _, value in shown):
            return mark
    raise AssertionError("a text holds a thousand hashes of itself")


def block(title: str, value: str, mark: str, *, is_image: bool = False) -> list[PromptPart]:
    """One text, or the hash of one image, between its two lines."""
    first, last = f"[{mark} {title} begins {mark}]\n", f"\n[{mark} {title} ends {mark}]\n\n"
    if not is_image:
        return [PromptPart(kind="text", value=f"{first}{value}{last}")]
    return [
        PromptPart(kind="text", value=first.rstrip("\n")),
        PromptPart(kind="image", value=value),
        PromptPart(kind="text", value=last.lstrip("\n")),
    ]


def made(
    subject: str,
    task: str,
    kind: str,
    form: str,
    *,
    system: str,
    parts: Iterable[PromptPart],
    answer_schema: Mapping[str, Any],
    max_tokens: int,
) -> Prompt:
    """A prompt with its id. Texts that follow each other become one: without images it is one plain text."""
    joined: list[PromptPart] = []
    for part in parts:
        if joined and joined[-1].kind == part.kind == "text":
            joined[-1] = PromptPart(kind="text", value=joined[-1].value + part.value)
        else:
            joined.append(part)
    schema = canonical_json(answer_schema)
    asked = prompt_sha256(system, tuple(joined), schema, max_tokens)
    return Prompt(
        id=prompt_id(subject, form, asked),
        subject=subject,
        task=task,
        kind=kind,
        form=form,
        system=system,
        parts=tuple(joined),
        answer_schema=schema,
        max_tokens=max_tokens,
    )


def size(prompt: Prompt) -> int:
    """Bytes of system message and parts."""
    return len(prompt.system.encode()) + sum(len(part.value.encode()) for part in prompt.parts)


def read_block(prompt: Prompt, title: str) -> str:
    """The text that a prompt shows under a title.

    Raises:
        ValueError: it shows none.
    """
    found = re.search(
        rf"^\[([0-9a-f]{{32}}) {re.escape(title)} begins \1\]\n(.*)\n\[\1 {re.escape(title)} ends \1\]$",
        prompt.parts[0].value,
        re.DOTALL | re.MULTILINE,
    )
    if found is None:
        raise ValueError(f"{prompt.id} shows no {title}")
    return found[2]
