"""The quality checks MTEB runs on its tasks, as one rule.

MTEB exempts 643 tasks from them; here nothing is exempt. The thresholds are those of its
tests/test_tasks/test_task_quality.py (2026), and its check ids are quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from curation.audit.rule import Check, Collector, Context, Defect, NotCovered, Outcome, Rule, side
from curation.audit.rules.planting import add_row, set_row

MIN_CHARACTERS, MAX_DUPLICATED_PERCENT, MIN_PIXELS = 3, 1, 8


class _Test(NamedTuple):
    """One of MTEB's checks; left out where a table it needs is absent."""

    id: str
    needs: tuple[str, ...]
    violations: Callable[[Context], str]
    message: str
    defect: Defect

    def sql(self, context: Context) -> str:
        """SQL for what fails it."""
        return self.violations(context) if context.views.keys() >= {*self.needs} else ""


def _told(context: Context, table: str) -> str:
    """SQL for texts; an image alone is a document without text, not a short one."""
    origin = f"provenance_{table}"
    pictured = f"SELECT id FROM {origin} WHERE coalesce(image_sha256, '') <> ''"
    is_told = f"coalesce(text, '') <> '' OR id NOT IN ({pictured})" if origin in context.views else "true"
    return f"SELECT id, text FROM {table} WHERE {is_told}"


def _short(table: str, context: Context) -> str:
    return f"""SELECT id AS {table}, coalesce(length(text), 0) AS n, text FROM ({_told(context, table)})
        WHERE coalesce(length(text), 0) <= {MIN_CHARACTERS}"""


def _duplicated(table: str, context: Context) -> str:
    return f"""WITH told AS ({_told(context, table)})
        SELECT min(id) AS {table}, max(id) AS {table[0]}, count(*) AS n, text FROM told WHERE (
            SELECT count(*) - count(DISTINCT hash(text)) FILTER (text IS NOT NULL)
                > count(*) * {MAX_DUPLICATED_PERCENT} / 100.0 FROM told)
        GROUP BY text HAVING count(*) > 1"""


def _of_table(table: str, field: str, what: str) -> Iterator[_Test]:
    yield _Test(
        f"short_text:{field}_text_statistics",
        (table,),
        partial(_short, table),
        "{n} characters",
        Defect(f"a {what} of two letters", add_row(table, "'planted:short' AS id, 'ab' AS text")),
    )
    yield _Test(
        f"duplicate_text:{field}_text_statistics",
        (table,),
        partial(_duplicated, table),
        f"{{n}} rows have this very text, and more than {MAX_DUPLICATED_PERCENT} % of all rows repeat one",
        Defect(
            f"{field} with the very same text",
            f"""INSERT INTO {table} SELECT r.* REPLACE ('planted:twin-' || n AS id, 'Just as before.' AS text)
                FROM {table} r, range(10) t(n) WHERE r.rowid = 0;
            SELECT 'planted:twin-0', 'planted:twin-9'""",
        ),
    )
    yield _Test(
        f"small_image:{field}_image_statistics",
        (f"provenance_{table}",),
        lambda context: (
            f"""SELECT id AS {table}, image_width AS w, image_height AS h
            FROM provenance_{table} WHERE coalesce(image_sha256, '') <> ''
            AND least(image_width, image_height) <= {MIN_PIXELS}"""
        ),
        "an image of {w} × {h} pixels",
        Defect(
            f"an image of a few pixels with a {what}",
            set_row(
                f"provenance_{table}", f"image_sha256 = '00', image_width = {MIN_PIXELS}, image_height = 400"
            ),
        ),
    )


