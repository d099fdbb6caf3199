"""Memory of a release with 100,000 images: full articles of `benchmarks.pipeline_scale`, and little else.

`python -m benchmarks.release_images FOLDER` keeps the workspace there; a step that is done is not run again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.measure import read_result, save
from benchmarks.pipeline_scale.shards import generate
from benchmarks.pipeline_scale.spec import DATASET, TASKS, VERSION, write_spec
from benchmarks.pipeline_scale.steps import MEMORY, WORKERS, measured
from benchmarks.pipeline_scale.world import Mix, World
from schemas.tables import CORPUS, QUERIES

NAME = "release_images"
WORLD = World(shards=660, mix=Mix(full=28, series=2, records=2))
MOST_MB = 4_096


def released_images(release: Path) -> int:
    """Images in the queries and documents of every task of a release."""
    found = 0
    for task in TASKS:
        for table in (QUERIES, CORPUS):
            for path in table.files(release / task):
                with pq.ParquetFile(path) as file:
                    if "image" in file.schema_arrow.names:
                        for group in range(file.num_row_groups):
                            column = file.read_row_group(group, columns=["image"]).column(0)
                            found += len(column) - column.null_count
    return found


def measure(folder: Path) -> dict[str, Any]:
    """Generate, build, release; time and memory of the last two."""
    workspace, notes = folder / "workspace", folder / "figures.json"
    found: dict[str, Any] = json.loads(notes.read_text("utf-8")) if notes.is_file() else {}
    spec = write_spec(folder / "card")
    if "build" not in found:
        generate(workspace, WORLD, WORKERS)
        found["build"] = measured(["build", "--spec", str(spec)], workspace)
        notes.write_text(json.dumps(found), encoding="utf-8")
    if "release" not in found:
        command = ["release", str(spec), "--version", VERSION]
        found["release"] = measured(command, workspace, accepted=(0, 1))
        notes.write_text(json.dumps(found), encoding="utf-8")
    release = workspace / "releases" / DATASET / VERSION
    audits = {task: json.loads((release / task / "audit.json").read_text("utf-8")) for task in TASKS}
    return {
        "images": released_images(release),
        "duckdb_memory": MEMORY,
        "workers": WORKERS,
        "audit": {task: audit["verdict"] for task, audit in audits.items()},
        **{step: {key: value for key, value in row.items() if key != "said"} for step, row in found.items()},
    }


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = read_result(NAME)
    peak = result["release"]["peak_rss_mb"]
    met = "met" if peak < MOST_MB and result["images"] >= 100_000 else "missed"
    verdicts = ", ".join(f"{task} {verdict}" for task, verdict in result["audit"].items())
    return [
        "## A release with 100,000 images",
        "",
        f"Generated articles whose figures are queries of `visual_context`: {result['images']:,} images in "
        f"queries and documents of one release, made and audited ({verdicts}) with {result['workers']} "
        f"workers and `memory_limit` {result['duckdb_memory']}. `python -m benchmarks.release_images`",
        "",
        "| step | memory of all processes, resident | shared pages once | CPU | written | scratch |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {step} | {row['peak_rss_mb']:,} MB | {row['peak_pss_mb']:,} MB | {row['cpu_seconds']:,.0f} s "
            f"| {row['written_mb']:,.0f} MB | {row['scratch_mb']:,.0f} MB |"
            for step, row in ((name, result[name]) for name in ("build", "release"))
        ),
        "",
        f"Target: the release below 4 GB: {met} ({peak:,} MB).",
        "",
    ]


def main(folder: str = "") -> None:
    """Measure and save."""
    with tempfile.TemporaryDirectory() as scratch:
        print(save(NAME, measure(Path(folder or scratch))))


if __name__ == "__main__":
    main(*sys.argv[1:])
