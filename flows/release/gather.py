"""Gathers what a release is assembled from: a task's tables, its drops, how it was built."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from curation.published.manifest import BuildRecord, ReleaseManifest, Retention, StageRecord
from curation.published.query import fetch_one
from curation.release.assemble import Compare, assemble
from flows.build.stages import PARTITION, VERSIONS
from flows.engine.connection import query
from flows.engine.lineage import check_current
from flows.engine.runner import shards_of, table_files
from flows.engine.session import Session
from flows.engine.specs import parameters_of
from flows.engine.workspace import STORAGE_VERSION
from flows.release.baselines import derivation
from flows.release.made_with import made_with
from flows.review.verdicts import review_summary, source_of
from flows.vocabulary import Vocabulary, current
from flows.vocabulary.store import credits_of
from schemas.errors import WorkspaceError
from schemas.hashing import canonical_json
from schemas.spec import DatasetSpec
from schemas.tables import ANNOTATIONS
from schemas.task import Task

CRAWL = "crawl"
BEFORE_TASKS = (CRAWL, "parse", "extract")


def assemble_task(
    session: Session,
    built: Task,
    spec: DatasetSpec,
    cards: Path,
    version: str,
    overrides: Mapping[str, str],
    *,
    out: Path | None = None,
    derives: bool = True,
    compare: Compare | None = None,
) -> ReleaseManifest:
    """Assemble one task of a dataset.

    Args:
        session: an open session holding the workspace.
        built: the task.
        spec: the dataset's spec.
        cards: folder of the dataset's prose.
        version: version of the release.
        overrides: `--set` changes to the spec, recorded in the release.
        out: where `<dataset>/<version>/<task>/` goes; the workspace's releases/ folder when not given.
        derives: whether baseline systems are run on it.
        compare: says what changed since the release before.
    """
    check_built(session, built, spec)
    source = source_of(session.workspace, spec.name, built.name)
    stages = (*BEFORE_TASKS, built.per_article.name, *dict.fromkeys((built.over_all.name, source)))
    every = (*stages, PARTITION)
    tables: dict[str, tuple[Path, ...]] = {
        name: table_files(session.workspace, f"{source}.{name}") for name in ("queries", "qrels", "excluded")
    }
    tables["documents"] = table_files(session.workspace, f"{built.over_all.name}.documents")
    if source != built.over_all.name:
        tables[ANNOTATIONS.name] = table_files(session.workspace, f"{source}.annotations")
    for name in ("keys", "assignments", "withheld"):
        tables[name] = table_files(session.workspace, f"{PARTITION}.{name}")
    tables["labels"] = table_files(session.workspace, "labels.records")
    for name in built.extra_tables:
        tables[name] = table_files(session.workspace, f"{built.over_all.name}.{name}")
    for name in ("sources", "passages", "figures"):
        tables[name] = table_files(session.workspace, f"extract.{name}")
    tables["articles"] = table_files(session.workspace, "parse.articles")
    vocabulary = current(session.workspace)
    tables["names"] = (vocabulary.table("names"),) if vocabulary else ()
    for stage in every:
        tables[f"drops/{stage}"] = table_files(session.workspace, f"{stage}._dropped")
    return assemble(
        built,
        tables,
        raw=session.workspace.raw,
        out=out or session.workspace.releases,
        spec=spec,
        cards=cards,
        version=version,
        build=_build_record(session, built, stages, overrides, vocabulary),
        query=query(session.settings.memory_limit),
        derive=derivation(session, spec) if derives else None,
        review=review_summary(session.workspace, spec, built.name),
        compare=compare,
    )


def check_built(session: Session, built: Task, spec: DatasetSpec) -> None:
    """The task must have been built from today's extraction with the spec's own settings.

    Raises:
        WorkspaceError: it was not, or not at all.
    """
    finished = functools.cache(lambda name: shards_of(session.workspace, name))
    hint = f"medqrels build {built.name} --spec data_cards/{spec.name}/spec.toml"
    if not finished(built.over_all.name):
        raise WorkspaceError(
            f"task {built.name!r} has not been built", file=str(session.workspace.root), hint=hint
        )
    check_current(session.workspace, built.over_all.name, finished, VERSIONS)
    wanted = {**built.per_article.params, **parameters_of(spec)[built.name]}
    for manifest in finished(built.per_article.name).values():
        differing = sorted(
            key for key in wanted if canonical_json(manifest.params.get(key)) != canonical_json(wanted[key])
        )
        if differing:
            key = differing[0]
            raise WorkspaceError(
                f"task {built.name!r} was built with {key} = {manifest.params.get(key)!r}; "
                f"the spec says {wanted[key]!r}",
                file=str(session.workspace.root),
                hint=hint,
            )


def _build_record(
    session: Session,
    built: Task,
    stages: tuple[str, ...],
    overrides: Mapping[str, str],
    vocabulary: Vocabulary | None,
) -> BuildRecord:
    """Stage versions, settings and retention, summed over shards.

    Raises:
        WorkspaceError: shards of one stage were made by different versions or settings.
    """
    records, retention = [], []
    for name in stages:
        manifests = list(shards_of(session.workspace, name).values())
        if not manifests:
            raise WorkspaceError(f"stage {name!r} has not run", hint="medqrels run --spec …")
        settings = {canonical_json(dict(item.params)): dict(item.params) for item in manifests}
        is_mixed = len(settings) > 1 and name != CRAWL  # sources are crawled each in its own way
        if len({item.version for item in manifests}) > 1 or is_mixed:
            raise WorkspaceError(
                f"shards of stage {name!r} were made with different settings", hint="run the stage again"
            )
        listed = [settings[key] for key in sorted(settings)]
        params = listed[0] if len(listed) == 1 else {"settings": listed}
        records.append(StageRecord(name, manifests[0].version, params))
        for unit in manifests[0].units:
            retention.append(
                Retention(
                    name,
                    unit,
                    sum(item.units[unit]["in"] for item in manifests),
                    sum(item.units[unit]["kept"] for item in manifests),
                )
            )
    shared = shards_of(session.workspace, PARTITION)["all"]
    records.append(StageRecord(PARTITION, shared.version, dict(shared.params)))
    retention.append(_partitioned(session, built, stages[-1]))
    named, credited = (vocabulary.fingerprint, credits_of(vocabulary)) if vocabulary else ("", ())
    return BuildRecord(
        STORAGE_VERSION, tuple(records), tuple(retention), overrides, named, credited, made_with()
    )


def _partitioned(session: Session, built: Task, source: str) -> Retention:
    """How many of one task's queries the partition was given and kept."""
    workspace = session.workspace
    views = {
        "queries": table_files(workspace, f"{source}.queries"),
        "assignments": table_files(workspace, f"{PARTITION}.assignments"),
    }
    counts = fetch_one(
        query(session.settings.memory_limit),
        f"""SELECT (SELECT count(*) FROM queries) AS entered,
            (SELECT count(*) FROM assignments WHERE task = '{built.name}') AS kept""",
        views,
    )
    return Retention(PARTITION, "query", counts["entered"], counts["kept"])
