"""Runs the partition over the tasks of a dataset: what earlier releases published keeps its place.

What was published is read from the workspace's releases into a table of its own, an input like any other.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from curation.partition.near_queries import VERSION as NEAR_VERSION
from curation.partition.near_queries import near_keys
from curation.partition.published import PublishedTask, published_rows
from curation.partition.records import MergedConcept, NearQuery, PublishedKey
from curation.partition.stage import partition_stage
from flows.engine.database import add_view, connect, write_select
from flows.engine.manifest import Manifest, Output, is_intact, publish, read_manifest, write_parquet
from flows.engine.releases import earlier_releases
from flows.engine.runner import ALL, Job, plan, schema_hashes, shards_of, table_files
from flows.engine.session import Session
from flows.engine.workspace import Workspace
from flows.pipeline import VERSIONS
from flows.review.verdicts import apply_verdicts
from flows.vocabulary import current
from schemas.hashing import sha256_file
from schemas.record import to_table
from schemas.spec import DatasetSpec, Partition
from schemas.stages import SetStage, Sql
from schemas.tables import KEYS, ORIGIN_QUERIES

PUBLISHED = "published"
PUBLISHED_VERSION = 1
NEAR_QUERIES = "near_queries"
_MERGED = """
    SELECT concept, min(canonical) AS canonical FROM (
        SELECT r.concept, r.replacement AS canonical FROM retired AS r WHERE r.replacement <> ''
        UNION ALL
        SELECT n.code, n.concept FROM names AS n WHERE n.code <> '' AND n.code <> n.concept)
    WHERE concept IN (SELECT key FROM published_keys WHERE dimension = 'target_concept')
        AND concept NOT IN (SELECT concept FROM names)
    GROUP BY concept"""
"""A published concept that is no concept any more goes by the one that replaced or took it in."""
_NOTHING = "SELECT '' AS concept, '' AS canonical WHERE false"


def partition_jobs(session: Session, spec: DatasetSpec, version: str | None = None) -> list[Job]:
    """The partition of a dataset's tasks, planned.

    What was published and reviewed, and which queries are nearly the same, is written first.

    Args:
        session: a session that holds the workspace.
        spec: the dataset's spec.
        version: the release to be made; only earlier ones count as published. All when not given.
    """
    _write_published(session, spec.name, version)
    stage = stage_of(spec.partition, sorted(spec.tasks))
    stage = replace(stage, inputs={**stage.inputs, **apply_verdicts(session, spec)})
    _write_near_queries(session.workspace, {task: stage.inputs[f"{task}_queries"][0] for task in spec.tasks})
    return plan(session.workspace, stage, memory_limit=session.settings.memory_limit, versions=VERSIONS)


def stage_of(settings: Partition, tasks: Sequence[str]) -> SetStage:
    """The partition stage of some tasks under a spec's settings."""
    return partition_stage(
        tasks, dev_share=settings.dev_share, weights=settings.weights, leave_out=settings.leave_out
    )


def _write_published(session: Session, dataset: str, version: str | None) -> None:
    """Write `published.keys` and `published.merged`, unless they stand there already."""
    workspace = session.workspace
    staged = workspace.temporary / "published"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    tasks, views = _published_tasks(earlier_releases(workspace, dataset, version))
    vocabulary = current(workspace)
    outputs: dict[str, Output] = {}
    with connect(session.settings.memory_limit, workspace.temporary) as connection:
        for view, files in views.items():
            add_view(connection, view, files, None)
        keys = Sql(published_rows(tasks), PublishedKey, ("task", "query_id", "dimension", "key"))
        outputs["keys"] = write_select(connection, keys, staged / "keys.parquet")
        add_view(connection, "published_keys", [staged / "keys.parquet"], PublishedKey)
        if vocabulary is not None:
            for name in ("names", "retired"):
                add_view(connection, name, [vocabulary.table(name)], None)
        merged = Sql(_MERGED if vocabulary else _NOTHING, MergedConcept, ("concept",))
        outputs["merged"] = write_select(connection, merged, staged / "merged.parquet")
    _settle(workspace, staged, outputs)


def _published_tasks(
    releases: Sequence[tuple[str, Sequence[Path]]],
) -> tuple[list[PublishedTask], dict[str, Sequence[Path]]]:
    """Task folders as the views the partition reads them by; releases before there were keys have none."""
    tasks: list[PublishedTask] = []
    views: dict[str, Sequence[Path]] = {}
    for order, (version, folders) in enumerate(releases):
        for folder in folders:
            keys, queries = KEYS.files(folder), ORIGIN_QUERIES.files(folder)
            if keys and queries:
                number = len(tasks)
                tasks.append(PublishedTask(number, folder.name, version, order))
                views |= {f"keys_{number}": keys, f"queries_{number}": queries}
    return tasks, views


def _write_near_queries(workspace: Workspace, tables: Mapping[str, str]) -> None:
    """Write `near_queries.keys` of some tasks' query tables, unless it stands there, made of the same."""
    inputs = {}
    for qualified in sorted(tables.values()):
        stage, _, table = qualified.partition(".")
        for shard, made in shards_of(workspace, stage).items():
            inputs[f"{qualified}/{shard}"] = made.outputs[table].sha256
    folder = workspace.stage(NEAR_QUERIES) / ALL
    columns = schema_hashes([("keys", NearQuery)])
    manifest = Manifest(NEAR_QUERIES, NEAR_VERSION, ALL, {}, inputs, {}, {}, {}, columns=columns)
    found = read_manifest(folder)
    if found is not None and found.identity() == manifest.identity() and is_intact(folder, found):
        return
    staged = workspace.temporary / NEAR_QUERIES
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    rows = near_keys({task: table_files(workspace, qualified) for task, qualified in tables.items()})
    path = staged / "keys.parquet"
    write_parquet(path, to_table(NearQuery, rows))
    outputs = {"keys": Output(path.name, sha256_file(path), len(rows))}
    publish(folder, staged, replace(manifest, outputs=outputs), 0.0)


def _settle(workspace: Workspace, staged: Path, outputs: Mapping[str, Output]) -> None:
    """Put the tables in place as a finished shard; equal ones are left alone."""
    inputs = {name: sha256_file(staged / f"{name}.parquet") for name in sorted(outputs)}
    columns = schema_hashes([("keys", PublishedKey), ("merged", MergedConcept)])
    manifest = Manifest(PUBLISHED, PUBLISHED_VERSION, ALL, {}, inputs, dict(outputs), {}, {}, columns=columns)
    publish(workspace.stage(PUBLISHED) / ALL, staged, manifest, 0.0)
