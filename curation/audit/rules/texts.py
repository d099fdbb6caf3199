"""Rules on figure numbers and answer ids in released texts; RULES holds all rules on texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curation.audit.rule import Canary, Context, Outcome, Rows, Rule, SqlCheck, side
from curation.audit.rules import duplicates, spans
from curation.audit.rules.duplicate_canaries import positive
from curation.audit.rules.text_rows import literal
from schemas.audit import Side

_FIGURE = (
    r"(?i)(?:\b(?:fig(?:s|ure|ures|ura|uras)?|abb(?:ildung|ildungen)?|scheme|panel)\b\.?\s*|[图図]\s*|рис\.?\s*)"
    r"(?:S|A)?\d{1,3}"
)


def _figure(row: Mapping[str, Any]) -> tuple[str, tuple[Side, ...]]:
    at = row["text"].find(row["words"])
    quoted = side(row["tab"], row["id"], row["text"], at, at + len(row["words"]))
    return f"a figure is named by number: {row['words']}", (quoted,)


_figure_numbers = SqlCheck(
    "figure_numbers",
    "warn",
    ("queries", "corpus"),
    "SELECT (SELECT count(*) FROM queries) + (SELECT count(*) FROM corpus) AS n",
    f"""SELECT * FROM (SELECT tab, id, text, regexp_extract(text, {literal(_FIGURE)}) AS words
        FROM (SELECT 'queries' AS tab, id, text FROM queries UNION ALL SELECT 'corpus', id, text FROM corpus))
        WHERE words <> ''""",
    "tab, id, text",
    _figure,
)


def _answer(row: Mapping[str, Any]) -> tuple[str, tuple[Side, ...]]:
    at = row["text"].lower().find(row["answer"].lower())
    quoted = (
        side("queries", row["id"], row["text"], at, at + len(row["answer"]))
        if at >= 0
        else side("queries", row["id"], row["text"])
    )
    return f"the query carries an id of its own answer: {row['answer']}", (quoted,)


_COUNT = "SELECT count(*) AS n FROM queries"
_HOLDS = "WHERE contains(lower(text), lower(answer)) OR contains(lower(id), lower(answer))"
_POSITIVES = """SELECT q.id, coalesce(q.text, '') AS text, r."corpus-id" AS answer
    FROM queries q JOIN qrels r ON r."query-id" = q.id WHERE length(r."corpus-id") > 3"""
_SOURCES = """SELECT q.id, coalesce(q.text, '') AS text, v.value AS answer
    FROM queries q JOIN provenance_queries p ON p.id = q.id LEFT JOIN sources s ON s.id = p.article_id,
    unnest([p.source_id, p.article_id, split_part(p.article_id, ':', 2), s.pmcid, s.doi]) AS v(value)
    WHERE length(v.value) > 3"""
_all_ids = SqlCheck(
    "answer_ids",
    "error",
    ("queries", "provenance_queries", "sources", "qrels"),
    _COUNT,
    f"SELECT DISTINCT id, text, answer FROM ({_SOURCES} UNION ALL {_POSITIVES}) {_HOLDS}",
    "id, answer, text",
    _answer,
)
_corpus_ids = SqlCheck(
    "answer_ids",
    "error",
    ("queries", "qrels"),
    _COUNT,
    f"SELECT DISTINCT id, text, answer FROM ({_POSITIVES}) {_HOLDS}",
    "id, answer, text",
    _answer,
)


def _answer_ids(context: Context) -> Outcome:
    """All ids of a release; of another layout, those the qrels hold."""
    if context.subject.kind == "release":
        return _all_ids(context)
    outcome = _corpus_ids(context)
    missed = "" if outcome.found else "no provenance: ids of source articles not looked for"
    return Outcome(outcome.compared, outcome.found, outcome.findings, missed=missed)


def _pointing(table: str, words: str) -> Canary:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows[table]:
            return None
        row = rows[table][-1]
        row["text"] = f"{row['text'] or ''} {words}"
        return [row["id"]]

    return Canary(f"{words!r} in {table}", plant)


def _own_id(column: str) -> Canary:
    """An id from provenance or sources written into a query."""

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        origins = {row["id"]: row for row in rows["provenance_queries"]}
        sources = {row["id"]: row for row in rows["sources"]}
        for query in rows["queries"]:
            origin = origins.get(query["id"], {})
            value = origin.get(column) or sources.get(origin.get("article_id"), {}).get(column)
            if value and len(value) > 3:
                query["text"] = f"{query['text'] or ''} (see {value.upper()})"
                return [query["id"]]
        return None

    return Canary(f"the {column} of its source in a query", plant)


def _answer_id(rows: Rows, second: Rows) -> Sequence[str] | None:
    pair = positive(rows)
    if pair is None or len(pair[1]) <= 3:
        return None
    for row in rows["queries"]:
        if row["id"] == pair[0]:
            row["text"] = f"{row['text'] or ''} [{pair[1]}]"
    return [pair[0]]


RULES = (
    *duplicates.RULES,
    *spans.RULES,
    Rule(
        "figure_numbers",
        1,
        "No figure number",
        "Released texts name no figure by its number, which would link query and document without reading.",
        "warn",
        "texts",
        _figure_numbers,
        canaries=(
            _pointing("corpus", "as Figure 2B shows"),
            _pointing("queries", "véase la Figura 3"),
            _pointing("corpus", "详见图4"),
        ),
    ),
    Rule(
        "answer_ids",
        2,
        "No answer id in a query",
        "No query holds the id of its source record, article, PMC id, DOI or of a document judged for it.",
        "error",
        "queries",
        _answer_ids,
        canaries=(
            *(_own_id(column) for column in ("source_id", "article_id", "pmcid", "doi")),
            Canary("the id of its positive document in a query", _answer_id),
        ),
    ),
)
