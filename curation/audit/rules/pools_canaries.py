"""What is planted for the rules on candidate pools, and the pools of the small copies it is planted in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from curation.audit.rule import Canary, Rows
from curation.audit.rules.planting import GONE, Plant
from curation.audit.rules.planting import manifest as edited
from curation.derived.pools.checksums import document_digest, joined, pool_checksum
from curation.published.manifest import read_manifest

Row = dict[str, Any]
_KINDS = ("hard_negative", "hard_negative", "likely_positive", "candidate")
_SYSTEM, _STRANGER = "bm25", "canary:system"


def pools_of(rows: Rows, shaped_by: Sequence[str] = ()) -> Rows:
    """Pools over the rows of a small copy: of each query its positives and up to four unjudged documents.

    A copy holds a few documents of a release, so that the pools published with it are not whole there.
    """
    made: Rows = {"top_ranked": [], "pools": [], "pool_checksums": [], "hard_negatives": []}
    documents = {str(row["id"]): document_digest(row) for row in rows["corpus"]}
    splits = {row["id"]: row["split"] for row in rows["provenance_queries"]}
    found = [{"system": min(shaped_by, default=_SYSTEM), "rank": 1}]
    for query in sorted(str(row["id"]) for row in rows["queries"]):
        kinds = dict(sorted(_kinds(rows, query, sorted(documents)).items()))
        split = splits.get(query, "test")
        made["top_ranked"].append({"query-id": query, "corpus-ids": list(kinds)})
        checksum = pool_checksum(joined(documents[name] for name in kinds))
        of_query = {"query-id": query, "split": split}
        made["pool_checksums"].append({**of_query, "candidates": len(kinds), "pool_sha256": checksum})
        made["pools"] += [
            {**of_query, "corpus-id": name, "kind": kind, "systems": found} for name, kind in kinds.items()
        ]
        hard = [name for name, kind in kinds.items() if kind == "hard_negative"]
        made["hard_negatives"] += [
            {"query-id": query, "corpus-id": name, "rank": rank, "systems": found, "label_status": "unjudged"}
            for rank, name in enumerate(hard, 1)
        ]
    return made


def _kinds(rows: Rows, query: str, documents: Sequence[str]) -> dict[str, str]:
    """Candidates of one query and what they are."""
    own = next((row for row in rows["provenance_queries"] if row["id"] == query), {})
    patient = own.get("patient_id")
    left_out = {row["corpus-id"] for row in rows["excluded"] if row["query-id"] == query}
    left_out |= {own.get("source_id")}
    left_out |= {row["id"] for row in rows["provenance_corpus"] if patient and row["patient_id"] == patient}
    labels = {row["corpus-id"]: row["score"] for row in rows["qrels"] if row["query-id"] == query}
    kinds = {name: "positive" for name, score in labels.items() if score and score > 0 and name in documents}
    unjudged = [name for name in documents if name not in labels and name not in left_out]
    return kinds | dict(zip(unjudged, _KINDS, strict=False))


Damage = Callable[[Rows, Row], Sequence[str] | None]
"""Changes one row, or what hangs on it, and returns further ids the rule must name, None where it cannot."""


def _plant(table: str, at: int, damage: Damage, kind: str = "") -> Plant:
    """A canary in a row of one query: canaries that have queries of their own are planted together."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        queries = sorted({str(row["query-id"]) for row in rows[table]})
        if not queries:
            return None
        query = queries[at % len(queries)]
        of_query = (row for row in rows[table] if row["query-id"] == query)
        row = next((row for row in of_query if not kind or row["kind"] == kind), None)
        more = damage(rows, row) if row else None
        return None if more is None else [query, *more]

    return plant


def _set(column: str, value: object) -> Damage:
    def damage(rows: Rows, row: Row) -> Sequence[str]:
        row[column] = value
        return ()

    return damage


def _remove(table: str) -> Damage:
    def damage(rows: Rows, row: Row) -> Sequence[str]:
        rows[table] = [other for other in rows[table] if other is not row]
        return ()

    return damage


def _twice(table: str) -> Damage:
    def damage(rows: Rows, row: Row) -> Sequence[str]:
        rows[table].append(dict(row))
        return ()

    return damage


def _list(change: Callable[[list[str]], list[str]], *more: str) -> Damage:
    """Another list of candidates."""

    def damage(rows: Rows, row: Row) -> Sequence[str] | None:
        if len(row["corpus-ids"]) < 2:
            return None
        row["corpus-ids"] = change(row["corpus-ids"])
        return more

    return damage


def _other_split(rows: Rows, row: Row) -> Sequence[str]:
    row["split"] = "dev" if row["split"] == "test" else "test"
    return ()


def _without_positive(rows: Rows, row: Row) -> Sequence[str]:
    """A pool that lacks its first positive, as a ranking without safeguard would."""
    for ranked in rows["top_ranked"]:
        if ranked["query-id"] == row["query-id"]:
            ranked["corpus-ids"] = [name for name in ranked["corpus-ids"] if name != row["corpus-id"]]
    return [str(row["corpus-id"])]


