"""Runs stages: record stages over shards, set stages over everything; skips what is already done.

A job is one (stage, shard) as plain values, so it can be sent to a worker process. Knows no Prefect.
"""

from __future__ import annotations

import collections
import functools
import itertools
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from flows.engine.database import run_set_stage
from flows.engine.lineage import check_current, verb_of
from flows.engine.manifest import DROPPED, Manifest, Output, is_intact, publish, read_manifest, write_parquet
from flows.engine.workspace import Workspace
from schemas.errors import ConservationError, MedqrelsError, UsageError, WorkspaceError
from schemas.hashing import sha256_file, sha256_text
from schemas.record import arrow_schema, from_table, to_table
from schemas.stages import Drop, RecordStage, SetStage, Table, check_reasons

ALL = "all"
DROP_TABLE = Table(DROPPED, Drop, ("unit", "id", "reason", "detail"))


@dataclass(frozen=True, slots=True)
class Resource:
    """A file or folder handed to a stage. `fingerprint` is '' when the input rows already hold its hashes."""

    path: Path
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """One shard of one stage, ready to run in any process."""

    stage: RecordStage | SetStage
    shard: str
    folder: Path
    staged: Path
    inputs: Mapping[str, tuple[Path, ...]]
    identity: Manifest
    resources: Mapping[str, Resource]
    memory_limit: str = "4GB"

    def is_done(self) -> bool:
        """Whether the shard on disk was made from the same inputs by the same code, and is whole."""
        try:
            found = read_manifest(self.folder)
        except WorkspaceError:
            return False
        return (
            found is not None
            and found.identity() == self.identity.identity()
            and is_intact(self.folder, found)
        )


def shards_of(workspace: Workspace, stage: str) -> dict[str, Manifest]:
    """Finished shards of a stage, by name, in order."""
    base = workspace.stage(stage)
    if not base.is_dir():
        return {}
    found = {}
    for folder in sorted(base.iterdir()):
        manifest = read_manifest(folder) if folder.is_dir() else None
        if manifest is not None:
            found[folder.name] = manifest
    return found


def table_files(workspace: Workspace, qualified: str) -> tuple[Path, ...]:
    """Files of `stage.table` over all finished shards, in shard order."""
    stage, _, table = qualified.partition(".")
    return tuple(
        workspace.stage(stage) / shard / manifest.outputs[table].file
        for shard, manifest in shards_of(workspace, stage).items()
    )


def schema_hashes(tables: Iterable[tuple[str, type]]) -> dict[str, str]:
    """Short hashes of the columns of some tables: a changed schema makes old shards stale."""
    return {
        name: sha256_text(arrow_schema(row).to_string(show_field_metadata=False))[:16] for name, row in tables
    }


def plan(
    workspace: Workspace,
    stage: RecordStage | SetStage,
    *,
    params: Mapping[str, Any] | None = None,
    resources: Mapping[str, Resource] | None = None,
    memory_limit: str = "4GB",
    versions: Mapping[str, int] | None = None,
) -> list[Job]:
    """The jobs of a stage, one per upstream shard (record stage) or one for all (set stage).

    Args:
        workspace: an open workspace.
        stage: what to run.
        params: settings that differ from the stage's own.
        resources: files for the resources the stage names.
        memory_limit: DuckDB memory limit of set stages.
        versions: stage versions of this code; input made by other versions is refused.

    Raises:
        UsageError: the stage has no such setting.
        WorkspaceError: an input stage has not run, or is out of date.
    """
    views, outputs = _tables(stage)
    names = stages_before(stage)
    finished = functools.cache(lambda name: shards_of(workspace, name))
    for name in sorted(names):
        if not finished(name):
            raise WorkspaceError(f"stage {name!r} has not run", file=str(workspace.root), hint=verb_of(name))
        check_current(workspace, name, finished, versions or {})
    settings = _settings(stage, params or {})
    used = {name: (resources or {})[name] for name in stage.resources}
    fixed = {f"resource:{name}": item.fingerprint for name, item in used.items() if item.fingerprint}
    columns = schema_hashes(outputs)
    if isinstance(stage, SetStage):
        shard_names: Sequence[str] = (ALL,)
    else:
        shard_names = tuple(finished(stage.inputs[0].table.partition(".")[0]))
    upstream = {name: finished(name) for name in names}
    jobs = []
    for shard in shard_names:
        files, hashes = _inputs(workspace, views, upstream, None if shard == ALL else shard)
        made_from = {**hashes, **fixed}
        identity = Manifest(
            stage.name, stage.version, shard, settings, made_from, {}, {}, {}, columns=columns
        )
        folder = workspace.stage(stage.name) / shard
        staged = workspace.temporary / f"{stage.name}.{shard}"
        jobs.append(Job(stage, shard, folder, staged, files, identity, used, memory_limit))
    return jobs


def stages_before(stage: RecordStage | SetStage) -> set[str]:
    """Names of the stages whose tables a stage reads."""
    return {table.partition(".")[0] for table in _tables(stage)[0].values()}


