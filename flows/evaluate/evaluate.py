"""Runs systems on published releases and writes run files, measures and a page; the releases are only read.

Everything but `_run.json` (times) is the same for the same release, systems and models.
"""

from __future__ import annotations

import contextlib
import json
import math
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.evaluation.collection import Collection, open_collection, read_head
from curation.evaluation.facets import FOLDER
from curation.evaluation.page.render import render
from curation.evaluation.ranking import Run, without
from curation.evaluation.results import FACET_NDCG, Measured, summarise
from curation.evaluation.runs import SUFFIX, file_stem, read_run, write_run
from curation.evaluation.systems import System
from curation.evaluation.truncation import truncation
from curation.evaluation.values import by_value
from curation.evaluation.variants import check_variant
from flows.engine.progress import Reporter, SilentReporter
from flows.engine.scratch import owned_folder
from flows.engine.workspace import check_outside_releases, check_writable, is_workspace
from flows.evaluate.faceted import measured_facets
from flows.evaluate.retrieval import Bench, Options
from schemas.errors import ReleaseError, UsageError
from schemas.hashing import sha256_file
from schemas.wording import counted

RESULTS, PAGE, PER_QUERY, RUNS, TIMES = (
    "results.json",
    "results.html",
    "per_query.parquet",
    "runs",
    "_run.json",
)
EVALUATIONS, CACHE = "evaluations", "cache"


def evaluate(
    directory: Path,
    systems: Sequence[System],
    runs: Sequence[Path],
    out: Path,
    *,
    cache: Path,
    options: Options = Options(),  # noqa: B008 - frozen
    reporter: Reporter | None = None,
    subset: str = "",
) -> dict[str, Any]:
    """Evaluate systems and run files on one task directory; returns the content of results.json.

    Args:
        directory: a task folder of a release; nothing in it is changed.
        systems: what to run.
        runs: TREC run files of other systems.
        out: folder of results; one of an earlier evaluation is replaced as a whole.
        cache: folder of model answers.
        options: split, depth and parameters.
        reporter: where progress goes.
        subset: `nano`, a language of names or a balanced subset of the release; '' evaluates the whole.

    Raises:
        ReleaseError: the release or a run file cannot be used, or the release changed meanwhile.
        InputError: an image is missing or damaged.
        UsageError: the folder for results holds something else, a system needs what is not installed, or two
            systems or runs have one name.
    """
    _check_out(out)
    seconds: dict[str, float] = {}
    before = _states(directory)
    with _timed(seconds, "open"):
        collection = open_collection(directory, options.split, subset)
    given = [_given(path, collection, options.k) for path in runs]  # before hours of models: it may be wrong
    _check_names([*(item.name for item in systems), *(item.name for item, _ in given)])
    with tempfile.TemporaryDirectory(prefix="medqrels-evaluate-") as folder:
        bench = Bench(collection, options, cache, Path(folder), reporter or SilentReporter())
        bench.check_installed(systems)
        measured = []
        for system in systems:
            with _timed(seconds, system.name):
                measured.append(_flagged(bench.run(system), system.parts, collection))
        with _timed(seconds, "facets"):
            whole = {item.name: run for item, run in given}
            facets = measured_facets(bench, systems, Path(folder), whole)
        measured += [item for item, _ in given]
        return _replace(_Made(collection, measured, facets, Path(folder)), out, options.k, seconds, before)


@dataclass(frozen=True, slots=True)
class _Made:
    """What is to be written: the systems, what is said of facets, and the folder its run files are in."""

    collection: Collection
    measured: Sequence[Measured]
    facets: Mapping[str, Any] | None
    scratch: Path


