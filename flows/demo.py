"""The demo: the whole pipeline, offline, on the embedded sample served on loopback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from flows.specs import spec_path
from sources.sample import bucket_dir
from sources.sample.bookshelf_server import BookshelfServer
from sources.sample.server import BucketServer

DATASET = "medqrels-sample"
TASK = "visual_context"


def demo(workspace: Path, version: str = "1.0.0") -> dict[str, Any]:
    """Run the sample dataset into `workspace` and load it back; returns what was made and where."""
    with BucketServer([bucket_dir()], synthetic_images=False) as bucket, BookshelfServer() as bookshelf:
        os.environ["MEDQRELS_PMC__ENDPOINT"] = bucket.endpoint
        os.environ["MEDQRELS_LITARCH__ENDPOINT"] = bookshelf.endpoint
        os.environ["MEDQRELS_LITARCH__OAI_ENDPOINT"] = bookshelf.oai_endpoint
        from flows.run import run

        made: dict[str, Any] = run(str(spec_path(DATASET)), version, str(workspace))
    directory = Path(made["releases"][0]["path"])
    return {**made, "loaded": load_back(directory)}


def load_back(directory: Path) -> dict[str, Any]:
    """Load a task directory with `datasets`, as a consumer would, and say what came out."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import datasets

    datasets.disable_progress_bars()
    cache = directory.parents[3] / "tmp" / "datasets"
    tables = {
        name: datasets.load_dataset(str(directory), name, split="test", cache_dir=str(cache))
        for name in ("queries", "corpus", "qrels")
    }
    first = tables["queries"][0]
    image = first["image"]
    return {
        **{name: len(table) for name, table in tables.items()},
        "first_query": first["text"],
        "first_image": f"{image.format} {image.size[0]}x{image.size[1]}" if image is not None else "none",
    }


def describe(made: dict[str, Any]) -> str:
    """What a newcomer should read after `make demo`."""
    release, loaded = made["releases"][0], made["loaded"]
    return "\n".join(
        [
            "",
            f"release    {release['path']}",
            f"           {loaded['queries']} queries, {loaded['corpus']} documents, "
            f"{loaded['qrels']} qrels; "
            f"audit {release['audit']}; "
            f"{'' if release['publishable'] else 'not '}publishable",
            *(f"           {reason}" for reason in release["not_publishable_because"]),
            f"audit page {release['audit_page']}",
            "",
            "load it    from datasets import load_dataset",
            f'           queries = load_dataset("{release["path"]}", "queries", split="test")',
            f'           corpus  = load_dataset("{release["path"]}", "corpus", split="test")',
            f'           qrels   = load_dataset("{release["path"]}", "qrels", split="test")',
            f"           queries[0]: {loaded['first_image']}, {loaded['first_query'][:70]!r}",
        ]
    )
