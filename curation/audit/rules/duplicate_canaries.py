"""What is planted for the rules on duplicates, and rows with invented texts for all rules on texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from curation.audit.rule import Canary, Rows

LONG = (
    "Grey basalt terraces above the northern harbour were mapped twice before the ferry service stopped and "
    "the lighthouse keeper moved his goats to the smaller island"
)
"""An invented text of 25 words that no release holds."""
SHORT = "Harbour lighthouses with broken lanterns"
UNSPACED = "港町の灯台守は北の島へ山羊を移したあと古い地図に玄武岩の段丘を描き足した"


def near(text: str) -> str:
    """The text with one word of twelve changed, and its last."""
    words = text.split()
    return " ".join(
        "canary" if at % 12 == 11 or at == len(words) - 1 else word for at, word in enumerate(words)
    )


def add_query(rows: Rows, name: str, text: str, **provenance: Any) -> dict[str, Any] | None:
    """A further query like the first one, without family or keys; None when there is none to be like."""
    if not rows["queries"]:
        return None
    like = rows["queries"][0]
    rows["queries"].append({**like, "id": name, "text": text})
    for row in [row for row in rows["provenance_queries"] if row["id"] == like["id"]]:
        rows["provenance_queries"].append({**row, "id": name, "family": "", **provenance})
    return like


def add_document(rows: Rows, like: str, name: str, text: str) -> bool:
    """A further document, with the picture and provenance of another."""
    found = [row for row in rows["corpus"] if row["id"] == like]
    for row in found[:1]:
        rows["corpus"].append({**row, "id": name, "text": text})
    for row in [row for row in rows["provenance_corpus"] if row["id"] == like][:1]:
        rows["provenance_corpus"].append({**row, "id": name})
    return bool(found)


def set_text(rows: Rows, table: str, name: str, text: str) -> None:
    """Another text for a row."""
    for row in rows[table]:
        if row["id"] == name:
            row["text"] = text


def positive(rows: Rows) -> tuple[str, str] | None:
    """A query and a document positive for it, both there."""
    held = {row["id"] for row in rows["corpus"]}
    asked = {row["id"] for row in rows["queries"]}
    for row in rows["qrels"]:
        if row["score"] and row["score"] > 0 and row["corpus-id"] in held and row["query-id"] in asked:
            return row["query-id"], row["corpus-id"]
    return None


def _same_document(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not rows["corpus"]:
        return None
    like = rows["corpus"][0]["id"]
    set_text(rows, "corpus", like, LONG)
    add_document(rows, like, "canary:document", f"  {LONG.upper().replace(' ', ' - ')}!")
    return ["canary:document"]


def _near_document(text: str, changed: str, grade: int | None = None) -> Canary:
    """A near copy of a positive, unjudged or with another grade."""

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        pair = positive(rows)
        if pair is None:
            return None
        query, document = pair
        set_text(rows, "corpus", document, text)
        add_document(rows, document, "canary:near", changed)
        if grade is not None:
            row = next(row for row in rows["qrels"] if (row["query-id"], row["corpus-id"]) == pair)
            rows["qrels"].append({**row, "corpus-id": "canary:near", "score": row["score"] + grade})
        return ["canary:near", document, query]

    kind = "unjudged" if grade is None else "with another grade"
    return Canary(f"a near copy of a positive {kind}: {len(text.split())} words", plant)


def _same_query(rows: Rows, second: Rows) -> Sequence[str] | None:
    like = add_query(rows, "canary:query", f"{LONG.title()}.")
    if like is None:
        return None
    set_text(rows, "queries", like["id"], LONG)
    return ["canary:query"]


def _near_query(name: str, text: str, changed: str, split: bool = False) -> Canary:
    """A near copy of the first query, in its split or in the other one."""

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows["queries"]:
            return None
        like = rows["queries"][0]["id"]
        found = [row for row in rows["provenance_queries"] if row["id"] == like]
        if split and not found:
            return None
        other = {"split": "dev" if found[0]["split"] == "test" else "test"} if split else {}
        add_query(rows, "canary:query", changed, **other)
        set_text(rows, "queries", like, text)
        return ["canary:query", like]

    return Canary(name, plant)


DUPLICATE_DOCUMENTS = (Canary("a document again, in capitals and with dashes", _same_document),)
DUPLICATE_QUERIES = (Canary("a query again, in title case", _same_query),)
NEAR_DOCUMENTS = (
    _near_document(LONG, near(LONG)),
    _near_document(SHORT, SHORT.replace("lanterns", "lantern")),
    _near_document(LONG, near(LONG), grade=1),
)
NEAR_QUERIES = (
    _near_query("a query of 25 words with three changed", LONG, near(LONG)),
    _near_query("a short query with one letter less", SHORT, SHORT.replace("lanterns", "lantern")),
    _near_query(
        "the words of a short query in another order", SHORT, "with broken lanterns harbour lighthouses"
    ),
    _near_query("a query without spaces, two characters changed", UNSPACED, UNSPACED[:-2] + "消し"),
)
NEAR_ACROSS = (
    _near_query("a query of 25 words, three changed, in the other split", LONG, near(LONG), split=True),
    _near_query("a short query in the other split", SHORT, f"{SHORT[:-1]}", split=True),
)
