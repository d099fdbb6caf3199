"""What queries rest on, as SQL over the published tables: the keys no two tasks or splits may share.

Computed again from texts, provenance, judgements and images, apart from the partition that chose them; the
published `keys` table is only added. A positive is a pair with a score above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.audit.rule import CannotRun, Context, NotCovered
from curation.published.query import Stored
from schemas.overlap_policy import Dimension

OWN, POSITIVE, PUBLISHED = 0, 1, 2
"""What a key was read from: the query itself, a positive document, or the published keys alone."""

_POSITIVES = """(SELECT "query-id" AS q, "corpus-id" AS c FROM qrels WHERE score > 0)"""
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
    return rf"""CASE
        WHEN regexp_full_match({article}, 'europepmc:([Pp][Mm][Cc])?[0-9]{{1,12}}')
            THEN 'pmc:' || substr({article}, 11)
        WHEN starts_with({article}, 'pmc:') THEN regexp_replace({article}, '\.[^.]*$', '')
        ELSE {article} END"""


def _patient(case: str) -> str:
    """SQL: a case id without its article's version."""
    article = f"split_part({case}, '#', 1)"
    return f"{family(article)} || substr({case}, length({article}) + 1)"


@dataclass(frozen=True, slots=True)
class Origin:
    """One way a query comes to rest on a key; `sql` selects q, key and doc (null for the query itself)."""

    basis: int
    tables: tuple[str, ...]
    sql: str
    is_stated: bool = True
    """Whether the published keys table must hold these keys; the others are read from ids and pixels."""


def _queries(key: str, where: str = "true", *, is_stated: bool = True) -> Origin:
    sql = f"SELECT id AS q, {key} AS key, NULL::VARCHAR AS doc FROM provenance_queries WHERE {where}"
    return Origin(OWN, ("provenance_queries",), sql, is_stated)


def _positives(key: str, where: str = "true") -> Origin:
    """A key is made once for each document, of which many are positive for many queries."""
    sql = f"""SELECT r.q, p.key, r.c AS doc FROM {_POSITIVES} r
        JOIN (SELECT p.id, {key} AS key FROM provenance_corpus p WHERE {where}) p ON p.id = r.c"""
    return Origin(POSITIVE, ("qrels", "provenance_corpus"), sql)


def _ids(key: str, where: str) -> Origin:
    """A document's id says where it comes from, whatever its provenance row says."""
    sql = f"SELECT q, {key} AS key, c AS doc FROM {_POSITIVES} WHERE {where}"
    return Origin(POSITIVE, ("qrels",), sql, False)


_SOURCE = "split_part(source_id, '#', 1)"
_DOCUMENT = "split_part(c, '#', 1)"
_CASE = "regexp_matches({}, '#case[0-9]+$')"
_TEXT = Origin(
    OWN,
    ("queries",),
    """SELECT id AS q, sha256(folded) AS key, NULL::VARCHAR AS doc
        FROM (SELECT id, normalise_text(text) AS folded FROM queries) WHERE folded <> ''""",
)
_QUERY_BYTES = Origin(
    OWN,
    ("queries",),
    """SELECT id AS q, 'sha256:' || sha256(image.bytes) AS key, NULL::VARCHAR AS doc FROM queries
        WHERE image.bytes IS NOT NULL""",
    False,
)
_DOCUMENT_BYTES = Origin(
    POSITIVE,
    ("qrels", "corpus"),
    f"""SELECT r.q, d.key, r.c AS doc FROM {_POSITIVES} r JOIN (
        SELECT id, 'sha256:' || sha256(image.bytes) AS key FROM corpus WHERE image.bytes IS NOT NULL) d
        ON d.id = r.c""",
    False,
)
_ORIGINS: dict[Dimension, tuple[Origin, ...]] = {
    "target_concept": (),
    "query": (_TEXT, _queries("'family:' || family", "family <> ''")),
    "article": (
        _queries(family("article_id")),
        _positives(family("p.article_id")),
        _queries(family(_SOURCE), "contains(source_id, '#')", is_stated=False),
        _ids(family(_DOCUMENT), "contains(c, '#')"),
    ),
    "patient": (
        _queries(_patient("patient_id"), "patient_id <> ''"),
        _positives(_patient("p.patient_id"), "p.patient_id <> ''"),
        _queries(_patient("source_id"), _CASE.format("source_id"), is_stated=False),
        _ids(_patient("c"), _CASE.format("c")),
    ),
    "image_family": (
        _queries("'sha256:' || image_source_sha256"),
        _positives("'sha256:' || p.image_source_sha256"),
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


def rests_sql(dimension: Dimension, dataset: Dataset) -> tuple[str, tuple[str, ...]]:
    """SQL over one dataset, and its tables: split, q, key, basis (see `OWN`), doc.

    One row for each query, split and key, and one without a key for a query that rests on none. `doc` is the
    smallest positive that brings the key. A text without a letter or digit is no key (the rule `empty_texts`
    finds it; a query may be an image alone).
    """
    chosen = origins(dimension, dataset)
    parts = [f"SELECT q, key, {origin.basis} AS basis, doc FROM ({origin.sql})" for origin in chosen]
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
        LEFT JOIN (SELECT * FROM ({" UNION ALL ".join(parts)}) WHERE key <> '') f ON f.q = s.q
        GROUP BY s.split, s.q, f.key"""
    return sql, tuple(tables)


def stated_sql(dataset: Dataset) -> tuple[str, tuple[str, ...]]:
    """SQL over one release, and its tables: the keys its `keys` table must hold: q, dimension, key, doc."""
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
