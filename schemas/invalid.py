"""What is wrong with settings or a spec, in the words of whoever wrote it."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from schemas.wording import meant

_UNKNOWN, _MISSING = "extra_forbidden", "missing"


def said_of(error: ValidationError, model: type[BaseModel]) -> tuple[tuple[str, ...], str]:
    """Where the first thing wrong stands, and what it is; unknown keys first: others may lack through them.

    The value is not repeated: it may be a secret.
    """
    first = min(error.errors(), key=lambda one: one["type"] != _UNKNOWN)
    where = tuple(map(str, first["loc"]))
    if first["type"] == _UNKNOWN:
        return where, f"there is no such key{meant(where[-1], _keys(model, where[:-1]))}"
    if first["type"] == _MISSING:
        return where, "this key is missing"
    said = first["msg"].removeprefix("Value error, ")
    return where, said.replace("Input should", "should", 1)


def _keys(model: type[BaseModel], parents: tuple[str, ...]) -> list[str]:
    """Keys that a table of a model may have; none where they are not the model's to say."""
    here = [model]
    for name in parents:
        fields = [one.model_fields[name].annotation for one in here if name in one.model_fields]
        here = [found for annotation in fields for found in _models(annotation)]
    return sorted({key for one in here for key in one.model_fields})


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from _models(inner)
