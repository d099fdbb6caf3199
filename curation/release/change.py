"""What changed between two releases of a task, and the version that follows: semantic versioning for data.

A dataset has one version over all its tasks. Against the newest release before it, each task's change is the
largest level that holds; the dataset's change is the largest of its tasks'. The first release is 1.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from curation.published.manifest import ReleaseManifest, read_manifest
from curation.published.query import QueryRunner, fetch_one
from schemas.hashing import sha256_file
from schemas.published import Published
from schemas.tables import (
    CORPUS,
    DERIVED,
    EXTRA,
    MAIN,
    ORIGIN_CORPUS,
    ORIGIN_QUERIES,
    PROVENANCE,
    QRELS,
    QUERIES,
)

Level = Literal["none", "patch", "minor", "major"]
LEVELS: tuple[Level, ...] = ("none", "patch", "minor", "major")
"""major: what was computed on the earlier release cannot be compared any more, or code that reads it breaks.
    The tasks of the dataset are others. The task's own stages (the one per article, the one over all) have
    another VERSION or other settings. The rules of ids are others. A grade means something else. A published
    query stands in another split. A table or a column is gone, or a column has another type. Labels of a rule
    that review found too imprecise leave the dataset.
minor: queries or documents were added, withdrawn, or have another text, title or picture; a column was added;
    the licence of the whole is another.
