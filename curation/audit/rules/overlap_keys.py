"""What queries rest on, as SQL over the published tables: the keys no two tasks or splits may share.

Computed again from texts, provenance, judgements and images, apart from the partition that chose them; the
published `keys` table is only added. A positive is a pair with a score above 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.audit.pictures import is_hashed
from curation.audit.rule import CannotRun, Context, NotCovered
from curation.audit.rules.text_rows import literal
from curation.published.query import Sandbox, Stored, Views, fetch
from schemas.image_tables import ORIGIN_IMAGES
from schemas.overlap_policy import Dimension

OWN, POSITIVE, PUBLISHED = 0, 1, 2
"""What a key was read from: the query itself, a positive document, or the published keys alone."""

Select = tuple[str, tuple[str, ...]]
"""SQL over one dataset, and its tables."""

_PROVENANCE = ("provenance_queries", "provenance_corpus", "qrels", "keys")
_TABLES: dict[Dimension, tuple[str, ...]] = {
    "target_concept": ("provenance_queries", "keys"),
    "query": (),
    "article": _PROVENANCE,
    "patient": _PROVENANCE,
    "image_family": (),
}
"""Tables a dimension cannot do without, beside queries."""


def family(article: str) -> str:
    """SQL: an article id without its version, as `schemas.ids.family_key`."""
    return rf"""regexp_replace(regexp_replace({article}, '(?s)^(pmc:.*)\.[^.]*$', '\1'),
        '^europepmc:((?:[Pp][Mm][Cc])?[0-9]{{1,12}})$', 'pmc:\1')"""


def _article(record: str) -> str:
    """SQL: the article that the id of a record names, without its version."""
    return family(f"regexp_extract({record}, '^[^#]*')")


def _patient(case: str) -> str:
    """SQL: a case id without its article's version."""
    return rf"""regexp_replace(regexp_replace({case}, '(?s)^(pmc:[^#]*)\.[^.#]*(#.*)?$', '\1\2'),
        '(?s)^europepmc:((?:[Pp][Mm][Cc])?[0-9]{{1,12}})(#.*)?$', 'pmc:\1\2')"""


@dataclass(frozen=True, slots=True)
class Origin:
    """One way a query comes to rest on a key; `sql` selects q, key, basis, doc (null but of a positive)."""

    tables: tuple[str, ...]
    sql: str
    is_stated: bool = True
    """Whether the published keys table must hold these keys; the others are read from ids and pixels."""


def _queries(
    key: str, where: str = "true", table: str = "provenance_queries", *, is_stated: bool = True
) -> Origin:
    sql = f"SELECT id AS q, {key} AS key, {OWN} AS basis, NULL::VARCHAR AS doc FROM {table} WHERE {where}"
    return Origin((table,), sql, is_stated)


def _positives(
    key: str, where: str = "true", table: str = "provenance_corpus", *, is_stated: bool = True
) -> Origin:
    """A key is made once for each document, of which many are positive for many queries."""
    sql = f"""SELECT r."query-id" AS q, p.key, {POSITIVE} AS basis, p.id AS doc FROM qrels r
        JOIN (SELECT id, {key} AS key FROM {table} WHERE {where}) p ON p.id = r."corpus-id"
        WHERE r.score > 0"""
    return Origin(("qrels", table), sql, is_stated)


def _ids(key: str, where: str) -> Origin:
    """A document's id says where it comes from, whatever its provenance row says."""
    sql = f"""SELECT "query-id" AS q, {key} AS key, {POSITIVE} AS basis, "corpus-id" AS doc FROM qrels
        WHERE score > 0 AND {where}"""
    return Origin(("qrels",), sql, False)


