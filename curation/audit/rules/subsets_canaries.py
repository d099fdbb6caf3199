"""What is planted for the rules on nano variant and subsets, and those of the copies it is planted in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from curation.audit.rule import Canary, Rows
from curation.audit.rules.planting import GONE, Plant, cell, twice

Row = dict[str, Any]
_NANO = {"nano_corpus": "corpus", "nano_queries": "queries"}
_PAIRS = {"nano_qrels": "qrels", "nano_excluded": "excluded"}


def parts_of(rows: Rows, tables: Collection[str]) -> Rows:
    """Nano variant and subset over the rows of a small copy, of those `tables` it has.

    A copy holds a few rows of a release, so that the parts published with it are not whole there. Its nano
    variant has half of the test queries and what is judged or excluded for them.
    """
    test = {row["id"] for row in rows["provenance_queries"] if row["split"] == "test"}
    positive = {row["query-id"] for row in rows["qrels"] if (row["score"] or 0) > 0}
    queries = sorted(test & positive)
    made: Rows = {}
    if set(_NANO) & set(tables):
        chosen = set(queries[: (len(queries) + 1) // 2])
        pairs = [row for name in _PAIRS.values() for row in rows[name] if row["query-id"] in chosen]
        ids = {"nano_queries": chosen, "nano_corpus": {row["corpus-id"] for row in pairs}}
        for small, whole in _NANO.items():
            made[small] = [row for row in rows[whole] if row["id"] in ids[small]]
        for small, whole in _PAIRS.items():
            made[small] = [
                row
                for row in rows[whole]
                if row["query-id"] in chosen and row["corpus-id"] in ids["nano_corpus"]
            ]
    if "subsets" in tables:
        made["subsets"] = _subset(rows, queries)
    return made


def _subset(rows: Rows, queries: Sequence[str]) -> list[Row]:
    """Equally many documents with and without image, and the queries whose positives are among them."""
    pictured = [row["id"] for row in rows["provenance_corpus"] if row["image_sha256"]]
    plain = [row["id"] for row in rows["provenance_corpus"] if not row["image_sha256"]]
    size = min(len(pictured), len(plain))
    held = {*sorted(pictured)[:size], *sorted(plain)[:size]}
    wanting = {row["query-id"] for row in rows["qrels"] if row["corpus-id"] not in held}
    kept = [name for name in queries if name not in wanting]
    if not kept or not held:
        return []
    listed = [("document", name) for name in sorted(held)] + [("query", name) for name in kept]
    return [{"subset": "modality", "kind": kind, "id": name} for kind, name in listed]


def _first(rows: Rows, table: str, **where: object) -> Row | None:
    wanted = where.items()
    return next((row for row in rows[table] if all(row[name] == value for name, value in wanted)), None)


def _without(rows: Rows, table: str, **where: object) -> None:
    wanted = where.items()
    rows[table] = [row for row in rows[table] if any(row[name] != value for name, value in wanted)]


def _last_pair(change: Callable[[Rows, Row], None], table: str = "nano_qrels") -> Plant:
    """A change of, or around, the last pair of a table; the rule must name its query and document."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        if not rows[table]:
            return None
        row = rows[table][-1]
        change(rows, row)
        return [str(row["query-id"]), str(row["corpus-id"])]

    return plant


def _document_lost(rows: Rows, row: Row) -> None:
    """A document of the nano corpus and all that points to it."""
    _without(rows, "nano_corpus", id=row["corpus-id"])
    for table in _PAIRS:
        _without(rows, table, **{"corpus-id": row["corpus-id"]})


def _lost(table: str) -> Callable[[Rows, Row], None]:
    def change(rows: Rows, row: Row) -> None:
        rows[table] = [other for other in rows[table] if other is not row]

    return change


def _from_elsewhere(table: str) -> Plant:
    """A pair with a document that the release does not have."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        if not rows[table]:
            return None
        rows[table].append({**rows[table][0], "corpus-id": GONE})
        return [GONE]

    return plant


def _other_picture(rows: Rows, _: Rows) -> Sequence[str] | None:
    for table in _NANO:
        for row in rows[table]:
            if row.get("image"):
                row["image"] = {**row["image"], "bytes": row["image"]["bytes"] + b"canary"}
                return [str(row["id"])]
    return None


def _stranger(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["nano_corpus"]:
        return None
    rows["nano_corpus"].append({**rows["nano_corpus"][0], "id": GONE})
    return [GONE]


def _of_dev(table: str, **where: object) -> Plant:
    """The first query of a table is one of the other split."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        row = _first(rows, table, **where)
        origin = row and _first(rows, "provenance_queries", id=row["id"])
        if not origin:
            return None
        origin["split"] = "dev"
        return [str(origin["id"])]

    return plant


