"""Damaged replies of a model's server: an answer that can be stored and read, or a state with its reason."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from benchmarks.hostile.structure import JSON
from benchmarks.hostile.structure import mutants as structured
from benchmarks.mutations import flip_bits, truncate
from curation.prompts import reasoning_path, support
from curation.prompts.answers import is_valid, read_answer
from curation.prompts.hyde import HYDE
from curation.tasks.registry import TASKS
from flows.adapters.llm import _completion
from flows.adapters.llm_runner import _answer, as_stored
from schemas.prompt import ModelAnswer, Prompt
from schemas.record import to_table

_PASSAGE = "Fever and chills come first. The rash follows on day three and fades in a week."
_QUOTE = "The rash follows on day three"
_VALUES = (
    {"text": "Fever, then a rash that fades within a week of its onset."},
    {"answer": 3, "answer_quotes": [_QUOTE], "reasoning": 2, "reasoning_quotes": [_QUOTE]},
    {"path": "Fever points to an infection; the rash names it."},
)


def _prompts() -> tuple[Prompt, ...]:
    scale = next(iter(TASKS.values())).scale
    return (
        HYDE.ask("q1", "visual_context", "Which rash follows fever?", scale),
        *support.ask("q1", "reference_qa", "Which?", "The rash", _PASSAGE, "It follows."),
        reasoning_path.ask("q1", "clinical_evidence", "A man has fever.", "Made fever", "Because."),
    )


PROMPTS = _prompts()


def _reply(text: str) -> bytes:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return json.dumps({"id": "x", "model": "made", "choices": [choice], "usage": usage}).encode()


def _texts() -> list[bytes]:
    schemas = [json.loads(prompt.answer_schema)["required"] for prompt in PROMPTS]
    texts = []
    for required in schemas:
        fitting = [given for given in _VALUES if set(required) <= set(given)]
        texts.append(json.dumps(fitting[0] if fitting else dict.fromkeys(required, "x")).encode())
    return texts


def around(data: bytes, rng: random.Random) -> bytes:
    """Text around the object: fences, other objects, thousands of brackets."""
    more = rng.choice(
        ["```json\n", "{", '{"a":' * 3_000, "{" * 60_000, '{"' * 30_000, "[" * 60_000, "\ud800", "\0"]
    )
    text = rng.choice([more + data.decode(), data.decode() + more, data.decode() * 2])
    return text.encode("utf-8", "surrogatepass")


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the prompt, body of the reply): of its text, or of the reply."""
    rng = random.Random(seed)
    texts = _texts()
    inner = structured(texts, count, seed, (*JSON, around, around))
    outer = structured([_reply(text.decode()) for text in texts], count, seed + 1, JSON)
    for number in range(count):
        if number % 3 == 2:
            name, index, data = next(outer)
            yield f"reply_{name}", index, data
            continue
        name, index, data = next(inner)
        body = _reply(data.decode("utf-8", rng.choice(["replace", "surrogateescape"])))
        yield name, index, rng.choice([flip_bits, truncate])(body, rng) if rng.random() < 0.02 else body


def outcome(data: bytes) -> str:
    """What becomes of the reply for every kind of prompt; each answer is stored, read again and written."""
    reply = _completion(data, "json_schema")
    said = set()
    for prompt in PROMPTS:
        state: Any = reply.outcome
        if state == "answered" and not is_valid(prompt, reply.text):
            state = "invalid"
        kept: Any = state if state in ("answered", "refused") else "invalid"
        tokens = reply.tokens_in, reply.tokens_out
        answer = _answer(
            prompt, "m", as_stored("c", kept, reply.text, reply.mode, reply.served_model, tokens)
        )
        to_table(ModelAnswer, [answer])
        said.add("read" if state == "answered" else f"quarantined: {state}")
        if state == "answered":
            values = read_answer(answer.text, json.loads(prompt.answer_schema))
            if values is None:
                raise AssertionError("a valid answer cannot be read again")
            _read(prompt, values)
    return "read" if "read" in said else sorted(said)[0]


def _read(prompt: Prompt, values: dict[str, Any]) -> None:
    if prompt.kind == HYDE.label:
        HYDE.read(prompt, values)
    elif "path" in values:
        reasoning_path.read(prompt, values)
    else:
        support.read(prompt, values)
