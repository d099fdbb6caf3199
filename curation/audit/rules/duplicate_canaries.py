"""Rows with invented texts that defects of the rules on texts are planted in."""

from __future__ import annotations

from curation.audit.rule import Rows

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
