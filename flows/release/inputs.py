"""Gathers what a release is made from: a task's tables, its drops, how it was built."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.published.manifest import BuildRecord, Retention, StageRecord
from curation.published.query import fetch_one
from curation.release.reviewed import VERDICTS
from curation.release.write import Inputs
from flows.build.earlier_stages import check_stood
from flows.build.model_stages import stages_of
from flows.build.review_stages import check_taken
from flows.engine.environment import made_with
from flows.engine.lineage import check_current
from flows.engine.register import read_register
from flows.engine.runner import shards_of, table_files
from flows.engine.session import Session
from flows.engine.workspace import STORAGE_VERSION, Workspace, write_atomic
from flows.pipeline import BEFORE_TASKS, PARTITION, VERSIONS, parameters_of
from flows.review.calibration import Calibrate, calibrate_release, shapers
from flows.review.reports import reported_in
from flows.review.store import review_folder
from flows.review.verdicts import review_summary, source_of
from flows.vocabulary import Vocabulary, current
from flows.vocabulary.store import credits_of
from schemas.errors import WorkspaceError
from schemas.facet_table import FACET_DECISIONS
from schemas.hashing import canonical_json
from schemas.judged_tables import CALIBRATION, JUDGEMENTS
from schemas.prompt import as_params, models_in
from schemas.record import to_table
from schemas.spec import DatasetSpec
from schemas.stages import EarlierStage, ModelStage, RecordStage, ReviewStage, SetStage
from schemas.tables import ANNOTATIONS, EXPANSIONS
from schemas.task import Task
from schemas.withdrawal import Withdrawn
from schemas.withdrawn_table import WITHDRAWN
from sources.stage import CRAWL

_LABELLED = ("labels", "label_questions", "label_exercises")
"""Stages that label records."""


def gather(
    session: Session, built: Task, spec: DatasetSpec, version: str, overrides: Mapping[str, str]
) -> Inputs:
    """What one task of a dataset is released from.

    Args:
        session: an open session holding the workspace.
        built: the task.
        spec: the dataset's spec.
        version: version of the release.
        overrides: `--set` changes to the spec, recorded in the release.

    Raises:
        WorkspaceError: the task was not built, or not from today's extraction with the spec's settings.
    """
    check_built(session, built, spec)
    workspace, stage = session.workspace, built.over_all
    source = source_of(workspace, spec.name, built.name)
    own = tuple(name for step in built.steps for name in _names(step))
    stages = (*BEFORE_TASKS, built.per_article.name, *own, *dict.fromkeys((stage.name, source)))
    vocabulary = current(workspace)
    given = [f"{source}.{name}" for name in ("queries", "qrels", "excluded")]
    given += [f"{stage.name}.documents", "parse.articles"]
    given += [f"{stage.name}.{name}" for name in built.extra_tables]
    given += [f"{source}.{ANNOTATIONS.name}"] if source != stage.name else []
    is_judged = JUDGEMENTS.name in built.extra_tables
    if is_judged and source != stage.name:
        given += [f"{VERDICTS.format(task=built.name)}.{CALIBRATION.name}"]
    given += [f"{PARTITION}.{name}" for name in ("keys", "assignments", "withheld")]
    given += [f"extract.{name}" for name in ("sources", "passages", "figures", "floats")]
    asked = [one for one in model_stages(session, built, spec) if one not in built.model_stages]
    tables = {name.partition(".")[2]: table_files(workspace, name) for name in given}
    tables[EXPANSIONS.name] = tuple(
        path for one in asked for path in table_files(workspace, f"{one.reading.name}.{EXPANSIONS.name}")
    )
    for name, table in ((FACET_DECISIONS.name, "labels"), ("labels", "records")):
        tables[name] = tuple(path for one in _LABELLED for path in table_files(workspace, f"{one}.{table}"))
    if "collections" in stage.outputs:  # files of questions are sources as well
        tables["sources"] += table_files(workspace, f"{stage.name}.collections")
    for name in ("names", "definitions"):
        tables[name] = (vocabulary.table(name),) if vocabulary else ()
    of_models = tuple(name for one in asked for name in _names(one))
    for name in (*stages, *of_models, PARTITION):
        tables[f"drops/{name}"] = table_files(workspace, f"{name}._dropped")
    record = _build_record(session, built, stages, of_models, overrides, vocabulary)
    if register := read_register(workspace):
        tables[WITHDRAWN.name] = (write_withdrawn(workspace, register),)
    return Inputs(
        built,
        tables,
        raw=workspace.raw,
        spec=spec,
        version=version,
        build=record,
        query=session.query,
        review=review_summary(workspace, spec, built.name),
        reported=reported_in(workspace, spec.name),
        calibrate=_calibrate(workspace, built, spec, record) if is_judged else None,
    )


def _calibrate(workspace: Workspace, built: Task, spec: DatasetSpec, made: BuildRecord) -> Calibrate:
    """What measures the judge of a task from the rows that are released."""
    stages = [{"name": stage.name, "params": stage.params} for stage in made.stages]
    shaped_by = shapers(stages, spec.baselines.systems, built.name)
    return calibrate_release(review_folder(workspace, spec.name, built.name), spec, built.name, shaped_by)


def write_withdrawn(workspace: Workspace, register: Sequence[Withdrawn]) -> Path:
    """Write the list of what was withdrawn as a table; its path. Equal lists are equal bytes."""
    path = workspace.temporary / "withdrawn.parquet"
    rows = sorted(register, key=lambda row: (row.unit, row.id))
    sink = pa.BufferOutputStream()
    pq.write_table(to_table(Withdrawn, rows), sink)
    write_atomic(path, sink.getvalue().to_pybytes())
    return path


def _names(step: RecordStage | SetStage | ModelStage | ReviewStage | EarlierStage) -> tuple[str, ...]:
    """Stages that a step is: one, or what is asked, what was answered and what is read of that."""
    if isinstance(step, ReviewStage):
        return step.name, step.verdicts, step.reading.name
    return (step.name, step.answers, step.reading.name) if isinstance(step, ModelStage) else (step.name,)


def check_built(session: Session, built: Task, spec: DatasetSpec) -> None:
    """The task must have been built from today's extraction with the spec's own settings.

    Raises:
        WorkspaceError: it was not, or not at all.
    """
    finished = functools.cache(lambda name: shards_of(session.workspace, name))
    hint = f"medqrels build {built.name} --spec SPEC"
    if not finished(built.over_all.name):
        raise WorkspaceError(
            f"task {built.name!r} has not been built", file=str(session.workspace.root), hint=hint
        )
    check_current(session.workspace, built.over_all.name, finished, VERSIONS)
    for stage in built.review_stages:
        check_taken(session.workspace, spec.name, stage, hint)
    for earlier in built.earlier_stages:
        check_stood(session.workspace, spec.name, built.name, earlier, hint)
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


def model_stages(session: Session, built: Task, spec: DatasetSpec) -> list[ModelStage]:
    """The model stages that the spec asks for of a task, brought up to today's queries.

    Raises:
        WorkspaceError: one has not run, is out of date, or was answered by another model than the spec names.
    """
    finished = functools.cache(lambda name: shards_of(session.workspace, name))
    hint = "medqrels answer --spec SPEC, or medqrels build to take what is stored"
    found = [stage for stage in stages_of(spec) if stage.task == built.name]
    for stage in found:
        if not finished(stage.reading.name):
            raise WorkspaceError(f"model stage {stage.name!r} has not run", hint=hint)
        check_current(session.workspace, stage.reading.name, finished, VERSIONS)
        (made,) = finished(stage.answers).values()
        is_trial = spec.prompts.is_trial or made.params["is_trial"]  # scripted answers make it one
        named = spec.prompts.models_of(stage.kind) or models_in(made.params) or ("",)
        wanted = {"model": as_params(named), "is_trial": is_trial}
        for key, value in wanted.items():
            if made.params[key] != value:
                raise WorkspaceError(
                    f"answers of {stage.name!r} were taken with {key} = {made.params[key]!r}; the spec says "
                    f"{value!r}",
                    file=str(session.workspace.root),
                    hint=hint,
                )
    return found


def _build_record(
    session: Session,
    built: Task,
    stages: tuple[str, ...],
    of_models: tuple[str, ...],
    overrides: Mapping[str, str],
    vocabulary: Vocabulary | None,
) -> BuildRecord:
    """Stage versions, settings and retention, summed over shards.

    Raises:
        WorkspaceError: shards of one stage were made by different versions or settings.
    """
    records, retention = [], []
    for name in (*stages, *of_models):
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
        session.query,
        f"""SELECT (SELECT count(*) FROM queries) AS entered,
            (SELECT count(*) FROM assignments WHERE task = '{built.name}') AS kept""",
        views,
    )
    return Retention(PARTITION, "query", counts["entered"], counts["kept"])
