"""Rows of a task that rest on what was withdrawn: the last gate before a release, whatever stages did."""

from __future__ import annotations

from curation.partition.keys_sql import article_key, patient_key
from schemas.image_tables import ORIGIN_IMAGES
from schemas.larger_tables import PARTS

VIEW = "withdrawn"
_OF_EVIDENCE = """SELECT query_id AS of_query, unnest(evidence).text_id AS named FROM qrels"""


def rests_on(rows: str, unit: str, images: str = "", parts: str = "") -> str:
    """SELECT of queries or documents that rest on withdrawn things, with the first reason of each.

    Args:
        rows: a table of queries or documents, or a SELECT in parentheses.
        unit: query or document.
        images: table of all images of rows that have several, '' where there is none.
        parts: table of what documents larger than a passage are made of, '' where there is none.

    Returns:
        SQL over `rows`, `qrels` and the view `withdrawn`: id, article_id, reason, notice, parent, gone (the
        id on the list).
    """
    source = "t.source_id" if unit == "query" else "t.id"
    handles = f"""list_value(t.id, {source}, t.article_id, {article_key("t.article_id")}, t.patient_id,
        {patient_key("t.patient_id")}, coalesce(t.image.sha256, ''), {_figure_of(source)})"""
    told = f"SELECT t.id, t.article_id, unnest({handles}) AS handle FROM {rows} AS t"
    if unit == "query":
        article = "split_part(e.named, '#', 1)"
        told += f""" UNION ALL SELECT t.id, t.article_id,
            unnest(list_value(e.named, {article}, {article_key(article)}))
            FROM {rows} AS t JOIN ({_OF_EVIDENCE}) AS e ON e.of_query = t.id"""
    if images:
        told += f""" UNION ALL SELECT t.id, t.article_id, unnest(list_value(i.image.sha256, i.figure_id))
            FROM {rows} AS t JOIN {images} AS i ON i.side = '{unit}' AND i.id = t.id"""
    if parts and unit == "document":
        told += f""" UNION ALL SELECT t.id, t.article_id, p.part_id
            FROM {rows} AS t JOIN {parts} AS p ON p.corpus_id = t.id AND p.left_out = ''"""
    return f"""SELECT m.id, m.article_id, w.reason, w.notice, w.parent, w.id AS gone
        FROM ({told}) AS m JOIN ({LISTED}) AS w ON w.handle = m.handle
        QUALIFY row_number() OVER (PARTITION BY m.id ORDER BY w.parent, w.id) = 1 ORDER BY m.id"""


def _figure_of(column: str) -> str:
    """The figure of a panel's id (`…#F1.B`); of anything else nothing that is one."""
    return f"regexp_replace({column}, '(#[^#]*)\\.[^.#]*$', '\\1')"


LISTED = f"""SELECT DISTINCT unnest(CASE unit WHEN 'article' THEN list_value(id, {article_key("id")})
        WHEN 'patient' THEN list_value(id, {patient_key("id")}) ELSE list_value(id) END) AS handle,
    id, reason, notice, parent FROM {VIEW} WHERE id <> ''"""
"""What was withdrawn by each id that rows may have of it: an article's versions are one."""
_PUBLISHED = {
    "query": ("provenance_queries", "source_id"),
    "document": ("provenance_corpus", "id AS source_id"),
}


def of_published(unit: str, *, with_images: bool = False, with_parts: bool = False) -> str:
    """The same of a published task: SQL over `provenance_queries`, `_corpus`, `_qrels` and `withdrawn`.

    Args:
        unit: query or document.
        with_images: whether it has `provenance_images`, too.
        with_parts: whether it has `parts`.
    """
    table, source = _PUBLISHED[unit]
    rows = f"""(SELECT id, article_id, {source}, coalesce(patient_id, '') AS patient_id,
        {{'sha256': image_source_sha256}} AS image FROM {table})"""
    evidence = """SELECT "query-id" AS query_id, evidence FROM provenance_qrels"""
    images = f"""(SELECT side, id, figure_id, {{'sha256': image_source_sha256}} AS image
        FROM {ORIGIN_IMAGES.name})"""
    parts = f"""(SELECT "corpus-id" AS corpus_id, part_id, left_out FROM {PARTS.name})"""
    resting = rests_on(rows, unit, images if with_images else "", parts if with_parts else "")
    return f"WITH qrels AS ({evidence}) {resting}"
