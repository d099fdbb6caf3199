"""Reads data files row by row in bounded memory, whatever state they are in: (line, record) and problems.

Gzip is read under a cap; no archive is opened; a broken line costs that line and nothing else.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.layouts.fields import HEADERS
from curation.audit.layouts.problems import Problems
from curation.audit.layouts.recognise import Part, suffix_of

Record = dict[str, Any]
MAX_LINE = 32 << 20
MAX_JSON = 256 << 20
"""A .json file that is one array or object is read at once, so it has a smaller cap."""
MAX_UNPACKED = 64 << 30
MAX_RATIO = 200
"""Text unpacks to 3 to 20 times its gzip size; past this ratio and RATIO_FROM bytes it is a bomb."""
RATIO_FROM = 256 << 20
MAX_ROW_GROUP = 4 << 30
_BLOCK = 1 << 20
_LISTS = ("data", "questions")
"""Fields of a JSON object that hold its rows."""


class _TooLarge(Exception):  # noqa: N818 - a reason, not a fault
    """A file unpacks beyond the cap."""


class _Capped:
    """A byte stream that stops when a gzip member unpacks to too much."""

    def __init__(self, handle: BinaryIO, packed: int | None) -> None:
        self._handle, self._packed, self._seen = handle, packed, 0

    def readline(self, size: int) -> bytes:
        """At most `size` bytes of the next line."""
        data = self._handle.readline(size)
        self._seen += len(data)
        if self._packed is not None:
            too_much = self._seen > RATIO_FROM and self._seen > MAX_RATIO * max(self._packed, 1)
            if too_much or self._seen > MAX_UNPACKED:
                raise _TooLarge
        return data


def read_records(root: Path, part: Part, problems: Problems) -> Iterator[tuple[int, Record]]:
    """Every row of one data file that can be read, with its 1-based line or row number."""
    path = root / part.name if root.is_dir() else root
    kind = suffix_of(part.name)
    try:
        if kind == "parquet":
            yield from _parquet(path, part, problems)
        elif kind == "json" and _is_one_value(path):
            yield from _whole_json(path, part, problems)
        elif kind in ("jsonl", "json"):
            yield from _json_lines(path, part, problems)
        else:
            yield from _delimited(path, part, problems, kind)
    except _TooLarge:
        problems.add("file_too_large", part.table, part.name)
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        problems.add("file_unreadable", part.table, part.name, detail=_first_line(error))


def first_columns(root: Path, name: str) -> list[str]:
    """Column names of the first readable record, [] when there is none."""
    return [str(key) for key in first_record(root, name) or ()]


def first_record(root: Path, name: str) -> Record | None:
    """The first readable record of a file, None when there is none."""
    nowhere = _Nowhere(root / "never-written")
    for _, record in read_records(root, Part(name, "items", "", "all"), nowhere):
        return record
    return None


class _Nowhere(Problems):
    """Forgets what it is told: for a first look only."""

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Nothing."""


