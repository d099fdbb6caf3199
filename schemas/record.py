"""Record types: frozen, closed dataclasses whose Arrow schema is derived from their own annotations.

One declaration serves writing, reading, validation and documentation (`column` carries the text).
"""

from __future__ import annotations

import dataclasses
import enum
import operator
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, dataclass_transform

import pyarrow as pa
import pyarrow.compute as pc

from schemas.errors import MedqrelsError

T = TypeVar("T")
Converter = Callable[[Any], Any]

_PRIMITIVES: dict[type, pa.DataType] = {
    str: pa.string(),
    bytes: pa.binary(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}
_REGISTRY: dict[str, type] = {}


def _by_class(make: Callable[[type], T]) -> Callable[[type], T]:
    """Compute once per class (functools.cache, but typed for classes)."""
    made: dict[type, T] = {}

    def get(cls: type) -> T:
        if cls not in made:
            made[cls] = make(cls)
        return made[cls]

    return get


def column(doc: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Declare one column of a record: its documentation and an optional default."""
    return dataclasses.field(default=default, metadata={"doc": doc})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(column,))
def record(cls: type[T]) -> type[T]:
    """Turn a class with annotated columns into a frozen, slotted, keyword-only record type."""
    made = dataclasses.dataclass(frozen=True, slots=True, kw_only=True)(cls)
    setattr(made, "__init__", _initialiser(made))  # noqa: B010 mypy takes no assignment to a method
    other = _REGISTRY.get(made.__name__)
    if other is not None and (other.__module__, other.__qualname__) != (made.__module__, made.__qualname__):
        places = f"{other.__module__} and {made.__module__}"
        raise TypeError(f"two record types are called {made.__name__}: {places}")
    _REGISTRY[made.__name__] = made
    return made


def _initialiser(cls: type) -> Callable[..., None]:
    """`__init__` of a frozen record with the signature that dataclasses gave it, a third faster.

    A frozen dataclass sets its fields by `object.__setattr__`, which looks every name up again; the slots'
    own setters are bound here once. Millions of records are made per run.
    """
    given: Any = vars(cls)["__init__"]
    parameters = dataclasses.fields(cls)
    space: dict[str, Any] = {f"_set_{field.name}": getattr(cls, field.name).__set__ for field in parameters}
    lines = "".join(f"\n    _set_{field.name}(self, {field.name})" for field in parameters)
    exec(f"def __init__(self, *, {', '.join(field.name for field in parameters)}):{lines}", space)
    made: Any = space["__init__"]
    made.__kwdefaults__, made.__annotations__ = given.__kwdefaults__, given.__annotations__
    made.__qualname__, made.__module__ = given.__qualname__, cls.__module__
    return typing.cast(Callable[..., None], made)


def registered() -> Mapping[str, type]:
    """Every record type imported so far, by class name."""
    return dict(sorted(_REGISTRY.items()))


def is_record(kind: object) -> bool:
    """Whether `kind` is a record class."""
    return isinstance(kind, type) and _REGISTRY.get(kind.__name__) is kind


def columns(cls: type) -> Iterator[tuple[str, Any, str]]:
    """Yield (name, resolved annotation, documentation) of each column, in declared order."""
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        yield field.name, hints[field.name], str(field.metadata.get("doc", ""))


def optional_of(kind: Any) -> tuple[Any, bool]:
    """Split `X | None` into (X, True); anything else is (kind, False)."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        inner = [part for part in typing.get_args(kind) if part is not type(None)]
        if len(inner) != 1:
            raise TypeError(f"a column may be X or X | None, not {kind}")
        return inner[0], True
    return kind, False


def arrow_type(kind: Any) -> pa.DataType:
    """Arrow type of one annotation: primitives, Literal, StrEnum, records, tuple[X, ...]."""
    kind, nullable = optional_of(kind)
    origin = typing.get_origin(kind)
    if origin is tuple and nullable:
        raise TypeError(f"a list column is empty, never None: {kind}")
    if origin is Literal:
        return pa.string()
    if origin is tuple:
        item = typing.get_args(kind)[0]
        return pa.list_(pa.field("item", arrow_type(item), nullable=False))
    if is_record(kind):
        return pa.struct(list(arrow_schema(kind)))
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return pa.string()
    if kind in _PRIMITIVES:
        return _PRIMITIVES[kind]
    raise TypeError(f"no Arrow type for {kind}")


@_by_class
def arrow_schema(cls: type) -> pa.Schema:
    """The Arrow schema of a record type; column documentation rides in the field metadata."""
    return pa.schema(
        [
            pa.field(
                name,
                arrow_type(kind),
                nullable=optional_of(kind)[1],
                metadata={"doc": doc} if doc else None,
            )
            for name, kind, doc in columns(cls)
        ]
    )


def _encoder(kind: Any) -> Converter | None:
    """A function from a column value to what pyarrow takes, or None when it is the value itself."""
    kind, nullable = optional_of(kind)
    if typing.get_origin(kind) is tuple:
        inner = _encoder(typing.get_args(kind)[0])
        if inner is None:
            return _plain_items
        return lambda values: [inner(value) for value in values]
    if is_record(kind):
        encode = _record_encoder(kind)
        return (lambda value: None if value is None else encode(value)) if nullable else encode
    if kind is int:
        return (lambda value: None if value is None else _whole(value)) if nullable else _whole
    if kind is enum.StrEnum:  # of no one enum: any declared value, and no other text
        return _member
    return None


def _member(value: Any) -> str:
    if not isinstance(value, enum.StrEnum):
        raise TypeError(f"{value!r} is no member of an enum")
    return value.value


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError("expected int, got bool")
    return operator.index(value)  # pyarrow would cut 1.5 down to 1


def _plain_items(values: Any) -> Any:
    if not isinstance(values, (tuple, list)):  # pyarrow would take a text for a list of its characters
        raise TypeError(f"expected a tuple, got {type(values).__name__}")
    return values


@_by_class
def _record_encoder(cls: type) -> Converter:
    parts = [(name, _encoder(kind)) for name, kind, _ in columns(cls)]

    def encode(value: Any) -> dict[str, Any]:
        if not isinstance(value, cls):
            raise TypeError(f"expected {cls.__name__}, got {type(value).__name__}")
        return {
            name: getattr(value, name) if convert is None else convert(getattr(value, name))
            for name, convert in parts
        }

    return encode


def _decoder(kind: Any) -> Converter | None:
    kind, nullable = optional_of(kind)
    if typing.get_origin(kind) is tuple:
        inner = _decoder(typing.get_args(kind)[0])
        if inner is None:
            return tuple
        return lambda values: tuple(inner(value) for value in values)
    if is_record(kind):
        decode = _record_decoder(kind)
        return (lambda value: None if value is None else decode(value)) if nullable else decode
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum) and kind is not enum.StrEnum:
        return (lambda value: None if value is None else kind(value)) if nullable else kind
    return None


@_by_class
def _record_decoder(cls: type) -> Converter:
    parts = [(name, _decoder(kind)) for name, kind, _ in columns(cls)]

    def decode(row: Mapping[str, Any]) -> Any:
        return cls(**{name: row[name] if convert is None else convert(row[name]) for name, convert in parts})

    return decode


def to_dict(row: Any) -> dict[str, Any]:
    """One record as plain dicts, lists and scalars (for JSON)."""
    return typing.cast(dict[str, Any], _record_encoder(type(row))(row))


def from_dict(cls: type[T], row: Mapping[str, Any]) -> T:
    """Build one record from plain values; unknown or missing keys are an error.

    Raises:
        MedqrelsError: the keys differ from the record's columns.
    """
    expected = {name for name, _, _ in columns(cls)}
    if set(row) != expected:
        raise MedqrelsError(
            f"{cls.__name__}: columns differ: missing {sorted(expected - set(row))}, "
            f"unknown {sorted(set(row) - expected)}"
        )
    return typing.cast(T, _record_decoder(cls)(row))


def to_table(cls: type, rows: Iterable[Any]) -> pa.Table:
    """Records as an Arrow table in the declared schema.

    Raises:
        MedqrelsError: a value does not fit its column.
    """
    listed: Sequence[Any] = rows if isinstance(rows, (list, tuple)) else list(rows)
    foreign = {type(row).__name__ for row in listed if not isinstance(row, cls)}
    if foreign:
        raise MedqrelsError(f"{cls.__name__}: rows of another type: {', '.join(sorted(foreign))}")
    schema = arrow_schema(cls)
    arrays = []
    for name, kind, _ in columns(cls):
        convert = _encoder(kind)
        values = [getattr(row, name) for row in listed]
        try:
            if convert is not None:
                values = [convert(value) for value in values]
            elif schema.field(name).type == pa.string() and bytes in set(map(type, values)):
                raise TypeError("expected str, got bytes")
            arrays.append(_checked(pa.array(values, type=schema.field(name).type), kind, name))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise MedqrelsError(f"{cls.__name__}.{name}: value does not fit its column: {error}") from error
    return pa.Table.from_arrays(arrays, schema=schema)


def _checked(array: pa.Array, kind: Any, path: str) -> pa.Array:
    """The array itself; refuses nulls where none may be and values outside a closed set; Arrow takes both."""
    kind, nullable = optional_of(kind)
    if array.null_count and not nullable:
        raise ValueError(f"{path}: None where a value must be")
    present = array.drop_null() if array.null_count else array
    if typing.get_origin(kind) is tuple:
        _checked(present.flatten(), typing.get_args(kind)[0], f"{path}[]")
    elif is_record(kind):
        for index, (name, inner, _) in enumerate(columns(kind)):
            _checked(present.field(index), inner, f"{path}.{name}")
    elif closed := _closed_values(kind):
        wrong = sorted(set(pc.unique(present).to_pylist()) - closed)
        if wrong:
            raise ValueError(f"{path}: {wrong[0]!r} is none of {sorted(closed)}")
    return array


def _closed_values(kind: Any) -> frozenset[str]:
    if typing.get_origin(kind) is Literal:
        return frozenset(typing.get_args(kind))
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return frozenset(item.value for item in kind)
    return frozenset()


def from_table(cls: type[T], table: pa.Table) -> list[T]:
    """Rows of an Arrow table as records; the table must have exactly the record's columns."""
    expected = arrow_schema(cls)
    if not table.schema.equals(expected, check_metadata=False):
        raise MedqrelsError(
            f"{cls.__name__}: the file's columns are not this version's: {table.schema.names}",
            hint="rebuild the stage that wrote it",
        )
    decode = _record_decoder(cls)
    return [decode(row) for row in table.to_pylist()]
