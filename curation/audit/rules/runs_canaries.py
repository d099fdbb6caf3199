"""Defects that the rules on runs must find, and the small run of a copy they are planted in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import Canary
from curation.audit.rules.planting import GONE, table_file
from curation.evaluation.collection import Collection, open_collection, read_head
from curation.evaluation.ranking import Indices, Ranking
from curation.evaluation.results import Measured, summarise
from curation.evaluation.runs import SUFFIX, file_stem, write_run
from schemas.hashing import sha256_file

_DEPTH = 20
_NOT_RUN = Measured("image", "image", None, why_not="this canary has no image features")
_RESULTS, _DERIVED = "runs/results.json", "runs/derived.json"
_Made = tuple[Collection, str, dict[str, bytes]]
"""Split test, the first system, and every file below runs/."""
_MADE: dict[tuple[str, ...], _Made | None] = {}
_MOST_MADE = 4
"""Runs already made, by the hash of the copy: each canary is planted into equal files."""
Line = list[str]
Lines = dict[str, list[Line]]
"""Query -> its lines, as columns."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A copy with runs of one system: its folder, run file of split test and results."""

    directory: Path
    system: str
    name: str
    data: Collection
    results: dict[str, Any]

    @property
    def summary(self) -> dict[str, Any]:
        """Results of split test."""
        found: dict[str, Any] = self.results["test"]
        return found

    @property
    def ran(self) -> dict[str, Any]:
        """What is said of the system that ran."""
        found: dict[str, Any] = self.summary["systems"][0]
        return found

    def lines(self) -> Lines:
        """Lines of the run file."""
        found: Lines = {}
        for line in gzip.decompress((self.directory / self.name).read_bytes()).decode().splitlines():
            columns = line.split(" ")
            found.setdefault(columns[0], []).append(columns)
        return found

    def write(self, lines: Lines) -> None:
        """Other lines, and their hash in results.json."""
        text = "".join(" ".join(line) + "\n" for listed in lines.values() for line in listed)
        path = self.directory / self.name
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
        self.ran["run_sha256"] = sha256_file(path)
        self.save()

    def save(self) -> None:
        """Results as they are now."""
        _json(self.directory / _RESULTS, self.results)


def with_runs(directory: Path, systems: Sequence[str] = ()) -> Planted | None:
    """Write runs, results and what was derived into a copy, as a release has them; None where none can be.

    Every query finds its positives first, then other documents in the order of their ids.

    Args:
        directory: a task directory.
        systems: names of the systems; the first that shaped the release, or bm25, where none is named.
    """
    key = (read_head(directory).release_hash, *systems)
    if key not in _MADE:
        while len(_MADE) >= _MOST_MADE:
            _MADE.pop(next(iter(_MADE)))
        _MADE[key] = _make(directory, systems)
    made = _MADE[key]
    if made is None:
        return None
    data, name, files = made
    for place, content in files.items():
        (directory / place).parent.mkdir(parents=True, exist_ok=True)
        (directory / place).write_bytes(content)
    return Planted(directory, name, _name("test", name), data, json.loads(files[_RESULTS]))


def _make(directory: Path, systems: Sequence[str]) -> _Made | None:
    """What `with_runs` writes."""
    splits = sorted({path.name.split("-")[0] for path in (directory / "queries").glob("*.parquet")})
    opened = {split: open_collection(directory, split) for split in splits}
    if "test" not in opened or not opened["test"].qrels:
        return None
    shaped = opened["test"].head.shaped_by
    names = tuple(systems) or (min(shaped, default="bm25"),)
    results = {}
    for split, data in opened.items():
        measured = [_written(directory, data, name, shift) for shift, name in enumerate(names)]
        results[split] = summarise(data, [*measured, _NOT_RUN], _DEPTH).summary
        del results[split]["release"]["release_hash"]
    _json(directory / _RESULTS, results)
    pools = {"shaped_by": list(shaped), "systems": sorted(names)} if shaped else None
    _json(directory / _DERIVED, {"pools": pools})
    written = [path for path in sorted((directory / "runs").rglob("*")) if path.is_file()]
    files = {path.relative_to(directory).as_posix(): path.read_bytes() for path in written}
    return opened["test"], names[0], files


def _name(split: str, system: str) -> str:
    return f"runs/{split}/{file_stem(system)}{SUFFIX}"


def _written(directory: Path, data: Collection, system: str, shift: int) -> Measured:
    """A system with its run file; a `shift` puts that many other documents first."""
    path = directory / _name(data.split, system)
    path.parent.mkdir(parents=True, exist_ok=True)
    run = {query.id: _ranking(data, query.id, shift) for query in data.queries}
    write_run(run, [query.id for query in data.queries], data.corpus_ids, system, path)
    shaped = system in data.head.shaped_by
    name = _name(data.split, system)
    return Measured(system, "bm25", run, shaped=shaped, run_file=name, run_sha256=sha256_file(path))