def _tables(stage: RecordStage | SetStage) -> tuple[dict[str, str], list[tuple[str, type]]]:
    """Input tables by view name, and output tables with their row types."""
    if isinstance(stage, SetStage):
        views = {view: table for view, (table, _) in stage.inputs.items()}
        return views, [(name, sql.row) for name, sql in stage.outputs.items()]
    outputs = [(table.name, table.row) for table in stage.outputs] + [(DROPPED, Drop)]
    return {item.table: item.table for item in stage.inputs}, outputs


def _settings(stage: RecordStage | SetStage, given: Mapping[str, Any]) -> dict[str, Any]:
    own: Mapping[str, Any] = stage.params
    unknown = sorted(set(given) - set(own))
    if unknown:
        raise UsageError(
            f"stage {stage.name} has no setting {unknown[0]!r}",
            hint="its settings: " + ", ".join(sorted(own)),
        )
    return {**own, **given}


def _inputs(
    workspace: Workspace,
    views: Mapping[str, str],
    upstream: Mapping[str, Mapping[str, Manifest]],
    only: str | None,
) -> tuple[dict[str, tuple[Path, ...]], dict[str, str]]:
    files: dict[str, tuple[Path, ...]] = {}
    hashes: dict[str, str] = {}
    for view, qualified in views.items():
        stage, _, table = qualified.partition(".")
        chosen = upstream[stage] if only is None else {only: upstream[stage].get(only)}
        paths = []
        for shard, manifest in chosen.items():
            if manifest is None:
                raise WorkspaceError(f"stage {stage!r} lacks shard {shard}", hint=verb_of(stage))
            output = manifest.outputs.get(table)
            if output is None:
                raise WorkspaceError(
                    f"stage {stage!r}, shard {shard}: no table {table!r}; another medqrels made it",
                    hint=verb_of(stage),
                )
            paths.append(workspace.stage(stage) / shard / output.file)
            hashes[f"{qualified}/{shard}"] = output.sha256
        files[view] = tuple(paths)
    return files, hashes


def execute(job: Job) -> Manifest:
    """Run one job to its manifest. Safe to kill at any point; safe to run twice."""
    # One statement over all shards uses several threads, and has the process for itself.
    clock = time.process_time if isinstance(job.stage, SetStage) else time.thread_time
    started, cpu = time.monotonic(), clock()
    _check_inputs(job)
    shutil.rmtree(job.staged, ignore_errors=True)
    job.staged.mkdir(parents=True)
    if isinstance(job.stage, SetStage):
        manifest = _execute_set(job, job.stage)
    else:
        manifest = _execute_records(job, job.stage)
    publish(job.folder, job.staged, manifest, time.monotonic() - started, clock() - cpu)
    return manifest


def _check_inputs(job: Job) -> None:
    """Refuse input files that are not what their manifest states: output would claim a false origin."""
    for path in sorted({path for paths in job.inputs.values() for path in paths}):
        stage, shard = path.parent.parent.name, path.parent.name
        stated = job.identity.inputs.get(f"{stage}.{path.stem}/{shard}")
        if not path.is_file() or sha256_file(path) != stated:
            raise WorkspaceError(
                f"an output of stage {stage!r} was changed or removed after it was made",
                file=str(path),
                hint=f"{verb_of(stage)} makes it again",
            )


def _finish(
    job: Job,
    outputs: Mapping[str, Output],
    units: Mapping[str, Mapping[str, int]],
    dropped: Mapping[str, int],
) -> Manifest:
    known = job.identity
    return Manifest(
        known.stage,
        known.version,
        known.shard,
        known.params,
        known.inputs,
        dict(sorted(outputs.items())),
        units,
        dict(sorted(dropped.items())),
        columns=known.columns,
    )


def _execute_set(job: Job, stage: SetStage) -> Manifest:
    files = {**job.inputs, **{name: (item.path,) for name, item in job.resources.items()}}
    outputs, units, dropped = run_set_stage(stage, files, job.staged, job.memory_limit, job.identity.params)
    return _finish(job, outputs, units, dropped)


def _execute_records(job: Job, stage: RecordStage) -> Manifest:
    tables = {item.table: read_rows(item.row, job.inputs[item.table]) for item in stage.inputs}
    kept, drops, units = run_records(
        stage, tables, dict(job.identity.params), {name: item.path for name, item in job.resources.items()}
    )
    outputs = {}
    for table in stage.outputs:
        outputs[table.name] = write_rows(job.staged, table, kept[table.name])
    outputs[DROPPED] = write_rows(job.staged, DROP_TABLE, drops)
    return _finish(job, outputs, units, collections.Counter(drop.reason.value for drop in drops))


def read_rows(row: type, files: Sequence[Path]) -> list[Any]:
    """All rows of some Parquet files as records."""
    rows: list[Any] = []
    for path in files:
        rows.extend(from_table(row, pq.read_table(path)))
    return rows


