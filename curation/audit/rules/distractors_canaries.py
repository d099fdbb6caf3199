"""What is planted for the rules on distractors, and the distractors of the small copies it is planted in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from curation.audit.rule import Canary, Rows
from curation.audit.rules.planting import GONE, Plant

Row = dict[str, Any]
_MOST = 4
_BANDS = ((400, "400+"), (200, "200-399"), (100, "100-199"), (50, "50-99"), (25, "25-49"))


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


def _plant(at: int, damage: Callable[[Rows, Row], Sequence[str] | None]) -> Plant:
    """A canary in the first row of a query; the rule must name it."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        queries = sorted({str(row["query-id"]) for row in rows["distractors"]})
        if not queries:
            return None
        query = queries[at % len(queries)]
        row = next(row for row in rows["distractors"] if row["query-id"] == query)
        more = damage(rows, row)
        return None if more is None else [query, *more]

    return plant


def _set(column: str, value: object) -> Callable[[Rows, Row], Sequence[str]]:
    def damage(rows: Rows, row: Row) -> Sequence[str]:
        row[column] = value
        return ()

    return damage


def _labelled(rows: Rows, row: Row) -> Sequence[str]:
    label = {**rows["qrels"][0], "query-id": row["query-id"], "corpus-id": row["corpus-id"], "score": 0}
    rows["qrels"].append(label)
    return [str(row["corpus-id"])]


def _excluded(rows: Rows, row: Row) -> Sequence[str]:
    pair = {"query-id": row["query-id"], "corpus-id": row["corpus-id"]}
    rows["excluded"].append({**pair, "reason": "own_article"})
    return [str(row["corpus-id"])]


def _shared(column: str) -> Callable[[Rows, Row], Sequence[str] | None]:
    """The distractor shares something with the query's record."""

    def damage(rows: Rows, row: Row) -> Sequence[str] | None:
        origin = next((other for other in rows["provenance_corpus"] if other["id"] == row["corpus-id"]), None)
        own = next((other for other in rows["provenance_queries"] if other["id"] == row["query-id"]), None)
        if not origin or not own or column not in origin:
            return None
        origin[column] = own[column] = "canary:shared"
        return [str(row["corpus-id"])]

    return damage


def _copied(rows: Rows, row: Row) -> Sequence[str] | None:
    """The distractor is a copy of a positive's image."""
    of_query = {
        item["corpus-id"] for item in rows["qrels"] if item["query-id"] == row["query-id"] and item["score"]
    }
    chosen = [item for item in rows["provenance_corpus"] if item["id"] in {*of_query, row["corpus-id"]}]
    for item in chosen:
        item["image_sha256"] = "c" * 64
    return [str(row["corpus-id"])] if len(chosen) > 1 else None


def _doubled(rows: Rows, row: Row) -> Sequence[str]:
    rows["distractors"].append(dict(row))
    return ()


def _claimed(rows: Rows, row: Row) -> Sequence[str]:
    """What was matched turned round."""
    row["matched"] = [name for name in ("specialty", "genre", "length_band") if name not in row["matched"]]
    return [str(row["corpus-id"])]


def _elsewhere(rows: Rows, row: Row) -> Sequence[str] | None:
    """The document, and what is said of it, is of another specialty than the best positive."""
    origin = next((item for item in rows["provenance_corpus"] if item["id"] == row["corpus-id"]), None)
    if not origin or "specialty" not in origin:
        return None
    origin["specialty"] = row["specialty"] = "canary"
    return [str(row["corpus-id"])]


def _orphaned(rows: Rows, _: Rows) -> Sequence[str] | None:
    """A row of a query that is not published; the query it was of need not be wrong without it."""
    if not rows["distractors"]:
        return None
    rows["distractors"][-1]["query-id"] = GONE
    return [GONE]


FIT = (
    Canary("a document that is not published", _plant(0, _set("corpus-id", GONE))),
    Canary("a query that is not published", _orphaned),
    Canary("a judged document", _plant(2, _labelled)),
    Canary("an excluded document", _plant(3, _excluded)),
    Canary("a document of the query's article", _plant(4, _shared("article_id"))),
    Canary("a document of the query's patient", _plant(5, _shared("patient_id"))),
    Canary("a copy of a positive's image", _plant(0, _copied)),
    Canary("a rank that was skipped", _plant(1, _set("rank", 9))),
    Canary("a document twice", _plant(2, _doubled)),
    Canary("a distractor called negative", _plant(3, _set("label_status", "negative"))),
)
MATCH = (
    Canary("a match that is none", _plant(0, _claimed)),
    Canary("a length that is not the document's", _plant(1, _set("length_band", "canary"))),
    Canary("a genre that is not the document's", _plant(2, _set("genre", "canary"))),
    Canary("a document of another specialty", _plant(3, _elsewhere)),
)
