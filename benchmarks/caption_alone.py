"""How many queries of visual_context their caption alone answers, by kind of figure and granularity.

Read from the tables `queries` and `diagnostics` of releases whose spec names BM25 and `dense`: a query counts
as answered when BM25, given the caption, puts a positive first; nDCG@10 is that of the better text system.
Kinds are the groups of the column `modality`, which rests on captions.

Run: `python -m benchmarks.caption_alone TASK_FOLDER...`, folders of one task at one or several granularities.
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from annotation.agreement.precision import wilson
from benchmarks.measure import read_result, save
from curation.labels.taxonomy import load
from curation.published.manifest import read_manifest
from curation.tasks.shared.bars import CLINICAL_KINDS
from schemas.tables import DIAGNOSTICS, QRELS, QUERIES

LEAST = 20
"""Queries of a kind that the page shows."""


def measured(folder: Path) -> dict[str, Any]:
    """Size of the corpus, and per kind of figure how many queries are answered."""
    manifest = read_manifest(folder)
    rows = {row["query-id"]: row for row in _rows(DIAGNOSTICS.files(folder, "test"))}
    groups: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for query in _rows(QUERIES.files(folder, "test"), ["id", "modality"]):
        if query["id"] in rows:
            for name in _groups(query["modality"]):
                groups[name].append(rows[query["id"]])
    params = next(dict(stage["params"]) for stage in manifest.stages if stage["name"] == manifest.task)
    return {
        "granularity": params.get("granularity", "passage"),
        "documents": manifest.counts["corpus"],
        "positives": sum(row["score"] > 0 for row in _rows(QRELS.files(folder, "test"), ["score"])),
        "kinds": {name: _share(found) for name, found in sorted(groups.items())},
    }


def _groups(modality: str) -> tuple[str, str]:
    """What a figure counts for: its group, and whether that is clinical."""
    labels = load("modality").labels
    group = labels[modality].parent or modality if modality in labels else "undecided"
    return group, "all clinical" if group in CLINICAL_KINDS else "all others"


def _share(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    solved = sum(bool(row["bm25_solvable"]) for row in rows)
    low, high = wilson(solved, len(rows))
    ndcg = [row["text_only"] for row in rows if row["text_only"] is not None]
    return {
        "queries": len(rows),
        "answered": solved,
        "share": round(solved / len(rows), 3),
        "low": round(low, 3),
        "high": round(high, 3),
        "ndcg": round(sum(ndcg) / len(ndcg), 3) if ndcg else None,
    }


def _rows(files: Sequence[Path], columns: list[str] | None = None) -> list[dict[str, Any]]:
    return [row for path in files for row in pq.read_table(path, columns=columns).to_pylist()]


def section() -> list[str]:
    """The table of benchmarks/README.md."""
    levels = read_result("caption_alone")["levels"]
    heads = " | ".join(f"{level['granularity']}s ({level['documents']:,})" for level in levels)
    lines = [
        "## Captions alone, and larger documents",
        "",
        "`visual_context` over the shared articles, built at each granularity with the same queries, split "
        "test. Answered: BM25, given the caption, puts a positive first; in brackets the 95 % interval. "
        "`python -m benchmarks.caption_alone TASK_FOLDER…`",
        "",
        f"| figures | queries | {heads} |",
        "|---|---:|" + "---:|" * len(levels),
    ]
    for name, row in levels[0]["kinds"].items():
        if row["queries"] >= LEAST:
            cells = (level["kinds"][name] for level in levels)
            told = " | ".join(
                f"{cell['answered']}, {cell['share']:.3f} ({cell['low']:.3f}–{cell['high']:.3f})"
                for cell in cells
            )
            lines.append(f"| {name} | {row['queries']} | {told} |")
    return [
        *lines,
        "",
        "Most of what `visual_context` asks of charts is in their captions: such a query says little about "
        "reading images. `clinical_only = true` leaves them out.",
        "",
    ]


def main() -> None:
    """Print a line per kind and level, and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    found = [measured(folder) for folder in parser.parse_args().folders]
    for level in found:
        print(f"{level['granularity']}: {level['documents']} documents, {level['positives']} positives")
        for name, row in level["kinds"].items():
            print(f"  {name:<14} {row['answered']:>4} of {row['queries']:<4} {row['share']:.3f} "
                  f"({row['low']:.3f}–{row['high']:.3f})  nDCG@10 {row['ndcg']}")  # fmt: skip
    save("caption_alone", {"levels": found})


if __name__ == "__main__":
    main()
