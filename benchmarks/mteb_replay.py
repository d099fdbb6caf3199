"""Baseline runs of a release, scored by medqrels and, through `medqrels export --format mteb`, by MTEB.

`python -m benchmarks.mteb_replay PYTHON RELEASE`: an interpreter whose environment has MTEB 2.26 and pillow
(MTEB needs torch, so it is no requirement of ours), and the folder of a release with several tasks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import RESULTS, save

NAME = "mteb_replay"
_INSIDE = Path(__file__).with_name("mteb_replay_inside.py")
_PLACES = 9
"""Places of the scores in runs/results.json."""


def replay(python: str, release: Path) -> list[dict[str, Any]]:
    """Each measured system of each task: nDCG@10 here and there."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": f"{scratch}/home"}
        for task in sorted(path.parent for path in release.glob("*/release.json")):
            out = Path(scratch) / task.name
            command = [str(Path(sys.executable).with_name("medqrels")), "export", str(task), str(out)]
            subprocess.run([*command, "--format", "mteb"], check=True, capture_output=True)
            results = json.loads((task / "runs/results.json").read_text("utf-8"))["test"]
            for system in results["systems"]:
                run = task / f"runs/test/{system['name']}.trec.gz"
                if system["status"] != "measured" or not run.is_file():
                    continue
                inside = [python, str(_INSIDE), str(out), str(run)]
                done = subprocess.run(inside, check=True, capture_output=True, text=True, env=environment)
                told = json.loads(done.stdout.splitlines()[-1])
                ours = system["overall"]["nDCG@10"]["mean"]
                rows.append(
                    {
                        "task": task.name,
                        "system": system["name"],
                        "queries": results["queries_measured"],
                        "mteb_version": told["mteb"],
                        "medqrels": ours,
                        "mteb": round(told["ndcg_at_10"], _PLACES),
                        "difference": round(abs(ours - told["ndcg_at_10"]), _PLACES),
                    }
                )
    return rows


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    result = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))
    lines = [
        "## The same runs through MTEB",
        "",
        "Run files of a release's baseline systems, scored by `medqrels` and by MTEB's own evaluator through "
        "the task definitions that `medqrels export --format mteb` writes; excluded pairs are out of both. "
        "Release of the embedded sample. `python -m benchmarks.mteb_replay PYTHON RELEASE`",
        "",
        "| task | system | queries | nDCG@10, medqrels | nDCG@10, MTEB | difference |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        lines.append(
            f"| `{row['task']}` | `{row['system']}` | {row['queries']} | {row['medqrels']:.6f} | "
            f"{row['mteb']:.6f} | {row['difference']:.0e} |"
        )
    return [*lines, "", f"MTEB {result['rows'][0]['mteb_version']}.", ""]


if __name__ == "__main__":
    save(NAME, {"rows": replay(sys.argv[1], Path(sys.argv[2]))})
