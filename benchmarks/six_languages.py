"""The three tasks of MMed-Bench-IR by the shipped spec `medqrels-languages`, over the shared articles.

Every step is a command, as a maintainer gives it: articles crawled from a loopback bucket and folders, HPO,
MONDO and MeSH with the shared translations of HPO, then `build`, `release` and what `datasets` loads for each
language.

Run: `python -m benchmarks.six_languages [FOLDER]`; the folder keeps the workspace.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.measure import SHARED
from flows.cli.app import run_cli
from flows.engine.workspace import open_workspace
from flows.specs import DATA_CARDS
from sources.sample.server import BucketServer

NAME = "six_languages"
SPEC = DATA_CARDS / "medqrels-languages" / "spec.toml"


def released(root: Path) -> Path:
    """The folder of the version that the commands leave behind; what is there already is not made again."""
    ids = open_workspace(root, create=True).root / "ids.txt"
    names = sorted(path.name for path in (SHARED / "pmc-bucket").glob("PMC*.*") if path.is_dir())
    ids.write_text("".join(f"{name.partition('.')[0]}\n" for name in names), "utf-8")
    with BucketServer([SHARED / "pmc-bucket"], synthetic_images=True) as server:
        os.environ["MEDQRELS_PMC__ENDPOINT"] = server.endpoint
        for command in (
            ["crawl", "pmc", "--ids", str(ids)],
            ["crawl", "folder", str(SHARED / "jats-multilingual")],
            ["crawl", "folder", str(SHARED / "jats-with-images")],
            *(["vocabulary", "add", name] for name in ("hpo", "mondo", "mesh")),
            ["vocabulary", "add", "babelon", str(SHARED / "vocab" / "hpo-translations" / "babelon")],
            ["vocabulary", "build"],
            ["extract"],
            ["ground"],
            ["build", "--spec", str(SPEC)],
            ["release", str(SPEC)],
        ):
            print("medqrels", *command, flush=True)
            if code := run_cli([*command, "--workspace", str(root)]):
                raise SystemExit(f"medqrels {' '.join(command)}: exit {code}")
    return max((root / "releases" / SPEC.parent.name).iterdir())
