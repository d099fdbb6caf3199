"""Rules on structure: references, ids, pairs, grades, empty texts, and a funnel that adds up.

They run on whatever tables the layout has: another benchmark has queries, corpus and qrels only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from curation.audit.rule import OPTIONAL, Collector, Context, Describe, Outcome, Rule, SqlCheck, side
from curation.audit.rules import columns
from curation.audit.rules import integrity_canaries as planted
from curation.published.parquet import column_names
from schemas.audit import Side
from schemas.tables import TABLES

_CORE = ("queries", "corpus", "qrels")
_PROVENANCE = ("provenance_queries", "provenance_corpus", "provenance_qrels", "keys", "sources")
_RELEASE = (*_CORE, "excluded", *_PROVENANCE)
_REFERENCES = (
    ("qrels", "query-id", "queries", "id"),
    ("qrels", "corpus-id", "corpus", "id"),
    ("excluded", "query-id", "queries", "id"),
    ("excluded", "corpus-id", "corpus", "id"),
    ("provenance_queries", "id", "queries", "id"),
    ("queries", "id", "provenance_queries", "id"),
    ("provenance_corpus", "id", "corpus", "id"),
    ("corpus", "id", "provenance_corpus", "id"),
    ("provenance_queries", "article_id", "sources", "id"),
    ("provenance_corpus", "article_id", "sources", "id"),
    ("keys", "query-id", "queries", "id"),
    ("target_names", "concept", "keys", "key"),
    ("image_checks", "id", "corpus", "id"),
)
_KEYS = {table.name: table.key for table in TABLES}
_PAIRS = (("qrels", "provenance_qrels"), ("provenance_qrels", "qrels"))
_UNIQUE = ("queries", "corpus", "provenance_queries", "provenance_corpus", "sources")
_UNIQUE_PAIRS = ("qrels", "excluded", "provenance_qrels")
_FEWEST_QUERY, _FEWEST_CORPUS = 10, 20
_TWICE = r"[^\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"


def _needed(context: Context, of_release: Sequence[str], of_any: Sequence[str]) -> tuple[str, ...]:
    """The tables a rule reads: what a release must have, or what another layout happens to have.

    Raises:
        CannotRun: a release lacks one. NotCovered: another layout lacks one that every layout has.
    """
    if context.subject.kind == "release":
        wanted = [*of_release, *(name for name in sorted(OPTIONAL) if name in context.views)]
    else:
        wanted = [*of_any, *(name for name in of_release if name in context.views and name not in of_any)]
    context.rows("SELECT 1", *wanted)
    return tuple(wanted)


def _found(
    context: Context, rule: str, tables: Sequence[str], text: str, order: str, tell: Describe
) -> Outcome:
    """Run SQL that selects one violation a row; `compared` counts the rows of the tables."""
    counts = " + ".join(f'(SELECT count(*) FROM "{name}")' for name in tables)
    check = SqlCheck(rule, "error", tuple(tables), f"SELECT {counts} AS n", text, order, tell)
    return check(context)


def _dangling(context: Context) -> Outcome:
    tables = _needed(context, _RELEASE, _CORE)
    parts = [
        f"""SELECT '{table}' AS tab, '{column}' AS col, t."{column}"::VARCHAR AS id, '{target}' AS target,
            {_holder(table)} AS holder FROM {table} t ANTI JOIN {target} o ON o."{key}" = t."{column}" """
        for table, column, target, key in _REFERENCES
        if table in tables and target in tables
    ]
    parts += [
        f"""SELECT '{one}', 'query-id, corpus-id', {_holder(one)}, '{other}', {_holder(one)}
        FROM {one} t ANTI JOIN {other} o ON o."query-id" = t."query-id" AND o."corpus-id" = t."corpus-id" """
        for one, other in _PAIRS
        if one in tables and other in tables
    ]

    def tell(row: Mapping[str, Any]) -> tuple[str, tuple[Side, ...]]:
        message = f"{row['col']} of {row['tab']} is not in {row['target']}: {row['id']}"
        holder = () if row["holder"] == row["id"] else (side(row["tab"], row["holder"]),)
        return message, (side(row["tab"], row["id"]), *holder)

    text = f"SELECT DISTINCT * FROM ({' UNION ALL '.join(parts)})"
    return _found(context, "dangling_ids", tables, text, "tab, col, id, target, holder", tell)


def _holder(table: str) -> str:
    """SQL for what a row is called: its id, or the parts of its key."""
    parts = ", ".join(f't."{column}"' for column in _KEYS[table])
    return f"concat_ws(' ', {parts})"


def _duplicate_ids(context: Context) -> Outcome:
    tables = [name for name in _needed(context, _UNIQUE, ("queries", "corpus")) if name in _UNIQUE]
    text = " UNION ALL ".join(
        f"SELECT '{name}' AS tab, id, count(*) AS n FROM {name} GROUP BY id HAVING count(*) > 1 OR id IS NULL"
        for name in tables
    )
    return _found(
        context, "duplicate_ids", tables, f"SELECT * FROM ({text})", "tab, id",
        lambda row: (
            f"id of {row['tab']} stands {row['n']} times: {row['id']}", (side(row["tab"], row["id"]),)
        ),
    )  # fmt: skip


def _duplicate_pairs(context: Context) -> Outcome:
    tables = [name for name in _needed(context, _UNIQUE_PAIRS, ("qrels",)) if name in _UNIQUE_PAIRS]
    text = " UNION ALL ".join(
        f"""SELECT '{name}' AS tab, "query-id" AS q, "corpus-id" AS c, count(*) AS n
            FROM {name} GROUP BY q, c HAVING count(*) > 1"""
        for name in tables
    )
    return _found(
        context, "duplicate_pairs", tables, f"SELECT * FROM ({text})", "tab, q, c",
        lambda row: (
            f"the pair stands {row['n']} times in {row['tab']}",
            (side("queries", row["q"]), side("corpus", row["c"])),
        ),
    )  # fmt: skip


_both = SqlCheck(
    "positive_and_excluded",
    "error",
    ("qrels", "excluded"),
    "SELECT count(*) AS n FROM qrels",
    """SELECT q."query-id" AS q, q."corpus-id" AS c, q.score, e.reason FROM qrels q
        JOIN excluded e ON e."query-id" = q."query-id" AND e."corpus-id" = q."corpus-id" """,
    "q, c",
    lambda row: (
        f"the pair is judged {row['score']} and excluded as {row['reason']}",
        (side("queries", row["q"]), side("corpus", row["c"])),
    ),
)
_no_positive = SqlCheck(
    "query_without_positive",
    "error",
    ("queries", "qrels"),
    "SELECT count(*) AS n FROM queries",
    """SELECT q.id, q.text FROM queries q
        ANTI JOIN (SELECT * FROM qrels WHERE score > 0) r ON r."query-id" = q.id""",
    "id",
    lambda row: ("the query has no positive document", (side("queries", row["id"], row["text"]),)),
)


def _texts_sql(context: Context) -> str:
    """Id and text of every row that must have words: a picture may stand alone, except as our own query."""
    parts = []
    for name in ("queries", "corpus"):
        has_image = "image" in column_names(context.views[name])
        may_be_bare = has_image and (name == "corpus" or context.subject.kind != "release")
        where = " WHERE image IS NULL OR image.bytes IS NULL" if may_be_bare else ""
        parts.append(f"SELECT '{name}' AS tab, id, text FROM {name}{where}")
    return " UNION ALL ".join(parts)


def _tell_text(words: Callable[[Mapping[str, Any]], str]) -> Describe:
    return lambda row: (words(row), (side(row["tab"], row["id"], row["text"]),))


def _empty(context: Context) -> Outcome:
    tables = _needed(context, ("queries", "corpus"), ("queries", "corpus"))[:2]
    text = rf"SELECT * FROM ({_texts_sql(context)}) WHERE NOT regexp_matches(coalesce(text, ''), '[\pL\pN]')"
    tell = _tell_text(lambda row: "the text has no letter and no digit")
    return _found(context, "empty_texts", tables, text, "tab, id", tell)


def _short(context: Context) -> Outcome:
    tables = _needed(context, ("queries", "corpus"), ("queries", "corpus"))[:2]
    letters = r"length(regexp_replace(text, '[^\pL\pN]', '', 'g'))"
    text = f"""SELECT * FROM (SELECT tab, id, text, {letters} AS n,
            n + length(regexp_replace(text, '{_TWICE}', '', 'g')) AS weight
        FROM ({_texts_sql(context)}) WHERE length(text) < 200)
        WHERE n > 0 AND weight < CASE tab WHEN 'queries' THEN {_FEWEST_QUERY} ELSE {_FEWEST_CORPUS} END"""
    tell = _tell_text(lambda row: f"the text has only {row['n']} letters and digits")
    return _found(context, "short_texts", tables, text, "tab, id", tell)


def _definitions(context: Context) -> Outcome:
    found = Collector("definitions", "error")
    grades = {int(score) for score in context.manifest.grades}
    statuses = {"structural", "judge", "expert", "adjudicated"}
    kinds = context.rows(
        """SELECT score, label_status, rule, min("query-id") AS q, count(*) AS n FROM qrels
            GROUP BY score, label_status, rule ORDER BY score, label_status, rule""",
        "qrels",
    )
    for row in kinds:
        if row["score"] not in grades:
            found.add(
                f"{row['n']} pairs have score {row['score']}, which is not defined", side("qrels", row["q"])
            )
        if row["label_status"] not in statuses:
            found.add(f"{row['n']} pairs have label status {row['label_status']!r}", side("qrels", row["q"]))
        if not row["rule"]:
            found.add(f"{row['n']} pairs name no rule", side("qrels", row["q"]))
    for row in context.rows(
        'SELECT reason, min("query-id") AS q, count(*) AS n FROM excluded GROUP BY reason ORDER BY reason',
        "excluded",
    ):
        if row["reason"] not in context.manifest.exclusions:
            found.add(
                f"{row['n']} pairs are excluded as {row['reason']!r}, not defined", side("excluded", row["q"])
            )
    return found.outcome(context.count("qrels") + context.count("excluded"))


_funnel = SqlCheck(
    "funnel",
    "error",
    ("funnel", "drops"),
    "SELECT count(*) AS n FROM funnel",
    """SELECT f.stage, f.unit, f.entered, f.kept, f.dropped, coalesce(d.n, 0) AS listed FROM funnel f
        LEFT JOIN (SELECT stage, unit, count(*) AS n FROM drops GROUP BY ALL) d USING (stage, unit)
        WHERE f.entered IS DISTINCT FROM f.kept + f.dropped OR f.dropped IS DISTINCT FROM coalesce(d.n, 0)""",
    "stage, unit",
    lambda row: (
        f"{row['stage']}: {row['entered']} {row['unit']} entered, {row['kept']} kept, "
        f"{row['dropped']} dropped, "
        f"{row['listed']} drops listed",
        (side("funnel", f"{row['stage']} {row['unit']}"),),
    ),
)

RULES = (
    *columns.RULES,
    Rule(
        "dangling_ids",
        3,
        "References resolve",
        (
            "Every id in qrels, excluded pairs, keys and provenance exists in the table it points to, and "
            "every row has provenance. Of another layout, only qrels are followed."
        ),
        "error",
        "rows",
        _dangling,
        canaries=planted.DANGLING,
    ),
    Rule(
        "duplicate_ids",
        2,
        "Ids are unique",
        "No id is missing or stands twice in queries, corpus, sources or their provenance, over all splits.",
        "error",
        "rows",
        _duplicate_ids,
        canaries=planted.DUPLICATE_IDS,
    ),
    Rule(
        "duplicate_pairs",
        2,
        "Pairs are unique",
        "No query–document pair stands twice in qrels, in excluded or in the provenance of qrels.",
        "error",
        "pairs",
        _duplicate_pairs,
        canaries=planted.DUPLICATE_PAIRS,
    ),
    Rule(
        "positive_and_excluded",
        1,
        "Judged or excluded, not both",
        "No pair is at once judged and excluded.",
        "error",
        "pairs",
        _both,
        canaries=planted.BOTH,
    ),
    Rule(
        "query_without_positive",
        1,
        "Every query can be answered",
        "Every query has at least one document with a score above zero.",
        "error",
        "queries",
        _no_positive,
        canaries=planted.NO_POSITIVE,
    ),
    Rule(
        "definitions",
        1,
        "Grades are defined",
        (
            "Every score, label status and exclusion reason is one that release.json defines, and "
            "every label names its rule."
        ),
        "error",
        "pairs",
        _definitions,
        canaries=planted.DEFINITIONS,
    ),
    Rule(
        "empty_texts",
        2,
        "No empty text",
        "Every query and document has at least one letter or digit; a document may be a picture alone.",
        "error",
        "texts",
        _empty,
        canaries=planted.EMPTY,
    ),
    Rule(
        "short_texts",
        2,
        "No fragment of a text",
        (
            f"Queries have at least {_FEWEST_QUERY} and documents at least {_FEWEST_CORPUS} letters "
            "and digits; a Chinese, Japanese or Korean character counts as two."
        ),
        "warn",
        "texts",
        _short,
        canaries=planted.SHORT,
    ),
    Rule(
        "funnel",
        2,
        "Nothing disappears",
        (
            "In every stage, entered equals kept plus dropped, and each dropped unit is listed with "
            "its reason."
        ),
        "error",
        "stages",
        _funnel,
        canaries=planted.FUNNEL,
    ),
)
