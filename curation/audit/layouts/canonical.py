"""Turns a recognised foreign dataset into the canonical tables the rules know, streaming."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from curation.audit.layouts.fields import (
    QRELS_DOCUMENT,
    QRELS_QUERY,
    QRELS_SCORE,
    Fields,
    as_extra,
    as_id,
    as_text,
    fields_of,
    is_text,
    keys_of,
    type_name,
)
from curation.audit.layouts.pictures import Pictures
from curation.audit.layouts.problems import Problems, clean
from curation.audit.layouts.recognise import Part, Plan
from curation.audit.layouts.records import Record, column_types, read_records
from curation.audit.layouts.tables import CanonicalTable
from schemas.hashing import sha256_file

_BARE = {"title": "", "text": ""}


@dataclass
class Canonical:
    """Writes the tables of one dataset; `hashes` collects name -> SHA-256 of every file read."""

    root: Path
    folder: Path
    plan: Plan
    problems: Problems
    takes_all: bool = False
    """Whether pictures that no row names are documents too."""
    adapters: Mapping[str, Callable[[Record], Iterable[Record]]] = field(default_factory=dict)
    """File -> what makes rows under names we know of each of its records."""
    hashes: dict[str, str] = field(default_factory=dict)
    _tables: dict[str, CanonicalTable] = field(default_factory=dict)
    _types: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    _drifted: set[tuple[str, str]] = field(default_factory=set)
    _prefixes: dict[tuple[str, str], str] = field(default_factory=dict)
    pictures: Pictures = field(init=False)

    def __post_init__(self) -> None:
        self.pictures = Pictures(self.root, self.hashes)

    def write(self) -> dict[str, list[Path]]:
        """Read every part of the plan; table name -> files."""
        self._name_subsets()
        for part in self.plan.parts:
            path = self.root / part.name if self.root.is_dir() else self.root
            self.hashes[part.name] = sha256_file(path)
            for table in ("queries", "corpus") if part.table == "items" else (part.table,):
                self._table(table)
            self._compare_types(part)
            add: Callable[[Part, int, Record], None] = {
                "items": self._item, "qrels": self._pair
            }.get(part.table, self._row)  # fmt: skip
            adapt = self.adapters.get(part.name)
            for line, record in read_records(self.root, part, self.problems):
                for row in adapt(record) if adapt else (record,):
                    add(part, line, row)
        if self.takes_all:
            self._rest()
        self.pictures.close()
        for name in self.plan.unread:
            self.problems.add("file_not_recognised", "", name)
        found = {name: table.close() for name, table in sorted(self._tables.items())}
        if self.plan.kind == "jsonl":  # texts alone are no queries, questions alone no corpus
            found = {name: files for name, files in found.items() if self._tables[name].count} or found
        return found

    def _name_subsets(self) -> None:
        """Ids get their subset in front where a table comes in several: they may repeat between languages."""
        for table in ("queries", "corpus", "items"):
            subsets = {part.subset for part in self.plan.parts if part.table == table}
            for subset in subsets:
                self._prefixes[(table, subset)] = f"{subset}/" if len(subsets) > 1 and subset else ""

    def _table(self, name: str) -> CanonicalTable:
        if name not in self._tables:
            self._tables[name] = CanonicalTable(name, self.folder / name)
        return self._tables[name]

    def _compare_types(self, part: Part) -> None:
        """Columns of a Parquet shard that have another type than in the first shard of the table."""
        for column, kind in sorted(column_types(self.root, part).items()):
            self._drift(part, column, kind, None, f"{part.name}#{column}")

    def _drift(self, part: Part, column: str, kind: str, line: int | None, name: str) -> None:
        first = self._types.setdefault((f"{part.table}/{part.subset}", column), (kind, part.name))
        if kind == first[0] or "null" in (kind, first[0]) or (part.name, column) in self._drifted:
            return
        self._drifted.add((part.name, column))
        seen = f"{column} is {kind}, but {first[0]} in {first[1]}"
        self.problems.add("dtype_drift", part.table, part.name, line, id=name, detail=seen)

    def _put(self, table: str, part: Part, line: int, row: dict[str, Any]) -> None:
        """Store a row, its strings and the names of its columns made storable."""
        broken = False
        for column, value in list(row.items()):
            kept, is_broken = clean(column)
            broken = broken or is_broken
            row[kept] = row.pop(column)
            if isinstance(value, str):
                row[kept], is_broken = clean(value)
                broken = broken or is_broken
        name = row.get("id", "")
        if broken:
            self.problems.add("lone_surrogate", table, part.name, line, id=name)
        if not self._table(table).add(row, part.split) and (part.name, "*") not in self._drifted:
            self._drifted.add((part.name, "*"))
            self.problems.add("too_many_columns", table, part.name, line, id=name)

    def _id(self, part: Part, line: int, record: Record, column: str) -> str | None:
        """The row's id with its subset in front; None, and a problem, when it has none."""
        value = record[column] if column else None
        name = as_id(value)
        if name is None:
            self.problems.add("missing_id", part.table, part.name, line)
            return None
        prefix = self._prefixes[(part.table, part.subset)]
        if not part.name.endswith(".parquet"):
            self._drift(part, column, type_name(value), line, prefix + clean(name)[0])
        return prefix + name

    def _row(self, part: Part, line: int, record: Record) -> None:
        """A query or document."""
        fields = fields_of(part.table, keys_of(record))
        name = self._id(part, line, record, fields.id)
        if name is None:
            return
        row: dict[str, Any] = {"id": name, "text": as_text(record[fields.text]) if fields.text else ""}
        if part.table == "corpus":
            row["title"] = as_text(record[fields.title]) if fields.title else ""
        if fields.image:
            row["image"] = self._image(part, line, name, record[fields.image])
        elif not fields.text:
            self.problems.add("missing_text", part.table, part.name, line, id=clean(name)[0])
        for column, plain in fields.extras:
            row[plain] = as_extra(record[column])
        self._put(part.table, part, line, row)

    def _item(self, part: Part, line: int, record: Record) -> None:
        """A text, or a question with everything beside it that is running text."""
        fields = fields_of("items", keys_of(record))
        own = as_id(record[fields.id]) if fields.id else None
        stem = "line" if len(self.plan.parts) == 1 else PurePosixPath(part.name).name
        name = self._prefixes[("items", part.subset)] + (own or f"{stem}:{line}")
        if fields.id and own is None:
            self.problems.add("missing_id", part.table, part.name, line, id=clean(name)[0])
        image = self._image(part, line, name, record[fields.image]) if fields.image else None
        shown = {"image": image} if image is not None else {}
        if fields.question:
            row: dict[str, Any] = {"id": name, "text": as_text(record[fields.question])} | shown
            row |= {plain: as_extra(record[c]) for c, plain in fields.extras if c != fields.image}
            self._put("queries", part, line, row)
        elif fields.text or shown:
            text = as_text(record[fields.text]) if fields.text else ""
            self._put("corpus", part, line, {"id": name, "title": "", "text": text} | shown)
        else:
            self.problems.add("missing_text", part.table, part.name, line, id=clean(name)[0])
        self._beside(part, line, name, record, fields)

    def _beside(self, part: Part, line: int, name: str, record: Record, fields: Fields) -> None:
        for column, plain in fields.extras:
            if column in (fields.title, fields.image) or isinstance(record[column], bytes):
                continue
            text = as_text(record[column])
            if is_text(text):
                self._put("corpus", part, line, {"id": f"{name}#{plain}", "title": "", "text": text})

    def _pair(self, part: Part, line: int, record: Record) -> None:
        """A relevance judgement."""
        lower = {str(key).lower(): key for key in record}
        aliases = (QRELS_QUERY, QRELS_DOCUMENT, QRELS_SCORE)
        columns = [next((lower[name] for name in names if name in lower), "") for names in aliases]
        if "" in columns:
            self.problems.add("wrong_columns", "qrels", part.name, line, detail=", ".join(lower))
            return
        query, document = as_id(record[columns[0]]), as_id(record[columns[1]])
        if query is None or document is None:
            self.problems.add("missing_id", "qrels", part.name, line)
            return
        if not part.name.endswith(".parquet"):
            for column in columns:
                self._drift(part, str(column), type_name(record[column]), line, f"{part.name}:{line}")
        score = self._score(part, line, record[columns[2]])
        if score is None:
            return
        query = self._prefixes.get(("queries", part.subset), "") + query
        document = self._prefixes.get(("corpus", part.subset), "") + document
        self._put("qrels", part, line, {"query-id": query, "corpus-id": document, "score": score})

    def _score(self, part: Part, line: int, value: Any) -> int | None:
        try:
            number = float(value)
            whole = math.floor(number) if number < 0 else math.ceil(number)
        except (TypeError, ValueError, OverflowError):
            self.problems.add("score_not_a_number", "qrels", part.name, line, detail=value)
            return None
        if not -(1 << 62) < whole < 1 << 62:
            self.problems.add("score_not_a_number", "qrels", part.name, line, detail=value)
            return None
        if whole != number:
            self.problems.add("score_not_whole", "qrels", part.name, line, detail=value)
        return whole

    def _image(self, part: Part, line: int, name: str, value: Any) -> dict[str, Any] | None:
        """The row's picture; further ones of a list become documents of their own."""

        def note(reason: str, detail: str) -> None:
            self.problems.add(reason, part.table, part.name, line, id=clean(name)[0], detail=detail)

        image, others = self.pictures.of(value, part.name, note)
        for number, other in enumerate(others, start=2):
            row = {"id": f"{name}#image{number}", "title": "", "text": "", "image": other}
            self._put("corpus", part, line, row)
        return image

    def _rest(self) -> None:
        """Pictures that no row names, as documents without a text."""

        def note(reason: str, detail: str) -> None:
            self.problems.add(reason, "corpus", detail, detail=detail)

        for name, data in self.pictures.rest(note):
            image = {"bytes": data, "path": clean(name)[0]}
            self._put(
                "corpus", Part(name, "corpus", "", "all"), 0, dict(_BARE) | {"id": name, "image": image}
            )
