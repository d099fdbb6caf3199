"""What mlcroissant reads of the croissant.json of releases, record by record beside their Parquet files.

Run: `python -m benchmarks.croissant [RELEASE...]`, that of `medqrels demo` without one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.loaders import sample_release
from benchmarks.measure import read_result, save

NAME = "croissant"
_INSIDE = Path(__file__).with_name("croissant_inside.py")


def read(task: Path) -> dict[str, Any]:
    """One task folder; in a process of its own, which may abort at its exit after it has told."""
    done = subprocess.run(
        [sys.executable, _INSIDE, task], capture_output=True, text=True, timeout=1800, check=False
    )
    if not done.stdout:
        raise SystemExit(f"{task}: {done.stderr[-2000:]}")
    told = json.loads(done.stdout.splitlines()[-1])
    sets = told["record_sets"]
    return {
        "task": task.name,
        "warnings": told["warnings"],
        "record_sets": len(sets),
        "rows": sum(each["rows"] for each in sets.values()),
        "read": sum(each["read"] for each in sets.values()),
        "unlike": {name: each["difference"] for name, each in sets.items() if each["difference"]},
        "undeclared": {name: each["undeclared"] for name, each in sets.items() if each["undeclared"]},
    }


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    lines = [
        "## Croissant, read back",
        "",
        "croissant.json of every task, read by mlcroissant: warnings, and each record beside the "
        "row of the Parquet file, images by their bytes. `python -m benchmarks.croissant RELEASE…`",
        "",
        "| task | record sets | rows | read | unlike | columns left out | warnings |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in read_result(NAME)["rows"]:
        counts = (row["record_sets"], row["rows"], row["read"])
        wrong = (len(row[name]) for name in ("unlike", "undeclared", "warnings"))
        lines.append(f"| `{row['task']}` | {' | '.join(map(str, (*counts, *wrong)))} |")
    return [*lines, ""]


def main(arguments: list[str]) -> None:
    """Every release named."""
    with tempfile.TemporaryDirectory() as scratch:
        releases = [Path(name) for name in arguments] or [sample_release(Path(scratch))]
        tasks = [path.parent for release in releases for path in sorted(release.glob("*/release.json"))]
        save(NAME, {"rows": [read(task) for task in tasks]})


if __name__ == "__main__":
    main(sys.argv[1:])
