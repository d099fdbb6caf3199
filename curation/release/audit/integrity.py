"""Rules on structure: columns, ids, pairs, grades, empty texts, and a funnel that adds up."""

from __future__ import annotations

import pyarrow.parquet as pq

from curation.release.audit.rule import Collector, Context, Outcome, Rule, SqlCheck, side
from curation.release.tables import TABLES, TEXT_QUERIES

_REFERENCES = (
    ("qrels", "query-id", "queries"),
    ("qrels", "corpus-id", "corpus"),
    ("excluded", "query-id", "queries"),
    ("excluded", "corpus-id", "corpus"),
    ("provenance_queries", "id", "queries"),
    ("queries", "id", "provenance_queries"),
    ("provenance_corpus", "id", "corpus"),
    ("corpus", "id", "provenance_corpus"),
)
_PROVENANCE = (("provenance_queries", "article_id"), ("provenance_corpus", "article_id"))
_UNIQUE = ("queries", "corpus", "provenance_queries", "provenance_corpus", "sources")
_FEWEST_QUERY, _FEWEST_CORPUS = 10, 20


def _schema(context: Context) -> Outcome:
    found = Collector("schema", "error")
    files = 0
    for table in TABLES:
        allowed = [table.schema, TEXT_QUERIES.schema] if table.name == "queries" else [table.schema]
        shards = table.files(context.directory)
        if not shards:
            found.add(f"table {table.name} has no file", side(table.name, table.folder))
        for path in shards:
            files += 1
            name = path.relative_to(context.directory).as_posix()
            actual = pq.read_schema(path)
            if any(actual.equals(schema, check_metadata=False) for schema in allowed):
                continue
            for field in actual:
                if field.name not in table.schema.names:
                    found.add(f"{name}: unknown column {field.name}", side(table.name, field.name))
                elif field.type != table.schema.field(field.name).type:
                    wanted = table.schema.field(field.name).type
                    found.add(
                        f"{name}: column {field.name} is {field.type}, not {wanted}",
                        side(table.name, field.name),
                    )
            for column in sorted(set(allowed[-1].names) - set(actual.names)):
                found.add(f"{name}: column {column} is missing", side(table.name, column))
            if actual.names != table.schema.names and set(actual.names) == set(table.schema.names):
                found.add(f"{name}: columns are in another order", side(table.name, name))
    return found.outcome(files)


def _dangling_sql() -> str:
    parts = [
        f"""SELECT '{table}' AS tab, '{column}' AS col, t."{column}" AS id, '{target}' AS target
            FROM {table} t ANTI JOIN {target} o ON o.id = t."{column}" """
        for table, column, target in _REFERENCES
    ]
    parts += [
        f"""SELECT '{table}', '{column}', t.{column}, 'sources' FROM {table} t
            ANTI JOIN sources s ON s.id = t.{column}"""
        for table, column in _PROVENANCE
    ]
    pair = """SELECT '{a}', 'query-id, corpus-id', t."query-id" || ' ' || t."corpus-id", '{b}' FROM {a} t
        ANTI JOIN {b} o ON o."query-id" = t."query-id" AND o."corpus-id" = t."corpus-id" """
    parts += [pair.format(a="qrels", b="provenance_qrels"), pair.format(a="provenance_qrels", b="qrels")]
    return " UNION ALL ".join(parts)


_ALL = (
    "queries",
    "corpus",
    "qrels",
    "excluded",
    "provenance_queries",
    "provenance_corpus",
    "provenance_qrels",
    "sources",
)
_dangling = SqlCheck(
    "dangling_ids",
    "error",
    _ALL,
    """SELECT (SELECT count(*) FROM qrels) * 2 + (SELECT count(*) FROM excluded) * 2
        + (SELECT count(*) FROM queries) + (SELECT count(*) FROM corpus) AS n""",
    f"SELECT * FROM ({_dangling_sql()})",
    "tab, col, id, target",
    lambda row: (
        f"{row['col']} of {row['tab']} is not in {row['target']}: {row['id']}",
        (side(row["tab"], row["id"]),),
    ),
)
_duplicate_ids = SqlCheck(
    "duplicate_ids",
    "error",
    _UNIQUE,
    "SELECT " + " + ".join(f"(SELECT count(*) FROM {name})" for name in _UNIQUE) + " AS n",
    "SELECT * FROM ("
    + " UNION ALL ".join(
        f"SELECT '{name}' AS tab, id, count(*) AS n FROM {name} GROUP BY id HAVING count(*) > 1 OR id IS NULL"
        for name in _UNIQUE
    )
    + ")",
    "tab, id",
    lambda row: (f"id of {row['tab']} stands {row['n']} times: {row['id']}", (side(row["tab"], row["id"]),)),
)
_PAIR = """SELECT '{t}' AS tab, "query-id" AS q, "corpus-id" AS c, count(*) AS n
    FROM {t} GROUP BY q, c HAVING count(*) > 1"""
