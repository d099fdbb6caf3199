"""Rules on baseline runs: run files fit the release, and results.json says what they and the labels give."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import partial, reduce
from operator import getitem

from curation.audit.rule import Check, Defect, Rule
from curation.audit.rules import runs_expected as expected
from curation.audit.rules import runs_looked as looking
from curation.audit.rules import runs_reading as reading
from curation.audit.rules.planting import GONE
from curation.audit.rules.runs_expected import TOLERANCE
from curation.audit.rules.runs_looked import (
    broken,
    faults_of,
    listed_systems,
    lost_splits,
    part_of,
    pools_of,
    strange_splits,
)
from curation.audit.rules.runs_made import (
    DERIVED,
    MINED,
    RESULTS,
    Damage,
    Line,
    Runs,
    in_lines,
    in_results,
    in_table,
    mined_nothing,
    no_people,
    no_stability,
    of_miner,
    other_people,
    planted,
    steadier_judge,
)
from curation.evaluation.runs import SUFFIX
from curation.published.query import Sandbox


def _cells(column: int, value: str) -> Damage:
    """A cell of the last line of a ranking."""

    def change(listed: list[Line]) -> Sequence[str]:
        listed[-1][column] = value
        return [value] if value == GONE else []

    return in_lines(change)


def _twice(listed: list[Line]) -> Sequence[str]:
    listed[-1][2] = listed[0][2]
    return [listed[0][2]]


def _stranger(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    lines = made.lines()
    made.set_lines({**lines, GONE: [[GONE, *line[1:]] for line in next(iter(lines.values()))]})
    return [GONE]


def _in_parts(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
    lines = made.lines()
    first = next(iter(lines))
    if len(lines) < 2:
        return None
    made.set_lines({**lines, "again": [[*lines[first].pop()[:3], "1", "1.0", "canary"]]})
    return [first]


def _too_long(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    made.summary["k"] = 1
    return [next(query for query, listed in made.lines().items() if len(listed) > 1)]


def _too_many(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    lines = 2 * made.summary["k"] * len(made.data.queries) + reading.SPARE
    made.set_content(gzip.compress(b"q Q d 1 1 x\n" * 1_000, mtime=0) * (lines // 1_000 + 1))
    return [made.name]


def _bytes(name: str, content: bytes | None) -> Damage:
    """A file beside those there are, or in the place of one."""

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str]:
        made.files[name] = content
        return [name]

    return damage


def _lost(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    made.files[made.name] = None
    return [made.name]


def _other_bytes(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    made.files[made.name] = made.content + gzip.compress(b"", mtime=0)
    return [made.name]


def _cut(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    made.set_content(made.content[:-12])
    return [made.name]


def _other_name(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    name, made.ran["run_file"] = made.name, f"runs/test/canary{SUFFIX}"
    return [name]


_Q, _C = "'{q}'", "'{c}'"
_MINE = "patient_id = 'canary:patient' WHERE id ="
_BROKEN = "a file on the runs cannot be read"
FILES = (
    Check(
        _BROKEN,
        partial(broken, "run_files"),
        (
            planted("results that are not JSON", _bytes(RESULTS, b"{")),
            planted("notes on derived tables that are not JSON", _bytes(DERIVED, b"[]")),
        ),
    ),
    *(
        Check(kind, partial(faults_of, kind), planted(name, damage))
        for kind, name, damage in (
            (looking.NO_RESULTS, "runs without results", _bytes(RESULTS, None)),
            (looking.OTHER_NAME, "another run file named", _other_name),
            (looking.LOST, "a run file that is missing", _lost),
            (looking.OTHER_HASH, "a run file of another hash", _other_bytes),
            (
                looking.UNNAMED,
                "a run that results.json does not name",
                _bytes(f"runs/test/canary{SUFFIX}", b""),
            ),
            (reading.UNREADABLE, "a run file cut short", _cut),
            (reading.TOO_MANY, "a run file with a million lines too many", _too_many),
            (reading.NO_QUERY, "a query outside the splits", _stranger),
            (reading.NO_DOCUMENT, "a document that is not in the corpus", _cells(2, GONE)),
            (reading.IN_PARTS, "a ranking in two parts", _in_parts),
            (reading.RANKS, "a rank left out", _cells(3, "99")),
            (reading.NO_NUMBER, "a score that is not a number", _cells(4, "nan")),
            (reading.RISES, "a score higher than the one before", _cells(4, "1000.5")),
            (reading.TOO_LONG, "a ranking longer than stated", _too_long),
            (reading.TWICE, "a document twice", in_lines(_twice)),
        )
    ),
    Check(
        reading.LEFT_OUT,
        partial(faults_of, reading.LEFT_OUT),
        (
            planted(
                "an excluded pair ranked",
                in_table(
                    f"""INSERT INTO excluded BY NAME
                    SELECT {_Q} AS "query-id", {_C} AS "corpus-id", 'own_article' AS reason"""
                ),
            ),
            planted(
                "the query's own record ranked",
                in_table(f"UPDATE provenance_queries SET source_id = {_C} WHERE id = {_Q}"),
            ),
            planted(
                "a record of the query's own patient ranked",
                in_table(
                    f"UPDATE provenance_queries SET {_MINE} {_Q}; UPDATE provenance_corpus SET {_MINE} {_C}"
                ),
            ),
        ),
    ),
)


def _strange_split(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    made.results[GONE] = made.summary
    return [GONE]


def _other_run(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    """Rankings turned round although the results are those of the run before."""
    lines = made.lines()
    for listed in lines.values():
        for line, document in zip(listed, [line[2] for line in reversed(listed)], strict=True):
            line[2] = document
    made.set_lines(lines)
    return ["test/systems/bm25/overall/RR/mean"]


def _facet_mean(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    value = min(made.ran["facets"]["label_status"])
    made.ran["facets"]["label_status"][value]["R@1"]["mean"] = -0.5
    return [f"test/systems/bm25/facets/label_status/{value}/R@1/mean"]


def _pooled(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    made.derived["pools"] = {"shaped_by": ["canary:system"], "systems": ["canary:system"]}
    return [f"derived.json/pools/{name}" for name in ("shaped_by", "systems")]


def _pooled_by_nobody(made: Runs, sandbox: Sandbox) -> Sequence[str]:
    return ["derived.json/pools"]


def _set(*path: str, **values: object) -> Damage:
    """Values under some keys of what is said of the first system, to be named."""

    def change(made: Runs) -> None:
        reduce(getitem, path, made.ran).update(values)

    return in_results(change, "/".join((_RAN, *path, *values)))


def _of_split(**values: object) -> Damage:
    """Values of split test, to be named."""
    return in_results(lambda made: made.summary.update(values), *values)


def _not_run(**values: object) -> Damage:
    """Values of the system that did not run, to be named."""
    change = lambda made: made.summary["systems"][-1].update(values)  # noqa: E731 - one of several alike
    return in_results(change, "/".join(("systems/image", *values)))


def _marked(made: Runs) -> None:
    made.ran["shaped_the_benchmark"] = not made.ran["shaped_the_benchmark"]


def _stranger_compared(made: Runs) -> None:
    made.summary["comparisons"].append({**made.summary["comparisons"][0], "b": GONE})


def _check(part: str, *defects: Defect) -> Check:
    return Check(part, partial(part_of, part), defects)


_RAN, _COMPARED = "systems/bm25", "comparisons/bm25 dense nDCG@10"
VALUES = (
    Check(
        _BROKEN,
        partial(broken, "run_results"),
        planted("results that are not JSON", _bytes(RESULTS, b"{")),
    ),
    Check(
        "the release has no such split",
        strange_splits,
        planted("an unknown split", _strange_split),
    ),
    Check(
        "there are no results of this split, or without depth k",
        lost_splits,
        (
            planted("a split without results", in_results(lambda made: made.results.pop("test"))),
            planted("a split without depth", in_results(lambda made: made.summary.update(k="20"))),
        ),
    ),
    Check(
        "systems are not a list of objects with distinct names",
        listed_systems,
        planted("a system twice", in_results(lambda made: made.summary["systems"].append(made.ran))),
    ),
    _check(
        expected.COUNTS,
        planted("fewer queries measured", _of_split(queries_measured=0)),
        planted("a smaller corpus", _of_split(corpus=1)),
    ),
    _check(
        expected.RELEASE,
        planted(
            "results of another version",
            in_results(lambda made: made.summary["release"].update(version="0.0.1"), "release/version"),
        ),
    ),
    _check(
        expected.FACET_COUNTS,
        planted(
            "an unknown facet",
            in_results(lambda made: made.summary["facets"].update(canary={}), "facets/canary"),
        ),
    ),
    _check(
        expected.SHAPED,
        planted("the mark of a system changed", in_results(_marked, f"{_RAN}/shaped_the_benchmark")),
    ),
    _check(
        expected.NOT_RUN,
        planted("numbers of a system that did not run", _not_run(overall={})),
        planted("no reason why a system did not run", _not_run(why_not=" ")),
    ),
    _check(
        expected.MEANS,
        planted("an inflated mean", _set("overall", "nDCG@10", mean=1.5)),
        planted("a mean of fewer queries", _set("overall", "nDCG@10", queries=0)),
        planted("an unknown measure", _set("overall", canary={})),
        planted("results of another run", _other_run),
    ),
    _check(expected.FACET_MEANS, planted("the mean of a facet edited", _facet_mean)),
    _check(
        expected.MACRO,
        planted("an inflated mean of means", _set("macro", "label_status", "RR", mean=1.5)),
    ),
    _check(
        expected.COMPARISONS,
        planted(
            "a larger difference",
            in_results(
                lambda made: made.summary["comparisons"][0].update(difference=1.5), f"{_COMPARED}/difference"
            ),
        ),
        planted(
            "a difference left out", in_results(lambda made: made.summary["comparisons"].pop(0), _COMPARED)
        ),
        planted(
            "a difference from a system that is not there",
            in_results(_stranger_compared, f"comparisons/bm25 {GONE} nDCG@10"),
        ),
    ),
    _check(
        expected.MINED,
        planted(
            "an inflated mean without own positives",
            of_miner(lambda ran: ran[MINED].update(mean=1.5), "/mean"),
        ),
        planted(
            "fewer positives of its own", of_miner(lambda ran: ran[MINED].update(left_out=-1), "/left_out")
        ),
        planted("nothing said of a system that mined", of_miner(lambda ran: ran.pop(MINED))),
        planted(
            "a system said to have mined that found nothing",
            in_results(mined_nothing, f"systems/image/{MINED}"),
        ),
    ),
    _check(
        expected.PEOPLE,
        planted("another outcome of judge and people", other_people),
        planted("nothing said of judge and people", no_people),
    ),
    _check(
        expected.TWICE,
        planted("a judge steadier than its answers", steadier_judge),
        planted("nothing said of a judge that was asked twice", no_stability),
    ),
    Check(
        "what is said of the pools",
        pools_of,
        (
            planted("pools shaped by others", _pooled),
            planted("pools without the systems that shaped them", _pooled_by_nobody, shaped_by=()),
        ),
    ),
)
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
        checks=FILES,
    ),
    Rule(
        "run_results",
        2,
        "Results can be computed again",
        (
            "For every split: counts, means of all measures overall and by facet, differences between "
            "systems, what a system that mined pairs scores without the positives that it alone found, and "
            "how far labels of judge and people order systems alike, "
            f"follow from labels, judgements and run files, to {TOLERANCE}; a system that did not run has a "
            "reason and no numbers; the systems that shaped the benchmark are those of release.json and the "
            "pools. Intervals and p-values are not computed again."
        ),
        "error",
        "values",
        checks=VALUES,
    ),
)
