"""Every folder of the shared data through crawl and extract: what came out per source, what was dropped.

Writes benchmarks/results/coverage.json and benchmarks/coverage.md; nothing in the table is typed by hand.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.measure import ROOT, SHARED, save
from flows.cli.app import run_cli
from flows.crawl.selection import selections
from flows.engine.manifest import DROPPED
from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace, open_workspace
from sources.sample.server import BucketServer

PAGE = ROOT / "benchmarks" / "coverage.md"
COUNTED = {
    "articles": "parse.articles",
    "figures": "extract.figures",
    "passages": "extract.passages",
    "cases": "cases.cases",
    "images": "images.images",
    "questions": "questions.questions",
    "exercises": "exercises.questions",
}
"""Column of the table -> `stage.table` whose rows are counted."""
STAGES = ("crawl", "parse", "extract", "cases", "images", "questions", "exercises")


def crawls(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Name of each source and the command that takes it."""
    yield "pmc-bucket", ["pmc", "--ids", str(_bucket_ids(data)), "--profile", "noncommercial"]
    for name in ("jats-with-images", "jats-multilingual"):
        yield name, ["folder", str(data / name), "--profile", "noncommercial"]
    for book in ("microbiology", "psychologia"):
        yield f"openstax/{book}", ["openstax", str(data / "openstax" / book), "--profile", "noncommercial"]
    yield "FrenchMedMCQA", ["questions", str(_questions(data))]


def _bucket_ids(data: Path) -> Path:
    names = sorted(path.name for path in (data / "pmc-bucket").glob("PMC*.*") if path.is_dir())
    path = Path(tempfile.mkdtemp()) / "ids.txt"
    path.write_text("".join(f"{name.partition('.')[0]}\n" for name in names), "utf-8")
    return path


def _questions(data: Path) -> Path:
    """Sidecars for the three files, in a folder of their own: the data is not written to."""
    folder = Path(tempfile.mkdtemp())
    for part in ("train", "dev", "test"):
        file = (data / "vocab" / "FrenchMedMCQA" / f"{part}.json").resolve()
        (folder / f"{part}.json.meta.toml").write_text(
            f'name = "frenchmedmcqa-{part}"\nfile = "{file}"\nlicence = "Apache-2.0"\nlanguage = "fr"\n'
            'preset = "frenchmedmcqa"\n',
            "utf-8",
        )
    return folder


def run(data: Path, root: Path) -> dict[str, Any]:
    """Crawl and extract every folder into one workspace; returns counts per source."""
    shards: dict[str, str] = {}
    workspace = open_workspace(root, create=True)
    with BucketServer([data / "pmc-bucket"], synthetic_images=True) as server:
        os.environ["MEDQRELS_PMC__ENDPOINT"] = server.endpoint
        for name, arguments in crawls(data):
            code = run_cli(["crawl", *arguments, "--workspace", str(root)])
            if code:
                raise SystemExit(f"medqrels crawl {' '.join(arguments)}: exit {code}")
            for selection in selections(workspace):
                shards.setdefault(selection.shard, name)
    if code := run_cli(["extract", "--workspace", str(root)]):
        raise SystemExit(f"medqrels extract: exit {code}")
    return {"sources": _counts(workspace, shards)}


def _counts(workspace: Workspace, shards: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: {"selected": 0, "dropped": collections.Counter(), "mentions": 0, **dict.fromkeys(COUNTED, 0)}
        for name in dict.fromkeys(shards.values())
    }
    for selection in selections(workspace):
        found[shards[selection.shard]]["selected"] += len(selection.locators)
    for stage in STAGES:
        for shard, manifest in shards_of(workspace, stage).items():
            row = found[shards[shard]]
            folder = workspace.stage(stage) / shard
            for column, table in COUNTED.items():
                if table.partition(".")[0] == stage:
                    row[column] += manifest.outputs[table.partition(".")[2]].rows
            if stage == "extract":
                figures = pq.read_table(folder / manifest.outputs["figures"].file, columns=["mentions"])
                row["mentions"] += sum(len(each) for each in figures["mentions"].to_pylist())
            drops = pq.read_table(folder / manifest.outputs[DROPPED].file, columns=["unit", "reason"])
            for unit, reason in zip(*(drops[name].to_pylist() for name in ("unit", "reason")), strict=True):
                row["dropped"][f"{stage}: {unit} {reason}"] += 1
    return {name: {**row, "dropped": dict(sorted(row["dropped"].items()))} for name, row in found.items()}


def page(result: Mapping[str, Any]) -> str:
    """The table as Markdown."""
    columns = ["selected", "articles", "figures", "mentions", "passages", "cases", "images"]
    columns += ["questions", "exercises"]
    lines = [
        "# Coverage of the shared data",
        "",
        "Made by `python -m benchmarks.coverage`: every folder through `medqrels crawl` and "
        "`medqrels extract`, licence profile `noncommercial`. The bucket folder holds no image files: "
        "its images are placeholders, marked synthetic.",
        "",
        "| source | " + " | ".join(columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for name, row in result["sources"].items():
        lines.append(f"| {name} | " + " | ".join(f"{row[column]:,}" for column in columns) + " |")
    lines += [
        "",
        "## Dropped, by reason",
        "",
        "| source | stage: unit and reason | count |",
        "|---|---|---:|",
    ]
    for name, row in result["sources"].items():
        lines += [f"| {name} | {reason} | {count:,} |" for reason, count in row["dropped"].items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run, save, write the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--workspace", type=Path, help="keep the workspace here")
    given = options.parse_args()
    with contextlib.ExitStack() as stack:
        root = given.workspace or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "ws"
        result = run(given.data, root)
    save("coverage", result)
    PAGE.write_text(page(result), "utf-8")
    print(page(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
