"""Writes a small release directory with chosen rows, as published: Parquet tables and release.json."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from curation.published.manifest import FORMAT_VERSION, ReleaseManifest, hash_files
from schemas.published import IMAGE


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
    head: dict[str, Any] = field(default_factory=dict)
    facets: tuple[str, ...] = ("specialty", "modality", "tier", "region")

    def write(self, root: Path) -> Path:
        folder = root / "release" / "toy"
        self._main(folder, "documents", "corpus", ("title",))
        self._main(folder, "queries", "queries", self.facets)
        for split in sorted({row.get("split", "test") for row in self.queries}):
            mine = {row["id"] for row in self.queries if row.get("split", "test") == split}
            rows = [
                (query, document, score, self.statuses.get((query, document), "structural"), "toy/rule@1")
                for query, document, score in self.qrels
                if query in mine
            ]
            names = ["query-id", "corpus-id", "score", "label_status", "rule"]
            kinds = [pa.string(), pa.string(), pa.int64(), pa.string(), pa.string()]
            _write(folder / "qrels" / f"{split}-00000-of-00001.parquet", names, kinds, rows)
            pairs = [(query, document, "own_article") for query, document in self.excluded if query in mine]
            names = ["query-id", "corpus-id", "reason"]
            _write(folder / "excluded" / f"{split}-00000-of-00001.parquet", names, [pa.string()] * 3, pairs)
        self.seal(folder)
        return folder

    def seal(self, folder: Path) -> None:
        """Write release.json over the files as they are."""
        (folder / "release.json").unlink(missing_ok=True)
        manifest = ReleaseManifest(
            format_version=FORMAT_VERSION,
            dataset="toys",
            title="Toys",
            version="1.0.0",
            task="toy",
            task_title="Toy retrieval",
            task_description="",
            licence_profile="open",
            license="by",
            label="silver",
            expert_minimum=1,
            publishable_by_content=False,
            not_publishable_because=(),
            accessed=None,
            grades={"1": "near", "2": "right"},
            exclusions={},
            versions={},
            stages=(),
            overrides={},
            counts={},
            files=hash_files(folder),
            release_hash="0" * 64,
        )
        content = {**manifest.content(), **self.head}
        (folder / "release.json").write_text(json.dumps(content), encoding="utf-8")

    def _main(self, folder: Path, kind: str, table: str, more: tuple[str, ...]) -> None:
        given: list[dict[str, Any]] = getattr(self, kind)
        has_images = any(row.get("image") is not None for row in given)
        names = ["id", "text", *more, "language", *(["image"] if has_images else [])]
        kinds = [pa.string()] * (3 + len(more)) + ([IMAGE] if has_images else [])
        splits = sorted({row.get("split", "test") for row in given}) if kind == "queries" else ["test"]
        for split in splits or ["test"]:
            rows = [
                tuple(_value(row, name) for name in names)
                for row in given
                if kind != "queries" or row.get("split", "test") == split
            ]
            _write(folder / table / f"{split}-00000-of-00001.parquet", names, kinds, rows)
        names = ["id", "article_id", "source_id", "patient_id", "image_sha256"]
        rows = [
            (
                row["id"],
                row.get("article_id", row["id"]),
                row.get("source_id", ""),
                row.get("patient_id", ""),
                "f" * 64 if row.get("image") is not None else None,
            )
            for row in given
        ]
        path = folder / "provenance" / table / "test-00000-of-00001.parquet"
        _write(path, names, [pa.string()] * 5, rows)


def _value(row: Mapping[str, Any], name: str) -> Any:
    if name == "image":
        held = row.get("image")
        return None if held is None else {"bytes": held or None, "path": f"{row['id']}.png"}
    return row.get(name, "en" if name == "language" else "")


def _write(
    path: Path, names: Sequence[str], kinds: Sequence[pa.DataType], rows: Sequence[Sequence[Any]]
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    table = pa.table(
        {name: pa.array(list(column), kind) for name, kind, column in zip(names, kinds, columns, strict=True)}
    )
    pq.write_table(table, path)


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
