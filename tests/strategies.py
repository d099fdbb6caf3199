"""Hypothesis strategies made from the annotations of record types, hostile values included."""

from __future__ import annotations

import enum
import importlib
import pkgutil
import typing
from typing import Any, Literal

from hypothesis import strategies as st

import schemas
from schemas.record import columns, is_record, optional_of, registered
from schemas.stages import Reason

TEXT = st.one_of(
    st.text(max_size=8),  # any code point but surrogates, NUL and unassigned ones included
    st.sampled_from(
        ["", "\x00", "\r\n", "e\u0301", "\u202e", "\ufeff", "🫀‍🔥", "ﬁ", "İ", "'\"\\", "\U0010ffff", "NULL"]
    ),
)
_PRIMITIVES: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    bytes: st.binary(max_size=8),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
}


def all_records() -> dict[str, type]:
    """Every record type of the contracts, by name."""
    for module in pkgutil.iter_modules(schemas.__path__):
        importlib.import_module(f"schemas.{module.name}")
    return {name: kind for name, kind in registered().items() if kind.__module__.startswith("schemas.")}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of one annotation."""
    inner, nullable = optional_of(kind)
    made = _present(inner)
    return st.none() | made if nullable else made


def _present(kind: Any) -> st.SearchStrategy[Any]:
    if typing.get_origin(kind) is Literal:
        return st.sampled_from(typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        return st.lists(values(typing.get_args(kind)[0]), max_size=3).map(tuple)
    if is_record(kind):
        return rows(kind)
    if kind is enum.StrEnum:
        return st.sampled_from(Reason)
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return st.sampled_from(list(kind))
    return _PRIMITIVES[kind]


def rows(cls: type) -> st.SearchStrategy[Any]:
    """Rows of one record type, every column given."""
    return st.builds(cls, **{name: values(kind) for name, kind, _ in columns(cls)})
