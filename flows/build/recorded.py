"""Recorded answers as an input: a file of what a model, or a script, answered to prompts, put into the store.

A file is JSONL or Parquet, such as the `answers.parquet` of another workspace. No server is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from curation.prompts.answers import is_valid
from flows.adapters.answering import store_of
from flows.adapters.cache import AnswerCache
from flows.adapters.llm_runner import as_stored, held, key_of, store_name
from flows.build.model_stages import Held
from flows.engine.workspace import Workspace
from schemas.errors import UsageError
from schemas.hashing import canonical_json
from schemas.prompt import AnswerState, By, Mode, Prompt, prompt_sha256

_IDS: Final = ("prompt_id", "asked_sha256")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_HINT: Final = "docs/model_stages.md says what a row holds"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded answer; `place` says where it stands in its file, `to` which prompt it answers."""

    place: str
    to: str
    model: str
    text: str
    served_model: str = ""
    state: AnswerState = "answered"
    mode: Mode = "plain"
    tokens_in: int | None = None
    tokens_out: int | None = None
    by: By = "model"

    @property
    def stored(self) -> bytes:
        """As the store holds it; no call was made for it."""
        tokens = (self.tokens_in, self.tokens_out)
        return as_stored("", self.state, self.text, self.mode, self.served_model, tokens, self.by)


def read_recorded(path: Path) -> list[Recorded]:
    """The rows of a file, in order.

    A row has `model`, `text` (or `answer`, the JSON object itself) and `prompt_id` or `asked_sha256`; perhaps
    `served_model`, `state`, `mode`, `tokens_in`, `tokens_out`, and `by`: `human` of a text that a person
    wrote, `engine` of one by what reads no prompt. One that names no server's model was written by a script
    or by hand, whatever it says of its mode.

    Raises:
        UsageError: the file cannot be read or a row is not of this form; names the line.
    """
    rows = _parquet(path) if path.suffix == ".parquet" else _lines(path)
    found, seen = [], dict[str, Recorded]()
    for place, row in rows:
        one = _recorded(place, row, path)
        before = seen.setdefault(one.to, one)
        if (before.text, before.state, before.by) != (one.text, one.state, one.by):
            raise _wrong(f"another answer to this prompt stands in {before.place}", place, path)
        found.append(one)
    if not found:
        raise UsageError("there are no answers in this file", file=str(path), hint=_HINT)
    return found


def the_model(rows: Sequence[Recorded], asked: str, path: Path) -> str:
    """The model whose answers a file holds: the one asked for, or the only one.

    Raises:
        UsageError: a row is of another, or there are several.
    """
    named = asked or rows[0].model
    for row in rows:
        if row.model != named:
            raise _wrong(f"this answer is of {row.model!r}, not of {named!r}", row.place, path)
    return named


def take_recorded(
    workspace: Workspace, found: Sequence[Held], rows: Sequence[Recorded], path: Path
) -> set[str]:
    """Store the answers to prompts that stand; the prompts they are to, as the file names them.

    Raises:
        UsageError: an answer is not in the form its prompt asks for, or another one is stored already.
    """
    wanted = {row.to: row for row in rows}
    given: dict[str, dict[bytes, bytes]] = {}
    taken: set[str] = set()
    for mine in found:
        for prompt in mine.prompts:
            named = next((name for name in (prompt.id, _asked(prompt)) if name in wanted), "")
            if named:
                _check(wanted[named], prompt, workspace, path)
                given.setdefault(wanted[named].model, {})[key_of(prompt)] = wanted[named].stored
                taken.add(named)
    for model, answers in given.items():
        with AnswerCache(store_of(workspace), store_name(model)) as store:
            store.put(answers)
    return taken


def _asked(prompt: Prompt) -> str:
    return prompt_sha256(prompt.system, prompt.parts, prompt.answer_schema, prompt.max_tokens)


def _check(row: Recorded, prompt: Prompt, workspace: Workspace, path: Path) -> None:
    if row.state == "answered" and not is_valid(prompt, row.text):
        form = ", ".join(json.loads(prompt.answer_schema)["required"])
        raise _wrong(f"the answer is no JSON object with {form} as {prompt.kind} asks for", row.place, path)
    for answer in held([prompt], row.model, store_of(workspace)):
        if (answer.text, answer.state, answer.by) != (row.text, row.state, row.by):
            raise _wrong(f"another answer of {row.model} to {prompt.id} is stored already", row.place, path)


def _lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if line.strip():
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise _wrong("this is no JSON object", f"line {number}", path)
                yield f"line {number}", row
    except json.JSONDecodeError as error:
        raise _wrong(f"this is no JSON: {error.msg}", f"line {number}", path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the answers cannot be read: {error}", file=str(path)) from error


def _parquet(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with pq.ParquetFile(path) as file:
            rows = file.read().to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"the answers cannot be read: {error}", file=str(path)) from error
    yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))


def _recorded(place: str, row: Mapping[str, Any], path: Path) -> Recorded:
    """One row as it counts."""
    text = canonical_json(row["answer"]) if isinstance(row.get("answer"), dict) else row.get("text")
    model, served = row.get("model"), row.get("served_model") or ""
    if not isinstance(model, str) or not model.strip():
        raise _wrong("model is missing", place, path)
    if not isinstance(text, str) or not isinstance(served, str):
        raise _wrong("text or served_model is no text", place, path)
    to = next((row[name] for name in _IDS if row.get(name)), "")
    is_hash = not row.get("prompt_id")
    if not isinstance(to, str) or not (_SHA256.fullmatch(to) if is_hash else to.startswith("prompt:")):
        raise _wrong("neither prompt_id nor asked_sha256 names a prompt", place, path)
    state, mode = row.get("state", "answered"), row.get("mode", "plain")
    by = row.get("by") or "model"
    if state not in get_args(AnswerState) or mode not in get_args(Mode):
        raise _wrong(f"state {state!r} or mode {mode!r} is unknown", place, path)
    if by not in get_args(By):
        raise _wrong(f"by {by!r} is unknown: {', '.join(get_args(By))}", place, path)
    tokens = [row.get(name) for name in ("tokens_in", "tokens_out")]
    if any(value is not None and (type(value) is not int or value < 0) for value in tokens):
        raise _wrong("tokens_in or tokens_out is no count", place, path)
    rest: dict[str, Any] = {"state": state, "mode": mode if served else "scripted", "by": by}
    return Recorded(place, to, model, text, served, **rest, tokens_in=tokens[0], tokens_out=tokens[1])


def _wrong(message: str, place: str, path: Path) -> UsageError:
    return UsageError(message, record=place, file=str(path), hint=_HINT)
