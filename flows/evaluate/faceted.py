"""Runs systems on the passages about each question's concept alone: what tells whether they know facets."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from curation.evaluation.facets import FOLDER, FacetPool, facet_pool, facet_report
from curation.evaluation.ranking import Run
from curation.evaluation.runs import SUFFIX, file_stem, write_run
from curation.evaluation.systems import System
from flows.evaluate.retrieval import Bench
from schemas.hashing import sha256_file


def measured_facets(
    bench: Bench, systems: Sequence[System], out: Path, given: Mapping[str, Run] | None = None
) -> dict[str, Any] | None:
    """How systems order the passages about the right concept; None where no query asks for a facet.

    Args:
        bench: of the split, whose systems have run; its cache, index and settings are used.
        systems: those that ran there. One that a language model re-ranks for is left out: it would be asked,
            and paid, for every pair anew.
        out: folder whose runs/facets the run files are written into.
        given: whole rankings from run files, by name; they cannot be asked for more.
    """
    pool = facet_pool(bench.collection)
    if pool is None:
        return None
    chosen = [system for system in systems if not system.language_model]
    pooled = _pooled(bench, pool, chosen)
    runs = {system.name: run for system in chosen if (run := bench.made[system.name].run) is not None}
    files = {name: _written(run, pool, name, out) for name, run in pooled.items()}
    return facet_report(pool, {**runs, **(given or {})}, pooled, files)


def _pooled(bench: Bench, pool: FacetPool, systems: Sequence[System]) -> dict[str, Run]:
    """Rankings of the passages about each query's concept."""
    runs = {}
    with tempfile.TemporaryDirectory(prefix="medqrels-facets-") as scratch:
        own = Bench(
            pool.part,
            replace(bench.options, k=pool.deepest),
            bench.cache,
            Path(scratch),
            bench.reporter,
            index=bench.index or bench.scratch / "bm25",
        )
        for system in systems if pool.grades else ():
            run = own.run(system).run
            if run is not None:
                runs[system.name] = run
    return runs


def _written(run: Run, pool: FacetPool, system: str, out: Path) -> dict[str, str]:
    """The run file of a system."""
    name = f"{FOLDER}/{file_stem(system)}{SUFFIX}"
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_run(run, [query.id for query in pool.part.queries], pool.part.corpus_ids, system, path)
    return {"run_file": name, "run_sha256": sha256_file(path)}
