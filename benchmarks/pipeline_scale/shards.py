"""Writes the work/ shards that `medqrels build` reads, with true manifests, and the images under raw/."""

from __future__ import annotations

import base64
import io
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.generated_pictures import pictures
from benchmarks.generated_texts import Writer
from benchmarks.pipeline_scale.articles import FIGURES, Shelf
from benchmarks.pipeline_scale.parts import Rows, Stored
from benchmarks.pipeline_scale.world import World, write_vocabulary
from curation.cases.stage import CASES
from curation.concepts.stage import GROUND
from curation.diagnosis.stage import DIAGNOSES
from curation.extract.stage import EXTRACT
from curation.images.fingerprint import perceptual_hash
from curation.images.stage import IMAGES
from curation.labels.stage import LABELS
from flows.crawl import fetch as crawling
from flows.crawl.selection import Selection
from flows.engine.manifest import DROPPED, Manifest, Output, publish
from flows.engine.runner import DROP_TABLE, Resource, schema_hashes, write_rows
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace, open_workspace
from flows.vocabulary.indexes import planned_index
from schemas.stages import Drop, RecordStage, Table
from sources.stage import CRAWL, PARSE

STAGES: tuple[RecordStage, ...] = (PARSE, EXTRACT, CASES, IMAGES, GROUND, DIAGNOSES, LABELS)
TABLES = [
    f"{CRAWL}.{crawling.RAW.name}",
    *(f"{stage.name}.{table.name}" for stage in STAGES for table in stage.outputs),
]
_UNITS = {
    "article": "parse.articles",
    "figure": "extract.figures",
    "float": "extract.floats",
    "passage": "extract.passages",
    "report": "cases.reports",
    "image": "images.images",
    "record": "labels.records",
    "case": "diagnoses.diagnoses",
}
Hashes = dict[str, str]
_AT_ONCE = 14
"""Pictures drawn together; every shard has its own numbers for them."""


def generate(root: Path, world: World, workers: int = 2) -> Workspace:
    """Fill an empty workspace with everything up to `ground`; what a killed run left is made again.

    Args:
        root: folder of the workspace.
        world: what to make.
        workers: processes.
    """
    workspace = open_workspace(root, create=True)
    write_vocabulary(workspace, world)
    done = {path.parent.name for path in workspace.stage(STAGES[-1].name).glob("*/_manifest.json")}
    waiting = [shard for shard in range(world.shards) if world.shard_name(shard) not in done]
    if workers == 1:
        for shard in waiting:
            write_shard(root, world, shard)
        return workspace
    with ProcessPoolExecutor(workers) as pool:
        for _ in pool.map(write_shard, [root] * len(waiting), [world] * len(waiting), waiting):
            pass
    return workspace


@lru_cache(maxsize=1)
def _writer(seed: int) -> Writer:
    return Writer(seed)


def write_shard(root: Path, world: World, shard: int) -> None:
    """One shard of every stage; the last stage's manifest comes last."""
    workspace = Workspace(root)
    with tempfile.TemporaryDirectory(prefix="pictures-") as scratch:
        drawn = _drawn(world, shard, Path(scratch))
        rows = Shelf(world, shard, _writer(world.seed), drawn).fill(TABLES)
        _store_images(workspace, rows)
    name = world.shard_name(shard)
    hashes: Hashes = {}
    _write_crawl(workspace, name, rows, hashes)
    index = planned_index(workspace, "native")
    resources = index.resources if index else {}
    for stage in STAGES:
        _write_stage(workspace, stage, name, rows, hashes, resources)


def _drawn(world: World, shard: int, scratch: Path) -> Iterator[Stored]:
    """Pictures with their hashes and thumbnails, drawn as they are asked for."""
    most = -(-(world.mix.full * FIGURES + world.mix.series * 2) // _AT_ONCE) * _AT_ONCE
    for first in range(shard * most, (shard + 1) * most, _AT_ONCE):
        path = scratch / str(first)
        for picture in pictures(path, world.seed, 9, first, _AT_ONCE):
            with path.open("rb") as handle:
                handle.seek(picture.offset)
                data = handle.read(picture.length)
            with Image.open(io.BytesIO(data)) as image:
                phash = perceptual_hash(image)
            yield Stored(picture, phash, base64.b64encode(data).decode("ascii"))


def _store_images(workspace: Workspace, rows: Rows) -> None:
    """Files of the images under raw/, in the layout of the store."""
    for image in rows["images.images"]:
        path = workspace.raw / image.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(image.thumbnail))


def _write_crawl(workspace: Workspace, name: str, rows: Rows, hashes: Hashes) -> None:
    """The crawl shard with its selection."""
    raw = rows[f"{CRAWL}.{crawling.RAW.name}"]
    locators = tuple(sorted(row.locator for row in raw))
    selection = Selection(name, "pmc", "", locators)
    body = {"shard": name, "source": "pmc", "root": "", "locators": list(locators)}
    path = workspace.stage("selection") / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    wanted = crawling.identity(selection, crawling.shard_params(Settings(), "open"), "")
    counts = {"article": {"in": len(raw), "kept": len(raw), "dropped": 0}}
    _publish(workspace, wanted, (crawling.RAW,), {crawling.RAW.name: raw}, counts, hashes)


def _write_stage(
    workspace: Workspace,
    stage: RecordStage,
    name: str,
    rows: Rows,
    hashes: Hashes,
    resources: Mapping[str, Resource],
) -> None:
    """A shard of a record stage, made from what its inputs are."""
    made_from = {f"{item.table}/{name}": hashes[item.table] for item in stage.inputs}
    for resource in stage.resources:
        if resource in resources and resources[resource].fingerprint:
            made_from[f"resource:{resource}"] = resources[resource].fingerprint
    columns = schema_hashes([(table.name, table.row) for table in stage.outputs] + [(DROPPED, Drop)])
    wanted = Manifest(
        stage.name, stage.version, name, dict(stage.params), made_from, {}, {}, {}, columns=columns
    )
    mine = {table.name: rows[f"{stage.name}.{table.name}"] for table in stage.outputs}
    made = {account.unit: len(rows[_UNITS[account.unit]]) for account in stage.accounts}
    counts = {unit: {"in": count, "kept": count, "dropped": 0} for unit, count in made.items()}
    _publish(workspace, wanted, stage.outputs, mine, counts, hashes)


def _publish(
    workspace: Workspace,
    wanted: Manifest,
    tables: tuple[Table, ...],
    rows: Mapping[str, list[Any]],
    units: Mapping[str, Mapping[str, int]],
    hashes: Hashes,
) -> None:
    """Write the tables of one shard as the runner does, and its manifest last."""
    staged = workspace.temporary / f"{wanted.stage}.{wanted.shard}"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    outputs: dict[str, Output] = {}
    for table in tables:
        outputs[table.name] = write_rows(staged, table, rows[table.name])
        hashes[f"{wanted.stage}.{table.name}"] = outputs[table.name].sha256
    outputs[DROPPED] = write_rows(staged, DROP_TABLE, [])
    manifest = Manifest(
        wanted.stage,
        wanted.version,
        wanted.shard,
        wanted.params,
        wanted.inputs,
        dict(sorted(outputs.items())),
        units,
        {},
        columns=wanted.columns,
    )
    publish(workspace.stage(wanted.stage) / wanted.shard, staged, manifest, 0.0)
