"""`python -m tests.golden` compares the sample's stages with what was recorded; --update records them."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.golden import RECORDED, Hashes, changed_versions, load, measure, problems, save
from tests.golden.sample import build_sample


def update(measured: Hashes, path: Path, *, same_version: bool) -> list[str]:
    """Record; refuses output changed under one version unless `same_version`. Returns the refusals."""
    refused = [] if same_version else changed_versions(measured, load(path))
    if not refused:
        save(measured, path)
    return refused


def main() -> int:
    """Exit 0 when recorded or equal, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--update", action="store_true", help="record what the stages make now")
    parser.add_argument(
        "--same-version", action="store_true", help="before a first release: keep the VERSION all the same"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(build_sample(Path(folder) / "workspace"))
    if not chosen.update:
        found = problems(measured, load())
    else:
        refused = update(measured, RECORDED, same_version=chosen.same_version)
        found = [f"{key}: output changed under the same version; raise the version first" for key in refused]
    print("\n".join(found or [f"{len(measured)} stages, recorded in {RECORDED.name}"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