def _unanswered(table: str, **where: object) -> Plant:
    """A query without a label, in the part and in the whole."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        row = _first(rows, table, **where)
        if not row:
            return None
        for name in ("qrels", "nano_qrels"):
            _without(rows, name, **{"query-id": row["id"]})
        return [str(row["id"])]

    return plant


def _listed(**row: str) -> Plant:
    """A row that should not be there."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        if not rows["subsets"]:
            return None
        rows["subsets"].append({"subset": "modality", "kind": "query", "id": GONE, **row})
        return [row.get("id", GONE)]

    return plant


def _doubled(rows: Rows, second: Rows) -> Sequence[str] | None:
    return [str(rows["subsets"][0]["id"])] if twice("subsets")(rows, second) else None


def _positive_lost(rows: Rows, _: Rows) -> Sequence[str] | None:
    """The documents of a subset lack a positive of one of its queries."""
    queries = {row["id"] for row in rows["subsets"] if row["kind"] == "query"}
    for row in rows["qrels"]:
        if row["query-id"] in queries and _first(rows, "subsets", kind="document", id=row["corpus-id"]):
            _without(rows, "subsets", kind="document", id=row["corpus-id"])
            return [str(row["query-id"]), str(row["corpus-id"])]
    return None


def _unequal(facet: str, value: Callable[[int], str]) -> Plant:
    """A subset of all test queries whose facet is what `value` says of their number."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        test = {row["id"] for row in rows["provenance_queries"] if row["split"] == "test"}
        chosen = [row for row in rows["queries"] if row["id"] in test]
        if len(chosen) < 3 or facet not in chosen[0]:
            return None
        _without(rows, "subsets", subset=facet)
        for number, row in enumerate(chosen):
            row[facet] = value(number)
            rows["subsets"].append({"subset": facet, "kind": "query", "id": row["id"]})
        return [facet if all(row[facet] for row in chosen) else str(chosen[0]["id"])]

    return plant


def _one_picture_less(rows: Rows, _: Rows) -> Sequence[str] | None:
    """A subset with one document, or query, with an image less than without."""
    for kind, table in (("document", "provenance_corpus"), ("query", "provenance_queries")):
        images: Mapping[str, Any] = {row["id"]: row["image_sha256"] for row in rows[table]}
        for row in rows["subsets"]:
            if row["subset"] == "modality" and row["kind"] == kind and images.get(row["id"]):
                _without(rows, "subsets", kind=kind, id=row["id"])
                return ["modality"]
    return None


ROWS = (
    Canary("a document with another text", cell("nano_corpus", "text", "canary", at=0)),
    Canary("a document with another licence", cell("nano_corpus", "license", "CC0-1.0", at=1)),
    Canary("a query with another text", cell("nano_queries", "text", "canary", at=0)),
    Canary("another image", _other_picture),
    Canary("a document the whole does not have", _stranger),
    Canary("a query that stands twice", twice("nano_queries", at=1)),
)
PAIRS = (
    Canary("a positive that is not in the corpus", _last_pair(_document_lost)),
    Canary("a label left out", _last_pair(_lost("nano_qrels"))),
    Canary("another grade", _last_pair(lambda rows, row: row.update(score=7))),
    Canary("an excluded pair left out", _last_pair(_lost("nano_excluded"), "nano_excluded")),
    Canary("a label the whole does not have", _from_elsewhere("nano_qrels")),
    Canary("an exclusion the whole does not have", _from_elsewhere("nano_excluded")),
    Canary("a query of the other split", _of_dev("nano_queries")),
    Canary("a query without a positive", _unanswered("nano_queries")),
)
SUBSETS = (
    Canary("a query that is not published", _listed(id=GONE)),
    Canary("a document that is not in the corpus", _listed(kind="document", id="canary:document")),
    Canary("a row that is neither query nor document", _listed(kind="canary", id="canary:neither")),
    Canary("a subset of an unknown name", _listed(subset="canary", id="canary:unknown")),
    Canary("a row that stands twice", _doubled),
    Canary("a query of the other split", _of_dev("subsets", kind="query")),
    Canary("a query without a positive", _unanswered("subsets", kind="query")),
    Canary("a positive that is not listed", _positive_lost),
)
BALANCED = (
    Canary("a specialty with more queries", _unequal("specialty", lambda number: f"canary:{number > 0}")),
    Canary("a query of no region", _unequal("region", lambda number: f"canary:{number}" if number else "")),
    Canary("an image less", _one_picture_less),
)
