"""The dataset that is built from the generated articles: its spec and the prose of its card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from curation.release.card import OF_DATASET, OF_TASK

DATASET, VERSION = "made-up-scale", "1.0.0"
TASKS = ("case_study", "image_search", "summary", "visual_context")
_SPEC = """name = "{dataset}"
title = "Made-up articles at M3Retrieve's size"
licence_profile = "open"
languages = ["en"]

[sources]
pmc_ids = "ids.txt"

[baselines]
systems = {systems}

[tasks.visual_context]
[tasks.image_search]
[tasks.summary]
[tasks.case_study]
"""


def write_spec(folder: Path, systems: Sequence[str] = ()) -> Path:
    """Write spec.toml, ids.txt and the card's prose into a folder; the path of the spec.

    Args:
        folder: made if need be.
        systems: baselines that the release runs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = _SPEC.format(dataset=DATASET, systems=json.dumps(list(systems)))
    (folder / "spec.toml").write_text(text, encoding="utf-8")
    (folder / "ids.txt").write_text("# made up: nothing to crawl\n", encoding="utf-8")
    text = "Every text, picture, name and article here is made up to measure the pipeline.\n"
    of_tasks = (f"{task}/{name}" for task in TASKS for name in OF_TASK)
    for name in (*OF_DATASET, *of_tasks):
        path = folder / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "spec.toml"