def write_rows(folder: Path, table: Table, rows: Sequence[Any]) -> Output:
    """Write rows sorted by their unique key.

    Raises:
        MedqrelsError: two rows have the same key.
    """
    keyed = sorted(
        ((tuple(getattr(row, part) for part in table.key), row) for row in rows), key=lambda item: item[0]
    )
    for (key, _), (following, _) in itertools.pairwise(keyed):
        if key == following:
            raise MedqrelsError(f"table {table.name}: two rows have the key {key}", record=str(key[0]))
    path = folder / f"{table.name}.parquet"
    write_parquet(path, to_table(table.row, [row for _, row in keyed]))
    return Output(path.name, sha256_file(path), len(keyed))


def run_records(
    stage: RecordStage,
    tables: Mapping[str, Sequence[Any]],
    params: Mapping[str, Any],
    resources: Mapping[str, Path],
) -> tuple[dict[str, list[Any]], list[Drop], dict[str, dict[str, int]]]:
    """Run a record stage in memory: rows per output table, drops, unit counts.

    Raises:
        ConservationError: a unit was lost, invented, or both kept and dropped.
    """
    driving, *others = stage.inputs
    owners = {getattr(row, driving.by) for row in tables[driving.table]}
    related = [_by(tables[item.table], item.by) for item in others]
    for item, group in zip(others, related, strict=True):
        orphans = sorted(group.keys() - owners)
        if orphans:
            raise ConservationError(
                f"stage {stage.name}: rows of {item.table} belong to no row of {driving.table}",
                record=str(orphans[0]),
            )
    kept: dict[str, list[Any]] = {table.name: [] for table in stage.outputs}
    drops: list[Drop] = []
    counts: dict[str, dict[str, int]] = {
        account.unit: {"in": 0, "kept": 0, "dropped": 0} for account in stage.accounts
    }
    arguments = {**stage.arguments(params), **resources}
    for row in sorted(tables[driving.table], key=lambda item: getattr(item, driving.by)):
        rows = [row, *(group.get(getattr(row, driving.by), []) for group in related)]
        mine: dict[str, list[Any]] = {table.name: [] for table in stage.outputs}
        my_drops: list[Drop] = []
        for out in _made(stage, rows, arguments):
            if isinstance(out, Drop):
                my_drops.append(out)
            else:
                mine[_table_for(stage, out)].append(out)
        _check_accounts(stage, params, rows, mine, my_drops, counts)
        for name, made in mine.items():
            kept[name].extend(made)
        drops.extend(my_drops)
    check_reasons(stage, (drop.reason for drop in drops))
    return kept, drops, counts


def _made(stage: RecordStage, rows: Sequence[Any], arguments: Mapping[str, Any]) -> Iterator[Any]:
    """What the stage yields; an unforeseen error of ours is told with the record that caused it."""
    try:
        yield from stage.process(*rows, **arguments)
    except MedqrelsError:
        raise
    except Exception as error:
        record = str(getattr(rows[0], stage.inputs[0].by))
        raise MedqrelsError(
            f"stage {stage.name} failed: {type(error).__name__}: {error}", record=record
        ) from error


def _table_for(stage: RecordStage, row: Any) -> str:
    for table in stage.outputs:
        if table.row is type(row):
            return table.name
    raise MedqrelsError(f"stage {stage.name} yielded a {type(row).__name__}, which none of its tables holds")


def _by(rows: Iterable[Any], attribute: str) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = collections.defaultdict(list)
    for row in rows:
        groups[getattr(row, attribute)].append(row)
    return groups


def _check_accounts(
    stage: RecordStage,
    params: Mapping[str, Any],
    rows: Sequence[Any],
    kept: Mapping[str, Sequence[Any]],
    drops: Sequence[Drop],
    counts: dict[str, dict[str, int]],
) -> None:
    for account in stage.accounts:
        chosen = {name: params[name] for name in account.params}
        expected = collections.Counter(account.units(*rows, **chosen))
        got = collections.Counter(getattr(row, account.key) for row in kept[account.table])
        lost = collections.Counter(drop.id for drop in drops if drop.unit == account.unit)
        if expected != got + lost:
            wrong = sorted((expected - got - lost) + (got + lost - expected))
            raise ConservationError(
                f"stage {stage.name}: {account.unit}: {expected.total()} in, {got.total()} kept, "
                f"{lost.total()} dropped; first unaccounted: {wrong[0]}",
                record=wrong[0],
            )
        tally = counts[account.unit]
        tally["in"] += expected.total()
        tally["kept"] += got.total()
        tally["dropped"] += lost.total()


def remove_stale_shards(workspace: Workspace, stage: str, current: Iterable[str]) -> list[str]:
    """Delete shards of a stage that no longer have an upstream shard; their names."""
    base = workspace.stage(stage)
    stale = (
        sorted(set(item.name for item in base.iterdir() if item.is_dir()) - set(current))
        if base.is_dir()
        else []
    )
    for name in stale:
        shutil.rmtree(base / name)
    return stale