_IN_SPLITS = "r, (VALUES ('test'), ('dev')) s(split) WHERE r.rowid = 0"
_LABELS = (
    _Test(
        "zero_relevant_docs:relevant_docs_statistics",
        ("queries", "qrels"),
        lambda context: (
            """SELECT q.id AS queries, q.text FROM queries q
            ANTI JOIN (SELECT * FROM qrels WHERE score > 0) r ON r."query-id" = q.id"""
        ),
        "the query has no relevant document",
        Defect(
            "a query without relevant document",
            add_row("queries", "'planted:unanswered' AS id, 'Which one answers this?' AS text"),
        ),
    ),
    _Test(
        "relevant_docs_exceed_corpus",
        ("qrels", "corpus"),
        lambda context: (
            """SELECT DISTINCT r."corpus-id" AS corpus FROM qrels r
            ANTI JOIN corpus d ON d.id = r."corpus-id" """
        ),
        "a relevant document is not in the corpus",
        Defect(
            "a relevant document outside the corpus",
            add_row("qrels", "'planted:unreachable' AS \"corpus-id\"", names='"corpus-id"'),
        ),
    ),
    _Test(
        "train_test_leakage",
        ("queries", "provenance_queries"),
        lambda context: (
            """SELECT q.id AS queries, min(o.id) AS q, any_value(q.text) AS text FROM queries q
            JOIN provenance_queries p ON p.id = q.id JOIN queries o ON o.text = q.text AND o.id <> q.id
            JOIN provenance_queries s ON s.id = o.id AND s.image_sha256 IS NOT DISTINCT FROM p.image_sha256
            WHERE p.split = 'test' AND s.split <> 'test' GROUP BY q.id"""
        ),
        "a test query stands in another split too",
        Defect(
            "a test query that is a dev query too",
            f"""INSERT INTO queries SELECT r.* REPLACE ('planted:' || split AS id, 'In two splits.' AS text)
                FROM queries {_IN_SPLITS};
            INSERT INTO provenance_queries SELECT r.* REPLACE ('planted:' || s.split AS id, s.split AS split)
                FROM provenance_queries {_IN_SPLITS} RETURNING id""",
        ),
    ),
)
_EMPTY = {"empty_split:queries": ("queries",), "empty_split:documents": ("corpus", "queries")}
_TESTS = (*_of_table("queries", "queries", "query"), *_of_table("corpus", "documents", "document"), *_LABELS)


def _empty(context: Context) -> Outcome:
    """Tables without rows; also which checks are made. Rule `no_queries` speaks of queries of a release."""
    found = Collector("mteb_quality", "error")
    is_foreign = context.subject.manifest is None
    needs = {test.id: test.needs for test in _TESTS} | _EMPTY
    names = [test.id for test in _TESTS]
    names.insert(5, "empty_split:documents")
    if is_foreign:
        names.insert(2, "empty_split:queries")
    absent = {name: sorted({*needs[name]} - context.views.keys()) for name in names}
    asked = context.count("queries") if "queries" in context.views else None
    if is_foreign and asked == 0:
        found.add("empty_split:queries: no rows at all", side("queries", "queries"))
    if asked and not absent["empty_split:documents"] and not context.count("corpus"):
        found.add("empty_split:documents: no rows at all", side("corpus", "corpus"))
    note = f"checks run: {', '.join(name for name in names if not absent[name])}"
    left = [f"{name} ({', '.join(tables)} absent)" for name, tables in absent.items() if tables]
    if left:
        note += f". not for these files: {', '.join(left)}"
    return found.outcome(0, note)


def _texts(context: Context) -> str:
    tables = [name for name in ("queries", "corpus") if name in context.views]
    if not tables:
        raise NotCovered("table absent: queries, corpus")
    return " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in tables)


def _called_publishable(context: Context) -> str:
    if context.count("queries") or not context.manifest.publishable_by_content:
        return ""
    return "SELECT 'publishable_by_content' AS \"release.json\""


RULES = (
    Rule(
        "mteb_quality",
        1,
        "MTEB's quality checks",
        f"The checks MTEB runs on every task, without exemption and for every row: texts of more than "
        f"{MIN_CHARACTERS} characters (short_text), at most {MAX_DUPLICATED_PERCENT} % of the texts equal "
        "to another "
        f"(duplicate_text), images of more than {MIN_PIXELS} pixels each way (small_image), no empty table "
        f"(empty_split), a relevant document for every query (zero_relevant_docs), all of them in the corpus "
        f"(relevant_docs_exceed_corpus), no test query with its image in another split (train_test_leakage). "
        f"zero_top_ranked is in excluded_honoured, the warning long_text in length_outliers.",
        "error",
        "texts",
        checks=(
            Check(
                "empty_split: no rows at all",
                _empty,
                Defect("a corpus without documents", "DELETE FROM corpus; SELECT 'corpus'"),
            ),
            *(Check(f"{test.id}: {test.message}", test.sql, test.defect) for test in _TESTS),
        ),
        compared=_texts,
    ),
    Rule(
        "no_queries",
        1,
        "The release has queries",
        "A release without queries measures nothing: its inputs gave none, and the retention table says why. "
        "It may not be published. (MTEB's empty_split, for a release of ours.)",
        "declared",
        "queries",
        checks=(
            Check(
                "the release has no query",
                "SELECT 'queries' AS queries WHERE (SELECT count(*) FROM queries) = 0",
                Defect("a release without queries", "DELETE FROM queries; SELECT 'queries'"),
            ),
            Check(
                "release.json calls it publishable all the same",
                _called_publishable,
                Defect(
                    "a release without queries that is called publishable",
                    "DELETE FROM queries; SELECT 'publishable_by_content'",
                    stated={"publishable_by_content": True},
                ),
            ),
        ),
        tables=("queries",),
        compared="FROM queries",
    ),
)
