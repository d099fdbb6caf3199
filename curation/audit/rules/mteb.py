"""The quality checks MTEB runs on its tasks, as one rule.

MTEB exempts 643 tasks from them; here nothing is exempt. The thresholds are those of its
tests/test_tasks/test_task_quality.py (2026), and its check ids are quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.audit.rule import Canary, Collector, Context, Outcome, Rows, Rule, side
from curation.audit.rules.planting import Plant
from curation.audit.rules.statistics import add_all, count_texts

MIN_CHARACTERS, MAX_DUPLICATED_PERCENT, MIN_PIXELS = 3, 1, 8


@dataclass(frozen=True, slots=True)
class Check:
    """One of MTEB's checks: `rows` selects what fails it, `say` gives the message and the sides of a row."""

    id: str
    rows: str
    tables: tuple[str, ...]
    say: Callable[[Mapping[str, Any]], tuple[Any, ...]]


def _mteb(context: Context) -> Outcome:
    found = Collector("mteb_quality", "error")
    ran, absent = [], []
    for check in _checks(context):
        missing = sorted(set(check.tables) - set(context.views))
        if missing:
            absent.append(f"{check.id} ({', '.join(missing)} absent)")
            continue
        ran.append(check.id)
        add_all(found, context, check.rows, "id", check.tables, check.say, of=f"{check.id}: ")
    notes = [f"checks run: {', '.join(ran)}"]
    if absent:
        notes.append(f"not for these files: {', '.join(absent)}")
    return found.outcome(count_texts(context), ". ".join(notes))


def _checks(context: Context) -> Iterator[Check]:
    yield from _of_texts(context, "queries", "queries")
    yield from _of_texts(context, "corpus", "documents")
    yield from _LABELS


def _of_texts(context: Context, table: str, field: str) -> Iterator[Check]:
    origin = f"provenance_{table}"
    tables: tuple[str, ...] = (table,)
    pictured = ""
    if origin in context.views:  # an image alone is a document without text, not a short one
        tables = (table, origin)
        pictured = f"""AND NOT (coalesce(text, '') = '' AND id IN (
            SELECT id FROM {origin} WHERE coalesce(image_sha256, '') <> ''))"""
    yield Check(
        f"short_text:{field}_text_statistics",
        f"SELECT id, text FROM {table} WHERE coalesce(length(text), 0) <= {MIN_CHARACTERS} {pictured}",
        tables,
        lambda row: (f"{len(row['text'] or '')} characters", side(table, row["id"], row["text"])),
    )
    yield Check(
        f"duplicate_text:{field}_text_statistics",
        f"""WITH told AS (SELECT id, text FROM {table} WHERE true {pictured})
            SELECT text, count(*) AS n, min(id) AS id, max(id) AS last FROM told WHERE (
            SELECT count(*) - count(DISTINCT hash(text)) FILTER (text IS NOT NULL)
                > count(*) * {MAX_DUPLICATED_PERCENT} / 100.0 FROM told)
            GROUP BY text HAVING count(*) > 1""",
        tables,
        lambda row: (
            f"{row['n']} rows have this very text, and more than {MAX_DUPLICATED_PERCENT} % of all rows "
            "repeat one",
            side(table, row["id"], row["text"]),
            side(table, row["last"], row["text"]),
        ),
    )
    if context.subject.manifest is None or table != "queries":  # there rule `no_queries` speaks
        asked = "" if table == "queries" else "AND EXISTS (SELECT 1 FROM queries)"
        yield Check(
            f"empty_split:{field}",
            f"SELECT '{table}' AS id WHERE (SELECT count(*) FROM {table}) = 0 {asked}",
            tuple(dict.fromkeys((table, "queries"))),
            lambda row: ("no rows at all", side(table, row["id"])),
        )
    yield Check(
        f"small_image:{field}_image_statistics",
        f"""SELECT id, image_width AS w, image_height AS h FROM {origin}
            WHERE coalesce(image_sha256, '') <> '' AND least(image_width, image_height) <= {MIN_PIXELS}""",
        (origin,),
        lambda row: (f"an image of {row['w']} × {row['h']} pixels", side(table, row["id"])),
    )