_duplicate_pairs = SqlCheck(
    "duplicate_pairs",
    "error",
    ("qrels", "excluded"),
    "SELECT (SELECT count(*) FROM qrels) + (SELECT count(*) FROM excluded) AS n",
    f"SELECT * FROM ({_PAIR.format(t='qrels')} UNION ALL {_PAIR.format(t='excluded')})",
    "tab, q, c",
    lambda row: (
        f"the pair stands {row['n']} times in {row['tab']}",
        (side("queries", row["q"]), side("corpus", row["c"])),
    ),
)
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
_TEXTS = "SELECT 'queries' AS tab, id, text FROM queries UNION ALL SELECT 'corpus', id, text FROM corpus"
_COUNT_TEXTS = "SELECT (SELECT count(*) FROM queries) + (SELECT count(*) FROM corpus) AS n"
_empty = SqlCheck(
    "empty_texts",
    "error",
    ("queries", "corpus"),
    _COUNT_TEXTS,
    rf"SELECT * FROM ({_TEXTS}) WHERE NOT regexp_matches(coalesce(text, ''), '[\pL\pN]')",
    "tab, id",
    lambda row: ("the text has no letter and no digit", (side(row["tab"], row["id"], row["text"]),)),
)
_short = SqlCheck(
    "short_texts",
    "warn",
    ("queries", "corpus"),
    _COUNT_TEXTS,
    rf"""SELECT * FROM (SELECT tab, id, text, length(regexp_replace(text, '[^\pL\pN]', '', 'g')) AS n
        FROM ({_TEXTS}) WHERE length(text) < 200)
        WHERE n > 0 AND n < CASE tab WHEN 'queries' THEN {_FEWEST_QUERY} ELSE {_FEWEST_CORPUS} END""",
    "tab, id",
    lambda row: (
        f"the text has only {row['n']} letters and digits",
        (side(row["tab"], row["id"], row["text"]),),
    ),
)


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
        WHERE f.entered <> f.kept + f.dropped OR f.dropped <> coalesce(d.n, 0)""",
    "stage, unit",
    lambda row: (
        f"{row['stage']}: {row['entered']} {row['unit']} entered, {row['kept']} kept, "
        f"{row['dropped']} dropped, "
        f"{row['listed']} drops listed",
        (side("funnel", f"{row['stage']} {row['unit']}"),),
    ),
)

RULES = (
    Rule(
        "schema",
        1,
        "Columns and types",
        "Every table is present, with exactly the declared columns and types.",
        "error",
        "files",
        _schema,
    ),
    Rule(
        "dangling_ids",
        1,
        "References resolve",
        (
            "Every id in qrels, excluded pairs and provenance exists in the table it points to, and "
            "every row has provenance."
        ),
        "error",
        "references",
        _dangling,
    ),
    Rule(
        "duplicate_ids",
        1,
        "Ids are unique",
        "No id stands twice in queries, corpus, sources or their provenance.",
        "error",
        "rows",
        _duplicate_ids,
    ),
    Rule(
        "duplicate_pairs",
        1,
        "Pairs are unique",
        "No query–document pair stands twice in qrels or in excluded.",
        "error",
        "pairs",
        _duplicate_pairs,
    ),
    Rule(
        "positive_and_excluded",
        1,
        "Judged or excluded, not both",
        "No pair is at once judged and excluded.",
        "error",
        "pairs",
        _both,
    ),
    Rule(
        "query_without_positive",
        1,
        "Every query can be answered",
        "Every query has at least one document with a score above zero.",
        "error",
        "queries",
        _no_positive,
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
    ),
    Rule(
        "empty_texts",
        1,
        "No empty text",
        "Every query and document has at least one letter or digit.",
        "error",
        "texts",
        _empty,
    ),
    Rule(
        "short_texts",
        1,
        "No fragment of a text",
        (
            f"Queries have at least {_FEWEST_QUERY} and documents at least {_FEWEST_CORPUS} letters "
            "and digits."
        ),
        "warn",
        "texts",
        _short,
    ),
    Rule(
        "funnel",
        1,
        "Nothing disappears",
        (
            "In every stage, entered equals kept plus dropped, and each dropped unit is listed with "
            "its reason."
        ),
        "error",
        "stages",
        _funnel,
    ),
)
