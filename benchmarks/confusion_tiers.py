"""Confusion sets of the shared articles: how many of each tier, error by tier, rankings blind to the query.

The articles of ../shared/data/pmc-bucket with HPO, MONDO, MeSH and HPO's translations, from crawl to release.
Run: `python -m benchmarks.confusion_tiers [WORKSPACE]`; what a workspace has is not made again.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.measure import SHARED, read_result, save
from curation.tasks.concept_discrimination.task import TASK
from flows.cli.app import run_cli
from flows.engine.runner import table_files
from flows.engine.workspace import Workspace, open_workspace
from flows.specs import DATA_CARDS
from sources.sample.server import BucketServer

SPEC = f"""
name = "confusion-tiers"
title = "Confusion sets of the shared articles"
licence_profile = "noncommercial"
[citation]
year = 2026
[baselines]
systems = ["bm25", "dense"]
nano_queries = 5
nano_documents = 100
[tasks.{TASK.name}]
"""
_BABELON = SHARED / "vocab/hpo-translations/babelon"


def released(root: Path) -> Path:
    """The task's release, from crawl on."""
    open_workspace(root, create=True)
    cards = root / "cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards, dirs_exist_ok=True)
    spec, ids = cards / "spec.toml", root / "ids.txt"
    spec.write_text(SPEC, "utf-8")
    names = sorted(path.name for path in (SHARED / "pmc-bucket").glob("PMC*.*") if path.is_dir())
    ids.write_text("".join(f"{name.partition('.')[0]}\n" for name in names), "utf-8")
    with BucketServer([SHARED / "pmc-bucket"], synthetic_images=True) as server:
        os.environ["MEDQRELS_PMC__ENDPOINT"] = server.endpoint
        for command in (
            ["vocabulary", "build"],
            ["vocabulary", "add", "babelon", str(_BABELON)],
            ["crawl", "pmc", "--ids", str(ids), "--profile", "noncommercial"],
            ["extract"],
            ["ground"],
            ["build", TASK.name, "--spec", str(spec)],
            ["release", str(spec)],
        ):
            if code := run_cli([*command, "--workspace", str(root)]):
                raise SystemExit(f"medqrels {' '.join(command)}: exit {code}")
    return max((root / "releases/confusion-tiers").iterdir()) / TASK.name


def measured(release: Path, workspace: Workspace) -> dict[str, Any]:
    """Sets, what became of the other words of authors, and what the release says of its tiers."""
    derived = json.loads((release / "runs/derived.json").read_text("utf-8"))
    queries = [row for path in release.glob("queries/*.parquet") for row in pq.read_table(path).to_pylist()]
    origins = pq.read_table(release / "provenance/queries", columns=["article_id"]).to_pylist()
    dropped: Counter[tuple[str, str]] = Counter()
    rejected: Counter[str] = Counter()
    for path in table_files(workspace, f"{TASK.name}_all._dropped"):
        dropped.update((row["unit"], row["reason"]) for row in pq.read_table(path).to_pylist())
    for path in table_files(workspace, f"{TASK.name}_all.checked"):
        rejected.update(row["reason"] for row in pq.read_table(path).to_pylist() if row["reason"])
    return {
        "sets": len(queries),
        "articles": len({row["article_id"] for row in origins}),
        "sets_by_tier": dict(sorted(Counter(f"{row['language']} {row['tier']}" for row in queries).items())),
        "dropped": {
            unit: {reason: count for (of, reason), count in dropped.most_common() if of == unit}
            for unit in ("query", "set")
        },
        "rejected": dict(rejected.most_common()),
        "languages": {
            name: {"sets": found["queries"], "official": found["official"]}
            for name, found in sorted((derived.get("names") or {}).get("languages", {}).items())
        },
        "tiers": derived.get("tiers") or {},
    }


def section() -> list[str]:
    """What benchmarks/README.md says of it."""
    found = read_result("confusion_tiers")
    tiers = found["tiers"]
    names = sorted(tiers["tiers"])
    by_tier = ", ".join(f"{name.strip()}: {count}" for name, count in found["sets_by_tier"].items())
    heads = " | ".join(f"tier {name} ({tiers['tiers'][name]})" for name in names)
    lines = [
        "## Tiers of confusion sets",
        "",
        f"{found['sets']} sets of {found['articles']} shared articles (language and tier: {by_tier}), too "
        "few to tell tiers apart. "
        f"Do tiers get harder? {tiers['status']}: {tiers['why'] or 'yes'}. Split `test`; chance of R@1 .125. "
        "`python -m benchmarks.confusion_tiers`",
        "",
        f"| error (1 − R@1) | {heads} |",
        f"|---|{'---:|' * len(names)}",
    ]
    for system, rows in sorted(tiers["error"].items()):
        lines.append(f"| {system} | {' | '.join(_interval(rows[name]) for name in names)} |")
    lines += ["", f"| ranking blind to the query: R@1, p | {heads} |", f"|---|{'---:|' * len(names)}"]
    for ranking, rows in sorted(tiers["blind"].items()):
        cells = " | ".join(f"{rows[name]['mean']:.3f}, {rows[name]['p']:.3f}" for name in names)
        lines.append(f"| {ranking} | {cells} |")
    asked = ", ".join(f"{name} {row['sets']} ({row['official']})" for name, row in found["languages"].items())
    return [
        *lines,
        "",
        "*p*: how often a lot is as far from chance (sets of one gold concept are one lot), before Holm's "
        "correction over all cells.",
        f"Sets of the split asked in further languages (with confirmed names alone): {asked or 'none'}.",
        "",
        "| words of authors without a set, because | queries |",
        "|---|---:|",
        *(f"| `{reason}` | {count} |" for reason, count in found["dropped"]["query"].items()),
        "",
    ]


def _interval(row: dict[str, Any]) -> str:
    return f"{row['mean']:.3f} ({row['low']:.3f} to {row['high']:.3f})"


def main(place: str = "") -> None:
    """Build, release, and save the figures."""
    with tempfile.TemporaryDirectory(prefix="medqrels-tiers-") as scratch:
        root = Path(place or scratch).absolute()
        found = measured(released(root), Workspace(root))
    save("confusion_tiers", found)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:2])
