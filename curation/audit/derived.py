"""Derived tables of the small copies that defects are planted in: pools, distractors, diagnostics, parts.

A copy holds a few rows of a release, so that what was derived from the whole is not whole there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from curation.audit.rule import Rows
from curation.derived.pools.checksums import document_digest, joined, pool_checksum

Row = dict[str, Any]
_KINDS = ("hard_negative", "hard_negative", "likely_positive", "candidate")
_SYSTEM = "bm25"
_MOST = 4
_BANDS = ((400, "400+"), (200, "200-399"), (100, "100-199"), (50, "50-99"), (25, "25-49"))
_NANO = {"nano_corpus": "corpus", "nano_queries": "queries"}
_PAIRS = {"nano_qrels": "qrels", "nano_excluded": "excluded"}


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
    inside = {row["corpus-id"] for row in rows["confusions"] if row["query-id"] == query}
    unjudged = [name for name in documents if name not in labels and name not in left_out]
    if inside:
        return kinds | {name: "candidate" for name in unjudged if name in inside}
    return kinds | dict(zip(unjudged, _KINDS, strict=False))


def distractors_of(rows: Rows) -> list[Row]:
    """Distractors over the rows of a small copy: up to four of each query, alike in what its documents are.

    A copy holds a few documents of a release, so that the distractors published with it are not there.
    """
    texts = {row["id"]: row for row in rows["corpus"]}
    origins = {row["id"]: row for row in rows["provenance_corpus"] if row["id"] in texts}
    made: list[Row] = []
    for own in sorted(rows["provenance_queries"], key=lambda row: str(row["id"])):
        labels = {
            row["corpus-id"]: row["score"] or 0 for row in rows["qrels"] if row["query-id"] == own["id"]
        }
        positive = [name for name in labels if labels[name] > 0 and name in origins]
        if not positive:
            continue
        best = _facets(min(positive, key=lambda name: (-labels[name], name)), texts, origins)
        barred = {row["corpus-id"] for row in rows["excluded"] if row["query-id"] == own["id"]} | set(labels)
        near = [own, *(origins[name] for name in positive)]
        found = []
        for name in sorted(set(origins) - barred - {own.get("source_id")}):
            facets = _facets(name, texts, origins)
            if facets[:2] == best[:2] and not any(_is_near(origins[name], other) for other in near):
                level = 0 if facets[2:] == best[2:] else 1 if facets[3] == best[3] else 2
                found.append((level, name, facets))
        made += [_row(own["id"], rank, *item[1:], best) for rank, item in enumerate(sorted(found)[:_MOST], 1)]
    return made


def _facets(name: str, texts: dict[str, Row], origins: dict[str, Row]) -> tuple[str, ...]:
    """Language, specialty, genre and length band of a document."""
    text, language = texts[name]["text"] or "", texts[name].get("language") or ""
    dense = re.match(r"(?i)(ja|zh)(-|$)", language)
    size = len(text) // 2 if dense else text.count(" ") + 1
    band = next((name for least, name in _BANDS if size >= least), "<25") if text else ""
    origin = origins[name]
    return language, origin.get("specialty") or "", origin.get("genre") or "", band


def _is_near(one: Row, other: Row) -> bool:
    """Whether two records share an article, a patient, a text or an image."""
    columns = ("article_id", "patient_id", "text_sha256", "image_sha256")
    return any(one.get(column) and one[column] == other.get(column) for column in columns)


def _row(query: str, rank: int, name: str, facets: Sequence[str], best: Sequence[str]) -> Row:
    names = ("specialty", "genre", "length_band")
    pairs = zip(names, facets[1:], best[1:], strict=True)
    return {
        "query-id": query,
        "corpus-id": name,
        "rank": rank,
        "matched": [facet for facet, mine, theirs in pairs if mine and mine == theirs],
        **dict(zip(names, facets[1:], strict=True)),
        "label_status": "unjudged",
    }


def invented_row(query: str) -> dict[str, Any]:
    """Diagnostics of a query with one positive of grade 2 among three candidates."""
    return {
        "query-id": query,
        "text_only": 1.0,
        "image_only": 0.63093,
        "text_and_image": 1.0,
        "shuffled_image": 0.63093,
        "caption_for_image": None,
        "needs": "text",
        "bm25_solvable": True,
        "candidates": 3,
        "chance": 0.71031,
        "chance_first": 0.333333,
        "shortcuts": [],
        "shortcut_scores": [{"shortcut": "length/longest", "ndcg": 0.5}],
    }


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
