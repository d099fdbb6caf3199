"""What files below runs/ say, read once for all checks, and what is wrong with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curation.audit.rule import CannotRun, Collector, Context, NotApplicable, Outcome, side
from curation.audit.rules import runs_expected as expected
from curation.audit.rules import runs_reading as reading
from curation.audit.rules.runs_expected import MISSING, Difference, Json, by_pair, differences
from curation.audit.rules.runs_made import DERIVED, RESULTS, run_name
from curation.audit.rules.runs_mined import Mined, mined, parts_of, without_own
from curation.audit.rules.runs_people import Sides, label_sides, of_people
from curation.audit.rules.runs_reading import TABLES, Faults, Part
from curation.audit.rules.runs_tally import Split, Tally
from curation.audit.rules.runs_twice import Counts, asked_twice, of_twice
from curation.evaluation.facets import FOLDER as FACETS
from curation.evaluation.measures import names
from curation.evaluation.names import FOLDER as NAMES
from curation.evaluation.names import NAMED
from curation.evaluation.results import FACET_NDCG
from curation.evaluation.runs import SUFFIX, file_stem
from curation.release.results import read as read_json
from schemas.errors import ReleaseError
from schemas.hashing import sha256_file

FOLDER = "runs"
DEEPEST = 10_000
PEOPLE_SINCE = 2
"""The format of results.json since which it compares systems under labels of judge and people."""
TWICE_SINCE = 3
"""The format of results.json since which it tells how often a judge that is asked again says otherwise."""
JUDGED_SINCE = 4
"""The format of release.json since which results measure judged documents alone, and what systems mined."""
_OTHERS = frozenset({RESULTS, DERIVED, f"{FOLDER}/diagnostics.json"})
NO_RESULTS, UNNAMED = "there are runs, but no results of them", "results.json names no such file"
OTHER_NAME, LOST = "results.json names another run file", "the run file is missing"
OTHER_HASH = "the run file is not the one whose hash results.json states"


@dataclass(slots=True)
class Looked:
    """What the run files of a release say; `tallies` by split and system, for the runs that could be read.

    `broken` is the file, and why, that is no JSON: nothing else is looked at then.
    """

    results: Json = field(default_factory=dict)
    derived: Json = field(default_factory=dict)
    broken: tuple[str, str] | None = None
    splits: dict[str, tuple[Split, Part]] = field(default_factory=dict)
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    mined: dict[str, Mined] = field(default_factory=dict)
    sides: dict[str, Sides] = field(default_factory=dict)
    beside: dict[tuple[str, str], tuple[Tally, Tally]] = field(default_factory=dict)
    """Sums of each run that could be read, under the judge's labels and under people's."""
    twice: dict[str, Counts] = field(default_factory=dict)
    files: list[tuple[str, Faults]] = field(default_factory=list)
    lines: int = 0
    wanted: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Split -> what must be said of it by part, once asked for."""


def look_at(context: Context) -> Looked:
    """Everything all checks need, read once; a sandbox is read anew, what it holds changes.

    Raises:
        NotApplicable: there are no runs. CannotRun: a table is absent.
    """
    if not (context.directory / FOLDER).is_dir():
        raise NotApplicable("the files hold no runs")
    _ = context.manifest  # the runs of another layout are not ours
    if "placed" in context.views:
        return _look(context)
    key = ("runs", str(context.directory), context.subject.sha256)
    if key not in context.shared:
        context.shared[key] = _look(context)
    found: Looked = context.shared[key]
    return found


def _look(context: Context) -> Looked:
    absent = [name for name in TABLES if name not in context.views]
    if absent:
        raise CannotRun(f"table absent: {', '.join(absent)}")
    try:
        looked = Looked(*read_json(context.directory))
    except ReleaseError as error:
        name = str(getattr(error, "file", "") or FOLDER)
        return Looked(broken=(name, str(error).splitlines()[0][:200]))
    if not looked.results:
        fault = Faults()
        fault.add(NO_RESULTS)
        looked.files.append((RESULTS, fault))
    parts, corpus = reading.parts(context), reading.corpus_ids(context)
    splits = reading.splits_of(context, parts, corpus)
    if _measures_judged(context):
        looked.mined = mined(context, splits, corpus)
    has_judge = any(found.systems for found in looked.mined.values())
    looked.sides = label_sides(context, splits, corpus, has_judge=has_judge)
    looked.twice = asked_twice(context)
    for split, data in splits.items():
        looked.splits[split] = (data, parts[split])
        for name, system in systems_of(looked.results.get(split)).items():
            if system.get("status") == "measured":
                _read_run(context.directory, split, name, looked)
    _unnamed(context.directory, looked)
    return looked


def systems_of(summary: Any) -> dict[str, Json]:
    """Systems of one split by name, as far as they are what they should be."""
    listed = summary.get("systems") if isinstance(summary, dict) else None
    systems = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return {str(item.get("name")): item for item in systems}


