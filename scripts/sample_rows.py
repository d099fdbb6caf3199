"""Draws rows of a release for a person to read: every row with a real image, then others, seeded by its hash.

Prints Markdown to read; `--ids` prints the ids as JSON, to be committed with a verdict and a reason each.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.release.manifest import read_manifest


def rows_of(directory: Path, table: str) -> list[dict[str, Any]]:
    """A published table as dicts, without image bytes."""
    path = directory / table
    columns = [name for name in pq.ParquetDataset(path).schema.names if name != "image"]
    found: list[dict[str, Any]] = pq.read_table(path, columns=columns).to_pylist()
    return found


def draw(directory: Path, count: int) -> list[dict[str, Any]]:
    """`count` qrels with their texts: those with a real image, then a random sample seeded by the hash."""
    queries = {row["id"]: row for row in rows_of(directory, "queries")}
    corpus = {row["id"]: row for row in rows_of(directory, "corpus")}
    evidence = {
        (row["query-id"], row["corpus-id"]): row["evidence"] for row in rows_of(directory, "provenance/qrels")
    }
    qrels = sorted(rows_of(directory, "qrels"), key=lambda row: (row["query-id"], row["corpus-id"]))
    real = [row for row in qrels if not queries[row["query-id"]]["is_synthetic"]]
    others = [row for row in qrels if queries[row["query-id"]]["is_synthetic"]]
    random.Random(read_manifest(directory).release_hash).shuffle(others)
    chosen = (real + others)[: max(count, len(real))]
    return [
        {
            **row,
            "real_image": not queries[row["query-id"]]["is_synthetic"],
            "query": queries[row["query-id"]]["text"],
            "document": corpus[row["corpus-id"]]["text"],
            "evidence": [span["text"] for span in evidence[row["query-id"], row["corpus-id"]]],
        }
        for row in chosen
    ]


def main() -> None:
    """Print the drawn rows."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("release", type=Path)
    options.add_argument("--rows", type=int, default=40)
    options.add_argument("--ids", action="store_true")
    given = options.parse_args()
    rows = draw(given.release, given.rows)
    if given.ids:
        keys = ("query-id", "corpus-id", "score", "rule", "real_image")
        print(json.dumps([{key: row[key] for key in keys} for row in rows], indent=1))
        return
    for number, row in enumerate(rows, start=1):
        print(f"## {number}. {row['query-id']} → {row['corpus-id']}  {'real image' * row['real_image']}")
        print(f"\n**Query** {row['query']}\n\n**Document** {row['document']}\n")
        print("\n".join(f"> {text}" for text in row["evidence"]), "\n")


if __name__ == "__main__":
    main()