def _ranking(data: Collection, query: str, shift: int) -> Ranking:
    judged = data.qrels.get(query, {})
    left_out: Indices = data.left_out.get(query, np.empty(0, np.int32))
    places = [place for place in range(len(data.corpus_ids)) if place not in left_out]
    first = [place for place in places if data.corpus_ids[place] in judged]
    rest = [place for place in places if data.corpus_ids[place] not in judged]
    chosen = [*rest[:shift], *first, *rest[shift:]][: _DEPTH - 1]
    return Ranking(np.array(chosen, np.int32), 100.0 - np.arange(len(chosen), dtype=np.float64))


def _json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")


Damage = Callable[[Planted], Sequence[str] | None]


def _plant(name: str, damage: Damage) -> Canary:
    """A canary in the files of a copy with runs."""

    def files(directory: Path) -> Sequence[str] | None:
        made = with_runs(directory)
        return damage(made) if made else None

    return Canary(name, files=files)


def _lines(change: Callable[[list[Line], Planted], Sequence[str] | None]) -> Damage:
    """Lines of the first query that has two documents without label, changed; the rule names that query."""

    def damage(made: Planted) -> Sequence[str] | None:
        lines = made.lines()
        for query, listed in lines.items():
            judged = made.data.qrels.get(query, {})
            if len(listed) > 2 and sum(line[2] not in judged for line in listed) > 1:
                more = change(listed, made)
                made.write(lines)
                return None if more is None else [query, *more]
        return None

    return damage


def _another(column: int, value: str) -> Damage:
    def change(listed: list[Line], made: Planted) -> Sequence[str]:
        listed[-1][column] = value
        return [value] if value == GONE else []

    return _lines(change)


def _stranger(made: Planted) -> Sequence[str]:
    lines = made.lines()
    made.write({**lines, GONE: [[GONE, *line[1:]] for line in next(iter(lines.values()))]})
    return [GONE]


def _document_twice(listed: list[Line], made: Planted) -> Sequence[str]:
    listed[-1][2] = listed[0][2]
    return [listed[0][2]]


def _too_long(made: Planted) -> Sequence[str]:
    made.summary["k"] = 1
    made.save()
    return [next(query for query, listed in made.lines().items() if len(listed) > 1)]


def _in_parts(made: Planted) -> Sequence[str] | None:
    lines = made.lines()
    first = next(iter(lines))
    if len(lines) < 2:
        return None
    made.write({**lines, "again": [[*lines[first].pop()[:3], "1", "1.0", "canary"]]})
    return [first]


def _excluded(made: Planted) -> Sequence[str] | None:
    """An excluded pair stands last in a ranking."""
    files = sorted((made.directory / "excluded").glob("*.parquet"))
    rows = [row for path in files for row in pq.read_table(path).to_pylist()]
    lines = made.lines()
    for row in rows:
        query, document = row["query-id"], row["corpus-id"]
        if query in lines and document in made.data.corpus_ids:
            lines[query].append([query, "Q0", document, str(len(lines[query]) + 1), "0.5", "canary"])
            made.write(lines)
            return [query, document]
    return None


def _own(column: str) -> Damage:
    """A document without label, ranked, becomes the query's own record or one of its patient."""

    def change(listed: list[Line], made: Planted) -> Sequence[str] | None:
        judged = made.data.qrels.get(listed[0][0], {})
        document = next(line[2] for line in listed if line[2] not in judged)
        if column == "source_id":
            done = _set(made.directory, "provenance_queries", column, listed[0][0], document)
        else:
            done = all(
                _set(made.directory, name, column, row, "canary:patient")
                for name, row in (("provenance_queries", listed[0][0]), ("provenance_corpus", document))
            )
        return [document] if done else None

    return _lines(change)


def _set(directory: Path, table: str, column: str, row: str, value: str) -> bool:
    """One cell of a provenance table; whether there was one."""
    path = table_file(directory, table)
    if path is None:
        return False
    rows = pq.read_table(path)
    if column not in rows.column_names or row not in rows.column("id").to_pylist():
        return False
    cells = zip(rows.column("id").to_pylist(), rows.column(column).to_pylist(), strict=True)
    changed = pa.array([value if name == row else cell for name, cell in cells], pa.string())
    place = rows.column_names.index(column)
    pq.write_table(rows.set_column(place, rows.schema.field(place), changed), path)
    return True


