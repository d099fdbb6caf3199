"""What a published table is: its columns with their meaning and their readers, its folder, its key.

One declaration (schemas.tables) drives what is written, read and checked, the card, and docs/tables.md.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
TRANSFORMS = pa.list_(
    pa.struct([("start", pa.int64()), ("end", pa.int64()), ("original", pa.string()), ("rule", pa.string())])
)
EVIDENCE = pa.list_(
    pa.struct([("text_id", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])
)
STRINGS = pa.list_(pa.string())

Reader = Literal["consumer", "auditor", "maintainer"]
READERS: dict[Reader, str] = {
    "consumer": "trains or measures retrieval systems on the release",
    "auditor": "checks what the release claims, from its files alone",
    "maintainer": "makes the next release, and answers for where each row came from",
}
Step = Literal["write", "derive"]
"""Which step of a release writes a table: from the workspace, or from the tables written before it."""
NAMED = "named_"
"""Before the names of tables that stand beside others in further languages: `named_corpus`."""
_OF_LANGUAGE = re.compile(r"[a-z]+-(?P<language>(?:[a-z]{4,}-)?[a-z]{2,3})-\d+-of-\d+\.parquet")
_BLANKS: dict[pa.DataType, Any] = {pa.string(): "", pa.int64(): 0, pa.bool_(): False, pa.float64(): 0.0}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a published table.

    Attributes:
        name: as MTEB and BEIR call it, where they do.
        type: Arrow type.
        meaning: one line, for card and docs.
        may_be_null: whether a row may be without a value.
        repeats: whether it has few values for many rows, and is therefore dictionary-encoded.
        is_optional: whether the column is left out of a table in which no row has a value.
        is_prose: whether people wrote it, so that it is searched for what names a patient.
        refers: `table.column` where every value must stand, '' for none.
        reader: who needs it; None for the reader of the table.
        since: format of release.json that brought it, of those still read; older releases lack it.
    """

    name: str
    type: pa.DataType
    meaning: str
    _: KW_ONLY
    may_be_null: bool = False
    repeats: bool = False
    is_optional: bool = False
    is_prose: bool = False
    refers: str = ""
    reader: Reader | None = None
    since: int = 0

    def __hash__(self) -> int:
        """Of the name alone: that of an Arrow type takes its time, and schemas are looked up by columns."""
        return hash(self.name)

    @property
    def blank(self) -> Any:
        """A value that says nothing: None where that may be, else '', 0, False or an empty list."""
        return None if self.may_be_null else _BLANKS.get(self.type, [])


@dataclass(frozen=True, slots=True)
class Published:
    """One published table.

    Attributes:
        name: of the table, and of its config in the card.
        folder: holds its shards.
        meaning: what it holds, in one sentence.
        columns: in the order of the files.
        key: unique; rows are sorted by it.
        reader: who needs it.
        has_splits: whether there is one set of files per split; the others have one set, called `test`,
            because tools of the field want a split's name.
        is_optional: whether it is left out where a task has no rows for it.
        step: which step of a release writes it.
        language: of a table that is parted by language, the only one whose files are meant; '' for all.
    """

    name: str
    folder: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    _: KW_ONLY
    reader: Reader = "consumer"
    has_splits: bool = False
    is_optional: bool = False
    step: Step = "write"
    language: str = ""

    @property
    def schema(self) -> pa.Schema:
        """The columns as Arrow writes them, with the metadata by which `datasets` decodes images."""
        return _schema(self.columns)

    @property
    def schemas(self) -> tuple[pa.Schema, ...]:
        """Every set of columns its files may have: with the optional ones, and without."""
        kept = tuple(column for column in self.columns if not column.is_optional)
        return (self.schema,) if kept == self.columns else (self.schema, _schema(kept))

    @property
    def query_column(self) -> str:
        """The column with the query a row is of, in a table with splits."""
        return "query-id" if any(column.name == "query-id" for column in self.columns) else "id"

    @property
    def rows_per_group(self) -> int:
        """Rows of one row group; few where each has a picture, or several."""
        if any(column.type == pa.list_(IMAGE) for column in self.columns):
            return 20
        return 100 if any(column.type == IMAGE for column in self.columns) else 10_000

    @property
    def is_provenance(self) -> bool:
        """Whether it tells where rows came from: no retrieval system should read it."""
        return self.folder.startswith("provenance/")

    def only(self, names: Collection[str]) -> Published:
        """The same table with those of its columns."""
        return replace(self, columns=tuple(column for column in self.columns if column.name in names))

    def without(self, *names: str) -> Published:
        """The same table without some columns."""
        return replace(self, columns=tuple(column for column in self.columns if column.name not in names))

    def as_of(self, format_version: int) -> Published:
        """The same table as releases of an older format have it."""
        newer = [column.name for column in self.columns if column.since > format_version]
        return self.without(*newer) if newer else self

    def files(self, directory: Path, split: str = "") -> list[Path]:
        """Its shards inside a task directory, in order; those of one split where it is named."""
        found = sorted((directory / self.folder).glob(f"{split}-*.parquet" if split else "*.parquet"))
        return [path for path in found if language_of(path) == self.language] if self.language else found


def language_of(path: Path) -> str:
    """The language that a shard holds the rows of, `test-es-00000-of-00001`; "" for one with those of all.

    With the tier before it where that is apart: `parallel-es` of `test-parallel-es-00000-of-00001`.
    """
    found = _OF_LANGUAGE.fullmatch(path.name)
    return found["language"] if found else ""


def languages_of(files: Iterable[Path]) -> list[str]:
    """Languages that a table is parted by, sorted; none where it is not."""
    return sorted({language for path in files if (language := language_of(path))})


def of_language(name: str, language: str) -> str:
    """Name of the config with the rows of one language: `es-queries`, `parallel-es-queries`.

    Where only the documents are in it, too: `es-corpus` of `named_corpus`. Where only the queries are, the
    card lists the one corpus under that name as well: MTEB's loader looks for it there.
    """
    return f"{language}-{name.removeprefix(NAMED)}"


@functools.cache
def _schema(columns: tuple[Column, ...]) -> pa.Schema:
    schema = pa.schema([pa.field(item.name, item.type, metadata={"doc": item.meaning}) for item in columns])
    features = {item.name: _feature(item.type) for item in columns}
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}}, sort_keys=True)})


def _feature(kind: pa.DataType) -> dict[str, Any]:
    """The `datasets` feature of an Arrow type, as its JSON form."""
    if kind.equals(IMAGE):
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"_type": "List", "feature": _feature(kind.value_type)}
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    return {"_type": "Value", "dtype": str(kind)}


def card_features(schema: pa.Schema) -> list[dict[str, Any]]:
    """Columns of a published file in their order, as `dataset_info` in a card states them."""
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    stated: list[dict[str, Any]] = _stated({name: features[name] for name in schema.names})["struct"]
    return stated


def _stated(feature: Mapping[str, Any]) -> dict[str, Any]:
    """A feature in that form, from its JSON form; what a list holds stands there by itself."""
    kind = feature.get("_type")
    if kind == "Value":
        return {"dtype": feature["dtype"]}
    if kind == "List":
        held = _stated(feature["feature"])
        return {"list": held.get("dtype") or held.get("struct") or held}
    if kind is not None:
        return {"dtype": kind.lower()}
    return {"struct": [{"name": name, **_stated(each)} for name, each in feature.items()]}
