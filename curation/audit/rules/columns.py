"""Rules on the files' columns: declared names, types, nulls; shards that agree; rows in their split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.checks import placed
from curation.audit.rule import (
    SPLITS,
    CannotRun,
    Check,
    Collector,
    Context,
    Defect,
    FileDefect,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules import planting
from curation.labels.floors import FLOORS
from curation.published.query import Stored
from schemas.published import Published
from schemas.tables import TABLES

_SHARD = re.compile(r"^(?P<of>.*?)-?\d+(?:-of-\d+)?\.parquet$")


def _schema(context: Context) -> Outcome:
    found = Collector("schema", "error")
    format_version = context.manifest.format_version  # other layouts declare no columns
    files = 0
    for table in (declared.as_of(format_version) for declared in TABLES):
        shards = table.files(context.directory)
        if not shards and not table.is_optional:
            found.add(f"table {table.name} has no file", side(table.name, table.folder))
        for path in shards:
            files += 1
            name = path.relative_to(context.directory).as_posix()
            actual = pq.read_schema(path)
            if not any(actual.equals(schema, check_metadata=False) for schema in table.schemas):
                _compare(found, table, name, actual, _nearest(actual, table.schemas))
    return found.outcome(files)


def _nulls(context: Context) -> Outcome:
    found = Collector("schema", "error")
    _ = context.manifest
    for table in TABLES:
        if table.name in context.views:
            _find_nulls(context, found, table)
    return found.outcome(0)


def _nearest(actual: pa.Schema, allowed: Sequence[pa.Schema]) -> pa.Schema:
    """The declared columns a file comes closest to."""
    return min(allowed, key=lambda schema: len(set(schema.names) ^ set(actual.names)))


def _compare(found: Collector, table: Published, name: str, actual: pa.Schema, wanted: pa.Schema) -> None:
    """Say how a file's columns differ from the declared ones."""
    before = found.found
    for column in sorted({item for item in actual.names if actual.names.count(item) > 1}):
        found.add(f"{name}: column {column} stands twice", side(table.name, column))
    for column in sorted(set(actual.names) - set(wanted.names)):
        found.add(f"{name}: unknown column {column}", side(table.name, column))
    for column in sorted(set(wanted.names) - set(actual.names)):
        found.add(f"{name}: column {column} is missing", side(table.name, column))
    for field in wanted:
        if actual.names.count(field.name) != 1:
            continue
        other = actual.field(field.name)
        if other.type != field.type:
            found.add(
                f"{name}: column {field.name} is {other.type}, not {field.type}", side(table.name, field.name)
            )
        elif other.nullable != field.nullable:
            may = "may" if other.nullable else "may not"
            found.add(f"{name}: column {field.name} {may} hold nulls", side(table.name, field.name))
    if found.found == before:
        found.add(f"{name}: columns are in another order", side(table.name, name))


def _find_nulls(context: Context, found: Collector, table: Published) -> None:
    """Rows without a value where one must be; read only where the files' statistics count some."""
    for column in (item.name for item in table.columns if not item.may_be_null):
        if not _may_have_nulls(context.views[table.name], column):
            continue
        named = ["id"] if "id" in table.schema.names else [name for name in table.key if name != "dimension"]
        listed = ", ".join(f'"{name}"' for name in named)
        text = f'SELECT {listed} FROM "{table.name}" WHERE "{column}" IS NULL ORDER BY ALL'
        for row in context.rows(text, table.name):
            found.add(f"{column} of {table.name} is null", *(side(table.name, row[name]) for name in named))


def _may_have_nulls(files: Sequence[Path], column: str) -> bool:
    if isinstance(files, Stored):
        return column in files.schema.names
    for path in files:
        meta = pq.read_metadata(path)
        places = [place for place in range(meta.num_columns) if meta.schema.column(place).path == column]
        for group in range(meta.num_row_groups):
            for place in places:
                statistics = meta.row_group(group).column(place).statistics
                if statistics is None or not statistics.has_null_count or statistics.null_count:
                    return True
    return False


def _shards(context: Context) -> Outcome:
    """Files of one table must agree: readers take the first file's types and cast, or drop, the others'."""
    found = Collector("shards", "error")
    files = 0
    for table, paths in _sets_of_shards(context):
        first: pa.Schema | None = None
        for path in paths:
            files += 1
            schema = pq.read_schema(path)
            if first is None:
                first, kept = schema, path
            elif not schema.equals(first, check_metadata=False):
                one, other = (_place(context, item) for item in (kept, path))
                for column, said in _differences(first, schema):
                    message = f"{one} and {other}: column {column} {said}"
                    found.add(message, side(table, column), side(table, other))
    return found.outcome(files)