_NO_FILE = "NOT starts_with({}, 'questions:')"
"""A file of questions is no article: what its questions share is where they were found."""
_CASE = "regexp_matches({}, '#case[0-9]+$')"
_TEXT = Origin(
    ("queries",),
    f"""SELECT id AS q, sha256(folded) AS key, {OWN} AS basis, NULL::VARCHAR AS doc
        FROM (SELECT id, normalise_text(text) AS folded FROM queries) WHERE folded <> ''""",
)
_BYTES = ("'sha256:' || sha256(image.bytes)", "image.bytes IS NOT NULL")
_QUERY_BYTES = _queries(*_BYTES, "queries", is_stated=False)
_DOCUMENT_BYTES = _positives(*_BYTES, "corpus", is_stated=False)
_ORIGINS: dict[Dimension, tuple[Origin, ...]] = {
    "target_concept": (),
    "query": (_TEXT, _queries("'family:' || family", "family <> ''")),
    "article": (
        _queries(family("article_id"), _NO_FILE.format("article_id")),
        _positives(family("article_id")),
        _queries(
            _article("source_id"),
            f"contains(source_id, '#') AND {_NO_FILE.format('source_id')}",
            is_stated=False,
        ),
        _ids(_article('"corpus-id"'), """contains("corpus-id", '#')"""),
    ),
    "patient": (
        _queries(_patient("patient_id"), "patient_id <> ''"),
        _positives(_patient("patient_id"), "patient_id <> ''"),
        _queries(_patient("source_id"), _CASE.format("source_id"), is_stated=False),
        _ids(_patient('"corpus-id"'), _CASE.format('"corpus-id"')),
    ),
    "image_family": (
        _queries("'sha256:' || image_source_sha256"),
        _positives("'sha256:' || image_source_sha256"),
        _queries("'sha256:' || image_source_sha256", "side = 'query'", ORIGIN_IMAGES.name),
        _positives("'sha256:' || image_source_sha256", "side = 'document'", ORIGIN_IMAGES.name),
        _QUERY_BYTES,
        _DOCUMENT_BYTES,
    ),
}


def _has_images(dataset: Dataset, table: str) -> bool:
    files = dataset.views.get(table)
    if not files:
        return False
    schema = files.schema if isinstance(files, Stored) else pq.read_schema(files[0])
    return "image" in schema.names and pa.types.is_struct(schema.field("image").type)


def require(dimension: Dimension, dataset: Dataset) -> None:
    """Check that a dataset holds what a dimension is read from.

    Raises:
        CannotRun: a release of ours lacks a table.
        NotCovered: another layout has no such table.
    """
    wanted = ("queries", *_TABLES[dimension])
    if dataset.kind == "release":
        wanted = ("queries", *_PROVENANCE)
    absent = [name for name in dict.fromkeys(wanted) if name not in dataset.views]
    if not absent and dimension == "image_family" and dataset.kind != "release":
        absent = [] if any(_has_images(dataset, name) for name in ("queries", "corpus")) else ["images"]
    if absent:
        text = f"table absent: {', '.join(absent)}"
        raise CannotRun(text) if dataset.kind == "release" else NotCovered(text)


def absent_siblings(context: Context) -> list[str]:
    """Tasks of the release whose files were not given."""
    if context.subject.manifest is None:
        return []
    named: Sequence[str] = getattr(context.subject.manifest, "siblings", ())
    given = {context.subject.task, *(sibling.task for sibling in context.siblings)}
    return sorted(set(named) - given)


def keep(
    context: Context, dataset: Dataset, name: str, select: Select, schema: pa.Schema, view: str
) -> Views:
    """Rows of a SELECT, kept as a view: a file, which audits of siblings share, or a table of a sandbox."""
    text, tables = select
    views = {table: dataset.views[table] for table in tables}
    if isinstance(context.query, Sandbox):
        fetch(context.query, f"CREATE OR REPLACE TABLE {view} AS {text}", views)
        return {}  # it is seen by its name
    key = (name, dataset.name, dataset.task, dataset.sha256, str(dataset.directory))
    path: Path | None = context.shared.get(key)
    if path is None or not path.is_file():
        path = context.scratch / f"{name}-{view}.parquet"
        with pq.ParquetWriter(path, schema, compression="lz4") as writer:
            for batch in context.query(text, views):
                writer.write_table(pa.Table.from_batches([batch]).cast(schema))
        if is_hashed(dataset):
            context.shared[key] = path
    return {view: [path]}


