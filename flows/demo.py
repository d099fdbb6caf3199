"""The demo: the whole pipeline, offline, on the embedded sample served on loopback."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.specs import read_dataset, spec_path
from sources.sample import bucket_dir
from sources.sample.bookshelf_server import BookshelfServer
from sources.sample.server import BucketServer

DATASET = "medqrels-sample"
_TABLES = ("queries", "corpus", "qrels")


def demo(workspace: Path, version: str = "1.0.0") -> dict[str, Any]:
    """Run the sample dataset into `workspace` and load every task back; returns what was made and where."""
    with BucketServer([bucket_dir()], synthetic_images=False) as bucket, BookshelfServer() as bookshelf:
        os.environ["MEDQRELS_PMC__ENDPOINT"] = bucket.endpoint
        os.environ["MEDQRELS_LITARCH__ENDPOINT"] = bookshelf.endpoint
        os.environ["MEDQRELS_LITARCH__OAI_ENDPOINT"] = bookshelf.oai_endpoint
        from flows.run import run

        made: dict[str, Any] = run(read_dataset(spec_path(DATASET)), version, str(workspace))
    loaded = {release["task"]: load_back(Path(release["path"])) for release in made["releases"]}
    return {**made, "loaded": loaded}


def load_back(directory: Path) -> dict[str, Any]:
    """Load a task directory with `datasets`, as a consumer would, and say what came out."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import datasets

    from flows.release.loading import card_read_once

    datasets.disable_progress_bars()
    cache = directory.parents[3] / "tmp" / "datasets"
    with card_read_once(datasets.load, directory):
        tables = {
            name: datasets.load_dataset(str(directory), name, split="test", cache_dir=str(cache))
            for name in _TABLES
        }
    first = tables["queries"][0]
    image = first.get("image")
    return {
        **{name: len(table) for name, table in tables.items()},
        "first_query": first["text"],
        "first_image": f"{image.format} {image.size[0]}x{image.size[1]}" if image is not None else "no image",
    }


def describe(made: Mapping[str, Any]) -> str:
    """What a newcomer should read after `make demo`."""
    releases, loaded = made["releases"], made["loaded"]
    folder = Path(releases[0]["path"]).parent
    shown = max(releases, key=lambda item: loaded[item["task"]]["queries"])["task"]
    first = loaded[shown]
    return "\n".join(
        [
            "",
            f"release    {folder}",
            "",
            *_table(releases, loaded),
            "",
            *_publishable(releases),
            f"audit page {folder}/TASK/audit.html",
            "",
            "load it    from datasets import load_dataset",
            *(
                f'           {name:<7} = load_dataset("{folder / shown}", "{name}", split="test")'
                for name in _TABLES
            ),
            f"           queries[0]: {first['first_image']}, {first['first_query'][:70]!r}",
        ]
    )


def _table(releases: Sequence[Mapping[str, Any]], loaded: Mapping[str, Any]) -> list[str]:
    """One line per task: what was loaded back, and what its audit said."""
    width = max(len(item["task"]) for item in releases)
    head = f"           {'task':<{width}}  queries  documents  qrels  audit"
    return [
        head,
        *(
            f"           {item['task']:<{width}}  {counts['queries']:>7}  {counts['corpus']:>9}  "
            f"{counts['qrels']:>5}  {item['audit']}"
            for item in releases
            for counts in [loaded[item["task"]]]
        ),
    ]


def _publishable(releases: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which tasks may be published, and why the others may not."""
    named = [item["task"] for item in releases if item["publishable"]]
    reasons = dict.fromkeys(reason for item in releases for reason in item["not_publishable_because"])
    return [
        f"           publishable: {', '.join(named) or 'none'}",
        *(f"           {item}" for item in reasons),
    ]
