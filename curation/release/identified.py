"""Rows of a task that were withdrawn, could name a patient, or were reported: withheld from its release.

Looked for are the certain patterns of `curation.privacy` in everything of a query or document that would be
published: text, title, quotes of evidence, text that a transform replaced, record of its article. What is
withheld is among the published drops, by kind and place, without the words. The audit's rule phi_identifiers
proves from the released files that none is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.privacy import CERTAIN, gathered, hits, masked, nominated
from curation.published.manifest import Retention
from curation.published.query import QueryRunner, fetch
from curation.release import withdrawal
from schemas.confusion_table import CONFUSIONS
from schemas.facet_table import FACET_DECISIONS
from schemas.image_tables import ROW_IMAGES
from schemas.larger_tables import PARTS
from schemas.record import to_table
from schemas.review import Reported
from schemas.stages import Drop, Reason

STAGE = "privacy"
VERSION = 4
VIEW = "identified"
_PLACED = "SELECT query_id FROM assignments WHERE task = '{task}'"
_QUERIES = f"(SELECT q.* FROM queries AS q SEMI JOIN ({_PLACED}) AS p ON p.query_id = q.id)"
_PLACES = (
    ("query", "text", f"SELECT id, article_id, text FROM {_QUERIES}"),
    ("query", "replaced text", f"SELECT id, article_id, unnest(transforms).original AS text FROM {_QUERIES}"),
    (
        "query",
        "evidence",
        f"""SELECT q.id, q.article_id, e.text FROM {_QUERIES} AS q JOIN
            (SELECT query_id, unnest(evidence).text AS text FROM qrels) AS e ON e.query_id = q.id""",
    ),
    ("document", "text", "SELECT id, article_id, text FROM documents"),
    ("document", "title", "SELECT id, article_id, title AS text FROM documents"),
    (
        "document",
        "replaced text",
        "SELECT id, article_id, unnest(transforms).original AS text FROM documents",
    ),
    *(
        (
            unit,
            "record of the article",
            f"""SELECT t.id, t.article_id, s.text FROM {table} AS t JOIN (
                    SELECT id, title AS text FROM sources UNION ALL SELECT id, licence.statement FROM sources
                    UNION ALL SELECT id, unnest(scope_evidence) FROM sources
                ) AS s ON s.id = t.article_id""",
        )
        for unit, table in (("query", _QUERIES), ("document", "documents"))
    ),
)
_OF_IMAGES = tuple(
    (unit, what, f"SELECT id, article_id, {text} AS text FROM {ROW_IMAGES.name} WHERE side = '{unit}'")
    for unit in ("query", "document")
    for what, text in (
        ("caption of an image", "caption"),
        ("replaced text of a caption", "unnest(caption_transforms).original"),
    )
)
_OF_FACETS = (
    (
        "query",
        "evidence of a facet",
        f"""SELECT q.id, q.article_id, e.text FROM {_QUERIES} AS q
            JOIN (SELECT article_id, unnest(evidence).text AS text FROM {FACET_DECISIONS.name}) AS e
            USING (article_id)""",
    ),
)
_UNANSWERED = f"""SELECT q.id, q.article_id FROM {_QUERIES} AS q JOIN (
        SELECT query_id FROM qrels
        ANTI JOIN (SELECT query_id, corpus_id FROM withheld WHERE task = '{{task}}')
            USING (query_id, corpus_id)
        WHERE score > 0 GROUP BY query_id
        HAVING bool_and(corpus_id IN (SELECT id FROM {VIEW} WHERE unit = 'document'))
    ) AS lost ON lost.query_id = q.id ORDER BY q.id"""
"""Queries whose every positive is withheld."""
_IN_NO_SET = f"""SELECT id, article_id FROM documents ANTI JOIN (
        SELECT corpus_id AS id FROM {CONFUSIONS.name} AS c SEMI JOIN ({_PLACED}) AS p USING (query_id)
        ANTI JOIN (SELECT id AS query_id FROM {VIEW} WHERE unit = 'query') AS w USING (query_id)
    ) AS used USING (id) ORDER BY id"""
"""Documents that no query of the release is ranked among: they would tell of sets that it withholds."""
_REPORTED = """SELECT t.id, t.article_id, r.reasons FROM {rows} AS t JOIN reported AS r
    ON (r.text <> '' AND (t.text = r.text OR length(r.text) > {long} AND contains(t.text, r.text)))
        OR (r.image <> '' AND t.image.sha256 = r.image) ORDER BY ALL"""
"""Rows that show a text or an image of a reported item."""
_REPORTED_IMAGES = f"""SELECT t.id, t.article_id, r.reasons FROM {{rows}} AS t
    JOIN {ROW_IMAGES.name} AS i ON i.side = '{{unit}}' AND i.id = t.id
    JOIN reported AS r ON (r.image <> '' AND i.image.sha256 = r.image)
        OR (r.text <> '' AND (i.caption = r.text
            OR length(r.text) > {{long}} AND contains(i.caption, r.text)))
    ORDER BY ALL"""
"""The same, shown by one of several images."""
_LONG = 40
"""Characters of a reported text above which it is looked for within longer ones."""
Found = dict[tuple[str, str], Drop]
"""(unit, id) -> why it is withheld."""
_TABLES = ("queries", "documents", "qrels", "sources", "assignments", "withheld")


def write_identified(
    query: QueryRunner,
    task: str,
    tables: Mapping[str, Sequence[Path]],
    reported: Sequence[Reported],
    folder: Path,
) -> Path:
    """Write a Drop for every query and document that is withheld.

    Args:
        query: runs SQL over Parquet.
        task: its name; of its queries only those count that the partition kept.
        tables: its work tables, as `curation.release.write` is given them.
        reported: texts and images that readers reported, of any task.
        folder: an existing one.

    Returns:
        The Parquet file, in order of unit and id.
    """
    views = {name: tables[name] for name in _TABLES}
    listing = ROW_IMAGES.name if tables.get(ROW_IMAGES.name) else ""
    if listing:
        views[listing] = tables[listing]
    has_facets = bool(tables.get(FACET_DECISIONS.name))
    for name in (PARTS.name, FACET_DECISIONS.name, CONFUSIONS.name):
        if tables.get(name):
            views[name] = tables[name]
    found: Found = {}
    if tables.get(withdrawal.VIEW):
        _note_withdrawn(found, query, task, {**views, withdrawal.VIEW: tables[withdrawal.VIEW]})
    places = (*_PLACES, *(_OF_IMAGES if listing else ()), *(_OF_FACETS if has_facets else ()))
    texts = [
        f"SELECT {number} AS place, * FROM ({text.format(task=task)})"
        for number, (_, _, text) in enumerate(places)
    ]
    about = sum(pq.read_metadata(path).num_rows for path in (*tables["queries"], *tables["documents"]))
    asked = f"FROM {gathered(texts, about)} WHERE {nominated(CERTAIN)} ORDER BY ALL"
    for row in fetch(query, asked, views):
        unit, what, _ = places[row["place"]]
        for kind, start, end in hits(row["text"], CERTAIN):
            detail = f"the {what} holds {kind} at characters {start:,}–{end:,}"
            _note(found, unit, row, Reason.NAMES_A_PATIENT, detail)
    if reported:
        shown = folder / "reported.parquet"
        pq.write_table(to_table(Reported, list(reported)), shown)
        for unit, rows in (("query", _QUERIES.format(task=task)), ("document", "documents")):
            for text in (_REPORTED, _REPORTED_IMAGES) if listing else (_REPORTED,):
                asked = text.format(rows=rows, unit=unit, long=_LONG)
                for row in fetch(query, asked, {**views, "reported": [shown]}):
                    _note(found, unit, row, Reason.REPORTED, f"an annotator reported it: {row['reasons']}")
    path = _write(found, folder)
    if any(unit == "document" for unit, _ in found):
        for row in fetch(query, _UNANSWERED.format(task=task), {**views, VIEW: [path]}):
            _note(found, "query", row, Reason.NO_POSITIVE_LEFT, "every positive is withheld")
        path = _write(found, folder)
    if CONFUSIONS.name in views:
        for row in fetch(query, _IN_NO_SET.format(task=task), {**views, VIEW: [path]}):
            _note(found, "document", row, Reason.IN_NO_SET, "no query of the release is ranked among it")
        path = _write(found, folder)
    return path


def _note_withdrawn(found: Found, query: QueryRunner, task: str, views: Mapping[str, Sequence[Path]]) -> None:
    """Rows that rest on what was withdrawn."""
    for unit, rows in (("query", _QUERIES.format(task=task)), ("document", "documents")):
        listing, parts = (name if name in views else "" for name in (ROW_IMAGES.name, PARTS.name))
        for row in fetch(query, withdrawal.rests_on(rows, unit, listing, parts), views):
            said = f"{row['reason']}: {row['notice']}" if row["notice"] else row["reason"]
            _note(found, unit, row, Reason.WITHDRAWN, f"{row['gone']} was withdrawn ({said})")


def shown(task: str, one: Callable[[str], Any], left: Mapping[str, int]) -> tuple[Retention, ...]:
    """How many queries and documents of a task there were to be released, and how many are.

    Args:
        task: its name.
        one: the first column of the one row of an aggregate over the work tables.
        left: unit -> how many were written.
    """
    given = {"query": f"assignments WHERE task = '{task}'", "document": "documents"}
    return tuple(
        Retention(STAGE, unit, one(f"SELECT count(*) FROM {rows}"), left[unit])
        for unit, rows in given.items()
    )


SUSPECT = f"{nominated(CERTAIN, 'detail')} AS suspect"
"""SQL: whether the detail of a drop may quote an identifier."""


def without_identifiers(drops: pa.Table) -> pa.Table:
    """Drops as they may be published: identifiers in suspect details are masked; without column `suspect`."""
    details, suspect = (drops.column(name).to_pylist() for name in ("detail", "suspect"))
    hidden = [_hidden(said) if doubt else said for said, doubt in zip(details, suspect, strict=True)]
    place = drops.schema.get_field_index("detail")
    return drops.set_column(place, "detail", pa.array(hidden, pa.string())).drop_columns("suspect")


def _hidden(text: str) -> str:
    said = text
    for _, start, end in hits(text, CERTAIN):
        said = said[:start] + masked(text[start:end]) + said[end:]
    return said


def _note(found: Found, unit: str, row: Mapping[str, Any], reason: Reason, detail: str) -> None:
    """Keep the first reason for a row."""
    drop = Drop(unit=unit, id=row["id"], article_id=row["article_id"], reason=reason, detail=detail)
    found.setdefault((unit, row["id"]), drop)


def _write(found: Found, folder: Path) -> Path:
    path = folder / f"{VIEW}.parquet"
    pq.write_table(to_table(Drop, [found[key] for key in sorted(found)]), path)
    return path
