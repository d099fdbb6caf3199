"""What is planted for the rules on structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from curation.audit.rule import Canary, Rows
from curation.audit.rules.planting import GONE, Plant, cell, row_ids, twice


def _added(table: str, change: Callable[[dict[str, Any]], Any], names: Sequence[str]) -> Plant:
    """A further row of a table, made from one that is there; never fewer rows."""

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows[table]:
            return None
        row = dict(rows[table][0])
        change(row)
        rows[table].append(row)
        return names

    return plant


def _removed(table: str, counterpart: str) -> Plant:
    """Every row of one id or pair taken out of a table, which its counterpart still points to."""

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        pointed = {tuple(row_ids(row)) for row in rows[counterpart]}
        known = [names for row in rows[table] if (names := tuple(row_ids(row))) in pointed]
        if not known:
            return None
        lost = known[-1 if table == "provenance_qrels" else 0]
        rows[table][:] = [row for row in rows[table] if tuple(row_ids(row)) != lost]
        return [" ".join(lost)]

    return plant


def _pair(rows: Rows) -> dict[str, Any] | None:
    """A judged pair, None when there is none."""
    return rows["qrels"][0] if rows["qrels"] else None


def _excluded_twice(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not rows["queries"] or not rows["corpus"] or not rows["provenance_queries"]:
        return None
    pair = {"query-id": rows["queries"][0]["id"], "corpus-id": rows["corpus"][0]["id"], "reason": "canary"}
    rows["excluded"] += [pair, dict(pair)]
    return row_ids(pair)


def _judged_and_excluded(rows: Rows, second: Rows) -> Sequence[str] | None:
    pair = _pair(rows)
    if pair is None or not rows["provenance_queries"]:
        return None
    kept = {"query-id": pair["query-id"], "corpus-id": pair["corpus-id"], "reason": "canary"}
    rows["excluded"].append(kept)
    return row_ids(kept)


def _unanswered(rows: Rows, second: Rows) -> Sequence[str] | None:
    pair = _pair(rows)
    if pair is None:
        return None
    for row in rows["qrels"]:
        if row["query-id"] == pair["query-id"]:
            row["score"] = 0
    return [pair["query-id"]]


def _without_qrels(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not rows["qrels"]:
        return None
    pair = rows["qrels"][-1]
    rows["qrels"][:] = [row for row in rows["qrels"] if row["query-id"] != pair["query-id"]]
    return [pair["query-id"]]


def _bare(table: str, text: str | None, *, at: int = 0) -> Plant:
    """A row with next to no text, and no picture that would stand for it."""

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows[table]:
            return None
        row = rows[table][min(at, len(rows[table]) - 1)]
        row["text"] = text
        if table == "corpus" and "image" in row:
            row["image"] = None
        return [row["id"]]

    return plant


def _undefined_reason(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not rows["queries"] or not rows["corpus"] or not rows["provenance_queries"]:
        return None
    name = rows["queries"][-1]["id"]
    rows["excluded"].append({"query-id": name, "corpus-id": rows["corpus"][0]["id"], "reason": "canary"})
    return [name]


def _step(at: int, **changes: int) -> Plant:
    """A step of the funnel counts other than it should."""

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows["funnel"]:
            return None
        row = rows["funnel"][min(at, len(rows["funnel"]) - 1)]
        for name, more in changes.items():
            row[name] += more
        return [f"{row['stage']} {row['unit']}"]

    return plant


def _unlisted(rows: Rows, second: Rows) -> Sequence[str] | None:
    """A drop the funnel knows nothing of."""
    if not rows["funnel"]:
        return None
    step = rows["funnel"][-1]
    drop = {"stage": step["stage"], "unit": step["unit"], "id": GONE, "article_id": GONE}
    rows["drops"].append(drop | {"reason": "canary", "detail": ""})
    return [f"{step['stage']} {step['unit']}"]


def _of_its_query(plant: Plant) -> Plant:
    """The rule counts pairs of a kind and names the first query."""

    def first_id(rows: Rows, second: Rows) -> Sequence[str] | None:
        named = plant(rows, second)
        return None if named is None else named[:1]

    return first_id


def _dangles(table: str, column: str) -> Plant:
    """A further row that points nowhere."""
    gone = f"{GONE}:{table}:{column}"
    return _added(table, lambda row: row.update({column: gone}), [gone])


def _astray(table: str, column: str) -> Plant:
    """A row that is there points nowhere."""
    gone = f"{GONE}:{table}:{column}"
    return cell(table, column, gone, [gone])


DANGLING = (
    Canary("a qrel to a document that is not there", _dangles("qrels", "corpus-id")),
    Canary("a qrel of a query that is not there", _dangles("qrels", "query-id")),
    Canary("an excluded document that is not there", _dangles("excluded", "corpus-id")),
    Canary("an excluded pair of a query that is not there", _dangles("excluded", "query-id")),
    Canary("provenance of a query that is not there", _dangles("provenance_queries", "id")),
    Canary("provenance of a document that is not there", _dangles("provenance_corpus", "id")),
    Canary("a query without provenance", _removed("provenance_queries", "queries")),
    Canary("a document without provenance", _removed("provenance_corpus", "corpus")),
    Canary("a query's article not among the sources", _astray("provenance_queries", "article_id")),
    Canary("a document's article not among the sources", _astray("provenance_corpus", "article_id")),
    Canary("a qrel without provenance", _removed("provenance_qrels", "qrels")),
    Canary("provenance of a pair nobody judged", _removed("qrels", "provenance_qrels")),
    Canary("an overlap key of a query that is not there", _dangles("keys", "query-id")),
    Canary("names of a concept no query rests on", _dangles("target_names", "concept")),
    Canary("what was seen in an image that is not there", _dangles("image_checks", "id")),
)
DUPLICATE_IDS = tuple(
    Canary(f"an id twice in {table}", twice(table, at=at))
    for table, at in (
        ("queries", 0),
        ("corpus", 0),
        ("provenance_queries", 1),
        ("provenance_corpus", 1),
        ("sources", 0),
    )
)
DUPLICATE_PAIRS = (
    Canary("a pair judged twice", twice("qrels")),
    Canary("a pair excluded twice", _excluded_twice),
    Canary("a pair with two provenances", twice("provenance_qrels", at=1)),
)
BOTH = (Canary("a judged pair that is excluded too", _judged_and_excluded),)
NO_POSITIVE = (
    Canary("a query whose pairs all score 0", _unanswered),
    Canary("a query without qrels", _without_qrels),
)
DEFINITIONS = (
    Canary("a score that is no grade", _of_its_query(cell("qrels", "score", 99))),
    Canary("a label status that is none", _of_its_query(cell("qrels", "label_status", "canary", at=1))),
    Canary("a label without a rule", _of_its_query(cell("qrels", "rule", "", at=2))),
    Canary("a reason that is not defined", _undefined_reason),
)
EMPTY = (
    Canary("a query without a letter", _bare("queries", " … ")),
    Canary("a document without a text", _bare("corpus", None)),
)
SHORT = (
    Canary("a query of one word", _bare("queries", "Cyst?")),
    Canary("a document of one word", _bare("corpus", "Nothing.")),
    Canary("a query of two Chinese characters", _bare("queries", "囊肿", at=1)),
)
FUNNEL = (
    Canary("a step that loses a unit", _step(0, entered=1)),
    Canary("a drop that is not listed", _step(1, entered=1, dropped=1)),
    Canary("a listed drop that is not counted", _unlisted),
)