def _sets_of_shards(context: Context) -> Iterator[tuple[str, list[Path]]]:
    """Every set of files that readers take for one table."""
    seen: set[Path] = set()
    for table, files in sorted(context.views.items()):
        seen.update(path.resolve() for path in files)
        yield table, sorted(files)
    if context.subject.kind == "release" or not context.directory.is_dir():
        return
    loose = [path for path in sorted(context.directory.rglob("*.parquet")) if path.resolve() not in seen]

    def shard_of(path: Path) -> tuple[str, str]:
        split = _SHARD.match(path.name)
        return path.parent.as_posix(), split["of"] if split else path.name

    for _, group in groupby(sorted(loose, key=shard_of), key=shard_of):
        paths = list(group)
        yield _place(context, paths[0].parent), paths


def _place(context: Context, path: Path) -> str:
    """A file's path inside the audited directory."""
    inside = path.is_relative_to(context.directory)
    return path.relative_to(context.directory).as_posix() if inside else path.name


def _differences(one: pa.Schema, other: pa.Schema) -> Iterator[tuple[str, str]]:
    """Columns two files differ in, and how."""
    if one.names != other.names and sorted(one.names) == sorted(other.names):
        yield one.names[0], "stands at another place"
    for column in sorted(set(one.names) | set(other.names)):
        if column not in other.names:
            yield column, "is missing in the second"
        elif column not in one.names:
            yield column, "is missing in the first"
        elif one.names.count(column) == other.names.count(column) == 1:
            first, second = one.field(column), other.field(column)
            if first.type != second.type:
                yield column, f"is {first.type} and {second.type}"
            elif first.nullable != second.nullable:
                yield column, "may hold nulls in one of them"


def _other_names(context: Context) -> Outcome:
    """Splits that are none, in files' names."""
    found = Collector("splits", "error")
    if "provenance_queries" not in context.views:
        raise (CannotRun if context.subject.kind == "release" else NotCovered)(
            "nothing says which split a query is in: no provenance_queries"
        )
    for table in _SPLIT_TABLES:
        files = context.views.get(table.name, ())
        names = set() if isinstance(files, Stored) else {path.name.split("-")[0] for path in files}
        for split in sorted(names.difference(SPLITS)):
            found.add(f"files of {table.name} are of split {split!r}", side(table.name, split))
    return found.outcome(0)


def _of_split(table: Published) -> Check:
    """Rows of a table stand in files of their query's split."""

    def text(context: Context) -> str:
        rows = placed(context, table.name)
        return (
            rows
            and f"""SELECT DISTINCT r.q AS {table.name}, r.split AS "of", o.split FROM ({rows}) r
            JOIN provenance_queries o ON o.id = r.q WHERE o.split IS DISTINCT FROM r.split"""
        )

    return Check(
        f"the row is in a {{of}} file of {table.name}; its query is in {{split!r}}",
        text,
        Defect(
            f"{table.name} in a file of the other split",
            f"""INSERT INTO placed (tab, q, split) SELECT '{table.name}', id,
                if(split = 'test', 'dev', 'test') FROM provenance_queries ORDER BY id LIMIT 1 RETURNING q""",
        ),
    )


def _rows_of_splits(context: Context) -> str:
    return " UNION ALL ".join(
        f"SELECT 1 FROM {table.name}" for table in _SPLIT_TABLES if table.name in context.views
    )


def _without_file(directory: Path) -> list[str] | None:
    path = planting.table_file(directory, "excluded")
    if path is None:
        return None
    for other in path.parent.glob("*.parquet"):
        other.unlink()
    return ["excluded"]


def _of_a_third_split(directory: Path) -> list[str] | None:
    path = planting.table_file(directory, "qrels")
    if path is None:
        return None
    path.rename(path.with_name(f"train-{path.name.partition('-')[2]}"))
    return ["train"]


def _says_how_sure(table: str, context: Context) -> bool:
    """Whether a release has the table, and publishes how sure its labels are: older ones do not."""
    return table in context.views and {f"{name}_confidence" for name in FLOORS} <= {*context.columns(table)}


