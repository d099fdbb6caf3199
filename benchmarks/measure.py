"""Shared by the benchmarks: where the data is, how time is taken, where results go."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
SHARED = Path(os.environ.get("BENCHMARK_DATA", ROOT.parent / "shared" / "data"))
FOLDERS = ("pmc-bucket", "jats-multilingual", "jats-with-images")


def real_files(shared: Path) -> dict[str, Path]:
    """Articles of the shared data by file name."""
    return {path.name: path for folder in FOLDERS for path in sorted((shared / folder).glob("**/*.xml"))}


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call in this process: one core's work, whatever else the machine does."""
    started = time.process_time()
    work()
    return time.process_time() - started


def rounds(contestants: Mapping[str, Callable[[], object]], count: int) -> dict[str, list[float]]:
    """CPU seconds of every contestant, in turn, `count` times after one warm-up each."""
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(count + 1):
        for name, work in contestants.items():
            gc.collect()  # one contestant's garbage is not the next one's burden
            seconds = cpu_seconds(work)
            if number:
                taken[name].append(seconds)
    return taken


def rate(items: int, seconds: list[float]) -> dict[str, float]:
    """Items per CPU second: median, slowest and fastest round."""
    return {
        "median": round(items / statistics.median(seconds), 1),
        "min": round(items / max(seconds), 1),
        "max": round(items / min(seconds), 1),
    }


def product() -> str:
    """Which product was measured: twelve hex digits of SHA-256 over every file of its packages."""
    digest = hashlib.sha256()
    packages = ("annotation", "curation", "flows", "schemas", "sources")
    files = (path for package in packages for path in (ROOT / package).rglob("*") if path.is_file())
    for path in sorted(path for path in files if "__pycache__" not in path.parts):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()[:12]


def read_result(name: str) -> dict[str, Any]:
    """One saved result."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return found


def save(name: str, result: Mapping[str, Any]) -> Path:
    """Write one result with the machine it was taken on."""
    RESULTS.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine, **result}, indent=1, sort_keys=True) + "\n", "utf-8")
    return path


def each_once(notes: Path, steps: Iterable[str], run: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
    """Figures of every step, in order; what a file has already, from a run before this, is not run again.

    Args:
        notes: where the figures are kept, step by step.
        steps: their names.
        run: runs one step, and returns its figures.
    """
    found: dict[str, Any] = json.loads(notes.read_text("utf-8")) if notes.is_file() else {}
    for step in steps:
        if step not in found:
            print(f"== {notes.parent.name}: {step}", file=sys.stderr, flush=True)
            found[step] = {"load_before": round(os.getloadavg()[0], 1), **run(step)}
            notes.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found
