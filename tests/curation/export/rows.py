"""A small release by hand with what formats stumble over: images, line separators, tabs, judged negatives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.curation.release.known import noise_image
from tests.releases import manifest, seal, write

ODD = 'Tab\there, "quotes", a\u2028separator, \u0001control, naïve 日本語 العربية 𝒳, back\\slash\nline 2'


def image(seed: int, kind: str = "png") -> dict[str, Any]:
    return {"bytes": noise_image(kind, seed), "path": None}


def document(number: int, **more: Any) -> dict[str, Any]:
    text = f"Passage {number}. {ODD}"
    row = {"id": f"pmc:PMC{number}.1#p1", "title": f"Title {number}", "text": text, "language": "en"}
    return {**row, "license": "CC-BY-4.0", "is_synthetic": False, **more}


def query(name: str, split: str = "test", **more: Any) -> dict[str, Any]:
    told = {"specialty": "", "domain": "", "body_system": "", "modality": "ct", "region": "", "tier": ""}
    sure = {"domain_confidence": 0.1, "body_system_confidence": 1 / 3}
    row = {
        "id": name,
        "text": f"{name}: {ODD}",
        "language": "en",
        "license": "CC-BY-4.0",
        "is_synthetic": False,
    }
    return {**row, **told, **sure, "split": split, **more}


def label(name: str, number: int, score: int, split: str = "test") -> dict[str, Any]:
    pair = {"query-id": name, "corpus-id": f"pmc:PMC{number}.1#p1", "score": score, "split": split}
    return {**pair, "label_status": "structural", "rule": "r@1", "via": ""}


def release(folder: Path, *, is_empty: bool = False, languages: Mapping[str, str] | None = None) -> Path:
    """The task folder; `is_empty`: without queries; `languages`: of its queries, which part their files."""
    queries = [
        query("q-1", image=image(1)),
        query("q-2"),
        query("q-3", "dev", text="", image=image(2, "jpeg")),
    ]
    tables: dict[str, list[dict[str, Any]]] = {
        "corpus": [
            document(number, image=image(3, "gif") if number == 2 else None) for number in range(1, 7)
        ],
        "queries": [] if is_empty else queries,
        "qrels": []
        if is_empty
        else [label("q-1", 1, 2), label("q-1", 2, 0), label("q-2", 3, 1), label("q-3", 4, 1, "dev")],
        "excluded": []
        if is_empty
        else [{"query-id": "q-1", "corpus-id": "pmc:PMC5.1#p1", "reason": "near_copy", "split": "test"}],
        "top_ranked": []
        if is_empty
        else [{"query-id": "q-1", "corpus-ids": ["pmc:PMC1.1#p1", "pmc:PMC2.1#p1"], "split": "test"}],
        "provenance_queries": []
        if is_empty
        else [
            {"id": row["id"], "split": row["split"], "source_id": source, "article_id": "a", "patient_id": ""}
            for row, source in zip(queries, ("pmc:PMC6.1#p1", "x", "y"), strict=True)
        ],
    }
    for name, key in (("queries", "id"), ("qrels", "query-id")) if languages else ():
        for row in tables[name]:
            row["split"] = f"{row['split']}-{(languages or {})[row[key]]}"
    write(folder, tables, splits=() if languages else ("test",))
    count = {name: len(tables[name]) for name in ("corpus", "queries", "qrels", "excluded")}
    seal(folder, manifest(counts=count, license="by"))
    return folder
