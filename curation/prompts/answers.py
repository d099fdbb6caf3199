"""Answers of models as values: strict on what counts, tolerant of what stands around it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.prompt import Prompt

_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: _once(pairs))
_MOST_STARTS = 500
"""Braces that begin no object, after which a text is no answer: trying each of thousands takes minutes."""


def read_answer(text: str, answer_schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values an answer's schema asks for, None when it is not in that form.

    Text around the object, code fences and further keys are let pass, as plain servers add them. Two objects
    that give different values, a key given twice, numbers outside the scale and empty texts are not.

    Args:
        text: the answer as it came.
        answer_schema: an object whose properties are integers of an `enum`, strings, perhaps of an `enum`,
            or arrays of these.
    """
    found = [_fitting(value, answer_schema) for value in _objects(text)]
    fitting = [item for item in found if item is not None]
    if not fitting or any(item != fitting[0] for item in fitting):
        return None
    return fitting[0]


def is_valid(prompt: Prompt, text: str) -> bool:
    """Whether an answer is in the form its prompt asks for."""
    return read_answer(text, json.loads(prompt.answer_schema)) is not None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any] | None:
    keys = [key for key, _ in pairs]
    return dict(pairs) if len(keys) == len(set(keys)) else None


def _objects(text: str) -> Iterator[Any]:
    """JSON objects in a text, outermost ones, in order."""
    place, failed = text.find("{"), 0
    while place >= 0 and failed < _MOST_STARTS:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except ValueError:
            end, failed = place + 1, failed + 1
        except RecursionError:  # each bracket inside would be tried as deep again
            return
        else:
            yield value
        place = text.find("{", end)


def _fitting(value: Any, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    read: dict[str, Any] = {}
    for key in schema["required"]:
        asked, given = schema["properties"][key], value.get(key)
        if not _fits(given, asked):
            return None
        read[key] = given
    return read


def _fits(given: Any, asked: Mapping[str, Any]) -> bool:
    if asked["type"] == "array":
        return isinstance(given, list) and all(_fits(item, asked["items"]) for item in given)
    if asked["type"] == "string":
        is_listed = given in asked.get("enum", (given,))
        return isinstance(given, str) and is_listed and bool(given.strip())
    return type(given) is int and given in asked["enum"]  # type(), for True is an int too
