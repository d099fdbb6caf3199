"""Rules on the nano variant and balanced subsets: rows of the whole, nothing judged lost, equal counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from curation.audit.rule import (
    MAX_EXAMPLES,
    CannotRun,
    Collector,
    Context,
    NotApplicable,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules import subsets_canaries as planted
from curation.derived.subsets.balance import FACETS, MODALITY, WITH, WITHOUT
from curation.evaluation.variants import NANO_NAME, SPLIT
from schemas.audit import Side
from schemas.tables import NANO, SUBSETS

Views = Mapping[str, Sequence[Path]]
Check = tuple[str, str]
"""What is wrong, and SQL that selects one violation a row as a and b, of which b may be null."""
_NANO = tuple(table.name for table in NANO)
_NAMES = ", ".join(f"'{name}'" for name in (MODALITY, *FACETS))
_PAIR = '"query-id" AS a, "corpus-id" AS b'
_TOLD = {"q": "queries", "d": "corpus", "s": "subsets"}


def _given(context: Context, mine: Sequence[str], what: str, *more: str) -> Views:
    """The files a rule reads.

    Raises:
        NotApplicable: the release has none of `mine`. CannotRun: it has some of them, or lacks another.
    """
    views = context.views
    if not any(name in views for name in mine):
        raise NotApplicable(f"the files hold no {what}")
    absent = [name for name in (*mine, *more) if name not in views]
    if absent:
        raise CannotRun(f"table absent: {', '.join(absent)}")
    return {name: views[name] for name in (*mine, *more)}


def _number(context: Context, text: str, views: Views) -> int:
    found = context.query(f"SELECT count(*) AS n FROM ({text})", views)
    return int(next(iter(found)).to_pylist()[0]["n"])


def _run(context: Context, found: Collector, views: Views, checks: Sequence[Check], tables: str) -> None:
    """Count the violations of several checks and describe the first of each.

    Args:
        context: what is audited.
        found: where they go.
        views: the tables.
        checks: what is looked for.
        tables: what a and b name, a letter each: q, d or s for a query, a document or a subset.
    """
    for message, text in checks:
        count = _number(context, text, views)
        shown = f"SELECT a, b FROM ({text}) ORDER BY a, b LIMIT {MAX_EXAMPLES}"
        before = found.found
        for batch in context.query(shown, views) if count else ():
            for row in batch.to_pylist():
                found.add(message, *_sides(row, tables))
        found.found = before + count


def _sides(row: Mapping[str, str | None], tables: str) -> list[Side]:
    named = zip(tables, ("a", "b"), strict=False)
    return [side(_TOLD[table], row[name]) for table, name in named if row[name] is not None]


def _rows(context: Context) -> Outcome:
    more = ("corpus", "queries", "provenance_corpus", "provenance_queries")
    views = _given(context, _NANO, "nano variant", *more)
    found = Collector("nano_rows", "error")
    for whole, letter in (("corpus", "d"), ("queries", "q")):
        small = f"{NANO_NAME}_{whole}"
        names, others = _columns(views[small]), _columns(views[whole])
        for column in sorted(set(names) ^ set(others)):
            found.add(f"{small} and {whole} do not both have column {column}", side(small, column))
        of_small = f"SELECT id AS a, NULL AS b FROM {small}"
        checks: list[Check] = [
            (f"a row of {small} is not in {whole}", f"{of_small} ANTI JOIN {whole} USING (id)"),
            (f"a row of {small} stands twice", f"{of_small} GROUP BY id HAVING count(*) > 1"),
            (
                f"a row of {small} is not as in {whole}",
                f"""SELECT n.id AS a, NULL AS b FROM {small} n JOIN {whole} w ON w.id = n.id
                    LEFT JOIN provenance_{whole} o ON o.id = n.id
                    WHERE {_differs([name for name in names if name in others])}""",
            ),
        ]
        _run(context, found, views, checks, letter)
    compared = sum(_number(context, f"SELECT 1 FROM {name}", views) for name in _NANO[:2])
    return found.outcome(compared)


def _differs(names: Sequence[str]) -> str:
    """SQL: row n is not row w in one of some columns; an image not the one whose hash o has."""
    told = [f'n."{name}" IS DISTINCT FROM w."{name}"' for name in names if name not in ("id", "image")]
    if "image" in names:
        told.append("n.image.path IS DISTINCT FROM w.image.path")
        told.append("sha256(n.image.bytes) IS DISTINCT FROM o.image_sha256")
    return " OR ".join(told) or "false"


def _columns(files: Sequence[Path]) -> list[str]:
    return list(pq.read_schema(files[0]).names)


def _pairs(context: Context) -> Outcome:
    views = _given(context, _NANO, "nano variant", "qrels", "excluded", "provenance_queries")
    found = Collector("nano_pairs", "error")
    of_query = 'SEMI JOIN nano_queries nq ON nq.id = r."query-id"'
    of_both = f'{of_query} SEMI JOIN nano_corpus nd ON nd.id = r."corpus-id"'
    of_queries: list[Check] = [
        (
            f"a query of the nano variant is not of split {SPLIT}",
            f"""SELECT n.id AS a, NULL AS b FROM nano_queries n LEFT JOIN provenance_queries o ON o.id = n.id
                WHERE o.split IS DISTINCT FROM '{SPLIT}'""",
        ),
        (
            "a query of the nano variant has no positive in it",
            """SELECT id AS a, NULL AS b FROM nano_queries
                ANTI JOIN (SELECT * FROM nano_qrels WHERE score > 0) r ON r."query-id" = id""",
        ),
    ]
    of_pairs: list[Check] = [
        (
            "a positive of the whole is not in the nano corpus",
            f"""SELECT {_PAIR} FROM qrels r {of_query} ANTI JOIN nano_corpus d ON d.id = r."corpus-id"
                WHERE r.score > 0""",
        )
    ]
    for name in ("qrels", "excluded"):
        shared = [column for column in _columns(views[name]) if column in _columns(views[f"nano_{name}"])]
        listed = ", ".join(f'"{column}"' for column in shared)
        small = f"nano_{name}"
        mine, theirs = f"SELECT {listed} FROM {small}", f"SELECT {listed} FROM {name} r {of_both}"
        of_pairs += [
            (f"a row of {name} is missing in {small}", f"SELECT {_PAIR} FROM ({theirs} EXCEPT ALL {mine})"),
            (f"a row of {small} is not in {name}", f"SELECT {_PAIR} FROM ({mine} EXCEPT ALL {theirs})"),
        ]
    _run(context, found, views, of_queries, "q")
    _run(context, found, views, of_pairs, "qd")
    return found.outcome(sum(_number(context, f"SELECT 1 FROM {name}", views) for name in _NANO[2:]))


def _resolve(context: Context) -> Outcome:
    views = _given(context, (SUBSETS.name,), "subsets", "queries", "corpus", "qrels", "provenance_queries")
    found = Collector("subsets", "error")
    row = "SELECT id AS a, subset AS b FROM subsets"
    mine = "(SELECT subset, id FROM subsets WHERE kind = 'query')"
    positive = '(SELECT "query-id" AS q, "corpus-id" AS d FROM qrels WHERE score > 0)'
    listed = "(SELECT subset, id FROM subsets WHERE kind = 'document')"
    of_queries: list[Check] = [
        (
            f"a subset has a query that is not one of split {SPLIT}",
            f"""SELECT id AS a, subset AS b FROM {mine} ANTI JOIN (SELECT id FROM queries SEMI JOIN (
                SELECT id FROM provenance_queries WHERE split = '{SPLIT}') USING (id)) USING (id)""",
        ),
        (
            "a query of a subset has no positive",
            f"SELECT id AS a, subset AS b FROM {mine} ANTI JOIN {positive} ON q = id",
        ),
        (
            "a subset is of no known name, or a row is neither query nor document",
            f"""{row} WHERE coalesce(subset, '') NOT IN ({_NAMES})
                OR coalesce(kind, '') NOT IN ('query', 'document')""",
        ),
        ("a row stands twice", f"{row} GROUP BY subset, kind, id HAVING count(*) > 1"),
    ]
    of_documents: list[Check] = [
        (
            "a subset has a document that is not in the corpus",
            f"SELECT id AS a, subset AS b FROM {listed} ANTI JOIN corpus USING (id)",
        ),
        (
            "a subset has documents without a query",
            f"SELECT id AS a, subset AS b FROM {listed} ANTI JOIN {mine} q USING (subset)",
        ),
    ]
    of_pairs: list[Check] = [
        (
            "a positive of a query is not among the documents of its subset",
            f"""SELECT q AS a, d AS b FROM {positive} JOIN {mine} m ON m.id = q
                SEMI JOIN {listed} s ON s.subset = m.subset
                ANTI JOIN {listed} l ON l.subset = m.subset AND l.id = d""",
        )
    ]
    _run(context, found, views, of_queries, "qs")
    _run(context, found, views, of_documents, "ds")
    _run(context, found, views, of_pairs, "qd")
    return found.outcome(_number(context, row, views))


def _balanced(context: Context) -> Outcome:
    views = _given(context, (SUBSETS.name,), "subsets", "queries", "provenance_queries", "provenance_corpus")
    found = Collector("subsets_balanced", "error")
    image = f"CASE WHEN o.image_sha256 IS NULL THEN '{WITHOUT}' ELSE '{WITH}' END AS value"
    parts = [
        f"""SELECT s.subset, s.id, q."{facet}" AS value FROM subsets s JOIN queries q ON q.id = s.id
            WHERE s.subset = '{facet}' AND s.kind = 'query'"""
        for facet in FACETS
        if facet in _columns(views["queries"])
    ]
    listed = f"SELECT count(*) FROM subsets WHERE subset = '{MODALITY}' AND kind = 'document'"
    for kind, whole, when in (("query", "queries", "= 0"), ("document", "corpus", "> 0")):
        parts.append(
            f"""SELECT s.subset, s.id, {image} FROM subsets s JOIN provenance_{whole} o ON o.id = s.id
                WHERE s.subset = '{MODALITY}' AND s.kind = '{kind}' AND ({listed}) {when}"""
        )
    valued = " UNION ALL ".join(parts)
    undecided = f"SELECT id AS a, subset AS b FROM ({valued}) WHERE coalesce(value, '') = ''"
    counts = f"SELECT subset, value, count(*) AS n FROM ({valued}) WHERE value <> '' GROUP BY ALL"
    unequal = f"""SELECT subset AS a, NULL AS b FROM ({counts}) GROUP BY subset
        HAVING min(n) <> max(n) OR count(*) < 2"""
    _run(context, found, views, [("a query of a balanced subset has no value", undecided)], "qs")
    _run(context, found, views, [("a subset has not equally many of two or more values", unequal)], "s")
    return found.outcome(_number(context, f"SELECT 1 FROM ({valued})", views))


RULES = (
    Rule(
        "nano_rows",
        1,
        "The nano variant is part of the whole",
        "Every document and query of the nano variant stands in it once and is the row of the whole release "
        "of that id, in every column; images are compared by the hash in provenance.",
        "error",
        "rows",
        _rows,
        canaries=planted.ROWS,
    ),
    Rule(
        "nano_pairs",
        1,
        "The nano variant has all its labels",
        f"Queries of the nano variant are of split {SPLIT} and have a positive; every positive of theirs is "
        "in its corpus; its qrels and excluded pairs are those of the whole between its queries and "
        "documents, and no other.",
        "error",
        "pairs",
        _pairs,
        canaries=planted.PAIRS,
    ),
    Rule(
        "subsets",
        1,
        "Subsets resolve",
        f"Rows of subsets are published queries of split {SPLIT} that have a positive, or documents of the "
        "corpus, each once, in subsets of known names; a subset that lists documents has queries and holds "
        "every positive of theirs.",
        "error",
        "rows",
        _resolve,
        canaries=planted.SUBSETS,
    ),
    Rule(
        "subsets_balanced",
        1,
        "Subsets are balanced",
        f"A subset has equally many queries for each of two or more values of what it is named after; "
        f"{MODALITY}: with and without an image, of documents where it lists some.",
        "error",
        "rows",
        _balanced,
        canaries=planted.BALANCED,
    ),
)
