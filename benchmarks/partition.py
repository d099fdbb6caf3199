"""The partition at 100 k, 300 k and 1.2 M documents: seconds, peak memory, what each task keeps.

Beside it the straightforward way (every connected component goes to its largest task) on the same keys, and
an upper bound of the objective from linear programming. The input is made up (benchmarks/partition_world.py).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix, vstack
from scipy.sparse.csgraph import connected_components

from benchmarks.measure import ROOT, save
from benchmarks.partition_world import SIZES, write_world
from curation.partition.records import PublishedKey
from curation.partition.stage import partition_stage
from flows.engine.database import connect, run_set_stage, write_select
from schemas.stages import Sql

DOCUMENTS = (100_000, 300_000, 1_200_000)
MEMORY = "2GB"
BOUND_UP_TO = 300_000
"""Documents up to which the linear program is solved: it takes far longer than the partition."""

Array = Any


def ours(world: Path, out: Path) -> dict[str, Any]:
    """Run the stage in this process and say what it took."""
    files = {name: [Path(path) for path in paths] for name, paths in _files(world).items()}
    out.mkdir()
    started = time.perf_counter()
    outputs, _, reasons = run_set_stage(partition_stage(tuple(SIZES)), files, out, MEMORY)
    seconds = round(time.perf_counter() - started, 1)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": seconds,
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": usage.ru_maxrss // 1024,
        "rows": {name: output.rows for name, output in outputs.items()},
        "dropped": reasons,
    }


def publish(world: Path, out: Path) -> None:
    """Make what this run kept the published part of the world, as if it had been released."""
    text = f"""SELECT k.task, k.query_id, a.split, '1.0.0' AS since, k.dimension, k.key, 0::BIGINT AS "order"
        FROM '{out}/keys.parquet' AS k JOIN '{out}/assignments.parquet' AS a USING (task, query_id)"""
    with connect(MEMORY) as connection:
        write_select(
            connection,
            Sql(text, PublishedKey, ("task", "query_id", "dimension", "key")),
            world / "published.parquet",
        )


def moved(out: Path, later: Path) -> int:
    """Queries that the later run puts elsewhere or nowhere."""
    first, second = (
        {
            (row["task"], row["query_id"], row["split"])
            for row in pq.read_table(
                folder / "assignments.parquet", columns=["task", "query_id", "split"]
            ).to_pylist()
        }
        for folder in (out, later)
    )
    return len(first - second)


def _files(world: Path) -> Mapping[str, list[str]]:
    return dict(json.loads((world / "files.json").read_text("utf-8")))


def _column(table: pa.Table, name: str) -> Array:
    return table.column(name).to_numpy(zero_copy_only=False)


def _task_numbers(candidates: pa.Table) -> tuple[list[str], Array, Array]:
    names, of_query = np.unique(_column(candidates, "task").astype(str), return_inverse=True)
    return list(names), of_query, np.bincount(of_query)


def kept_shares(out: Path) -> tuple[dict[str, float], float]:
    """Kept share per task, and their sum: the objective at equal weights."""
    candidates = pq.read_table(out / "candidates.parquet", columns=["task"])
    names, _, sizes = _task_numbers(candidates)
    kept = pq.read_table(out / "assignments.parquet", columns=["task"]).column("task").to_pylist()
    shares = {name: kept.count(name) / int(size) for name, size in zip(names, sizes, strict=True)}
    return {name: round(share, 4) for name, share in shares.items()}, sum(shares.values())


def peer(out: Path) -> dict[str, Any]:
    """Every connected component goes to the task with most queries in it; it gets our keys for nothing."""
    started = time.perf_counter()
    candidates = pq.read_table(out / "candidates.parquet", columns=["task"])
    names, of_query, sizes = _task_numbers(candidates)
    rests = pq.read_table(out / "rests.parquet", columns=["number", "key"])
    key = rests.column("key").combine_chunks().dictionary_encode().indices.to_numpy()
    number = _column(rests, "number")
    total = len(of_query)
    graph = coo_matrix(
        (np.ones(len(key), dtype=np.int8), (number, total + key)), shape=(total + key.max() + 1,) * 2
    )
    _, label = connected_components(graph, directed=False)
    component = np.unique(label[:total], return_inverse=True)[1]
    counts = np.zeros((component.max() + 1, len(names)), dtype=np.int64)
    np.add.at(counts, (component, of_query), 1)
    winner = counts.argmax(axis=1)
    kept = np.bincount(of_query[winner[component] == of_query], minlength=len(names)) / sizes
    return {
        "seconds_without_making_keys": round(time.perf_counter() - started, 1),
        "largest_component": int(np.bincount(component).max()),
        "kept_share": {name: round(float(share), 4) for name, share in zip(names, kept, strict=True)},
        "objective": round(float(kept.sum()), 4),
    }


def upper_bound(out: Path) -> float:
    """No partition without history keeps more after the lot: contested keys may be shared out in fractions.

    Variables: x of a block and y of a (key, task); x <= y for its keys, the y of a key sum to at most 1.
    """
    candidates = pq.read_table(out / "candidates.parquet", columns=["task"])
    _, of_query, sizes = _task_numbers(candidates)
    share = 1.0 / sizes[of_query]
    blocks = pq.read_table(out / "blocks.parquet")
    contested = pq.read_table(out / "contested.parquet", columns=["number", "item"])
    number, block = _column(blocks, "number"), _column(blocks, "block")
    heads, at = np.unique(block, return_inverse=True)
    worth = np.bincount(at, weights=share[number])
    tied, item = _column(contested, "number"), _column(contested, "item")
    tied, item = tied[np.isin(tied, heads)], item[np.isin(tied, heads)]
    row_block, task = np.searchsorted(heads, tied), of_query[tied]
    pairs, row_pair = np.unique(item * 64 + task, return_inverse=True)
    n, m, p = len(heads), len(item), len(pairs)
    lines = np.arange(m)
    below = coo_matrix(
        (np.r_[np.ones(m), -np.ones(m)], (np.r_[lines, lines], np.r_[row_block, n + row_pair])),
        shape=(m, n + p),
    )
    of_item = np.unique(pairs // 64, return_inverse=True)[1]
    once = coo_matrix((np.ones(p), (of_item, n + np.arange(p))), shape=(of_item.max() + 1, n + p))
    matrix = csr_matrix(vstack([below, once]))
    limits = np.r_[np.zeros(m), np.ones(of_item.max() + 1)]
    found = linprog(np.r_[-worth, np.zeros(p)], A_ub=matrix, b_ub=limits, bounds=(0, 1), method="highs-ipm")
    if not found.success:
        raise RuntimeError(f"no upper bound: {found.message}")
    lost = _column(pq.read_table(out / "drawn.parquet", columns=["number"]), "number")
    unasked = float(share.sum() - share[number].sum() - share[lost].sum())
    return unasked - float(found.fun)


def measure(documents: int, scratch: Path) -> dict[str, Any]:
    """One size, the stage in a process of its own."""
    world, out = scratch / f"world{documents}", scratch / f"out{documents}"
    queries = write_world(world, documents)
    result = _apart(world, out)
    shares, objective = kept_shares(out)
    result |= {"queries": queries, "kept_share": shares, "objective": round(objective, 4), "peer": peer(out)}
    islands = pq.read_table(out / "islands.parquet", columns=["island", "blocks"])
    result["largest_island_blocks"] = max(islands.column("blocks").to_pylist(), default=0)
    if documents <= BOUND_UP_TO:
        result["objective_upper_bound"] = round(upper_bound(out), 4)
    publish(world, out)
    later = scratch / f"later{documents}"
    again = _apart(world, later)
    result["when_all_is_published"] = {
        name: again[name] for name in ("seconds", "cpu_seconds", "peak_mb")
    } | {"moved": moved(out, later)}
    return result


def _apart(world: Path, out: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.partition", "--run", str(world), str(out)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(json.loads(done.stdout))


def main() -> int:
    """Measure every size, or (internally) run the stage once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", nargs=2, type=Path)
    parser.add_argument("--documents", type=int, nargs="*", default=DOCUMENTS)
    chosen = parser.parse_args()
    if chosen.run:
        print(json.dumps(ours(*chosen.run)))
        return 0
    with tempfile.TemporaryDirectory(prefix="partition-") as scratch:
        result = {f"{size}_documents": measure(size, Path(scratch)) for size in chosen.documents}
    print(json.dumps(result, indent=1))
    if tuple(chosen.documents) == DOCUMENTS:
        print(save("partition", {"memory_limit": MEMORY, **result}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
