"""The property tests with examples drawn anew: `make test` tries the same ones every time.

Each seed is a run of all property tests. Run: `python -m benchmarks.properties [--seeds 20] [--first 1]`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, save

PYTEST = ("-q", "-m", "hypothesis", "-n", "2", "--dist", "loadscope", "--no-loadscope-reorder", "--tb=long")
_COUNTED = re.compile(r"(\d+) (passed|failed|errors?)\b")


def run(seed: int, tests: Path = ROOT / "tests") -> dict[str, Any]:
    """Outcome of all property tests under one seed: how many passed, which failed, what pytest printed."""
    command = (
        sys.executable,
        "-m",
        "pytest",
        *PYTEST,
        "--hypothesis-profile=drawn",
        f"--hypothesis-seed={seed}",
    )
    done = subprocess.run(
        (*command, str(tests)),
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.strip().rsplit("\n", 1)[-1]
    counts = {kind.rstrip("s"): int(number) for number, kind in _COUNTED.findall(last)}
    if not counts or (done.returncode and not counts.get("failed", 0) + counts.get("error", 0)):
        raise RuntimeError(f"pytest did not finish, exit {done.returncode}:\n{done.stdout}\n{done.stderr}")
    failed = sorted(set(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)))
    return {"passed": counts.get("passed", 0), "failed": failed, "output": done.stdout}


def main() -> int:
    """Run every seed, show what failed, save the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    chosen = parser.parse_args()
    started, failures, passed = time.monotonic(), [], []
    for seed in range(chosen.first, chosen.first + chosen.seeds):
        found = run(seed)
        passed.append(found["passed"])
        failures += [{"seed": seed, "test": name} for name in found["failed"]]
        if found["failed"]:
            print(found["output"])
        print(f"seed {seed}: {found['passed']} passed, {len(found['failed'])} failed", flush=True)
    save(
        "properties",
        {
            "seeds": chosen.seeds,
            "first": chosen.first,
            "tests": max(passed) + len({one["test"] for one in failures}),
            "passed": sum(passed),
            "failures": failures,
            "seconds": round(time.monotonic() - started),
        },
    )
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