_LABELS = (
    Check(
        "zero_relevant_docs:relevant_docs_statistics",
        """SELECT q.id, q.text FROM queries q
            ANTI JOIN (SELECT * FROM qrels WHERE score > 0) r ON r."query-id" = q.id""",
        ("queries", "qrels"),
        lambda row: ("the query has no relevant document", side("queries", row["id"], row["text"])),
    ),
    Check(
        "relevant_docs_exceed_corpus",
        'SELECT DISTINCT r."corpus-id" AS id FROM qrels r ANTI JOIN corpus d ON d.id = r."corpus-id"',
        ("qrels", "corpus"),
        lambda row: ("a relevant document is not in the corpus", side("corpus", row["id"])),
    ),
    Check(
        "train_test_leakage",
        """SELECT q.id, min(o.id) AS other, any_value(q.text) AS text FROM queries q
            JOIN provenance_queries p ON p.id = q.id JOIN queries o ON o.text = q.text AND o.id <> q.id
            JOIN provenance_queries s ON s.id = o.id AND s.image_sha256 IS NOT DISTINCT FROM p.image_sha256
            WHERE p.split = 'test' AND s.split <> 'test' GROUP BY q.id""",
        ("queries", "provenance_queries"),
        lambda row: (
            "a test query stands in another split too",
            side("queries", row["id"], row["text"]),
            side("queries", row["other"], row["text"]),
        ),
    ),
)


def _no_queries(context: Context) -> Outcome:
    found = Collector("no_queries", "declared")
    queries = context.count("queries")
    if not queries:
        found.add("the release has no query", side("queries", "queries"))
        if context.manifest.publishable_by_content:
            found.add(
                "release.json calls it publishable all the same",
                side("release.json", "publishable_by_content"),
            )
    return found.outcome(queries)


def _emptied(rows: Rows, _: Rows) -> Sequence[str] | None:
    for name in ("queries", "qrels", "excluded", "provenance_queries", "provenance_qrels", "keys"):
        rows[name].clear()
    return ["queries"]


def _fragment(table: str) -> Plant:
    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        if not rows[table]:
            return None
        rows[table].append(rows[table][0] | {"id": f"canary:short-{table}", "text": "ab"})
        return [f"canary:short-{table}"]

    return plant


def _twins(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["corpus"]:
        return None
    model = rows["corpus"][-1]
    twins = len(rows["corpus"]) * MAX_DUPLICATED_PERCENT // 100 + 2
    text = "The very same words, standing here for the canary."
    rows["corpus"] += [model | {"id": f"canary:twin-{n:03}", "text": text} for n in range(twins + 1)]
    return ["canary:twin-000", f"canary:twin-{twins:03}"]


def _tiny_image(rows: Rows, _: Rows) -> Sequence[str] | None:
    for table in ("provenance_queries", "provenance_corpus"):
        for row in rows[table]:
            if row["image_sha256"]:
                row["image_width"] = MIN_PIXELS
                return [str(row["id"])]
    return None


def _unanswered(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["qrels"] or not rows["queries"]:
        return None
    rows["queries"].append(rows["queries"][0] | {"id": "canary:unanswered", "text": "Which canary is it?"})
    return ["canary:unanswered"]


def _unreachable(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["qrels"] or not rows["corpus"]:
        return None
    rows["qrels"].append(rows["qrels"][0] | {"corpus-id": "canary:unreachable"})
    return ["canary:unreachable"]


def _in_both_splits(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["queries"] or not rows["provenance_queries"]:
        return None
    query = rows["queries"][0]
    origin = next((row for row in rows["provenance_queries"] if row["id"] == query["id"]), None)
    if origin is None:
        return None
    for name, split in (("canary:test", "test"), ("canary:dev", "dev")):
        rows["queries"].append(query | {"id": name, "text": "A query in two splits."})
        rows["provenance_queries"].append(origin | {"id": name, "split": split})
    return ["canary:test", "canary:dev"]


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
        _mteb,
        canaries=(
            Canary("a query of two letters", _fragment("queries")),
            Canary("a document of two letters", _fragment("corpus")),
            Canary("documents with the very same text", _twins),
            Canary("an image of a few pixels", _tiny_image),
            Canary("a query without relevant document", _unanswered),
            Canary("a relevant document outside the corpus", _unreachable),
            Canary("a test query that is a dev query too", _in_both_splits),
        ),
    ),
    Rule(
        "no_queries",
        1,
        "There is something to ask",
        "A release without queries measures nothing: its inputs gave none, and the funnel says why. It may "
        "not be published. (MTEB's empty_split, for a release of ours.)",
        "declared",
        "queries",
        _no_queries,
        canaries=(Canary("a release without queries", _emptied),),
    ),
)
