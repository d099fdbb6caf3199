"""Small runs with results, over a collection or the tables of a sandbox, for defects to be planted in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from curation.audit.rule import Defect
from curation.audit.rules.runs_expected import POSITIVES
from curation.audit.rules.runs_mined import FINDERS
from curation.audit.rules.runs_reading import JUDGED, OUTSIDE, PAIRS_LEFT_OUT
from curation.evaluation.collection import FACETS, Collection, EvaluationQuery, Head
from curation.evaluation.judges import OfJudge, Sample, Twice, sample_of, twice_of
from curation.evaluation.mining import Finders
from curation.evaluation.ranking import Indices, Ranking
from curation.evaluation.results import Measured, summarise
from curation.evaluation.runs import SUFFIX, file_stem
from curation.published.query import Sandbox, UnknownNameError
from schemas.hashing import sha256_bytes
from schemas.judged_tables import CALIBRATION, JUDGEMENTS

RESULTS, DERIVED = "runs/results.json", "runs/derived.json"
STATED = {
    "dataset": "canary",
    "version": "1.0.0",
    "task": "canary",
    "task_title": "Canary",
    "label": "silver",
    "not_publishable_because": (),
    "grades": {"0": "not relevant", "1": "relevant"},
    "shaped_by": ("bm25",),
}
"""What release.json says beside runs made over the tables of a sandbox."""
SYSTEMS = ("bm25", "dense")
MINED = "without_own_positives"
_MADE: dict[str, tuple[Runs, str]] = {}
_MOST_MADE = 4
"""Runs already made and, as JSON, their results, by schema: all its defects are planted in equal tables."""
_DEPTH = 20
_NOT_RUN = Measured("image", "image", None, why_not="this defect has no image features")
_TABLES = {
    "corpus": "SELECT id FROM corpus ORDER BY id",
    "qrels": f"SELECT q, c, score FROM ({JUDGED}) SEMI JOIN corpus ON id = c",
    "left_out": f"""SELECT q, c FROM ({PAIRS_LEFT_OUT} UNION {OUTSIDE})
        SEMI JOIN corpus ON id = c ORDER BY ALL""",
}
_QUERIES = f"""SELECT q.id, p.split, coalesce(o.article_id, q.id) AS article_id, {{facets}}
    coalesce(s.said, '') AS label_status FROM queries q
    JOIN placed p ON p.tab = 'queries' AND p.q = q.id LEFT JOIN provenance_queries o ON o.id = q.id
    LEFT JOIN ({POSITIVES}) s ON s.q = q.id ORDER BY q.id"""
Line = list[str]
Lines = dict[str, list[Line]]
"""Query -> its lines, as columns."""


@dataclass
class Runs:
    """Runs of some systems over split test (`data`) and others; `files` take the place of results, too."""

    data: Collection
    results: dict[str, Any]
    derived: dict[str, Any]
    files: dict[str, bytes | None] = field(default_factory=dict)
    """Path -> content, None for a file that is not there."""

    @property
    def summary(self) -> dict[str, Any]:
        """Results of split test."""
        found: dict[str, Any] = self.results["test"]
        return found

    @property
    def ran(self) -> dict[str, Any]:
        """What is said of the first system."""
        found: dict[str, Any] = self.summary["systems"][0]
        return found

    @property
    def name(self) -> str:
        """Its run file."""
        return run_name("test", self.ran["name"])

    @property
    def content(self) -> bytes:
        """What that holds."""
        return self.files[self.name] or b""

    def lines(self) -> Lines:
        """Its lines."""
        found: Lines = {}
        for line in gzip.decompress(self.content).decode().splitlines():
            columns = line.split(" ")
            found.setdefault(columns[0], []).append(columns)
        return found

    def set_lines(self, lines: Lines) -> None:
        """Other lines, and their hash in the results."""
        self.set_content(_packed(line for listed in lines.values() for line in listed))

    def set_content(self, content: bytes) -> None:
        """Other bytes, and their hash in the results."""
        self.files[self.name] = content
        self.ran["run_sha256"] = sha256_bytes(content)

    def write(self, directory: Path) -> None:
        """Run files, results and what was derived, as a release has them."""
        made = {
            name: json.dumps(found).encode()
            for name, found in ((RESULTS, self.results), (DERIVED, self.derived))
        }
        for name, content in (made | self.files).items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)


def make_runs(
    splits: Mapping[str, Collection], systems: Sequence[str] = SYSTEMS, judge: OfJudge | None = None
) -> Runs:
    """Runs of some systems, and of one that did not run.

    Of each query the first system finds its positives first, then other documents in the order of their ids;
    each further system puts one more of the others before them. `judge` is what is known of a judge;
    without it the files of the collection are read.
    """
    results: dict[str, Any] = {}
    files: dict[str, bytes | None] = {}
    for split, data in splits.items():
        measured = []
        for shift, name in enumerate(systems):
            run = {query.id: _ranking(data, query.id, shift) for query in data.queries}
            content = _packed(
                [query, "Q0", data.corpus_ids[place], str(rank), f"{score:.1f}", file_stem(name)]
                for query, found in run.items()
                for rank, (place, score) in enumerate(zip(found.documents, found.scores, strict=True), 1)
            )
            path, shaped = run_name(split, name), name in data.head.shaped_by
            files[path] = content
            measured.append(
                Measured(name, "bm25", run, shaped=shaped, run_file=path, run_sha256=sha256_bytes(content))
            )
        results[split] = summarise(data, [*measured, _NOT_RUN], _DEPTH, judge).summary
        del results[split]["release"]["release_hash"]
    head = splits["test"].head
    pools = {"shaped_by": list(head.shaped_by), "systems": sorted(systems)} if head.shaped_by else None
    return Runs(splits["test"], results, {"pools": pools}, files)


def run_name(split: str, system: str) -> str:
    """Where the run file of a system is."""
    return f"runs/{split}/{file_stem(system)}{SUFFIX}"


def _packed(lines: Iterable[Line]) -> bytes:
    return gzip.compress("".join(" ".join(line) + "\n" for line in lines).encode(), mtime=0)


def _ranking(data: Collection, query: str, shift: int) -> Ranking:
    judged = data.qrels.get(query, {})
    left_out: Indices = data.left_out.get(query, np.empty(0, np.int32))
    places = [place for place in range(len(data.corpus_ids)) if place not in left_out]
    first = [place for place in places if data.corpus_ids[place] in judged]
    rest = [place for place in places if data.corpus_ids[place] not in judged]
    chosen = [*rest[:shift], *first, *rest[shift:]][: _DEPTH - 1]
    return Ranking(np.array(chosen, np.int32), 100.0 - np.arange(len(chosen), dtype=np.float64))


def _of_tables(sandbox: Sandbox) -> Runs | None:
    """Runs over the tables of a sandbox; None where no query of split test has a positive."""
    schema = sandbox.run("SELECT current_database() || '.' || current_schema() AS name")[0]["name"]
    if schema not in _MADE:
        while len(_MADE) >= _MOST_MADE:
            _MADE.pop(next(iter(_MADE)))
        made = make_runs(
            _collections(sandbox), judge=OfJudge(_finders(sandbox), _sample(sandbox), _twice(sandbox))
        )
        _MADE[schema] = made, json.dumps(made.results)
    made, results = _MADE[schema]
    return Runs(made.data, json.loads(results), {**made.derived}, {**made.files}) if made.data.qrels else None


def _finders(sandbox: Sandbox) -> Finders:
    """What the tables say found each mined pair."""
    try:
        rows = sandbox.run(FINDERS)
    except UnknownNameError:  # this release has no such table
        return {}
    return {(row["q"], row["c"]): frozenset(row["names"].split("\n")) for row in rows}


def _twice(sandbox: Sandbox) -> Twice:
    """What the tables say of pairs that the judge was asked about twice."""
    try:
        return twice_of(sandbox.run(f"FROM {JUDGEMENTS.name} ORDER BY ALL"))
    except UnknownNameError:  # this release has no such table
        return {}


def _sample(sandbox: Sandbox) -> Sample:
    """What the tables say judge and people said."""
    try:
        return sample_of(sandbox.run(f"FROM {CALIBRATION.name} ORDER BY ALL"))
    except UnknownNameError:
        return {}


def _collections(sandbox: Sandbox) -> dict[str, Collection]:
    """Split -> what the tables hold of it."""
    held = {row["column_name"] for row in sandbox.run("DESCRIBE queries")}
    facets = [name for name in FACETS if name in held]
    listed = "".join(f'coalesce(q."{name}", \'\') AS "{name}", ' for name in facets)
    facets.append("label_status")
    rows = {name: sandbox.run(text) for name, text in _TABLES.items()}
    rows["queries"] = sandbox.run(_QUERIES.format(facets=listed))
    ids = tuple(row["id"] for row in rows["corpus"])
    places = {name: place for place, name in enumerate(ids)}
    splits = {}
    for split in sorted({"test", *(row["split"] for row in rows["queries"])}):
        queries = tuple(
            EvaluationQuery(row["id"], "", "", row["article_id"], {name: row[name] for name in facets})
            for row in rows["queries"]
            if row["split"] == split
        )
        qrels: dict[str, dict[str, int]] = {query.id: {} for query in queries}
        left_out: dict[str, list[int]] = {query.id: [] for query in queries}
        for row in rows["qrels"]:
            if row["q"] in qrels:
                qrels[row["q"]][row["c"]] = row["score"]
        for row in rows["left_out"]:
            if row["q"] in qrels:
                left_out[row["q"]].append(places[row["c"]])
        splits[split] = Collection(
            Path(),
            Head(release_hash="", files={}, **STATED),  # type: ignore[arg-type]
            split,
            queries,
            ids,
            {query: found for query, found in qrels.items() if max(found.values(), default=0) > 0},
            {query: np.array(found, np.int32) for query, found in left_out.items()},
            tuple(facets),
            False,
            False,
            False,
            False,
        )
    return splits


Damage = Callable[[Runs, Sandbox], Sequence[str] | None]


class _Beside:
    """Runs over the tables, damaged and then written beside them."""

    def __init__(self, damage: Damage) -> None:
        self._damage = damage
        self._made: Runs | None = None

    def plant(self, sandbox: Sandbox) -> Sequence[str] | None:
        self._made = _of_tables(sandbox)
        return self._damage(self._made, sandbox) if self._made else None

    def write(self, directory: Path, ids: Sequence[str]) -> None:
        if self._made:
            self._made.write(directory)


def planted(name: str, damage: Damage, **stated: Any) -> Defect:
    """A defect in runs, or in the tables they were made over; `damage` gives the ids to be named.

    With `stated` release.json has other fields than those the runs were made with.
    """
    beside = _Beside(damage)
    return Defect(name, beside.plant, stated=STATED | stated, files=beside.write)


def in_lines(change: Callable[[list[Line]], Sequence[str] | None]) -> Damage:
    """Lines of the first query that has two documents without label, changed; that query must be named."""

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
        lines = made.lines()
        for query, listed in lines.items():
            if sum(line[2] not in made.data.qrels.get(query, {}) for line in listed) > 1:
                more = change(listed)
                made.set_lines(lines)
                return [query, *(more or ())]
        return None

    return damage


def in_table(text: str) -> Damage:
    """SQL done to a ranked pair without label, `{q}` and `{c}`; it must be named."""

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
        for query, listed in made.lines().items():
            for line in listed:
                if line[2] not in made.data.qrels.get(query, {}):
                    sandbox.run(text.format(q=query.replace("'", "''"), c=line[2].replace("'", "''")))
                    return [query, line[2]]
        return None

    return damage


def in_results(change: Callable[[Runs], object], place: str = "") -> Damage:
    """Results changed; `place` below split test must be named, or that split."""

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str]:
        change(made)
        return [f"test/{place}" if place else "test"]

    return damage


def of_miner(change: Callable[[dict[str, Any]], object], at: str = "") -> Damage:
    """What is said of the first system without its own positives changed; `at` below it must be named."""

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
        if MINED not in made.ran:
            return None
        change(made.ran)
        return [f"test/systems/{made.ran['name']}/{MINED}{at}"]

    return damage


def other_people(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
    """Another verdict on judge and people than their labels give."""
    if "judge_and_people" not in made.summary:
        return None
    made.summary["judge_and_people"].update(status="canary", pairs=-1)
    return [f"test/judge_and_people/{name}" for name in ("status", "pairs")]


def no_people(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
    """Nothing said of judge and people."""
    return ["test/judge_and_people"] if made.summary.pop("judge_and_people", None) else None


def steadier_judge(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
    """A judge said to change its mind less often than the tables tell."""
    if "judge_stability" not in made.summary:
        return None
    for told in made.summary["judge_stability"].values():
        told.update(changed=-1)
    return [f"test/judge_stability/{name}/changed" for name in made.summary["judge_stability"]]


def no_stability(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
    """Nothing said of a judge that was asked twice."""
    return ["test/judge_stability"] if made.summary.pop("judge_stability", None) else None


def mined_nothing(made: Runs) -> None:
    """The system that did not run is said to have mined."""
    made.summary["systems"][-1][MINED] = {"measure": "nDCG@10", "mean": 0.5, "left_out": 0}
