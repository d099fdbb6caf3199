"""Writes a small release directory with chosen rows, as published: Parquet tables and release.json."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from tests import releases

_FACETS = ("specialty", "modality", "tier", "scenario", "region")
_HEAD: Mapping[str, Any] = {
    "dataset": "toys",
    "title": "Toys",
    "task": "toy",
    "task_title": "Toy retrieval",
    "license": "by",
    "publishable_by_content": False,
    "grades": {"1": "near", "2": "right"},
}


def picture(seed: int, size: tuple[int, int] = (48, 40)) -> bytes:
    """A PNG with blocks of colour that differ by seed."""
    image = Image.new("RGB", size)
    for y in range(size[1]):
        for x in range(size[0]):
            cell = (x // 8) * 7 + (y // 8) * 13 + seed * 101
            image.putpixel((x, y), (cell * 37 % 256, cell * 91 % 256, cell * 53 % 256))
    out = io.BytesIO()
    image.save(out, format="PNG")
    return out.getvalue()


@dataclass
class Release:
    """Rows of one task; `write` makes the directory. Missing columns get plain values."""

    documents: list[dict[str, Any]] = field(default_factory=list)
    queries: list[dict[str, Any]] = field(default_factory=list)
    qrels: list[tuple[str, str, int]] = field(default_factory=list)
    excluded: list[tuple[str, str]] = field(default_factory=list)
    statuses: Mapping[tuple[str, str], str] = field(default_factory=dict)
    several: Mapping[tuple[str, str], tuple[bytes, ...]] = field(default_factory=dict)
    """Side and id -> its images, where it has more than one."""
    head: dict[str, Any] = field(default_factory=dict)
    facets: tuple[str, ...] = _FACETS

    def write(self, root: Path) -> Path:
        folder = root / "release" / "toy"
        split_of = {row["id"]: row.get("split", "test") for row in self.queries}
        pairs = [
            {
                "query-id": query,
                "corpus-id": document,
                "score": score,
                "label_status": self.statuses.get((query, document), "structural"),
                "rule": "toy/rule@1",
                "split": split_of[query],
            }
            for query, document, score in self.qrels
        ]
        excluded = [
            {"query-id": query, "corpus-id": document, "reason": "own_article", "split": split_of[query]}
            for query, document in self.excluded
        ]
        tables = {
            "corpus": [_filled(row, "title") for row in self.documents],
            "queries": [_filled(row, *self.facets) for row in self.queries],
            "qrels": pairs,
            "excluded": excluded,
            "provenance_corpus": [_origin(row) for row in self.documents],
            "provenance_queries": [_origin(row) for row in self.queries],
        }
        if self.several:
            tables["images"] = [
                {"side": side, "id": name, "images": [{"bytes": one, "path": None} for one in images]}
                for (side, name), images in sorted(self.several.items())
            ]
        without = ["license", "is_synthetic", "via", *(name for name in _FACETS if name not in self.facets)]
        releases.write(folder, tables, splits=sorted(set(split_of.values())), without=without)
        self.seal(folder)
        return folder

    def seal(self, folder: Path) -> None:
        """Write release.json over the files as they are."""
        head = releases.seal(folder, releases.manifest(**_HEAD))
        content = {**head.content(), **self.head}
        (folder / "release.json").write_text(json.dumps(content), encoding="utf-8")


def _filled(row: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """A row of queries or corpus, with plain values for what it does not say."""
    held = row.get("image")
    image = None if held is None else {"bytes": held or None, "path": f"{row['id']}.png"}
    return {"language": "en", **dict.fromkeys(("text", *more), ""), **row, "image": image}


def _origin(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "split": row.get("split", "test"),
        "article_id": row["id"],
        "source_id": "",
        "patient_id": "",
        **{
            name: row[name]
            for name in ("id", "article_id", "source_id", "patient_id", "family")
            if name in row
        },
        "image_sha256": "f" * 64 if row.get("image") is not None else None,
    }


def toy() -> Release:
    """Six documents and four test queries with known answers, one dev query, one query without a positive.

    q1: d1 right, d2 near. q2: d3 right. q3: d4 right, from an article of its own. q4 has no positive.
    Excluded: (q1, d5). d6 is q2's own record by patient.
    """
    return Release(
        documents=[
            {"id": "d1", "title": "Lungs", "text": "pneumonia of the lower lobe with IL-6 elevation"},
            {"id": "d2", "title": "Lungs", "text": "lobe pneumonia treated with antibiotics"},
            {"id": "d3", "title": "Eyes", "text": "retinal haemorrhage in every quadrant of the fundus"},
            {"id": "d4", "title": "Bones", "text": "fracture of the femoral neck after a fall"},
            {"id": "d5", "title": "Lungs", "text": "pneumonia pneumonia lobe IL-6 lower lobe elevation"},
            {
                "id": "d6",
                "title": "Eyes",
                "text": "retinal haemorrhage fundus retinal haemorrhage",
                "patient_id": "p2",
            },
        ],
        queries=[
            {
                "id": "q1",
                "text": "IL6 in lower lobe pneumonia",
                "specialty": "pulmonology",
                "article_id": "a1",
            },
            {
                "id": "q2",
                "text": "retinal haemorrhages",
                "specialty": "ophthalmology",
                "article_id": "a2",
                "patient_id": "p2",
            },
            {"id": "q3", "text": "fractured femur", "specialty": "ophthalmology", "article_id": "a3"},
            {"id": "q4", "text": "nothing known", "article_id": "a4"},
            {"id": "q5", "text": "antibiotics for pneumonia", "split": "dev", "article_id": "a5"},
        ],
        qrels=[("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d3", 2), ("q3", "d4", 2), ("q5", "d2", 2)],
        excluded=[("q1", "d5"), ("q5", "d5")],
        statuses={("q1", "d2"): "expert"},
    )


def pictured() -> Release:
    release = toy()
    for number, row in enumerate(release.queries):
        row["image"] = picture(number)
    for number, row in enumerate(release.documents):
        row["image"] = picture(number)  # document n looks like query n
    return release


def mean(system: dict[str, Any], measure: str) -> float:
    return float(system["overall"][measure]["mean"])