def _replace(
    found: _Made,
    out: Path,
    k: int,
    seconds: dict[str, float],
    before: list[tuple[str, int, int]],
) -> dict[str, Any]:
    """Write everything beside `out` and move it there, when the release is as it was `before`."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with owned_folder(out.parent, f".{out.name}.new-") as folder:
        made = folder / "made"
        with _timed(seconds, "measure"):
            summary = _write(found, made, k)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        _json(made / TIMES, {"seconds": seconds, "peak_rss_kib": peak})
        if _states(found.collection.directory) != before:
            raise ReleaseError(
                "the release changed while it was evaluated",
                file=str(found.collection.directory),
                hint="run it again",
            )
        if out.exists():
            shutil.rmtree(out)
        made.rename(out)
    return summary


@contextlib.contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    seconds[name] = round(time.monotonic() - started, 3)


def _write(found: _Made, out: Path, k: int) -> dict[str, Any]:
    (out / RUNS).mkdir(parents=True)
    collection = found.collection
    queries = [query.id for query in collection.queries]
    written = []
    for system in found.measured:
        if system.run is None:
            written.append(system)
            continue
        name = f"{RUNS}/{file_stem(system.name)}{SUFFIX}"
        write_run(system.run, queries, collection.corpus_ids, system.name, out / name)
        written.append(replace(system, run_file=name, run_sha256=sha256_file(out / name)))
    results = summarise(collection, written, k)
    summary = {
        **results.summary,
        "truncation": truncation(collection, written),
        "by_value": by_value(collection, results.per_query, results.summary["measures"]),
    }
    if found.facets is not None:
        summary[FACET_NDCG] = dict(found.facets)
        if (found.scratch / FOLDER).is_dir():
            shutil.copytree(found.scratch / FOLDER, out / FOLDER)
    pq.write_table(results.per_query, out / PER_QUERY, compression="zstd")
    _json(out / RESULTS, summary)
    (out / PAGE).write_text(render(summary), encoding="utf-8")
    return summary


def _flagged(system: Measured, parts: frozenset[str], collection: Collection) -> Measured:
    """The system, marked when the release says that it, or a part of it, shaped the benchmark."""
    return replace(system, shaped=bool(parts & set(collection.head.shaped_by)), parts=parts)


def _given(path: Path, collection: Collection, k: int) -> tuple[Measured, Run]:
    """A run file as a system: excluded pairs taken out, cut to k, repairs told; and its whole rankings."""
    found = read_run(path, [query.id for query in collection.queries], collection.corpus_ids)
    if not found.run:  # a run that failed is no system that found nothing
        raise ReleaseError("the run file is empty", file=str(path), hint="make the run file again")
    run, whole, removed, cut = {}, {}, 0, 0
    for query, ranking in found.run.items():
        whole[query] = without(ranking, collection.left_out.get(query), len(ranking))
        run[query] = without(whole[query], None, k)
        removed += len(ranking) - len(whole[query])
        cut += len(whole[query]) > k
    notes = list(found.notes)
    if removed:
        notes.append(f"{counted(removed, 'excluded pair')} taken out; the documents below moved up")
    if cut:
        notes.append(f"{counted(cut, 'ranking')} longer than {k} and cut")
    system = Measured(
        found.name, "run", run, {"tag": found.tag, "sha256": sha256_file(path)}, notes=tuple(notes)
    )
    return _flagged(system, frozenset({found.name, *found.tag.split(", ")}), collection), whole


def _check_names(systems: Sequence[str]) -> None:
    names = [file_stem(system) for system in systems]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"two systems or runs are named {twice[0]!r}", hint="rename the run file")


def _check_out(out: Path) -> None:
    check_outside_releases(out, "an --out")
    check_writable(out / RESULTS if out.is_dir() else out, "--out")
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / RESULTS).is_file())):
        raise UsageError(
            "this folder contains something other than results", file=str(out), hint="choose an empty --out"
        )


def _states(directory: Path) -> list[tuple[str, int, int]]:
    """Name, size and time of change of every file: a release must be the same after as before."""
    found = []
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            state = path.stat()
            found.append((path.relative_to(directory).as_posix(), state.st_size, state.st_mtime_ns))
    return found


def _json(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def targets(
    directories: Sequence[Path],
    out: Path | None,
    workspace: Path,
    runs: Sequence[Path],
    options: Options,
    subset: str = "",
) -> list[tuple[Path, Path]]:
    """(task folder, folder of its results) of each release named; results of a subset have their own.

    Raises:
        UsageError: run files are given for several tasks, an option makes no sense, or a release has no such
            subset.
    """
    if runs and len(directories) != 1:
        raise UsageError("--run takes one task folder", hint="name a single task folder")
    if options.k < 1 or not 0 <= options.k1 < math.inf or not 0 <= options.b <= 1:
        raise UsageError("out of range: --k must be at least 1, --k1 at least 0 and --b between 0 and 1")
    found = []
    for directory in directories:
        head = read_head(directory)
        check_variant(directory, options.split, subset)
        name = f"{head.task}-{subset}" if subset else head.task
        base = Path(EVALUATIONS) / head.dataset / head.version / name
        if out is None:
            target = (workspace / base) if is_workspace(workspace) else base
        else:
            target = out if len(directories) == 1 else out / name
        _check_out(target)
        found.append((directory, target))
    return found


def evaluate_all(
    places: Sequence[tuple[Path, Path]],
    systems: Sequence[System],
    runs: Sequence[Path],
    workspace: Path,
    options: Options,
    reporter: Reporter,
    subset: str = "",
) -> list[dict[str, Any]]:
    """Evaluate several task folders; model answers are kept in the workspace, or beside the results."""
    made = []
    for directory, target in places:
        held = workspace if is_workspace(workspace) else target.parent
        summary = evaluate(
            directory,
            systems,
            runs,
            target,
            cache=held / CACHE,
            options=options,
            reporter=reporter,
            subset=subset,
        )
        made.append({"out": str(target), "page": str(target / PAGE), **summary})
    return made


def describe(made: Sequence[dict[str, Any]]) -> str:
    """Results as text for people: one line per system, the measures that matter most."""
    lines = []
    for item in made:
        release = item["release"]
        part = f", subset {item['subset']}" if item["subset"] else ""
        lines.append(
            f"{release['dataset']}@{release['version']} {release['task']} ({item['split']}{part}): "
            f"{counted(item['queries_measured'], 'query')}, {counted(item['corpus'], 'document')}"
        )
        width = max((len(system["name"]) for system in item["systems"]), default=0)
        shown = [name for name in item["measures"] if name not in ("R@1", "Success@1")]
        lines.append("  " + " " * width + "".join(f"{name:>{_width(name)}}" for name in shown))
        for system in item["systems"]:
            if system["status"] != "measured":
                lines.append(f"  {system['name']:<{width}}  not run: {system['why_not']}")
                continue
            means = [system["overall"][name]["mean"] for name in shown]
            cells = "".join(
                f"{'-' if mean is None else format(mean, '.3f'):>{_width(name)}}"
                for name, mean in zip(shown, means, strict=True)
            )
            mark = "  shaped the benchmark" if system["shaped_the_benchmark"] else ""
            lines.append(f"  {system['name']:<{width}}{cells}{mark}")
            lines += [f"    {note}" for note in system["notes"]]
            lines += [f"    {line}" for line in _of_mining(system)]
            lines += [f"    {line}" for line in _of_models(system)]
            lines += [f"    {line}" for line in _of_truncation(item["truncation"], system["name"])]
        lines += [f"  {line}" for line in _of_facets(item.get(FACET_NDCG))]
        lines += [f"  {line}" for line in _of_values(item["by_value"])]
        lines += [f"  {line}" for line in _of_judge(item.get("judge_and_people"))]
        lines += [f"  {line}" for line in _of_stability(item.get("judge_stability", {}))]
        lines.append(f"  {item['page']}")
    return "\n".join(lines)


def _width(heading: str) -> int:
    return max(11, len(heading) + 2)


def _of_mining(system: dict[str, Any]) -> Iterator[str]:
    """What a system that mined pairs scores without the positives that it alone found."""
    if found := system.get("without_own_positives"):
        told = (
            f"{found['measure']} {found['before']:.3f} becomes {found['mean']:.3f}"
            if found["mean"] is not None
            else f"{found['measure']} not measured"
        )
        yield (
            f"mined pairs; without {counted(found['left_out'], 'positive')} that it alone found: "
            f"{told} over {counted(found['queries'], 'query')}"
        )


def _of_truncation(found: Mapping[str, Any], name: str) -> Iterator[str]:
    """How much of the documents a system does not read, where it cuts any."""
    told = found["systems"].get(name)
    if told and told["documents_cut"]:
        positives = (
            "" if told["share_of_positives"] is None else f"{told['share_of_positives']:.3f} of positives"
        )
        yield (
            f"cuts {told['documents_cut']:,} of {counted(told['documents'], 'document')} "
            f"({told['share_of_documents']:.3f}; {positives or 'no positives'})"
        )


def _of_facets(found: Mapping[str, Any] | None) -> Iterator[str]:
    """How systems order the passages about the right concept, on the parallel core where there is one."""
    for name, told in (found or {}).get("systems", {}).items():
        measure, queries = (found or {})["measure"], counted(told["queries"], "query")
        core, gap = told["core"]["mean"], told["fairness"].get("gap")
        mean = "-" if told["facet"]["mean"] is None else f"{told['facet']['mean']:.3f}"
        more = "" if core is None else f", parallel core {core:.3f}"
        more += "" if gap is None else f", gap between languages {gap:.3f}"
        yield f"{name}, {measure}: {mean} ({queries}){more}"


def _of_values(found: Mapping[str, Any]) -> Iterator[str]:
    """The mean over values of a facet beside that over queries."""
    for facet, told in found["facets"].items():
        for name, measures in told["systems"].items():
            both = measures.get("nDCG@10")
            if both:
                values = f"{len(told['values'])} with {found['minimum']} queries or more"
                means = f"macro {both['macro']:.3f}, micro {both['micro']:.3f}"
                yield f"{name}, nDCG@10 by {facet.replace('_', ' ')} ({values}): {means}"


def _of_judge(found: dict[str, Any] | None) -> Iterator[str]:
    """How far the judge's labels and people's order the systems alike."""
    if found is None:
        return
    told = f"not run: {found['why_not']}"
    if found["status"] == "measured":
        told = "undefined, all are equal" if found["tau"] is None else f"{found['tau']:.3f}"
        told += f" ({found['low']:.3f} to {found['high']:.3f})" if found["low"] is not None else ""
    yield f"order of systems by judge and by people, Kendall's τ: {told}"


def _of_stability(found: Mapping[str, Any]) -> Iterator[str]:
    """How often the judge that was asked again said something else."""
    for name, how in (("order", "in the other order"), ("seeds", "with a seed")):
        if told := found.get(name):
            share = "" if told["share"] is None else f" ({told['share']:.3f})"
            pairs = counted(told["pairs"], "pair")
            yield f"judge asked again {how}: {told['changed']} of {pairs} changed{share}"


def _of_models(system: dict[str, Any]) -> Iterator[str]:
    """What people must know of a system that uses a language model: who, how asked, circular, gain."""
    for item in system.get("models", ()):
        hashes = ", ".join(value[:16] for value in item["prompt_sha256"]) or "unknown"
        yield f"{item['use']}: model {item['model']}, prompt {item['prompt']} (hash {hashes})"
    for item in system.get("circular", ()):
        shared = f" (family {', '.join(item['families'])})" if item["families"] else ""
        yield f"circular: related to the {item['role']}, {item['model']}{shared}"
    if gain := system.get("gain"):
        mean = "not measured" if gain["mean"] is None else f"{gain['mean']:+.3f}"
        doubts = f"; doubtful: {'; '.join(gain['doubts'])}" if gain["doubts"] else ""
        yield (
            f"gain in {gain['measure']} over {counted(gain['queries'], 'query')}: {mean}, "
            f"{counted(gain['left_out'], 'positive')} left out{doubts}"
        )
