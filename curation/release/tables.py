"""The published tables: names, columns and types, and a Parquet writer whose bytes depend on rows alone.

Column names follow MTEB and BEIR. Each file carries the `huggingface` metadata that makes images decode.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MAX_SHARD_BYTES = 400_000_000
IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
TRANSFORMS = pa.list_(
    pa.struct([("start", pa.int64()), ("end", pa.int64()), ("original", pa.string()), ("rule", pa.string())])
)
EVIDENCE = pa.list_(
    pa.struct([("text_id", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])
)
STRINGS = pa.list_(pa.string())


def _columns(*columns: tuple[str, pa.DataType, str]) -> pa.Schema:
    schema = pa.schema([pa.field(name, kind, metadata={"doc": doc}) for name, kind, doc in columns])
    features = {field.name: _feature(field.type) for field in schema}
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


@dataclass(frozen=True, slots=True)
class Published:
    """One published table. `folder` holds its shards; `key` is its unique, sorted key.

    A table that `has_splits` has one set of files per split; the others have one set, called `test`, because
    tools of the field want a split's name. An `optional` table is left out where a task has no rows for it.
    `other` are further column sets it may have.
    """

    name: str
    folder: str
    schema: pa.Schema
    key: tuple[str, ...]
    rows_per_group: int = 10_000
    has_splits: bool = False
    is_optional: bool = False
    other: tuple[pa.Schema, ...] = ()

    def files(self, directory: Path) -> list[Path]:
        """Its shards inside a task directory, in order."""
        return sorted((directory / self.folder).glob("*.parquet"))


_STR, _INT, _BOOL = pa.string(), pa.int64(), pa.bool_()
_ID_PAIR = (("query-id", _STR, "id in queries"), ("corpus-id", _STR, "id in corpus"))
_RIGHTS = (
    ("language", _STR, "BCP-47 language of the text"),
    ("license", _STR, "SPDX id of this row's licence"),
    ("is_synthetic", _BOOL, "made from synthetic input; such a row may not be published"),
)
_ORIGIN = (
    ("license_evidence", _STR, "where the licence was read"),
    ("text_sha256", _STR, "hex SHA-256 of the source text"),
    ("transforms", TRANSFORMS, "changes from source text to released text; undo last first"),
)
_QUERY = (("id", _STR, "query id, a hash of its content"), ("text", _STR, "query text"))
_FACETS = (
    ("specialty", _STR, "main specialty, '' when undecided"),
    ("modality", _STR, "imaging modality of the query or of what it asks for, '' when undecided"),
    ("region", _STR, "anatomical region, '' when undecided"),
    ("tier", _STR, "difficulty tier, '' in tasks without tiers"),
)

_PAIR_COLUMNS = ("query-id", "corpus-id")
_IMAGE_ORIGIN = (
    ("image_source_sha256", _STR, "hex SHA-256 of the image file as fetched"),
    ("image_sha256", _STR, "hex SHA-256 of the released image bytes"),
    ("image_transform", _STR, "'' when the bytes were copied, else how they were normalised"),
    ("image_width", _INT, "pixels"),
    ("image_height", _INT, "pixels"),
)
_DOCUMENT = (
    ("id", _STR, "document id; says which article and record it is"),
    ("title", _STR, "title of the article"),
    ("text", _STR, "document text"),
)
_TEXT_QUERY_SCHEMA = _columns(*_QUERY, *_RIGHTS, *_FACETS)
_TEXT_CORPUS_SCHEMA = _columns(*_DOCUMENT, *_RIGHTS)

QUERIES = Published(
    "queries",
    "queries",
    _columns(*_QUERY, ("image", IMAGE, "query image; decodes to a PIL image"), *_RIGHTS, *_FACETS),
    ("id",),
    rows_per_group=100,
    has_splits=True,
    other=(_TEXT_QUERY_SCHEMA,),
)
TEXT_QUERIES = Published("queries", "queries", _TEXT_QUERY_SCHEMA, ("id",), has_splits=True)
IMAGE_CORPUS = Published(
    "corpus",
    "corpus",
    _columns(*_DOCUMENT, ("image", IMAGE, "document image; decodes to a PIL image"), *_RIGHTS),
    ("id",),
    rows_per_group=100,
)
CORPUS = Published("corpus", "corpus", _TEXT_CORPUS_SCHEMA, ("id",), other=(IMAGE_CORPUS.schema,))
QRELS = Published(
    "qrels",
    "qrels",
    _columns(
        *_ID_PAIR,
        ("score", _INT, "relevance grade"),
        ("label_status", _STR, "structural, judge, expert or adjudicated"),
        ("rule", _STR, "named, versioned rule or verdict"),
        ("via", _STR, "concept that links query and document (CURIE), '' when none does"),
    ),
    _PAIR_COLUMNS,
    has_splits=True,
)
EXCLUDED = Published(
    "excluded",
    "excluded",
    _columns(*_ID_PAIR, ("reason", _STR, "why the pair is neither positive nor negative")),
    _PAIR_COLUMNS,
    has_splits=True,
)
SAME_ARTICLE = Published(
    "same_article",
    "same_article",
    _columns(
        *_ID_PAIR,
        ("score", _INT, "relevance grade, were the two not of one article"),
        ("rule", _STR, "named, versioned rule"),
        ("via", _STR, "concept that links the two (CURIE)"),
    ),
    _PAIR_COLUMNS,
    is_optional=True,
)
HARD_POOL = Published(
    "hard_pool",
    "hard_pool",
    _columns(
        *_ID_PAIR,
        ("rank", _INT, "1-based; the document most like the query first"),
        ("why", _STR, "what the two have in common"),
        ("label_status", _STR, "unjudged: such a document is hard, not wrong"),
    ),
    ("query-id", "rank"),
    is_optional=True,
)
ORIGIN_QUERIES = Published(
    "provenance_queries",
    "provenance/queries",
    _columns(
        ("id", _STR, "query id"),
        ("split", _STR, "test or dev"),
        ("source_id", _STR, "record the query was made from"),
        ("article_id", _STR, "article it was made from"),
        ("patient_id", _STR, "case it tells of, '' when it is of none"),
        ("family", _STR, "id shared by its translations and variants, '' when it has none"),
        ("hides_target", _BOOL, "no name of its target concepts may stand in it"),
        ("since", _STR, "version of the release that first published it"),
        *_ORIGIN,
        *_IMAGE_ORIGIN,
        ("image_count", _INT, "images the source figure has; the first is released"),
    ),
    ("id",),
)
ORIGIN_CORPUS = Published(
    "provenance_corpus",
    "provenance/corpus",
    _columns(
        ("id", _STR, "document id"),
        ("article_id", _STR, "article it comes from"),
        ("patient_id", _STR, "case it tells of or shows, '' when it is of none"),
        ("specialty", _STR, "main specialty, '' when undecided"),
        ("genre", _STR, "kind of source, '' when unknown"),
        *_ORIGIN,
        *_IMAGE_ORIGIN,
    ),
    ("id",),
)
ORIGIN_QRELS = Published(
    "provenance_qrels",
    "provenance/qrels",
    _columns(*_ID_PAIR, ("evidence", EVIDENCE, "spans of source texts the label rests on")),
    _PAIR_COLUMNS,
)
KEYS = Published(
    "keys",
    "provenance/keys",
    _columns(
        ("query-id", _STR, "id in queries"),
        ("dimension", _STR, "target_concept, query, article, patient or image_family"),
        ("key", _STR, "what the query or a positive rests on; no two tasks or splits share one"),
    ),
    ("query-id", "dimension", "key"),
)
TARGET_NAMES = Published(
    "target_names",
    "provenance/target_names",
    _columns(
        ("concept", _STR, "target concept (CURIE)"),
        ("language", _STR, "BCP-47 language of the name"),
        (
            "words",
            _INT,
            "words of the normalised name; minus its characters where the script writes no spaces",
        ),
        ("name_hash", _STR, "first 16 hex digits of SHA-256 over '<concept> <normalised name>'"),
    ),
    ("concept", "language", "name_hash"),
    is_optional=True,
)
SOURCES = Published(
    "sources",
    "provenance/sources",
    _columns(
        ("id", _STR, "article id, with version"),
        ("title", _STR, "article title"),
        ("authors", STRINGS, "authors in order, to be credited"),
        ("journal", _STR, "journal title"),
        ("year", _INT, "publication year"),
        ("doi", _STR, "DOI"),
        ("pmid", _STR, "PubMed id"),
        ("pmcid", _STR, "PMC id"),
        ("article_type", _STR, "article-type of the JATS file"),
        ("language", _STR, "BCP-47 language of the running text"),
        ("subjects", STRINGS, "subject headings"),
        ("license", _STR, "SPDX id of the article's licence"),
        ("license_url", _STR, "licence address as written"),
        ("license_evidence", _STR, "where the licence was read"),
        ("license_statement", _STR, "rights statement, shortened"),
        ("is_retracted", _BOOL, "retracted when the release was built"),
        ("is_synthetic", _BOOL, "marked synthetic"),
        ("scope_evidence", STRINGS, "what the scope decision rests on"),
        ("raw_sha256", _STR, "hex SHA-256 of the source file"),
    ),
    ("id",),
)
FUNNEL = Published(
    "funnel",
    "provenance/funnel",
    _columns(
        ("step", _INT, "1-based order"),
        ("stage", _STR, "stage name"),
        ("unit", _STR, "what was counted"),
        ("entered", _INT, "units that entered the stage"),
        ("kept", _INT, "units that left it"),
        ("dropped", _INT, "units dropped with a reason; entered = kept + dropped"),
    ),
    ("step",),
)
DROPS = Published(
    "drops",
    "provenance/drops",
    _columns(
        ("stage", _STR, "stage that dropped it"),
        ("unit", _STR, "kind of unit"),
        ("id", _STR, "id of the unit"),
        ("article_id", _STR, "article it belongs to"),
        ("reason", _STR, "closed reason code"),
        ("detail", _STR, "what was seen"),
    ),
    ("stage", "unit", "id", "reason", "detail"),
)
MAIN: tuple[Published, ...] = (CORPUS, QUERIES, QRELS, EXCLUDED)
EXTRA: tuple[Published, ...] = (SAME_ARTICLE, HARD_POOL)
"""Further pairs that some tasks publish; they take no part in the qrels."""
PROVENANCE: tuple[Published, ...] = (
    ORIGIN_QUERIES,
    ORIGIN_CORPUS,
    ORIGIN_QRELS,
    KEYS,
    TARGET_NAMES,
    SOURCES,
    FUNNEL,
    DROPS,
)
TABLES: tuple[Published, ...] = MAIN + EXTRA + PROVENANCE


def _payload(group: pa.Table) -> int:
    """Bytes of text and images in a row group: what the size cap counts (independent of Arrow's layout)."""
    total = 0
    for column in group.columns:
        kind = column.type
        for part in [column] if not pa.types.is_struct(kind) else [pc.struct_field(column, [0])]:
            if pa.types.is_string(part.type) or pa.types.is_binary(part.type):
                total += pc.sum(pc.binary_length(part)).as_py() or 0
    return total


def _open(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Text is compressed; image bytes already are, so they are stored as they come."""
    has_image = "image" in schema.names
    compression: Any = "zstd"
    if has_image:
        names = [name for name in schema.names if name != "image"]
        compression = {**dict.fromkeys(names, "zstd"), "image.bytes": "none", "image.path": "zstd"}
    repetitive = {
        "language",
        "license",
        "license_evidence",
        "label_status",
        "rule",
        "reason",
        "stage",
        "unit",
        "title",
        "split",
        "family",
        "since",
        "dimension",
        "key",
        "concept",
    }
    return pq.ParquetWriter(
        path,
        schema,
        compression=compression,
        use_dictionary=[name for name in schema.names if name in repetitive],
        write_statistics=[name for name in schema.names if schema.field(name).type in (_STR, _INT, _BOOL)],
    )


def write_table(
    table: Published,
    chunks: Iterable[pa.Table],
    directory: Path,
    max_shard_bytes: int = MAX_SHARD_BYTES,
    *,
    split: str = "test",
) -> int:
    """Write rows, already in key order, as `<folder>/<split>-00000-of-0000N.parquet`; return their number.

    Row groups and shards are cut by rows and payload only, so neither the size of the incoming chunks nor the
    machine shows in the bytes. An empty table is one file without rows.
    """
    folder = directory / table.folder
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    writer: pq.ParquetWriter | None = None
    payload, rows = 0, 0
    for group in _row_groups(table, chunks):
        if writer is None or payload >= max_shard_bytes:
            if writer is not None:
                writer.close()
            written.append(folder / f"part-{len(written):05d}")
            writer, payload = _open(written[-1], table.schema), 0
        writer.write_table(group, row_group_size=table.rows_per_group)
        payload += _payload(group)
        rows += group.num_rows
    if writer is None:
        written.append(folder / "part-00000")
        writer = _open(written[-1], table.schema)
    writer.close()
    for number, path in enumerate(written):
        path.rename(folder / f"{split}-{number:05d}-of-{len(written):05d}.parquet")
    return rows


def _row_groups(table: Published, chunks: Iterable[pa.Table]) -> Iterable[pa.Table]:
    """Cut incoming chunks into row groups of exactly `rows_per_group` rows (the last may be shorter)."""
    size = table.rows_per_group
    pending: list[pa.Table] = []
    held = 0
    for chunk in chunks:
        cast = chunk.select(table.schema.names).cast(table.schema)
        pending.append(cast)
        held += cast.num_rows
        if held >= size:
            joined = pa.concat_tables(pending)
            while joined.num_rows >= size:
                yield joined.slice(0, size).combine_chunks()
                joined = joined.slice(size)
            pending, held = [joined], joined.num_rows
    if held:
        yield pa.concat_tables(pending).combine_chunks()