def _first_line(error: BaseException) -> str:
    """What an error says, without the path it was raised for."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{type(error).__name__}: {(reason.splitlines() or [''])[0]}"


def _open(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def _lines(path: Path, part: Part, problems: Problems) -> Iterator[tuple[int, str]]:
    """Decoded lines; one that is too long or no UTF-8 is a problem."""
    packed = path.stat().st_size if path.name.lower().endswith(".gz") else None
    with _open(path) as handle:
        source = _Capped(handle, packed)
        number = 0
        while data := source.readline(MAX_LINE):
            number += 1
            if len(data) >= MAX_LINE and not data.endswith(b"\n"):
                while (rest := source.readline(_BLOCK)) and not rest.endswith(b"\n"):
                    pass
                problems.add("line_too_long", part.table, part.name, number)
                continue
            try:
                text = data.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                problems.add("not_utf8", part.table, part.name, number, detail=f"byte {error.start}")
                continue
            yield number, text


def _json_lines(path: Path, part: Part, problems: Problems) -> Iterator[tuple[int, Record]]:
    for number, line in _lines(path, part, problems):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.add("not_json", part.table, part.name, number, detail=error)
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            problems.add("not_an_object", part.table, part.name, number, detail=type(value).__name__)


def _is_one_value(path: Path) -> bool:
    """Whether a .json file is an array, or one object that holds all rows, and not JSON Lines."""
    with _open(path) as handle:
        first = handle.readline(MAX_LINE).strip().removeprefix(b"\xef\xbb\xbf")
        is_alone = not handle.read(_BLOCK).strip()
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return True
    if not isinstance(value, dict):
        return True
    holds_rows = any(isinstance(value.get(name), list) for name in _LISTS)
    return is_alone and (holds_rows or all(isinstance(item, dict) for item in value.values()))


def _whole_json(path: Path, part: Part, problems: Problems) -> Iterator[tuple[int, Record]]:
    """The items of a JSON array, or the values of an object with their key as id."""
    with _open(path) as handle:
        data = handle.read(MAX_JSON + 1)
    if len(data) > MAX_JSON:
        raise _TooLarge
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        problems.add("not_json", part.table, part.name, detail=error)
        return
    items: list[Any] = value if isinstance(value, list) else []
    if isinstance(value, dict):
        rows = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
        if rows is not None:
            items = rows
        else:
            items = [{"_id": key, **item} if isinstance(item, dict) else item for key, item in value.items()]
    for number, item in enumerate(items, start=1):
        if isinstance(item, dict):
            yield number, item
        else:
            problems.add("not_an_object", part.table, part.name, number, detail=type(item).__name__)


def _delimited(path: Path, part: Part, problems: Problems, kind: str) -> Iterator[tuple[int, Record]]:
    """CSV with a header, TSV with or without one, TREC qrels."""
    place = [0]

    def lines() -> Iterator[str]:
        for number, line in _lines(path, part, problems):
            place[0] = number
            yield line.replace("\0", "\ufffd")

    csv.field_size_limit(MAX_LINE)
    if kind == "csv":
        rows: Iterator[list[str]] = csv.reader(lines())
    else:
        is_quoted = part.table == "items"
        tabs = csv.reader(lines(), delimiter="\t", quoting=csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE)
        rows = tabs if kind == "tsv" else map(str.split, lines())
    header: Sequence[str] | None = None
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            problems.add("wrong_columns", part.table, part.name, place[0], detail=error)
            continue
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if header is None:
            header, is_header = _header(part, row, kind)
            if is_header:
                continue
        if len(row) != len(header):
            seen = f"{len(row)} columns, not {len(header)}"
            problems.add("wrong_columns", part.table, part.name, place[0], detail=seen)
            continue
        yield place[0], dict(zip(header, row, strict=True))


def _header(part: Part, row: Sequence[str], kind: str) -> tuple[Sequence[str], bool]:
    """Column names, and whether the first row holds them."""
    names = [cell.strip() for cell in row]
    if {name.lower() for name in names} & HEADERS or (kind == "csv" and part.table == "items"):
        return names, True
    if part.table == "qrels":
        known = {4: ("query-id", "iteration", "corpus-id", "score"), 3: ("query-id", "corpus-id", "score")}
        return known.get(len(row), ("query-id", "corpus-id", "score")), False
    return {2: ("id", "text"), 3: ("id", "title", "text")}.get(len(row), ("id", "text")), False


def _parquet(path: Path, part: Part, problems: Problems) -> Iterator[tuple[int, Record]]:
    with pq.ParquetFile(path) as source:
        names = source.schema_arrow.names
        is_heavy = any(
            pa.types.is_struct(kind) or pa.types.is_binary(kind) for kind in source.schema_arrow.types
        )
        size = 50 if is_heavy else 2_000
        row = 0
        for group in range(source.num_row_groups):
            head = source.metadata.row_group(group)
            if head.total_byte_size > MAX_ROW_GROUP:
                problems.add("file_too_large", part.table, part.name, row + 1, detail="row group")
                row += head.num_rows
                continue
            for batch in source.iter_batches(size, row_groups=[group], use_threads=False):
                columns = [column.to_pylist() for column in batch.columns]
                for values in zip(*columns, strict=True):
                    row += 1
                    yield row, dict(zip(names, values, strict=True))


def column_types(root: Path, part: Part) -> dict[str, str]:
    """Column -> Arrow type of a Parquet file, string widths folded; {} for other files."""
    if suffix_of(part.name) != "parquet":
        return {}
    try:
        schema = pq.read_schema(root / part.name if root.is_dir() else root)
    except (OSError, pa.ArrowException):
        return {}
    return {field.name: _type(field.type) for field in schema}


def _type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "string"
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return f"list<{_type(kind.value_type)}>"
    return str(kind)
