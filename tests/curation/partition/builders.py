"""Small made-up worlds of queries and positives, and the stage run over them."""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.partition.near_queries import near_keys
from curation.partition.records import MergedConcept, NearQuery, PublishedKey, Withheld
from curation.partition.stage import partition_stage
from curation.tasks.registry import listing_images
from flows.engine.database import run_set_stage
from schemas.article import Graphic
from schemas.benchmark import Assignment, Document, OverlapKey, Qrel, Query, RowImage
from schemas.hashing import sha256_text
from schemas.image import FigureImage
from schemas.label import RecordLabels
from schemas.record import from_table, to_table
from schemas.stages import Drop

TASKS = ("case_study", "clinical_case", "visual_context")


@dataclass(frozen=True)
class Item:
    """One query and the ids of its positives."""

    task: str
    name: str
    article: str = ""
    positives: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    text: str | None = None
    family: str = ""
    patient: str = ""
    image: str | None = None

    @property
    def id(self) -> str:
        return f"{self.task}-{self.name}"


@dataclass(frozen=True)
class Page:
    """One document."""

    task: str
    id: str
    article: str
    patient: str = ""
    image: str | None = None


@dataclass(frozen=True)
class World:
    """All inputs of the stage. `images`: image name -> perceptual hash; `several`: task -> its RowImages."""

    items: tuple[Item, ...] = ()
    pages: tuple[Page, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    published: tuple[PublishedKey, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()
    labels: tuple[RecordLabels, ...] = ()
    several: Mapping[str, tuple[RowImage, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What the stage wrote."""

    folder: Path
    assignments: list[Assignment]
    keys: list[OverlapKey]
    drops: list[Drop]
    withheld: list[Withheld]

    @property
    def places(self) -> dict[str, tuple[str, str]]:
        return {row.query_id: (row.task, row.split) for row in self.assignments}

    @property
    def reasons(self) -> dict[str, str]:
        return {row.id: str(row.reason) for row in self.drops}


def _graphic(name: str | None) -> Graphic | None:
    return None if name is None else Graphic(href=name, sha256=sha256_text(name))


def _query(item: Item) -> Query:
    text = f"words of {item.id}" if item.text is None else item.text
    return Query(
        id=item.id,
        task=item.task,
        text=text,
        language="en",
        image=_graphic(item.image),
        source_id=item.name,
        article_id=item.article or f"file:{item.id}",
        license="CC0-1.0",
        license_evidence="test",
        text_sha256=sha256_text(text),
        family=item.family,
        targets=item.targets,
        patient_id=item.patient,
    )


def _document(page: Page) -> Document:
    return Document(
        id=page.id,
        task=page.task,
        title="",
        text=page.id,
        language="en",
        article_id=page.article,
        license="CC0-1.0",
        license_evidence="test",
        text_sha256=sha256_text(page.id),
        image=_graphic(page.image),
        patient_id=page.patient,
    )


def _qrel(item: Item, document: str, score: int = 2) -> Qrel:
    return Qrel(
        query_id=item.id,
        corpus_id=document,
        score=score,
        task=item.task,
        rule="test@1",
        label_status="structural",
    )


def listed(side: Any, name: str, *images: str) -> tuple[RowImage, ...]:
    """The images of a query or document that has several."""
    return tuple(
        RowImage(
            id=name,
            side=side,
            source_id=name,
            position=position,
            figure_id=f"#F{position}",
            figure_number=position,
            graphic_number=1,
            image=graphic,
            article_id="",
            license="CC-BY-4.0",
            license_evidence="jats",
        )
        for position, image in enumerate(images, start=1)
        if (graphic := _graphic(image)) is not None
    )


def _image(name: str, phash: str) -> FigureImage:
    return FigureImage(
        id=f"{name}/1",
        article_id="file:x",
        figure_id=name,
        sha256=sha256_text(name),
        path="",
        format="png",
        mode="L",
        width=9,
        height=9,
        is_fitting=True,
        phash=phash,
        thumbnail="",
        kind="",
    )


def _write(
    folder: Path, name: str, row: type, rows: Sequence[Any], order: random.Random | None
) -> list[Path]:
    """One file, or several of uneven size when the rows are to be shuffled."""
    listed = list(rows)
    cuts = [0, len(listed)]
    if order is not None:
        order.shuffle(listed)
        cuts = sorted({0, len(listed), order.randint(0, len(listed)), order.randint(0, len(listed))})
        cuts = cuts if len(cuts) > 1 else [0, 0]
    paths = []
    for number, (start, end) in enumerate(pairwise(cuts)):
        paths.append(folder / f"{name}-{number}.parquet")
        pq.write_table(to_table(row, listed[start:end]), paths[-1])
    return paths


def run(
    folder: Path, world: World, *, tasks: Sequence[str] = TASKS, shuffle: int | None = None, **settings: Any
) -> Outcome:
    """Run the stage over a world; `shuffle` seeds another order of rows and other shards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    order = None if shuffle is None else random.Random(shuffle)
    files: dict[str, list[Path]] = {}
    for task in tasks:
        items = [item for item in world.items if item.task == task]
        pages = [page for page in world.pages if page.task == task]
        qrels = [_qrel(item, document) for item in items for document in item.positives]
        files[f"{task}_queries"] = _write(folder, f"{task}_q", Query, [_query(i) for i in items], order)
        files[f"{task}_documents"] = _write(
            folder, f"{task}_d", Document, [_document(p) for p in pages], order
        )
        files[f"{task}_qrels"] = _write(folder, f"{task}_r", Qrel, qrels, order)
    for task in listing_images(tasks):
        files[f"{task}_images"] = _write(folder, f"{task}_i", RowImage, world.several.get(task, ()), order)
    images = [_image(name, phash) for name, phash in sorted(world.images.items())]
    merged = [MergedConcept(concept=one, canonical=other) for one, other in world.merged]
    files["images"] = _write(folder, "images", FigureImage, images, order)
    files["published"] = _write(folder, "published", PublishedKey, world.published, order)
    files["merged"] = _write(folder, "merged", MergedConcept, merged, order)
    files["labels"] = _write(folder, "labels", RecordLabels, world.labels, order)
    near = near_keys({task: files[f"{task}_queries"] for task in tasks})
    files["near_queries"] = _write(folder, "near_queries", NearQuery, near, order)
    out = folder / "out"
    out.mkdir()
    run_set_stage(partition_stage(tasks, **settings), files, out, "1GB")
    return Outcome(
        folder=out,
        assignments=read(out, "assignments", Assignment),
        keys=read(out, "keys", OverlapKey),
        drops=read(out, "_dropped", Drop),
        withheld=read(out, "withheld", Withheld),
    )


def read(folder: Path, name: str, kind: type) -> list[Any]:
    return from_table(kind, pq.read_table(folder / f"{name}.parquet"))


def publish(
    outcome: Outcome, version: str, order: int, earlier: Iterable[PublishedKey] = ()
) -> list[PublishedKey]:
    """What a release of this outcome publishes, beside what was published before."""
    before = {(row.task, row.query_id): (row.split, row.since, row.order) for row in earlier}
    places = outcome.places
    rows = {(row.task, row.query_id, row.dimension, row.key): row for row in earlier}
    for key in outcome.keys:
        split, since, born = before.get((key.task, key.query_id), (places[key.query_id][1], version, order))
        rows.setdefault(
            (key.task, key.query_id, key.dimension, key.key),
            PublishedKey(
                task=key.task,
                query_id=key.query_id,
                split=split,  # type: ignore[arg-type]
                since=since,
                dimension=key.dimension,
                key=key.key,
                order=born,
            ),
        )
    return [rows[key] for key in sorted(rows)]


def shared(outcome: Outcome) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Keys that more than one (task, split) rests on; must be empty."""
    holders: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for key in outcome.keys:
        holders[key.dimension, key.key].add(outcome.places[key.query_id])
    return {key: places for key, places in holders.items() if len(places) > 1}


def grown(world: World, more: World, published: Sequence[PublishedKey]) -> World:
    """A world with more rows and something published."""
    return replace(
        world,
        items=world.items + more.items,
        pages=world.pages + more.pages,
        images={**world.images, **more.images},
        published=tuple(published),
    )
