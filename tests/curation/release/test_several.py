"""Rows with several images as they are written, read again and exported."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from curation.export.files import Out
from curation.export.source import Source
from curation.export.tables import several_images
from curation.published.writer import write_table
from curation.release.several import write_several
from schemas.errors import ReleaseError
from schemas.hashing import sha256_bytes
from schemas.image_tables import ORIGIN_IMAGES, ROW_IMAGES
from schemas.published import Published


def picture(raw: Path, shade: int) -> dict[str, str]:
    """A stored image, as a work row names it."""
    out = io.BytesIO()
    Image.new("L", (40, 30), shade).save(out, "PNG")
    digest = sha256_bytes(out.getvalue())
    (raw / f"{digest}.png").write_bytes(out.getvalue())
    return {"path": f"{digest}.png", "stored": digest}


def row(raw: Path, name: str, position: int, shade: int, caption: str = "") -> dict[str, Any]:
    return {
        "id": name,
        "side": "query",
        "position": position,
        "article_id": "pmc:PMC1.1",
        "figure_id": f"pmc:PMC1.1#F{position}",
        "figure_number": position,
        "graphic_number": 1,
        "caption": caption,
        "caption_sha256": sha256_bytes(caption.encode()) if caption else "",
        "caption_transforms": [],
        **picture(raw, shade),
        "license": "CC-BY-4.0",
        "license_evidence": "jats",
        "row_license": "CC-BY-4.0",
        "is_synthetic": False,
    }


def write(folder: Path, rows: list[dict[str, Any]], raw: Path, cap: int = 10**9) -> None:
    def put(table: Published, chunks: Iterator[pa.Table], split: str) -> None:
        write_table(table, chunks, folder, cap, split=split)

    write_several(lambda _: iter([pa.Table.from_pylist(rows)] if rows else []), put, raw)


def test_images_of_a_row_stand_in_order_and_are_exported_as_files(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    rows = [
        row(raw, "a", 1, 10, "One."),
        row(raw, "a", 2, 20, "Two."),
        row(raw, "b", 1, 20),
        row(raw, "b", 2, 30),
    ]
    write(tmp_path / "task", rows, raw)
    (path,) = ROW_IMAGES.files(tmp_path / "task")
    made = pq.read_table(path).to_pylist()
    assert [one["id"] for one in made] == ["a", "b"]
    assert [one["captions"] for one in made] == [["One.", "Two."], []]
    shades = [
        [Image.open(io.BytesIO(one["bytes"])).getpixel((0, 0)) for one in each["images"]] for each in made
    ]
    assert shades == [[10, 20], [20, 30]]
    told = pq.read_table(ORIGIN_IMAGES.files(tmp_path / "task")[0]).to_pylist()
    assert [one["image_sha256"] for one in told] == [one["stored"] for one in rows]
    source = SimpleNamespace(
        has=lambda table, split: True, rows=lambda table: iter(pq.read_table(path).to_pylist())
    )
    out = Out(tmp_path / "export")
    (note,) = several_images(cast(Source, source), out)
    assert "first image" in note and len((out.folder / "images.jsonl").read_text().splitlines()) == 2
    assert len(list((out.folder / "images").iterdir())) == 3


def test_shards_are_cut_by_the_bytes_of_all_images(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    rows = [row(raw, f"q{number:03d}", position, 7) for number in range(45) for position in (1, 2)]
    write(tmp_path / "one", rows, raw)
    write(tmp_path / "many", rows, raw, cap=1_000)
    sizes = [pq.read_metadata(path).num_rows for path in ROW_IMAGES.files(tmp_path / "many")]
    assert sizes == [20, 20, 5] and len(ROW_IMAGES.files(tmp_path / "one")) == 1


def test_nothing_is_written_where_no_row_has_several_images(tmp_path: Path) -> None:
    write(tmp_path, [], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_row_whose_images_are_not_numbered_from_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="numbered from 1"):
        write(tmp_path / "task", [row(tmp_path, "a", 2, 10), row(tmp_path, "a", 3, 20)], tmp_path)
