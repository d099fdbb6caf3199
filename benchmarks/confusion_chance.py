"""Rankings blind to the query on thousands of confusion sets of the open vocabularies, and their languages.

The shared articles name too few concepts to show a small leak. So concepts of HPO, MONDO and MeSH are drawn
by lot, each is marked in a sentence of its own, and the stage makes their sets as it does a crawl's. No
article names any, so `frequency` and `rarity` say nothing here.
Run: `python -m benchmarks.confusion_chance [WORKSPACE]`; the vocabulary of a workspace is not made again.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.confusion_sets import asked, write_rows
from benchmarks.measure import SHARED, read_result, save
from curation.evaluation.statistics import holm
from curation.evaluation.tiers import BLIND, SURE, by_lot, first_of
from curation.tasks.concept_discrimination.records import Anchor
from curation.tasks.concept_discrimination.sets_sql import MEMBERS
from curation.tasks.concept_discrimination.task import TASK
from flows.cli.app import run_cli
from flows.engine.connection import query
from flows.engine.database import run_set_stage
from flows.engine.workspace import open_workspace
from flows.vocabulary.store import current
from schemas.benchmark import Query

NAME = "confusion_chance"
CONCEPTS = 8_000
_DRAWN = f"""
    SELECT min(name) AS name FROM names SEMI JOIN definitions USING (concept)
    WHERE language = 'en' AND is_preferred AND NOT is_suppressed
    GROUP BY concept ORDER BY md5(concept) LIMIT {CONCEPTS}
"""
_SETS = """
    SELECT c.query_id, q.tier, c.role, c.articles, c.depth, c.names, c.languages, d.words
    FROM confusions AS c JOIN queries AS q ON q.id = c.query_id JOIN described AS d ON d.concept = c.concept
    ORDER BY c.query_id, c.corpus_id
"""
_ASKED = """
    SELECT document_language AS name, count(*) AS sets FROM asked_sets WHERE reason = ''
    GROUP BY ALL ORDER BY ALL
"""


def vocabulary(root: Path) -> dict[str, list[Path]]:
    """Tables of HPO, MONDO, MeSH and the translations of HPO, by name."""
    workspace = open_workspace(root, create=True)
    if current(workspace) is None:
        for more in (
            ["hpo"],
            ["mondo"],
            ["mesh"],
            ["babelon", str(SHARED / "vocab/hpo-translations/babelon")],
        ):
            if code := run_cli(["vocabulary", "add", *more, "--workspace", str(root)]):
                raise SystemExit(f"medqrels vocabulary add {more[0]}: exit {code}")
    made = current(workspace)
    assert made is not None
    return {name: [made.table(name)] for name in TASK.over_all.resources}


def rows(text: str, files: dict[str, list[Path]]) -> list[dict[str, Any]]:
    """Rows of a SELECT over tables."""
    return [row for batch in query("4GB")(text, files) for row in batch.to_pylist()]


def measured(root: Path) -> dict[str, Any]:
    """Sets by tier and language, and how often each ranking puts the gold document first."""
    files = vocabulary(root)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = [asked(number, row["name"]) for number, row in enumerate(rows(_DRAWN, files))]
        write_rows(folder, "all_queries", Query, [query for query, _ in made])
        write_rows(folder, "all_anchors", Anchor, [anchor for _, anchor in made])
        files |= {name: [folder / f"{name}.parquet"] for name in ("all_queries", "all_anchors")}
        files |= {"found_concepts": [], "earlier": []}
        out = folder / "out" / "all"
        out.mkdir(parents=True)
        run_set_stage(TASK.over_all, files, out, "4GB")
        tables = {
            name: [out / f"{name}.parquet"] for name in ("confusions", "queries", "described", "asked_sets")
        }
        found = rows(_SETS, tables)
        languages = {row["name"]: row["sets"] for row in rows(_ASKED, tables)}
    sets: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        sets.setdefault(row["query_id"], []).append(row)
    tiers: dict[str, list[list[dict[str, Any]]]] = {}
    for of in sets.values():
        tiers.setdefault(of[0]["tier"], []).append(of)
    blind = {
        name: {tier: _blind(of, column, sign) for tier, of in sorted(tiers.items())}
        for name, (column, sign) in BLIND.items()
    }
    cells = [(name, tier) for name, by in blind.items() for tier in by]
    adjusted = holm(np.array([blind[name][tier]["p"] for name, tier in cells], np.float64))
    for (name, tier), p in zip(cells, adjusted.tolist(), strict=True):
        blind[name][tier]["p_holm"] = p
    return {
        "concepts": len(made),
        "tiers": {tier: len(of) for tier, of in sorted(tiers.items())},
        "languages": languages,
        "blind": blind,
    }


def _blind(sets: list[list[dict[str, Any]]], column: str, sign: int) -> dict[str, float]:
    firsts = [first_of(of, column, sign) for of in sets]
    p = by_lot(firsts, np.arange(len(firsts)))
    assert p is not None
    return {"mean": round(float(np.mean([hit / size for hit, size, _ in firsts])), 4), "p": p}


def section() -> list[str]:
    """What benchmarks/README.md says of it."""
    result = read_result(NAME)
    tiers = result["tiers"]
    heads = " | ".join(f"tier {tier} ({count:,})" for tier, count in tiers.items())
    spoken = ", ".join(f"{name} {count:,}" for name, count in result["languages"].items())
    lines = [
        "## Confusion sets of the open vocabularies",
        "",
        f"{result['concepts']:,} concepts of HPO, MONDO and MeSH with a definition, drawn by lot, each "
        f"marked in a sentence of its own: {sum(tiers.values()):,} sets, asked in {spoken}. "
        "How often a ranking blind to the query puts the gold document first (chance .125), and p "
        "after Holm's correction over all cells. No article names any concept, so frequency and rarity "
        f"say nothing. `python -m benchmarks.{NAME}`",
        "",
        f"| ranking blind to the query | {heads} |",
        f"|---|{'---:|' * len(tiers)}",
    ]
    for name, by in sorted(result["blind"].items()):
        cells = " | ".join(f"{row['mean']:.3f}, {row['p_holm']:.3f}" for row in by.values())
        lines.append(f"| {name} | {cells} |")
    sure = [row["mean"] for by in result["blind"].values() for row in by.values() if row["p_holm"] < SURE]
    above = sum(mean > 1 / (MEMBERS + 1) for mean in sure)
    return [
        *lines,
        "",
        f"Other than by lot (p < {SURE}): {above} cells above chance, {len(sure) - above} below. Below, the "
        "gold concept lies in the middle of its set more often than a member does, as members are chosen "
        "around it.",
        "",
    ]


def main(folder: str = "") -> None:
    """Make the vocabulary and the sets, and save what they tell."""
    with tempfile.TemporaryDirectory() as scratch:
        print(save(NAME, measured(Path(folder or scratch))))


if __name__ == "__main__":
    main(*sys.argv[1:])