patch: every query and document is there as it was, and anything else differs: labels, excluded pairs, other
    columns (facets, licence of a row), further tables, provenance, what stages outside the task or the
    vocabulary state of themselves. (The flow adds: the card's prose and what baseline runs give.)
none: nothing of this differs. Versions are left out of the comparison, and the column `since` with them.

After a pre-release the same change counts from its core: 1.1.0-rc1
is followed by 1.1.0 unless the change is larger than the step that led there.
"""
FIRST = "1.0.0"
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9a-z.]+)?")
_WITH_TEXTS = frozenset({QUERIES.name, CORPUS.name})
_META = ("title", "task_title", "task_description", "label", "expert_minimum", "accessed", "overrides")
_NEVER, _ELSEWHERE = frozenset({"since"}), frozenset({"image", "text", "title"})
"""Columns that are not compared as others: the version a query came with; what `_TEXTS` compares."""
_TEXTS = """
    WITH old AS (SELECT t.id, t.text, {title} AS title, p.image_sha256, {split} AS split
        FROM old_{table} t LEFT JOIN old_{origin} p ON p.id = t.id),
    new AS (SELECT t.id, t.text, {title} AS title, p.image_sha256, {split} AS split
        FROM new_{table} t LEFT JOIN new_{origin} p ON p.id = t.id)
    SELECT count(*) FILTER (o.id IS NULL) AS added, count(*) FILTER (n.id IS NULL) AS withdrawn,
        count(*) FILTER (o.id = n.id AND (o.text IS DISTINCT FROM n.text
            OR o.title IS DISTINCT FROM n.title
            OR o.image_sha256 IS DISTINCT FROM n.image_sha256)) AS changed,
        count(*) FILTER (o.id = n.id AND o.split IS DISTINCT FROM n.split) AS moved
    FROM old o FULL JOIN new n ON n.id = o.id"""
_PAIRS = """
    SELECT count(*) FILTER (o."query-id" IS NULL) AS added, count(*) FILTER (n."query-id" IS NULL) AS removed,
        count(*) FILTER (o."query-id" IS NOT NULL AND n."query-id" IS NOT NULL AND ({differs})) AS changed
    FROM old_{table} o FULL JOIN new_{table} n
        ON n."query-id" = o."query-id" AND n."corpus-id" = o."corpus-id\""""
_ROWS = """
    SELECT (SELECT count(*) FROM (SELECT {columns} FROM old_{table} {where}
            EXCEPT ALL SELECT {columns} FROM new_{table} {where}))
        + (SELECT count(*) FROM (SELECT {columns} FROM new_{table} {where}
            EXCEPT ALL SELECT {columns} FROM old_{table} {where})) AS n"""
_IN_BOTH = "WHERE id IN (SELECT id FROM old_{table}) AND id IN (SELECT id FROM new_{table})"


@dataclass(frozen=True, slots=True)
class Change:
    """What differs from the release `previous`, in words; the words of the largest level come first."""

    previous: str
    level: Level
    notes: tuple[str, ...]

    def content(self) -> dict[str, Any]:
        """Plain values, as release.json holds them."""
        return {"previous": self.previous, "level": self.level, "notes": list(self.notes)}


Found = tuple[Level, str]


def largest(levels: Iterable[Level]) -> Level:
    """The largest of some levels, `none` of none."""
    return max(levels, key=LEVELS.index, default="none")


def next_version(version: str, level: Level) -> str:
    """The version that follows `version` after a change of this level (as node-semver's `inc` counts).

    Raises:
        ValueError: the text is no version, or nothing changed.
    """
    match = _VERSION.fullmatch(version)
    if match is None or level == "none":
        raise ValueError(f"no version follows {version!r} after the change {level!r}")
    major, minor, patch = (int(part) for part in match.groups()[:3])
    is_full = match.group(4) is None
    if level == "major":
        return f"{major + (is_full or minor > 0 or patch > 0)}.0.0"
    if level == "minor":
        return f"{major}.{minor + (is_full or patch > 0)}.0"
    return f"{major}.{minor}.{patch + is_full}"


def new_task(previous: str) -> Change:
    """The change of a task that the earlier release did not have."""
    return Change(previous, "major", ("the task is new in the dataset",))


@dataclass(frozen=True, slots=True)
class Since:
    """What the change of a task is told from: what is `recorded` of it, or the release `before` it.

    `leaving` is a rule that review found too imprecise, whose labels leave; '' for none.
    """

    recorded: Mapping[str, Any] = field(default_factory=dict)
    before: Path | None = None
    leaving: str = ""

    def change(self, new: Path, head: ReleaseManifest, query: QueryRunner) -> Mapping[str, Any]:
        """What release.json holds of it; nothing in a first release.

        Args:
            new: the task directory in the making, its tables written.
            head: its release.json as far as it is known.
            query: runs SQL over Parquet.
        """
        if self.before is None:
            return self.recorded
        return compare(self.before, new, head, query, leaving=self.leaving).content()


def compare(old: Path, new: Path, head: ReleaseManifest, query: QueryRunner, *, leaving: str = "") -> Change:
    """How a task directory in the making differs from a published one of the same task.

    Args:
        old: the published task directory.
        new: the other one, its tables written; what baseline runs give may be missing.
        head: the release.json of `new` as far as it is known.
        query: runs SQL over Parquet.
        leaving: a rule that review found too imprecise, whose labels leave; '' for none.
    """
    before = read_manifest(old)
    told: Found = ("major", f"labels of the rule {leaving} leave: review found it too imprecise")
    found = [
        *([told] if leaving else []),
        *_of_heads(before, head),
        *_of_columns(old, new),
        *_of_rows(old, new, query),
    ]
    found.sort(key=lambda item: -LEVELS.index(item[0]))  # stable: the order of looking within a level
    return Change(before.version, largest(level for level, _ in found), tuple(note for _, note in found))


def _of_heads(old: ReleaseManifest, new: ReleaseManifest) -> Iterator[Found]:
    """Tasks, settings, versions of stages, and what release.json says of the whole."""
    tasks = [{*head.siblings, head.task} for head in (old, new)]
    if tasks[0] != tasks[1]:
        signed = [*(f"+{name}" for name in sorted(tasks[1] - tasks[0]))]
        signed += [f"−{name}" for name in sorted(tasks[0] - tasks[1])]
        yield "major", f"tasks of the dataset: {', '.join(signed)}"
    if old.versions.get("ids") != new.versions.get("ids"):
        yield "major", "the rules of ids changed"
    for score in sorted(set(old.grades) & set(new.grades)):
        if old.grades[score] != new.grades[score]:
            yield "major", f"grade {score} means something else"
    if old.license != new.license:
        yield "minor", f"licence of the whole: {old.license} → {new.license}"
    yield from _of_stages(old, new)
    if old.vocabulary != new.vocabulary:
        yield "patch", "the vocabulary changed"
    others = [name for name in _META if getattr(old, name) != getattr(new, name)]
    if others or {**old.versions, "ids": 0} != {**new.versions, "ids": 0}:
        yield "patch", f"release.json: {', '.join([*others] or ['versions'])}"


def _of_stages(old: ReleaseManifest, new: ReleaseManifest) -> Iterator[Found]:
    """Versions and settings of stages; those of the task's own shape its ids and labels."""
    stages = [{stage["name"]: stage for stage in head.stages} for head in (old, new)]
    for name in sorted({*stages[0], *stages[1]}):
        one, other = stages[0].get(name), stages[1].get(name)
        level: Level = "major" if name in (new.task, f"{new.task}_all") else "patch"
        if one is None or other is None:
            yield level, f"stage {name} is {'new' if one is None else 'gone'}"
        elif one["version"] != other["version"]:
            yield level, f"stage {name}: version {one['version']} → {other['version']}"
        else:
            yield from ((level, note) for note in _settings(name, one["params"], other["params"]))


def _settings(stage: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            yield f"setting {stage}.{key}: {old.get(key)!r} → {new.get(key)!r}"


def _of_columns(old: Path, new: Path) -> Iterator[Found]:
    """Tables and columns that are gone or of another type; columns that are new."""
    for table in (*MAIN, *EXTRA, *DERIVED):
        before = _schema(table, old)
        if before is None:
            continue
        kept = table.schemas if table.step == "derive" else (_schema(table, new),)
        after = next((item for item in kept if item is not None and not _lost(before, item)), kept[0])
        if after is None:
            yield "major", f"table {table.name} is gone"
            continue
        lost = _lost(before, after)
        if lost:
            yield "major", f"columns of {table.name} gone or of another type: {', '.join(lost)}"
        added = [name for name in after.names if name not in before.names]
        if added and table.step != "derive":
            yield "minor", f"new columns of {table.name}: {', '.join(added)}"


def _schema(table: Published, directory: Path) -> pa.Schema | None:
    files = table.files(directory)
    return pq.read_schema(files[0]) if files else None


def _lost(old: pa.Schema, new: pa.Schema) -> list[str]:
    return [
        name
        for name in old.names
        if name not in new.names or not new.field(name).type.equals(old.field(name).type)
    ]


def _of_rows(old: Path, new: Path, query: QueryRunner) -> Iterator[Found]:
    """Queries and documents, labels, and rows of every other table."""
    yield from _of_texts(old, new, query, QUERIES, ORIGIN_QUERIES, ("query", "queries"))
    yield from _of_texts(old, new, query, CORPUS, ORIGIN_CORPUS, ("document", "documents"))
    others: list[str] = []
    for table in (*MAIN, *EXTRA, *PROVENANCE):
        files = [table.files(directory) for directory in (old, new)]
        if table.step == "derive" or _hashes(files[0]) == _hashes(files[1]):
            continue
        if not files[0] or not files[1]:
            if table not in EXTRA or files[1]:  # one of EXTRA that is gone was told of above
                yield "patch", f"table {table.name} is {'new' if files[1] else 'gone'}"
        elif table in MAIN and table.name not in _WITH_TEXTS:
            yield from _of_pairs(query, table, files)
        elif _has_other_rows(query, table.name, files):
            others.append(table.name)
    if others:
        yield "patch", f"rows of {', '.join(others)} differ"


def _hashes(files: Sequence[Path]) -> list[str]:
    return [sha256_file(path) for path in files]


def _of_texts(
    old: Path, new: Path, query: QueryRunner, table: Published, origin: Published, thing: tuple[str, str]
) -> Iterator[Found]:
    views = {
        f"{side}_{item.name}": item.files(directory)
        for side, directory in (("old", old), ("new", new))
        for item in (table, origin)
    }
    is_query = table is QUERIES
    text = _TEXTS.format(
        table=table.name,
        origin=origin.name,
        title="''" if is_query else "t.title",
        split="p.split" if is_query else "''",
    )
    counts = fetch_one(query, text, views)
    if counts["moved"]:
        yield "major", f"{_number(counts['moved'], thing)} in another split"
    for name, sign in (("added", "+"), ("withdrawn", "−")):
        if counts[name]:
            yield "minor", f"{sign}{_number(counts[name], thing)}"
    if counts["changed"]:
        yield "minor", f"{_number(counts['changed'], thing)} changed"


def _number(count: int, thing: tuple[str, str]) -> str:
    return f"{count:,} {thing[count != 1]}"


def _of_pairs(query: QueryRunner, table: Published, files: Sequence[Sequence[Path]]) -> Iterator[Found]:
    held = [set(pq.read_schema(of[0]).names) for of in files]
    values = [name for name in table.schema.names if name not in table.key and name in held[0] & held[1]]
    differs = " OR ".join(f"o.{name} IS DISTINCT FROM n.{name}" for name in values) or "false"
    views = {f"old_{table.name}": files[0], f"new_{table.name}": files[1]}
    counts = fetch_one(query, _PAIRS.format(table=table.name, differs=differs), views)
    said = [f"{sign}{counts[key]:,}" for key, sign in (("added", "+"), ("removed", "−")) if counts[key]]
    said += [f"{counts['changed']:,} changed"] if counts["changed"] else []
    if said:
        yield "patch", f"{'labels' if table is QRELS else 'excluded pairs'} {' '.join(said)}"


def _has_other_rows(query: QueryRunner, table: str, files: Sequence[Sequence[Path]]) -> bool:
    """Whether only one of two tables has a row, by the columns both have; of texts those that both have."""
    names = [pq.read_schema(of[0]).names for of in files]
    apart = _NEVER | _ELSEWHERE if table in _WITH_TEXTS else _NEVER
    both = [f'"{name}"' for name in names[0] if name in names[1] and name not in apart]
    where = _IN_BOTH.format(table=table) if table in _WITH_TEXTS else ""
    text = _ROWS.format(table=table, columns=", ".join(both), where=where)
    return bool(fetch_one(query, text, {f"old_{table}": files[0], f"new_{table}": files[1]})["n"])
