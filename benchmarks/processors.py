"""The demo and every numeric routine under each setting of the processor: whether any byte differs.

`python -m benchmarks.processors`, or some settings by name: `… "OpenBLAS Prescott" "all at once"`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, save
from schemas.hashing import sha256_file
from tests.processors import environment, settings

_DEMO = "import sys; from flows.cli.app import main; main()"


def _run(arguments: list[str], given: Mapping[str, str], folder: Path) -> tuple[str, float]:
    """Output and CPU seconds of Python with arguments, in a HOME of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = {**environment(given), "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments], env=whole, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{arguments}: exit {done.returncode}\n{done.stderr[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(given: Mapping[str, str]) -> dict[str, Any]:
    """Hashes of the released files, the stages' tables and the routines under one setting."""
    with tempfile.TemporaryDirectory(prefix="medqrels-bench-") as name:
        folder = Path(name)
        routines, _ = _run(["-m", "tests.processor_routines"], given, folder)
        _, seconds = _run(["-c", _DEMO, "demo", "--workspace", "ws"], given, folder)
        files = {
            path.relative_to(folder / "ws").as_posix(): sha256_file(path)
            for part in ("releases", "work")
            for path in sorted((folder / "ws" / part).rglob("*"))
            if path.is_file() and path.name != "_run.json"  # times and hosts
        }
    return {"files": files, "cpu_seconds": round(seconds, 1), **json.loads(routines)}


def main() -> None:
    """Measure and save."""
    known = settings()
    chosen = ["default", *(name for name in sys.argv[1:] or known if name != "default")]
    made: dict[str, dict[str, Any]] = {}
    for name in chosen:
        made[name] = measure(known[name])
        print(name, made[name]["cpu_seconds"], flush=True)
    first = made["default"]
    result: dict[str, Any] = {"released_files": 0, "stage_files": 0, "settings": {}}
    for path in first["files"]:
        result["released_files" if path.startswith("releases/") else "stage_files"] += 1
    for name, found in made.items():
        result["settings"][name] = {
            "environment": known[name],
            "cpu_seconds": found["cpu_seconds"],
            "differing_files": _unlike(first["files"], found["files"]),
            "differing_routines": _unlike(first["same"], found["same"]),
            "functions_that_differ": _unlike(first["differing"], found["differing"]),
        }
    print(save("processors", result))


def _unlike(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


if __name__ == "__main__":
    main()