def depth_of(summary: Json) -> int:
    """Depth of the rankings, 0 where none is stated that could be."""
    k = summary.get("k")
    return k if isinstance(k, int) and 0 < k <= DEEPEST else 0


def _read_run(directory: Path, split: str, system: str, looked: Looked) -> None:
    """One run file that results.json names: its place, its hash, its lines."""
    summary = looked.results[split]
    stated, name = systems_of(summary)[system], run_name(split, system)
    faults, path = Faults(), directory / name
    looked.files.append((name, faults))
    if stated.get("run_file") != name:
        said = str(stated.get("run_file"))[:100]
        faults.add(OTHER_NAME, f"results.json says the run file is {said!r}")
    if not path.is_file():
        faults.add(LOST)
        return
    if sha256_file(path) != stated.get("run_sha256"):
        faults.add(OTHER_HASH)
    data, found = looked.splits[split][0], looked.mined.get(split)
    own = found.own(parts_of(system), data) if found else None
    sides = looked.sides.get(split)
    beside = (Tally(sides[0]), Tally(sides[1])) if sides else ()
    tally = reading.read(path, data, depth_of(summary) or DEEPEST, faults, own, beside)
    if tally is not None:
        looked.lines += tally.lines
        looked.tallies[split, system] = tally
        if beside:
            looked.beside[split, system] = beside