def _as_pair(table: str, **more: object) -> Damage:
    """The pair of a row also stands in another table."""

    def damage(rows: Rows, row: Row) -> Sequence[str] | None:
        if not rows[table]:
            return None
        pair = {"query-id": row["query-id"], "corpus-id": row["corpus-id"]}
        rows[table].append({**rows[table][0], **pair, **more})
        return ()

    return damage


def _own_record(rows: Rows, row: Row) -> Sequence[str]:
    """The query was made from a candidate of its pool."""
    for own in rows["provenance_queries"]:
        if own["id"] == row["query-id"]:
            own["source_id"] = row["corpus-id"]
    return ()


def _own_patient(rows: Rows, row: Row) -> Sequence[str]:
    """The query and a candidate of its pool tell of one patient."""
    for table, name in (("provenance_queries", "query-id"), ("provenance_corpus", "corpus-id")):
        for origin in rows[table]:
            if origin["id"] == row[name]:
                origin["patient_id"] = "canary:patient"
    return ()


def _reworded(rows: Rows, row: Row) -> Sequence[str] | None:
    """The text of a candidate has changed."""
    for document in rows["corpus"]:
        if document["id"] in row["corpus-ids"][:1]:
            document["text"] = f"{document['text']} (revised)"
            return ()
    return None


def _ranked_below(rows: Rows, row: Row) -> Sequence[str]:
    row["rank"] += 10
    return ()


def _strange(rows: Rows, row: Row) -> Sequence[str]:
    """A candidate found by a system that release.json does not name."""
    row["systems"] = [*row["systems"], {"system": _STRANGER, "rank": 1}]
    return ()


def _stranger(table: str) -> Plant:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        return _plant(table, 0, _strange)(rows, second) and [_STRANGER]

    return plant


def _unnamed(directory: Path) -> Sequence[str] | None:
    """release.json names no system although the pools do."""
    stated = read_manifest(directory).shaped_by
    if not stated or not any((directory / "provenance" / "pools").glob("*.parquet")):
        return None
    edited(shaped_by=[])(directory)
    return [min(stated)]


WHOLE = (
    Canary("a query without a pool", _plant("top_ranked", 0, _remove("top_ranked"))),
    Canary("a checksum that stands twice", _plant("pool_checksums", 1, _twice("pool_checksums"))),
    Canary("candidates in another order", _plant("top_ranked", 2, _list(lambda ids: ids[::-1]))),
    Canary(
        "a candidate that is not in the corpus",
        _plant("top_ranked", 3, _list(lambda ids: sorted([*ids, GONE]), GONE)),
    ),
    Canary("a candidate nobody says who found", _plant("pools", 4, _remove("pools"))),
    Canary("a pair that is no candidate", _plant("top_ranked", 5, _list(lambda ids: ids[1:]))),
    Canary("a kind that is none", _plant("pools", 6, _set("kind", "negative"))),
    Canary("a candidate no system found", _plant("pools", 7, _set("systems", []), "candidate")),
    Canary("a candidate of the other split", _plant("pools", 8, _other_split)),
)
POSITIVES = (
    Canary("a positive that is not in the pool", _plant("pools", 0, _without_positive, "positive")),
    Canary("a positive called a candidate", _plant("pools", 1, _set("kind", "candidate"), "positive")),
    Canary("a candidate called positive", _plant("pools", 2, _set("kind", "positive"), "candidate")),
)
LEFT_OUT = (
    Canary("an excluded pair", _plant("pools", 0, _as_pair("excluded"))),
    Canary("the query's own record", _plant("pools", 1, _own_record, "candidate")),
    Canary("a record of the query's own patient", _plant("pools", 2, _own_patient, "candidate")),
)
CHECKSUMS = (
    Canary("a text that has changed", _plant("top_ranked", 0, _reworded)),
    Canary("a candidate less", _plant("top_ranked", 1, _list(lambda ids: ids[1:]))),
    Canary("a candidate exchanged", _plant("top_ranked", 2, _list(lambda ids: [*ids[:-1], GONE]))),
)
HARD = (
    Canary("a hard negative that is judged", _plant("hard_negatives", 0, _as_pair("qrels", score=1))),
    Canary("a hard negative that is excluded", _plant("hard_negatives", 1, _as_pair("excluded"))),
    Canary("a hard negative held back", _plant("pools", 2, _set("kind", "likely_positive"), "hard_negative")),
    Canary("ranks with a gap", _plant("hard_negatives", 3, _ranked_below)),
    Canary("a hard negative called wrong", _plant("hard_negatives", 4, _set("label_status", "negative"))),
    Canary("a hard negative found by others", _plant("hard_negatives", 5, _strange)),
)
SYSTEMS = (
    Canary("a system of the pools that is not named", _stranger("pools")),
    Canary("a system of hard negatives that is not named", _stranger("hard_negatives")),
    Canary("no system named", files=_unnamed),
)
