"""The release of 10,000 made-up documents with the baselines bm25, dense and hybrid, and its audits.

`python -m benchmarks.release_dense`
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.measure import save
from benchmarks.pipeline_scale.shards import generate
from benchmarks.pipeline_scale.spec import VERSION, write_spec
from benchmarks.pipeline_scale.steps import WORKERS, measured
from benchmarks.pipeline_scale.world import World

DOCUMENTS, SEED = 10_000, 5
SYSTEMS = ("bm25", "dense", "hybrid")


def main() -> int:
    """Generate, build, release, and save what the release took."""
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name) / "workspace"
        spec = str(write_spec(Path(name) / "card", SYSTEMS))
        generate(workspace, World.of(DOCUMENTS, SEED), WORKERS)
        measured(["build", "--spec", spec], workspace)
        found = measured(["release", spec, "--version", VERSION], workspace, accepted=(0, 1))
    kept = {name: value for name, value in found.items() if name != "said"}
    print(save("release_dense", {"documents": DOCUMENTS, "systems": SYSTEMS, "release": kept}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