def _unsure(table: str, defect: str, values: str) -> Check:
    """Rows of a table whose confidence does not go with their label."""

    def text(context: Context) -> str:
        if context.subject.kind != "release":
            raise NotCovered("another layout does not say how sure its labels are")
        return " UNION ALL ".join(
            f"""SELECT id AS {table}, '{name}' AS facet, {name}_confidence AS sure FROM {table}
                WHERE coalesce({name}_confidence NOT BETWEEN 0 AND 1
                    OR ({name} <> '') <> ({name}_confidence >= {floor}), true)"""
            for name, floor in (FLOORS.items() if _says_how_sure(table, context) else ())
        )

    message = f"{{facet}} in {table} stands with confidence {{sure}}"
    return Check(message, text, Defect(defect, planting.set_row(table, values)))


def _labelled(context: Context) -> str:
    tables = [table for table in ("queries", "provenance_corpus") if _says_how_sure(table, context)]
    return " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in tables)


_SPLIT_TABLES = tuple(table for table in TABLES if table.has_splits)
SPLIT_FILES = (
    Check(
        "files are of an unknown split",
        _other_names,
        FileDefect("files of a third split", _of_a_third_split),
    ),
    Check(
        "split {split!r} is neither test nor dev",
        f"""SELECT id AS provenance_queries, split FROM provenance_queries
            WHERE split IS NULL OR split NOT IN {SPLITS}""",
        (
            Defect("an unknown split", planting.set_row("provenance_queries", "split = 'train'")),
            Defect("no split", planting.set_row("provenance_queries", "split = null")),
        ),
    ),
    *(_of_split(table) for table in _SPLIT_TABLES),
)
RULES = (
    Rule(
        "schema",
        2,
        "Columns and types",
        (
            "Every table is present, with exactly the declared columns, types and nullability; only years, "
            "outside ids and addresses, images, and measures that were not run may be null."
        ),
        "error",
        "files",
        checks=(
            Check(
                "a file does not have the declared columns",
                _schema,
                (
                    FileDefect(
                        "a column of another type",
                        planting.columns("qrels", planting.retyped("score", pa.float64()), "score"),
                    ),
                    FileDefect(
                        "an unknown column",
                        planting.columns(
                            "corpus",
                            lambda table: table.append_column("canary", table.column("id")),
                            "canary",
                        ),
                    ),
                    FileDefect(
                        "a column missing",
                        planting.columns(
                            "queries", lambda table: table.drop_columns(["language"]), "language"
                        ),
                    ),
                    FileDefect(
                        "a column of other nullability",
                        planting.columns("corpus", planting.not_null("id"), "id"),
                    ),
                    FileDefect(
                        "columns in another order",
                        planting.columns(
                            "excluded",
                            lambda table: table.select(table.column_names[::-1]),
                            "",
                        ),
                    ),
                    FileDefect("a table without files", _without_file),
                ),
            ),
            Check(
                "a value is null where one must be",
                _nulls,
                Defect(
                    "a null where a value must be", planting.set_row("provenance_corpus", "article_id = null")
                ),
            ),
        ),
    ),
    Rule(
        "shards",
        1,
        "Files of a table agree",
        "All files of a table have the same columns and types; software casts or drops what differs.",
        "error",
        "files",
        checks=(
            Check(
                "two files of a table differ",
                _shards,
                (
                    FileDefect(
                        "a file in which a column has another type",
                        planting.columns(
                            "corpus", planting.retyped("title", pa.binary()), "title", beside=True
                        ),
                    ),
                    FileDefect(
                        "a file in which a column is missing",
                        planting.columns(
                            "queries", lambda table: table.drop_columns(["text"]), "text", beside=True
                        ),
                    ),
                ),
            ),
        ),
    ),
    Rule(
        "splits",
        1,
        "Rows are in their split's files",
        (
            "Every query is in split test or dev, and its rows in queries, qrels and excluded are in files "
            "of that split."
        ),
        "error",
        "rows",
        checks=SPLIT_FILES,
        compared=_rows_of_splits,
    ),
    Rule(
        "confidence",
        2,
        "Labels say how sure they are",
        "A domain or body system stands where its confidence reaches the floor of the facet ("
        + ", ".join(f"{name} {floor}" for name, floor in FLOORS.items())
        + "), and nowhere else.",
        "error",
        "rows",
        checks=(
            _unsure("queries", "a sure label of nothing", "domain = '', domain_confidence = 0.9"),
            _unsure("queries", "a label below its floor", "domain = 'canary', domain_confidence = 0.19"),
            _unsure(
                "provenance_corpus",
                "a label without confidence",
                "body_system = 'canary', body_system_confidence = 0",
            ),
        ),
        compared=_labelled,
    ),
)
