"""Second step of a release: runs the systems of its spec on the written tables, makes what follows from them.

Run files, results and derived tables become part of the release, so they hold no time and no path.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from curation.derived.distractors import make_distractors
from curation.derived.pools.make import PoolOptions, PoolSummary, SplitRuns, make_pools
from curation.derived.pools.margin import PairScorer
from curation.derived.subsets.balance import make_subsets
from curation.derived.subsets.nano import NanoOptions, make_nano
from curation.evaluation import bm25, dense
from curation.evaluation.collection import Head, open_collection
from curation.evaluation.names import NAMED
from curation.evaluation.results import FACET_NDCG, Measured, summarise
from curation.evaluation.runs import SUFFIX, file_stem, write_run
from curation.evaluation.systems import System, parse_system, parse_systems
from curation.evaluation.terms import Analyser
from curation.evaluation.tiers import tier_report
from curation.release.write import Written
from flows.engine.session import Session
from flows.evaluate.diagnostics import DiagnosticOptions, diagnose
from flows.evaluate.evaluate import CACHE
from flows.evaluate.faceted import measured_facets
from flows.evaluate.retrieval import Bench, Options
from flows.release.named import measured_names
from flows.release.nano import correlated
from schemas.errors import UsageError
from schemas.hashing import sha256_file
from schemas.spec import Baselines

RUNS, RESULTS, DERIVED, WHOLE = "runs", "results.json", "derived.json", "test"


@dataclass(frozen=True, slots=True)
class _Ran:
    """One split with the systems that were run on it."""

    bench: Bench
    measured: tuple[Measured, ...]

    @property
    def runs(self) -> dict[str, Any]:
        return {system.name: system.run for system in self.measured if system.run is not None}


def derive(session: Session, options: Baselines, written: Written) -> tuple[str, ...]:
    """Run a spec's systems on every split and write what follows; the systems that shaped the pools.

    Nothing is written where the spec names no system or there is no query.
    """
    systems = parse_systems(options.systems)
    for system in systems:
        if system.expansion or system.language_model:
            raise UsageError(
                f"{system.name} is no baseline: it rests on a language model",
                hint="measure it on the finished release: medqrels evaluate",
            )
    if not systems or written.head.is_empty:
        return ()
    directory = written.directory
    with contextlib.ExitStack() as opened:
        ran = [
            opened.enter_context(_ran(session, options, systems, written, split)) for split in written.splits
        ]
        pools = _pools(ran, options, directory)
        pairs = sum(make_distractors(item.bench.collection, options.distractors, directory) for item in ran)
        for item in ran:
            chosen = DiagnosticOptions(
                text=text_systems(options.systems, item.runs), depth=options.pool_depth
            )
            diagnose(item.bench, item.bench.collection, directory, chosen)
        derived = _variants(ran[0], options, directory)
        shaped = tuple(pools.shaped_by) if pools else ()
        results = {item.bench.options.split: _results(item, directory, shaped) for item in ran}
        asked = ran[0].bench.asked
        runs = [(asked[name], run) for name, run in ran[0].runs.items()]
        if facets := measured_facets(ran[0].bench, [system for system, _ in runs], directory):
            results[ran[0].bench.options.split][FACET_NDCG] = facets
    if tiers := tier_report(ran[0].bench.collection, directory, runs):
        derived["tiers"] = tiers
    if names := measured_names(ran[0].bench, [system for system, _ in runs], directory):
        derived[NAMED] = names
    derived["pools"] = dataclasses.asdict(pools) if pools else None
    derived["distractors"] = {"per_query": options.distractors, "pairs": pairs}
    _json(directory / RUNS / DERIVED, derived)
    _json(directory / RUNS / RESULTS, results)
    return shaped


def text_systems(asked: Sequence[str], ran: Iterable[str]) -> tuple[str, ...]:
    """Those of the systems asked for that ran and read texts alone; BM25 if there is none.

    Re-rankers are left out: with words added to a query, every pair would be asked for again.
    """
    names = set(ran)
    systems = {text: parse_system(text) for text in asked}
    found = (
        text
        for text, system in systems.items()
        if system.kind in ("bm25", "dense", "hybrid", "st") and not system.reranker and system.name in names
    )
    return tuple(found) or ("bm25",)


@contextlib.contextmanager
def _ran(
    session: Session, options: Baselines, systems: Sequence[System], written: Written, split: str
) -> Iterator[_Ran]:
    """The systems, run on one split; what they left in the scratch folder stays until the end."""
    cache = session.workspace.root / CACHE
    settings = Options(split, options.depth, threads=session.settings.worker_count)
    with tempfile.TemporaryDirectory(prefix="medqrels-baselines-") as scratch:
        collection = open_collection(written.directory, split, head=Head.of(written.head))
        bench = Bench(collection, settings, cache, Path(scratch), session.reporter)
        bench.check_installed(systems)
        yield _Ran(bench, tuple(bench.run(system) for system in systems))


def _pools(ran: Sequence[_Ran], options: Baselines, directory: Path) -> PoolSummary | None:
    splits = [SplitRuns(item.bench.collection, item.runs, _scorers(item)) for item in ran]
    chosen = PoolOptions(options.pool_depth, options.hard_negatives, options.margin)
    return make_pools(splits, chosen, directory)


def _scorers(ran: _Ran) -> Mapping[str, PairScorer]:
    """The systems whose scores of any pair can be had and mean something: BM25 and those that embed texts.

    The image features would call most candidates likely positives: they are weak, and say so.
    """
    data, scratch = ran.bench.collection, ran.bench.scratch
    queries = [query.id for query in data.queries]
    found: dict[str, PairScorer] = {}
    for name in ran.runs:
        files = [scratch / f"{file_stem(name)}-{side}.parquet" for side in ("queries", "corpus")]
        if name == "bm25":
            asked = [(query.id, query.text, query.language) for query in data.queries]
            found[name] = bm25.pair_scorer(bm25.open_index(scratch / "bm25"), asked, Analyser())
        elif name != "image" and all(path.is_file() for path in files):
            found[name] = dense.pair_scorer(files[0], files[1], queries, data.corpus_ids)
    return found


def _variants(ran: _Ran, options: Baselines, directory: Path) -> dict[str, Any]:
    """The nano variant and the balanced subsets of split test, and what is told of them."""
    collection = ran.bench.collection
    nano = make_nano(
        collection, ran.runs, NanoOptions(options.nano_queries, options.nano_documents), directory
    )
    if nano.is_made:
        nano = replace(nano, correlation=correlated(ran.bench, tuple(ran.runs), directory, nano.shaped_by))
    subsets = make_subsets(collection, options.balance, directory)
    return {"nano": dataclasses.asdict(nano), "subsets": [dataclasses.asdict(item) for item in subsets]}


def _results(ran: _Ran, directory: Path, shaped: Sequence[str]) -> dict[str, Any]:
    """The content of results.json for one split, run files written beside it."""
    written = [
        replace(_written(system, ran.bench, directory), shaped=system.name in shaped)
        for system in ran.measured
    ]
    summary = summarise(ran.bench.collection, written, ran.bench.options.k).summary
    del summary["release"]["release_hash"]  # not known before this is written
    summary["release"]["shaped_by"] = list(shaped)
    return summary


def _written(system: Measured, bench: Bench, directory: Path) -> Measured:
    """The system with its run file inside the release."""
    if system.run is None:
        return system
    name = f"{RUNS}/{bench.options.split}/{file_stem(system.name)}{SUFFIX}"
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    queries = [query.id for query in bench.collection.queries]
    write_run(system.run, queries, bench.collection.corpus_ids, system.name, path)
    return replace(system, run_file=name, run_sha256=sha256_file(path))


def _json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
