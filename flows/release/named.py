"""Runs the systems of a release on the names of its documents in other languages."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.names import FOLDER, names_report
from curation.evaluation.ranking import Run
from curation.evaluation.runs import SUFFIX, file_stem, write_run
from curation.evaluation.systems import System
from curation.evaluation.variants import named_languages
from flows.evaluate.retrieval import Bench
from schemas.hashing import sha256_file


def measured_names(bench: Bench, systems: Sequence[System], directory: Path) -> Mapping[str, Any] | None:
    """What systems do in each language that documents have names in; None where there is none.

    Args:
        bench: of split test; its cache and settings are used.
        systems: those that ran there.
        directory: the task folder; their run files are written into it.
    """
    files: dict[str, dict[str, dict[str, str]]] = {}
    parts: dict[str, tuple[Collection, dict[str, Run]]] = {}
    for language in named_languages(directory):
        part = open_collection(directory, bench.options.split, language, bench.collection.head)
        runs = {}
        with tempfile.TemporaryDirectory(prefix="medqrels-names-") as scratch:
            own = Bench(part, bench.options, bench.cache, Path(scratch), bench.reporter)
            for system in systems:
                run = own.run(system).run
                if run is not None:
                    runs[system.name] = run
        parts[language] = part, runs
        files[language] = {name: _written(run, part, name, language, directory) for name, run in runs.items()}
    return names_report(directory, parts, files)


def _written(run: Run, part: Collection, system: str, language: str, directory: Path) -> dict[str, str]:
    """The run file of a system in a language, as a release names it."""
    name = f"{FOLDER}/{language}/{file_stem(system)}{SUFFIX}"
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_run(run, [query.id for query in part.queries], part.corpus_ids, system, path)
    return {"run_file": name, "run_sha256": sha256_file(path)}