def _unnamed(directory: Path, looked: Looked) -> None:
    """Files beside the run files that no result names."""
    known = _OTHERS | {name for name, _ in looked.files}
    known |= name_files(looked.derived).keys() | facet_files(looked.results).keys()
    for path in sorted((directory / FOLDER).rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and name not in known:
            faults = Faults()
            faults.add(UNNAMED)
            looked.files.append((name, faults))


def name_files(derived: Json) -> Mapping[str, tuple[str, str, Json]]:
    """Run file of a system on names in a language -> (language, system, what derived.json says of it)."""
    names = derived.get(NAMED)
    languages = names.get("languages") if isinstance(names, dict) else None
    found: dict[str, tuple[str, str, Json]] = {}
    for language, said in (languages if isinstance(languages, dict) else {}).items():
        systems = said.get("systems") if isinstance(said, dict) else None
        for system, item in (systems if isinstance(systems, dict) else {}).items():
            if isinstance(item, dict):
                name = f"{NAMES}/{language}/{file_stem(system)}{SUFFIX}"
                found[name] = (language, system, item)
    return found


def facet_file(system: str) -> str:
    """Where the run file of a system on facets is."""
    return f"{FACETS}/{file_stem(system)}{SUFFIX}"


def facet_files(results: Json) -> Mapping[str, Json]:
    """Run file of a system on facets -> what results.json says of it, for those that state one."""
    summary = results.get("test")
    stated = summary.get(FACET_NDCG) if isinstance(summary, dict) else None
    systems = stated.get("systems") if isinstance(stated, dict) else None
    return {
        facet_file(system): said
        for system, said in (systems if isinstance(systems, dict) else {}).items()
        if isinstance(said, dict) and "run_file" in said
    }


def broken(rule: str, context: Context) -> Outcome:
    """A file that is no JSON; also what was looked at if all are."""
    found, looked = Collector(rule, "error"), look_at(context)
    if looked.broken:
        name, why = looked.broken
        found.add(f"a file on the runs cannot be read: {why}", side("runs", name))
        return found.outcome(0)
    if rule == "run_results":
        return found.outcome(0, "not computed again: intervals and p-values")
    return found.outcome(looked.lines, f"{len(looked.tallies)} run files read")


def faults_of(kind: str, context: Context) -> Outcome:
    """What is wrong with run files in one way."""
    found = Collector("run_files", "error")
    for name, faults in look_at(context).files:
        kept = faults.kept.get(kind, [])
        for message, query, document in kept:
            sides = [side("runs", name)]
            sides += [side("queries", query)] if query else []
            sides += [side("corpus", document)] if document else []
            found.add(message, *sides)
        found.found += faults.found[kind] - len(kept)
    return found.outcome(0)


def _splits(looked: Looked) -> Iterator[tuple[str, Json, dict[str, Json]]]:
    """(split, what is stated of it, its systems), where it has results with a depth."""
    for split in sorted(looked.splits):
        summary = looked.results.get(split)
        if isinstance(summary, dict) and depth_of(summary):
            yield split, summary, systems_of(summary)


def strange_splits(context: Context) -> Outcome:
    """Results of splits that the release does not have."""
    found, looked = Collector("run_results", "error"), look_at(context)
    for split in sorted({*looked.results} - {*looked.splits}):
        found.add("the release has no such split", side("results.json", split))
    return found.outcome(0)


def lost_splits(context: Context) -> Outcome:
    """Splits without results."""
    found, looked = Collector("run_results", "error"), look_at(context)
    for split in sorted({*looked.splits} - {split for split, _, _ in _splits(looked)}):
        found.add("there are no results of this split, or without depth k", side("results.json", split))
    return found.outcome(0)


def listed_systems(context: Context) -> Outcome:
    """Results whose systems cannot be told apart; also which runs could not be read."""
    found, looked = Collector("run_results", "error"), look_at(context)
    unread: list[str] = []
    for split, summary, named in _splits(looked):
        listed = summary.get("systems")
        if not isinstance(listed, list) or len(listed) != len(named):
            found.add("systems are not a list of objects with distinct names", side("results.json", split))
        ran = [name for name, item in named.items() if item.get("status") == "measured"]
        unread += [f"{split}/{name}" for name in ran if (split, name) not in looked.tallies]
    missed = f"runs that could not be read: {', '.join(unread)}" if unread else ""
    return dataclasses.replace(found.outcome(0), missed=missed)


def part_of(part: str, context: Context) -> Outcome:
    """One part of what is stated of every split."""
    found, looked, compared = Collector("run_results", "error"), look_at(context), 0
    for split, summary, named in _splits(looked):
        stated = {**summary, "systems": named, "comparisons": by_pair(summary.get("comparisons"))}
        if split not in looked.wanted:
            looked.wanted[split] = _wanted(context, looked, split, named)
        compared += _add_all(found, differences(stated, looked.wanted[split][part], split), "results.json")
    return found.outcome(compared)


def _wanted(context: Context, looked: Looked, split: str, named: Mapping[str, Json]) -> dict[str, Any]:
    """What results.json must say of one split, by part."""
    data, part = looked.splits[split]
    knows_zeros = data.knows_zeros and _measures_judged(context)
    measures = names(depth_of(looked.results[split]), knows_zeros=knows_zeros)
    values = {
        name: looked.tallies[split, name].values(measures)
        for name in named
        if (split, name) in looked.tallies
    }
    facets = expected.facets_of(context, data, part)
    wanted = expected.of_split(split, context.manifest, data, facets, values, named, measures)
    return {
        **wanted,
        expected.MINED: {"systems": _of_miners(looked, split, named)},
        expected.PEOPLE: _of_people(looked, split, named),
        expected.TWICE: _of_twice(looked, split),
    }


def _of_people(looked: Looked, split: str, named: Mapping[str, Json]) -> dict[str, Any]:
    """What must be said of judge and people; nothing of results that are older, or of runs not read."""
    written = looked.results[split].get("format")
    ran = [name for name, item in named.items() if item.get("status") == "measured"]
    if not isinstance(written, int) or written < PEOPLE_SINCE or split not in looked.sides:
        return {"judge_and_people": MISSING}
    if any((split, name) not in looked.beside for name in ran):
        return {}
    tallies = {name: looked.beside[split, name] for name in ran}
    return {"judge_and_people": of_people(looked.sides[split], tallies)}


def _of_twice(looked: Looked, split: str) -> dict[str, Any]:
    """What must be said of the judge itself; nothing of results that are older, or without a judge."""
    written = looked.results[split].get("format")
    is_told = isinstance(written, int) and written >= TWICE_SINCE and bool(looked.twice)
    queries = looked.splits[split][0].queries.to_pylist()
    return {"judge_stability": of_twice(looked.twice, queries) if is_told else MISSING}


def _of_miners(looked: Looked, split: str, named: Mapping[str, Json]) -> dict[str, Any]:
    """What must be said of each system without its own positives: nothing of one that mined nothing."""
    found, made = looked.mined.get(split), {}
    for name in named:
        tally = looked.tallies.get((split, name))
        has_mined = found is not None and bool(found.systems & parts_of(name))
        if tally is not None or not has_mined:  # of a run that cannot be read nothing is known
            made[name] = {"without_own_positives": without_own(tally) if tally and has_mined else MISSING}
    return made


def _measures_judged(context: Context) -> bool:
    """Whether the release's results measure judged documents alone, and what systems mined."""
    return context.manifest.format_version >= JUDGED_SINCE


def pools_of(context: Context) -> Outcome:
    """What is said of the pools."""
    found, looked = Collector("run_results", "error"), look_at(context)
    if looked.broken:
        return found.outcome(0)
    pools = expected.of_derived(context.manifest, looked.results, systems_of)
    return found.outcome(_add_all(found, differences(looked.derived, pools, "derived.json"), "derived.json"))


def _add_all(found: Collector, compared: Iterator[Difference], table: str) -> int:
    """Report what differs; returns how many values were compared."""
    count = 0
    for place, stated, wanted, message in compared:
        count += 1
        if message:
            found.add(message, side(table, place, _shown(stated)), side("data", place, _shown(wanted)))
    return count


def _shown(value: Any) -> str:
    return "missing" if value is MISSING else str(value)
