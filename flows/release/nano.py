"""Runs cheap, different systems on a release and its nano variant, to tell whether both rank them alike."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from curation.derived.subsets.correlation import Correlation, SystemValues, correlate
from curation.derived.subsets.variants import DEPTH, VARIANTS, measure, reference
from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.ranking import Run
from curation.evaluation.systems import System
from flows.evaluate.retrieval import Bench, Options

_PARTS = {"dense": {"dense"}, "hybrid": {"bm25", "dense"}, "image": {"image"}, "bm25": {"bm25"}}


def correlated(bench: Bench, ran: Sequence[str], directory: Path, shaped_by: Sequence[str]) -> Correlation:
    """Rank correlation of systems between split test and its nano variant.

    Args:
        bench: of split test; its cache and settings are used.
        ran: systems that were run there; a variant of another kind is left out, as it may cost hours.
        directory: the task folder with its nano tables.
        shaped_by: systems whose rankings chose documents of the variant.
    """
    whole = reference(bench.collection)
    part = open_collection(directory, bench.options.split, "nano", bench.collection.head)
    return correlate(_values(bench, whole, ran), _values(bench, part, ran), shaped_by)


def _values(bench: Bench, collection: Collection, ran: Sequence[str]) -> SystemValues:
    runs: dict[str, Run] = {}
    settings: dict[tuple[float, float], list[tuple[str, System]]] = {}
    for item in VARIANTS:
        if _PARTS[item.system] <= set(ran):
            settings.setdefault((item.k1, item.b), []).append((item.name, System(item.system)))
    for (k1, b), systems in settings.items():
        options = Options(bench.options.split, DEPTH, k1, b, threads=bench.options.threads)
        with tempfile.TemporaryDirectory(prefix="medqrels-nano-") as scratch:
            own = Bench(collection, options, bench.cache, Path(scratch), bench.reporter)
            for name, system in systems:
                run = own.run(system).run
                if run is not None:
                    runs[name] = run
    return measure(collection, runs)
