"""What several formats write alike: rest of a row, labels with all columns, pairs that are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from curation.export.files import Out, bytes_of, columns
from curation.export.source import Row, Source
from schemas.image_tables import ROW_IMAGES
from schemas.tables import CORPUS, QRELS, QUERIES, TOP_RANKED

LEFT_OUT = "excluded pairs stand in {}: take them out of a ranking before it is measured, as medqrels does"


def rest(row: Row, *named: str) -> dict[str, Any]:
    """A row's other columns; the image is written apart."""
    return {name: value for name, value in row.items() if name not in (*named, "image")}


def with_image(row: Row, out: Out, folder: str = "images") -> dict[str, Any]:
    """`{"image": path}` of a row that has one, written on the way; {} for one that has none."""
    data = bytes_of(row)
    return {"image": out.image(folder, data)} if data is not None else {}


SEVERAL = "images.jsonl"


def several_images(source: Source, out: Out) -> list[str]:
    """Write every row with several images; what a reader must know, nothing where no row has several."""
    if not source.has(ROW_IMAGES, ""):
        return []
    out.objects(SEVERAL, _several(source, out))
    return [
        f"a query or document stands with its first image; {SEVERAL} names the files of all images, in the "
        "order of the article, and their captions, of each one that has several"
    ]


def _several(source: Source, out: Out) -> Iterator[dict[str, Any]]:
    for row in source.rows(ROW_IMAGES):
        paths = [out.image("images", image["bytes"]) for image in row["images"]]
        yield {**row, "images": paths}


def labels(source: Source, split: str, out: Out, name: str) -> None:
    """Labels with every column: status, rule and concept have no place in qrels files."""
    out.objects(name, source.rows(QRELS, split))


def left_out(source: Source, split: str) -> Iterator[str]:
    """Lines of the pairs that are left out, under a head: query, document, reason."""
    yield "query-id\tcorpus-id\treason"
    for pair in source.left_out(split):
        yield columns(pair, "excluded", "\t")


def candidates(source: Source, split: str, out: Out, name: str) -> None:
    """Candidates for re-rankers, without excluded pairs, where the release has them."""
    if source.has(TOP_RANKED, split):
        out.objects(name, source.top_ranked(split))


def total(source: Source) -> int:
    """Rows that an export goes through, for progress."""
    pairs = sum(source.count(QRELS, split) for split in source.splits)
    return source.count(CORPUS) + source.count(QUERIES) + pairs