def _lost(made: Planted) -> Sequence[str]:
    (made.directory / made.name).unlink()
    return [made.name]


def _other_bytes(made: Planted) -> Sequence[str]:
    path = made.directory / made.name
    path.write_bytes(path.read_bytes() + gzip.compress(b"", mtime=0))
    return [made.name]


def _cut(made: Planted) -> Sequence[str]:
    path = made.directory / made.name
    path.write_bytes(path.read_bytes()[:-12])
    made.ran["run_sha256"] = sha256_file(path)
    made.save()
    return [made.name]


def _unnamed(made: Planted) -> Sequence[str]:
    name = f"runs/test/canary{SUFFIX}"
    (made.directory / name).write_bytes((made.directory / made.name).read_bytes())
    return [name]


def _no_results(made: Planted) -> Sequence[str]:
    (made.directory / _RESULTS).unlink()
    return [_RESULTS]


def _stated(change: Callable[[Planted], object], place: str) -> Damage:
    """results.json changed; `place` below split test must be named."""

    def damage(made: Planted) -> Sequence[str]:
        change(made)
        made.save()
        return [f"test/{place}".replace("SYSTEM", made.system)]

    return damage


def _better(made: Planted) -> Sequence[str] | None:
    """Rankings turned round although the results are those of the run before."""
    lines = made.lines()
    for listed in lines.values():
        for line, document in zip(listed, [line[2] for line in reversed(listed)], strict=True):
            line[2] = document
    made.write(lines)
    return [f"test/systems/{made.system}/overall/RR/mean"]


def _facet(made: Planted) -> Sequence[str]:
    value = min(made.ran["facets"]["label_status"])
    made.ran["facets"]["label_status"][value]["R@1"]["mean"] = -0.5
    made.save()
    return [f"test/systems/{made.system}/facets/label_status/{value}/R@1/mean"]


def _without_split(made: Planted) -> Sequence[str]:
    del made.results["test"]
    made.save()
    return ["test"]


def _pools(made: Planted) -> Sequence[str] | None:
    pools = {"shaped_by": ["canary:system"], "systems": ["canary:system"]}
    _json(made.directory / _DERIVED, {"pools": pools})
    return ["derived.json/pools/shaped_by" if made.data.head.shaped_by else "derived.json/pools"]


FILES = (
    _plant("a run file that is missing", _lost),
    _plant("a run file of another hash", _other_bytes),
    _plant("a run file cut short", _cut),
    _plant("a run nobody names", _unnamed),
    _plant("runs without results", _no_results),
    _plant("a query of no split", _stranger),
    _plant("a document that is not in the corpus", _another(2, GONE)),
    _plant("a rank left out", _another(3, "99")),
    _plant("a score that rises", _another(4, "1000.5")),
    _plant("a score that is no number", _another(4, "nan")),
    _plant("a document twice", _lines(_document_twice)),
    _plant("a ranking in two parts", _in_parts),
    _plant("a ranking longer than stated", _too_long),
    _plant("an excluded pair ranked", _excluded),
    _plant("the query's own record ranked", _own("source_id")),
    _plant("a record of the query's own patient ranked", _own("patient_id")),
)
_RAN = "systems/SYSTEM"


def _mark(made: Planted) -> None:
    made.ran["shaped_the_benchmark"] = not made.ran["shaped_the_benchmark"]


def _not_run(**values: object) -> Callable[[Planted], None]:
    return lambda made: made.summary["systems"][1].update(values)


def _ndcg(**values: object) -> Callable[[Planted], None]:
    return lambda made: made.ran["overall"]["nDCG@10"].update(values)


def _counts(**values: object) -> Callable[[Planted], None]:
    return lambda made: made.summary.update(values)


RESULTS = (
    _plant("a mean put higher", _stated(_ndcg(mean=1.5), f"{_RAN}/overall/nDCG@10/mean")),
    _plant("a mean of fewer queries", _stated(_ndcg(queries=0), f"{_RAN}/overall/nDCG@10/queries")),
    _plant("results of another run", _better),
    _plant("the mean of a facet edited", _facet),
    _plant("fewer queries measured", _stated(_counts(queries_measured=0), "queries_measured")),
    _plant("a smaller corpus", _stated(_counts(corpus=1), "corpus")),
    _plant("numbers of a system that did not run", _stated(_not_run(overall={}), "systems/image/overall")),
    _plant("no reason why a system did not run", _stated(_not_run(why_not=" "), "systems/image/why_not")),
    _plant("the mark of a system changed", _stated(_mark, f"{_RAN}/shaped_the_benchmark")),
    _plant("pools shaped by others", _pools),
    _plant("a split without results", _without_split),
)
