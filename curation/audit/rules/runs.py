"""Rules on baseline runs: run files fit the release, and results.json says what they and the labels give."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curation.audit.rule import CannotRun, Collector, Context, NotApplicable, Outcome, Rule, side
from curation.audit.rules import runs_canaries as planted
from curation.audit.rules.runs_expected import (
    MISSING,
    TOLERANCE,
    Difference,
    Json,
    by_pair,
    differences,
    facets_of,
    of_derived,
    of_split,
)
from curation.audit.rules.runs_reading import TABLES, Faults, Split, Tally, corpus_ids, read, split_of
from curation.evaluation.measures import names
from curation.evaluation.runs import SUFFIX, file_stem
from curation.release.results import read as read_json
from schemas.errors import ReleaseError
from schemas.hashing import sha256_file

FOLDER, RESULTS, DERIVED = "runs", "results.json", "derived.json"
DEEPEST = 10_000
_OTHERS = frozenset({f"{FOLDER}/{name}" for name in (RESULTS, DERIVED, "diagnostics.json")})


@dataclass(slots=True)
class _Looked:
    """What the run files of a release say; `tallies` by split and system, for the runs that could be read."""

    results: Json
    derived: Json
    splits: dict[str, tuple[Split, list[Path]]] = field(default_factory=dict)
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    files: list[tuple[str, Faults]] = field(default_factory=list)
    lines: int = 0


def _looked(context: Context) -> _Looked:
    """Everything both rules need, read once.

    Raises:
        NotApplicable: there are no runs. CannotRun: a table is absent. ReleaseError: a file is no JSON.
    """
    if not (context.directory / FOLDER).is_dir():
        raise NotApplicable("the files hold no runs")
    _ = context.manifest  # the runs of another layout are not ours
    key = ("runs", str(context.directory), context.subject.sha256)
    if key not in context.shared:
        context.shared[key] = _look(context)
    found: _Looked = context.shared[key]
    return found


def _look(context: Context) -> _Looked:
    absent = [name for name in TABLES if name not in context.views]
    if absent:
        raise CannotRun(f"table absent: {', '.join(absent)}")
    looked = _Looked(*read_json(context.directory))
    if not looked.results:
        fault = Faults()
        fault.add("there are runs, but no results of them")
        looked.files.append((f"{FOLDER}/{RESULTS}", fault))
    corpus = corpus_ids(context)
    files: dict[str, list[Path]] = {}
    for path in context.views["queries"]:
        files.setdefault(path.name.split("-")[0], []).append(path)
    for split, paths in sorted(files.items()):
        looked.splits[split] = (split_of(context, paths, corpus), paths)
        for name, system in _systems(looked.results.get(split)).items():
            if system.get("status") == "measured":
                _read_run(context.directory, split, name, looked)
    _unnamed(context.directory, looked)
    return looked


def _systems(summary: Any) -> dict[str, Json]:
    """Systems of one split by name, as far as they are what they should be."""
    listed = summary.get("systems") if isinstance(summary, dict) else None
    systems = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return {str(item.get("name")): item for item in systems}


def _depth(summary: Json) -> int:
    """Depth of the rankings, 0 where none is stated that could be."""
    k = summary.get("k")
    return k if isinstance(k, int) and 0 < k <= DEEPEST else 0


def _run_name(split: str, system: str) -> str:
    return f"{FOLDER}/{split}/{file_stem(system)}{SUFFIX}"


def _read_run(directory: Path, split: str, system: str, looked: _Looked) -> None:
    """One run file that results.json names: its place, its hash, its lines."""
    summary = looked.results[split]
    stated, name = _systems(summary)[system], _run_name(split, system)
    faults, path = Faults(), directory / name
    looked.files.append((name, faults))
    if stated.get("run_file") != name:
        faults.add(f"results.json says the run file is {str(stated.get('run_file'))[:100]!r}")
    if not path.is_file():
        faults.add("the run file is missing")
        return
    if sha256_file(path) != stated.get("run_sha256"):
        faults.add("the run file is not the one whose hash results.json states")
    tally = read(path, looked.splits[split][0], _depth(summary) or DEEPEST, faults)
    if tally is not None:
        looked.lines += tally.lines
        looked.tallies[split, system] = tally


def _unnamed(directory: Path, looked: _Looked) -> None:
    """Files beside the run files that no result names."""
    known = _OTHERS | {name for name, _ in looked.files}
    for path in sorted((directory / FOLDER).rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and name not in known:
            faults = Faults()
            faults.add("results.json names no such file")
            looked.files.append((name, faults))


def _files(context: Context) -> Outcome:
    found = Collector("run_files", "error")
    try:
        looked = _looked(context)
    except ReleaseError as error:
        return _unreadable(found, error)
    for name, faults in looked.files:
        for message, query, document in faults.kept:
            sides = [side("runs", name)]
            sides += [side("queries", query)] if query else []
            sides += [side("corpus", document)] if document else []
            found.add(message, *sides)
        found.found += faults.found - len(faults.kept)
    return found.outcome(looked.lines, f"{len(looked.tallies)} run files read")


def _unreadable(found: Collector, error: ReleaseError) -> Outcome:
    name = str(getattr(error, "file", "") or FOLDER)
    found.add(f"a file on the runs cannot be read: {str(error).splitlines()[0][:200]}", side("runs", name))
    return found.outcome(0)


def _results(context: Context) -> Outcome:
    found = Collector("run_results", "error")
    try:
        looked = _looked(context)
    except ReleaseError as error:
        return _unreadable(found, error)
    compared = 0
    unread: list[str] = []
    for split in sorted({*looked.splits, *looked.results}):
        if split not in looked.splits:
            found.add("the release has no such split", side(RESULTS, split))
            continue
        summary = looked.results.get(split)
        if not isinstance(summary, dict) or not _depth(summary):
            found.add("there are no results of this split, or without depth k", side(RESULTS, split))
            continue
        named = _systems(summary)
        listed = summary.get("systems")
        if not isinstance(listed, list) or len(listed) != len(named):
            found.add("systems are no list of objects with names of their own", side(RESULTS, split))
        stated = {**summary, "systems": named, "comparisons": by_pair(summary.get("comparisons"))}
        wanted = _expected(context, looked, split, named)
        compared += _add_all(found, differences(stated, wanted, split), RESULTS)
        unread += [
            f"{split}/{name}"
            for name, item in named.items()
            if item.get("status") == "measured" and (split, name) not in looked.tallies
        ]
    pools = of_derived(context.manifest, looked.results, _systems)
    compared += _add_all(found, differences(looked.derived, pools, DERIVED), DERIVED)
    outcome = found.outcome(compared, "not computed again: intervals and p-values")
    missed = f"runs that could not be read: {', '.join(unread)}" if unread else ""
    return dataclasses.replace(outcome, missed=missed)


def _expected(context: Context, looked: _Looked, split: str, named: Mapping[str, Json]) -> dict[str, Any]:
    """What results.json must say of one split."""
    data, files = looked.splits[split]
    measures = names(_depth(looked.results[split]))
    values = {
        name: looked.tallies[split, name].values(measures)
        for name in named
        if (split, name) in looked.tallies
    }
    facets = facets_of(context, data, files)
    return {"split": split, **of_split(context.manifest, data, facets, values, named, measures)}


def _add_all(found: Collector, compared: Iterator[Difference], table: str) -> int:
    """Report what differs; returns how many values were compared."""
    count = 0
    for place, stated, expected, message in compared:
        count += 1
        if message:
            found.add(message, side(table, place, _shown(stated)), side("data", place, _shown(expected)))
    return count


def _shown(value: Any) -> str:
    return "missing" if value is MISSING else str(value)


RULES = (
    Rule(
        "run_files",
        1,
        "Run files fit the release",
        (
            "Every run file results.json names is there with the hash it states, and no other; each ranking "
            "is of a query of the split, at most k documents of the corpus, each once, ranked 1 to n "
            "by falling scores, none excluded and none a record of the query's own."
        ),
        "error",
        "lines",
        _files,
        canaries=planted.FILES,
    ),
    Rule(
        "run_results",
        1,
        "Results can be computed again",
        (
            "For every split: counts, means of all measures overall and by facet, and differences between "
            f"systems follow from labels and run files, to {TOLERANCE}; a system that did not run has a "
            "reason and no numbers; the systems that shaped the benchmark are those of release.json and the "
            "pools. Intervals and p-values are not computed again."
        ),
        "error",
        "values",
        _results,
        canaries=planted.RESULTS,
    ),
)
