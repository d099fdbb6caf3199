"""The three tasks of MMed-Bench-IR by the shipped spec `medqrels-languages`, over the shared articles.

Every step is a command, as a maintainer gives it: articles crawled from a loopback bucket and folders, HPO,
MONDO and MeSH with the shared translations of HPO, then `build`, `release` and what `datasets` loads for each
language.

Run: `python -m benchmarks.six_languages [FOLDER]`; the folder keeps the workspace.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq

from benchmarks.measure import SHARED, read_result, save
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


def measured(folder: Path) -> dict[str, Any]:
    """What each task holds, as `datasets` loads it, and what its files say of it."""
    found = {}
    for task in sorted(path for path in folder.iterdir() if path.is_dir()):
        manifest = json.loads((task / "release.json").read_text("utf-8"))
        found[task.name] = {
            "audit": json.loads((task / "audit.json").read_text("utf-8"))["verdict"],
            "queries": manifest["counts"]["queries"],
            "corpus": manifest["counts"]["corpus"],
            "loaded": loaded(task),
        }
    results = json.loads((folder / "crosslingual_qa" / "runs" / "results.json").read_text("utf-8"))
    facets = results["test"]["facet_ndcg"]
    core = {
        name: {"core": row["core"], "fairness": row["fairness"]}
        for name, row in facets["systems"].items()
        if "fairness" in row
    }
    asked = pq.read_table(folder / "concept_discrimination" / "queries", columns=["tier"])
    tiers = Counter(asked.column("tier").to_pylist())
    return {"tasks": found, "families": facets["core"]["families"], "core": core, "tiers": dict(tiers)}


def loaded(task: Path) -> dict[str, dict[str, int]]:
    """Config of queries in one language -> rows by split, loaded by its name."""
    found = {}
    for config in sorted(datasets.get_dataset_config_names(str(task))):
        language, _, table = config.rpartition("-")
        if table == "queries" and language:
            parts = datasets.load_dataset(str(task), config)
            found[language] = {split: len(rows) for split, rows in parts.items()}
    return found


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = read_result(NAME)
    lines = [
        "## Six languages",
        "",
        "The shipped spec `medqrels-languages` over the shared articles, with HPO, MONDO, MeSH and the "
        "translations of HPO, every step a command; queries of each language as `datasets` loads them "
        "by the name of their config. `python -m benchmarks.six_languages`",
        "",
        "| task | audit | queries | documents | loaded by language |",
        "|---|---|---:|---:|---|",
    ]
    for task, row in result["tasks"].items():
        languages = ", ".join(f"{name} {sum(parts.values())}" for name, parts in row["loaded"].items())
        lines.append(
            f"| `{task}` | {row['audit']} | {row['queries']:,} | {row['corpus']:,} | {languages or '–'} |"
        )
    tiers = ", ".join(f"{tier}: {count}" for tier, count in sorted(result["tiers"].items()))
    lines += [
        "",
        f"Confusion sets by tier: {tiers}. `multilingual_evidence` is empty without a question "
        "collection: what it lacks stands in its drops.",
        "",
        f"`crosslingual_qa` on the {result['families']} families of questions that en, es, fr, ja, pt and zh "
        "all have: nDCG@10 among passages about the concept, and best minus worst language.",
        "",
        "| system | nDCG@10 (95 %) | gap (95 %) | best | worst |",
        "|---|---|---|---|---|",
    ]
    for name, row in result["core"].items():
        core, gap = row["core"], row["fairness"]
        lines.append(
            f"| {name} | {_with_interval(core, 'mean')} | {_with_interval(gap, 'gap')} "
            f"| {gap['best']} | {gap['worst']} |"
        )
    return [*lines, ""]


def _with_interval(figures: Mapping[str, Any], name: str) -> str:
    """A figure and its interval; the evaluation gives none for too few families."""
    if figures["low"] is None:
        return f"{figures[name]:.3f} (too few for an interval)"
    return f"{figures[name]:.3f} ({figures['low']:.3f}–{figures['high']:.3f})"


def main(folder: str = "") -> None:
    """Build, release, load and save."""
    with tempfile.TemporaryDirectory() as scratch:
        print(save(NAME, measured(released(Path(folder or scratch) / "ws"))))


if __name__ == "__main__":
    main(*sys.argv[1:])