def texts_of(
    context: Context, datasets: Sequence[Dataset], wanted: Mapping[tuple[int, str], Collection[str]]
) -> dict[tuple[int, str, str], str]:
    """Texts of some rows by number of the dataset, table and id; what is not there has none."""
    parts, views = [], {}
    for (number, table), ids in sorted(wanted.items()):
        if ids and table in datasets[number].views:
            views[f"{table}_{number}"] = datasets[number].views[table]
            listed = ", ".join(literal(row_id) for row_id in sorted(ids))
            parts.append(
                f"""SELECT {number} AS d, '{table}' AS tab, id, text FROM {table}_{number}
                WHERE id IN ({listed})"""
            )
    rows = fetch(context.query, " UNION ALL ".join(parts), views) if parts else ()
    return {(row["d"], row["tab"], row["id"]): row["text"] or "" for row in rows}


def origins(dimension: Dimension, dataset: Dataset) -> list[Origin]:
    """The ways of one dimension that a dataset has the tables and image columns for."""
    images = {"queries": _QUERY_BYTES, "corpus": _DOCUMENT_BYTES}
    without = [origin for table, origin in images.items() if not _has_images(dataset, table)]
    return [
        origin
        for origin in _ORIGINS[dimension]
        if origin not in without and all(table in dataset.views for table in origin.tables)
    ]


def splits_sql(dataset: Dataset) -> str:
    """SQL: every query with its split; a dataset without provenance is one part, its split is ''.

    That the split stated is the split of the file is the rule `splits`.
    """
    if "provenance_queries" not in dataset.views:
        return "SELECT DISTINCT id AS q, '' AS split FROM queries"
    return """SELECT DISTINCT q.id AS q, coalesce(nullif(p.split, ''), 'test') AS split FROM queries q
        LEFT JOIN provenance_queries p ON p.id = q.id"""


def rests_sql(dimension: Dimension, dataset: Dataset) -> Select:
    """What queries of one dataset rest on: split, q, key, basis (see `OWN`), doc.

    One row for each query, split and key, and one without a key for a query that rests on none. `doc` is the
    smallest positive that brings the key. A text without a letter or digit is no key (the rule `empty_texts`
    finds it; a query may be an image alone).
    """
    chosen = origins(dimension, dataset)
    parts = [origin.sql for origin in chosen]
    tables = {"queries": None, **{name: None for origin in chosen for name in origin.tables}}
    for name in ("provenance_queries", "keys"):
        if name in dataset.views:
            tables[name] = None
    if "keys" in tables:
        parts.append(
            f"""SELECT "query-id" AS q, key, {PUBLISHED} AS basis, NULL::VARCHAR AS doc FROM keys
                WHERE dimension = '{dimension}' AND key <> sha256('')"""
        )
    sql = f"""SELECT s.split, s.q, f.key, min(f.basis)::INTEGER AS basis, min(f.doc) AS doc
        FROM ({splits_sql(dataset)}) s
        LEFT JOIN ({" UNION ALL ".join(parts)}) f ON f.q = s.q AND f.key <> ''
        GROUP BY s.split, s.q, f.key"""
    return sql, tuple(tables)


def stated_sql(dataset: Dataset) -> Select:
    """The keys that the `keys` table of one release must hold: q, dimension, key, doc."""
    parts: list[str] = []
    tables: dict[str, None] = {"queries": None}
    for dimension in _ORIGINS:
        for origin in origins(dimension, dataset):
            if origin.is_stated:
                parts.append(f"SELECT q, '{dimension}' AS dimension, key, doc FROM ({origin.sql})")
                tables |= dict.fromkeys(origin.tables)
    sql = f"""SELECT q, dimension, key, nullif(min(coalesce(doc, '')), '') AS doc
        FROM ({" UNION ALL ".join(parts)}) WHERE key <> '' AND q IN (SELECT id FROM queries)
        GROUP BY q, dimension, key"""
    return sql, tuple(tables)
