"""Measures the pipeline at several sizes; a finished step of a size is not run again.

`python -m benchmarks.pipeline_scale --sizes 4040,40400 --keep FOLDER`
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import RESULTS, each_once, save
from benchmarks.pipeline_scale import page
from benchmarks.pipeline_scale.shards import generate
from benchmarks.pipeline_scale.spec import DATASET, TASKS, VERSION, write_spec
from benchmarks.pipeline_scale.steps import AUDIT_MEMORY, MEMORY, WORKERS, measured, size_of, stage_seconds
from benchmarks.pipeline_scale.world import World

FULL = 1_200_000
SIZES = (4_040, 40_400, 404_000, FULL)
"""Of about 1,000, 10,000, 100,000 and 300,000 articles."""
_NAME = "pipeline_scale"
_FILES = ("release.json", "audit.json")


class Size:
    """One size: its folder, and the figures of its steps in a file of their own beside the workspace."""

    def __init__(self, documents: int, folder: Path, seed: int) -> None:
        self.documents, self.folder = documents, folder / f"{documents}"
        self.world = World.of(documents, seed)
        self.workspace = self.folder / "workspace"
        self.notes = self.folder / "figures.json"

    def run(self, steps: tuple[str, ...] = page.STEPS) -> dict[str, Any]:
        """Every step that is not done yet, in order."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return each_once(self.notes, steps, self._step)

    def _step(self, step: str) -> dict[str, Any]:
        spec = str(self.folder / "card" / "spec.toml")
        release = f"{DATASET}@{VERSION}"
        if step == "generate":
            return self._generate()
        if step == "build":
            built = measured(["build", "--spec", spec], self.workspace)
            return {**built, "stage_seconds": stage_seconds(self.workspace)}
        if step == "release":
            released = measured(["release", spec, "--version", VERSION], self.workspace, accepted=(0, 1))
            return {**released, "tasks": self._tasks()}
        if step == "audit":
            return measured(["audit", release], self.workspace, accepted=(0, 1), memory=AUDIT_MEMORY)
        return measured(["evaluate", release, "--system", "bm25"], self.workspace)

    def _generate(self) -> dict[str, Any]:
        write_spec(self.folder / "card")
        cpu, started = os.times(), time.perf_counter()
        generate(self.workspace, self.world, WORKERS)
        after = os.times()
        used = after.children_user + after.children_system - cpu.children_user - cpu.children_system
        return {
            "seconds": round(time.perf_counter() - started, 1),
            "cpu_seconds": round(used + after.user - cpu.user + after.system - cpu.system, 1),
            "written_mb": round(size_of(self.workspace) / 1e6, 1),
            "shards": self.world.shards,
            "diagnoses": self.world.diagnoses,
            "image_files": sum(len(names) for _, _, names in os.walk(self.workspace / "raw")),
        }

    def _tasks(self) -> dict[str, dict[str, Any]]:
        """Rows of every table, size and audit verdict of every task of the release."""
        found = {}
        for task in TASKS:
            folder = self.workspace / "releases" / DATASET / VERSION / task
            head, audit = (json.loads((folder / name).read_text("utf-8")) for name in _FILES)
            found[task] = {
                "rows": head["counts"],
                "mb": round(size_of(folder) / 1e6, 1),
                "audit": audit["verdict"],
            }
        return found


def growth(results: Mapping[int, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Exponents of time, CPU time, memory and disk between neighbouring sizes: 1 is linear.

    Args:
        results: documents -> figures by step.
    """
    found: dict[str, dict[str, float]] = {}
    sizes = sorted(results)
    for small, large in itertools.pairwise(sizes):
        for step in page.STEPS:
            one, other = results[small].get(step, {}), results[large].get(step, {})
            for name in ("seconds", "cpu_seconds", "peak_rss_mb", "written_mb", "scratch_mb"):
                if one.get(name, 0) > 0 and other.get(name, 0) > 0:
                    exponent = math.log(other[name] / one[name]) / math.log(large / small)
                    found.setdefault(f"{small}-{large}", {})[f"{step}.{name}"] = round(exponent, 2)
    return found


def keep(results: Mapping[int, Mapping[str, Any]]) -> Path:
    """Save the steps that were measured, beside those measured before, and put them into docs/scale.md."""
    path = RESULTS / f"{_NAME}.json"
    before = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    sizes = page.sizes_of(before)
    for size, found in results.items():
        sizes[size] = {**sizes.get(size, {}), **found}
    memory = {"duckdb_memory": MEMORY, "duckdb_memory_audit": AUDIT_MEMORY}
    head = {"workers": WORKERS, **memory, "growth": growth(sizes)}
    result = {**head, **{f"{size}_documents": sizes[size] for size in sorted(sizes)}}
    page.write(result)
    return save(_NAME, result)


def main() -> int:
    """Measure every size, smallest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="documents, with commas between")
    parser.add_argument("--keep", type=Path, help="folder of the workspaces; without it they are removed")
    parser.add_argument("--steps", default=",".join(page.STEPS), help="steps to run, with commas between")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--no-save", action="store_true", help="only show the figures")
    chosen = parser.parse_args()
    sizes = sorted(int(size) for size in chosen.sizes.split(","))
    steps = tuple(step for step in page.STEPS if step in chosen.steps.split(","))
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="pipeline-scale-"))
    results: dict[int, Mapping[str, Any]] = {}
    try:
        for size in sizes:
            results[size] = Size(size, folder, chosen.seed).run(steps)
    finally:
        if chosen.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(growth(results), indent=1) if chosen.no_save else keep(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
