"""Model stages, those of tasks and those a spec asks for: what is stored of their answers; nothing is asked.

What the store holds of a stage's prompts is written as `<stage>_answers/all`, an input of later stages like
any other: the same answers on disk give the same bytes, and prompts without an answer are drops (`not_run`).
"""

from __future__ import annotations

import collections
import functools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow.parquet as pq

from annotation.judge.circularity import circular
from curation.prompts.reasoning_path import REASONING_PATH
from curation.prompts.stage import ANSWERS, model_stage
from curation.tasks.registry import TASKS
from curation.tasks.shared.judging.stage import KIND as JUDGE
from flows.adapters.answering import store_of
from flows.adapters.llm_runner import held
from flows.build.earlier_stages import bring_earlier
from flows.build.jobs import jobs_of
from flows.build.review_stages import bring_verdicts
from flows.engine.execution import StageSummary, split_done, sum_up
from flows.engine.lineage import check_current
from flows.engine.manifest import DROPPED, Manifest, Output, is_intact, publish, read_manifest
from flows.engine.runner import (
    ALL,
    DROP_TABLE,
    Job,
    execute,
    plan,
    read_rows,
    run_records,
    schema_hashes,
    shards_of,
    table_files,
    write_rows,
)
from flows.engine.session import Session
from flows.engine.workspace import Workspace
from flows.pipeline import ANSWERS_VERSION, VERSIONS, Choices, parameters_of, settings_of, steps
from schemas.errors import UsageError, WorkspaceError
from schemas.prompt import ModelAnswer, Prompt, as_params, models_in
from schemas.spec import DatasetSpec, Prompts
from schemas.stages import Drop, ModelStage, Reason, RecordStage

Shards = Mapping[str, Manifest]
_NOBODY: Final[Mapping[str, str]] = {}
_UNANSWERED: Mapping[str, Reason] = {
    "refused": Reason.REFUSED,
    "too_long": Reason.TOO_LONG,
    "invalid": Reason.INVALID,
}


@dataclass(frozen=True, slots=True)
class Held:
    """Prompts of a stage and what the store has of them, of one model; of several each has its own."""

    stage: ModelStage
    model: str
    prompts: Sequence[Prompt]
    answers: Sequence[ModelAnswer]

    @property
    def waiting(self) -> list[Prompt]:
        """Prompts without an answer."""
        known = {answer.prompt_id for answer in self.answers}
        return [prompt for prompt in self.prompts if prompt.id not in known]


def stages_of(spec: DatasetSpec, names: Sequence[str] = ()) -> list[ModelStage]:
    """The model stages of a spec: of each task its own in order, then those of its queries, by kind.

    Of those only the named ones, if any are.

    Args:
        spec: the dataset's spec.
        names: kinds (`hyde`), tasks or stages (`visual_context_hyde`).

    Raises:
        UsageError: a name is none of them, a model is named for a kind that is not asked for, or several for
            one that a single model has to answer.
    """
    found = [
        stage for task in sorted(spec.tasks) for stage in [*TASKS[task].model_stages, *_asked(spec, task)]
    ]
    unknown = [name for name in names if not any(name in (one.name, one.kind, one.task) for one in found)]
    if unknown:
        known = ", ".join([*sorted({one.kind for one in found}), *(one.name for one in found)]) or "none"
        raise UsageError(f"the spec asks for no model stage {unknown[0]!r}", hint=f"stages: {known}")
    if lost := sorted(spec.prompts.models.keys() - {one.kind for one in found}):
        known = ", ".join(sorted({one.kind for one in found})) or "none"
        raise UsageError(
            f"[prompts.models] names a stage that the spec does not have: {lost[0]!r}",
            hint=f"kinds of stages: {known}",
        )
    for one in found:
        if len(spec.prompts.models_of(one.kind)) > 1 and not one.takes_several:
            raise UsageError(
                f"[prompts.models] {one.kind} names several models, and one has to answer {one.name}",
                hint="a list is for kinds that several may answer, such as closed_book",
            )
    return [one for one in found if not names or {one.name, one.kind, one.task} & set(names)]


def fed_by(spec: DatasetSpec, asked: Sequence[ModelStage]) -> list[ModelStage]:
    """Stages of the spec whose prompts are made of answers to the given ones: what comes later in their task.

    What is asked of queries waits for all stages of the task's own, and makes prompts for nobody.
    """
    found = []
    for task in sorted(spec.tasks):
        own = TASKS[task].model_stages
        first = next((place for place, stage in enumerate(own, 1) if stage in asked), 0)
        found += [*own[first:], *_asked(spec, task)] if first else []
    return found


def own_family(spec: DatasetSpec, models: Mapping[str, str]) -> list[str]:
    """What is to be told where a judge is of the family of the model behind the reasoning paths it judges by.

    Args:
        spec: the dataset's spec.
        models: stage name -> model that answers it, '' for nobody.
    """
    told = []
    stages = stages_of(spec)
    for judge in (one for one in stages if one.kind == JUDGE):
        for path in (one for one in stages if one.task == judge.task and one.kind == REASONING_PATH.name):
            one, other = models.get(judge.name, ""), models.get(path.name, "")
            for item in circular(one, [other]) if one and other else ():
                shared = f"family {', '.join(item.families)}" if item.families else "the same model"
                told.append(
                    f"{judge.name}: {one} judges by reasoning paths of {other} ({shared}), so labels are "
                    f'circular; name another model: [prompts.models] {JUDGE} = "NAME"'
                )
    return told


def _asked(spec: DatasetSpec, task: str) -> list[ModelStage]:
    """What the spec asks of the queries of a task."""
    return [model_stage(kind, TASKS[task]) for kind in sorted(spec.prompts.stages)]


def has_own(spec: DatasetSpec, names: Sequence[str] = ()) -> list[str]:
    """Tasks of a spec with model stages of their own, or those of them that the named stages are of."""
    mine = {stage.task for stage in stages_of(spec, names)}
    return [task for task in sorted(spec.tasks) if task in mine and TASKS[task].model_stages]


def settle(
    session: Session, spec: DatasetSpec, names: Sequence[str] = (), asked: Mapping[str, str] = _NOBODY
) -> list[Held]:
    """Bring prompts, answers and texts of what the spec asks of queries up to what the store holds.

    Args:
        session: a session that holds the workspace.
        spec: the dataset's spec.
        names: as :func:`stages_of`.
        asked: stage name -> whose answers count; of other stages the spec's, else whose counted before.

    Raises:
        WorkspaceError: a task is not built, or out of date.
    """
    found = []
    for stage in stages_of(spec, names):
        if stage not in TASKS[stage.task].model_stages:
            _run(session, stage.asking)
            found += take_in(session, spec.prompts, stage, asked.get(stage.name, ""))
            _run(session, stage.reading)
    return found


def settle_own(
    session: Session, spec: DatasetSpec, tasks: Sequence[str], asked: Mapping[str, str] = _NOBODY
) -> list[Held]:
    """Run the steps of some tasks, but the first, on what the store holds.

    Args:
        session: a session that holds the workspace.
        spec: the dataset's spec.
        tasks: tasks with model stages of their own.
        asked: as :func:`settle`.

    Raises:
        WorkspaceError: the stage before them has not run, or is out of date.
    """
    found, chosen = [], Choices.of(spec)
    for step in steps("build", tasks):
        if step.model is not None:
            found += take_in(session, spec.prompts, step.model, asked.get(step.model.name, ""))
        elif step.review is not None:
            bring_verdicts(session, spec.name, step.review)
        elif step.earlier is not None:
            bring_earlier(session, spec.name, step.task, step.earlier)
        elif step.stage is not TASKS[step.task].per_article:
            _run_jobs(session, step.name, jobs_of(session, step, chosen))
    return found


def waiting_stages(workspace: Workspace, spec: DatasetSpec) -> list[tuple[ModelStage, str]]:
    """Stages of the spec's built tasks with prompts that nobody answered, each with the model that is to.

    So are those about queries that changed since: what is new among them is not known before they are asked.
    """
    finished = functools.cache(lambda name: shards_of(workspace, name))
    found = []
    for stage in stages_of(spec):
        made = finished(stage.answers).get(ALL)
        if not finished(TASKS[stage.task].over_all.name):
            continue
        if made is None or made.dropped.get(Reason.NOT_RUN) or not _is_current(workspace, stage, finished):
            found += [(stage, model) for model in chosen_models(workspace, spec.prompts, stage)]
    return found


def _is_current(workspace: Workspace, stage: ModelStage, finished: Callable[[str], Shards]) -> bool:
    try:
        check_current(workspace, stage.answers, finished, VERSIONS)
    except WorkspaceError:
        return False
    return True


def take_in(session: Session, prompts: Prompts, stage: ModelStage, model: str = "") -> list[Held]:
    """Write what the store holds of a stage's prompts, which stand, as a finished shard; by model.

    Args:
        session: a session that holds the workspace.
        prompts: what the spec says of models.
        stage: the model stage.
        model: whose answers count; '' for the spec's, else for whose counted before.
    """
    chosen = chosen_models(session.workspace, prompts, stage, model)
    mine = [take(session.workspace, stage, one) for one in chosen]
    _write_answers(session, prompts, stage, mine)
    return mine


def chosen_models(
    workspace: Workspace, prompts: Prompts, stage: ModelStage, asked: str = ""
) -> tuple[str, ...]:
    """Whose answers count: of the models of the spec, else the one asked for, else those that counted.

    One is '' where nobody is named.
    """
    made = shards_of(workspace, stage.answers).get(ALL)
    named = prompts.models_of(stage.kind) or (asked,)
    return named if any(named) else (models_in(made.params) if made else ()) or ("",)


def take(
    workspace: Workspace, stage: ModelStage, model: str, prompts: Sequence[Prompt] | None = None
) -> Held:
    """The prompts of a stage, as written or as given, and what the store holds of them."""
    if prompts is None:
        prompts = read_rows(Prompt, table_files(workspace, f"{stage.name}.prompts"))
    return Held(stage, model, prompts, held(prompts, model, store_of(workspace)) if model else [])


def preview(workspace: Workspace, spec: DatasetSpec, stage: ModelStage) -> list[Prompt]:
    """The prompts of a stage as its input stands now; nothing is written."""
    chosen = settings_of(stage.asking, parameters_of(spec)[stage.task])
    (job,) = plan(workspace, stage.asking, params=chosen, versions=VERSIONS)
    given = {item.table: read_rows(item.row, job.inputs[item.table]) for item in stage.asking.inputs}
    rows, _, _ = run_records(stage.asking, given, dict(job.identity.params), {})
    return sorted(rows["prompts"], key=lambda prompt: str(prompt.id))


def _run(session: Session, stage: RecordStage) -> None:
    """Run one pure stage in this process."""
    _run_jobs(session, stage.name, plan(session.workspace, stage, versions=VERSIONS))


def _run_jobs(session: Session, name: str, jobs: Sequence[Job]) -> None:
    done, waiting = split_done(jobs)
    finished = [(execute(job), True) for job in waiting.values()]
    finished += [(manifest, False) for job in done if (manifest := read_manifest(job.folder)) is not None]
    session.reporter.line(sum_up(name, finished).line())


def _write_answers(session: Session, prompts: Prompts, stage: ModelStage, mine: Sequence[Held]) -> None:
    """Write what the store holds as a finished shard; an equal one is left alone."""
    workspace, came = session.workspace, [answer for one in mine for answer in one.answers]
    good = [answer for answer in came if answer.state == "answered"]
    drops = [
        replace(drop, detail=f"{drop.detail} {one.model}") if len(mine) > 1 else drop
        for one in mine
        for drop in _drops(workspace, one)
    ]
    made = shards_of(workspace, stage.name)[ALL]
    units = {"in": sum(len(one.prompts) for one in mine), "kept": len(good), "dropped": len(drops)}
    staged = workspace.temporary / f"{stage.answers}.{ALL}"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    outputs: dict[str, Output] = {
        ANSWERS.name: write_rows(staged, ANSWERS, good),
        DROPPED: write_rows(staged, DROP_TABLE, drops),
    }
    manifest = Manifest(
        stage.answers,
        ANSWERS_VERSION,
        ALL,
        {
            "model": as_params([one.model for one in mine]),
            "served_models": sorted({answer.served_model for answer in came}),
            "is_trial": prompts.is_trial or any(answer.mode == "scripted" for answer in came),
            **_tokens(came),
            **stage.asked,
        },
        {f"{stage.name}.prompts/{ALL}": made.outputs["prompts"].sha256},
        dict(sorted(outputs.items())),
        {"prompt": units},
        dict(sorted(collections.Counter(drop.reason.value for drop in drops).items())),
        columns=schema_hashes([(ANSWERS.name, ModelAnswer), (DROPPED, Drop)]),
    )
    folder = workspace.stage(stage.answers) / ALL
    found = read_manifest(folder)
    fresh = found is None or found.to_json() != manifest.to_json() or not is_intact(folder, found)
    if fresh:
        publish(folder, staged, manifest, 0.0)
    shutil.rmtree(staged, ignore_errors=True)
    summary = StageSummary(stage.answers)
    summary.add(manifest, made=fresh)
    session.reporter.line(summary.line())


def _tokens(came: Sequence[ModelAnswer]) -> dict[str, int]:
    """What the answers took, as servers counted it, and how many answers no server counted."""
    known = [answer for answer in came if answer.tokens_in is not None and answer.tokens_out is not None]
    return {
        "tokens_in": sum(answer.tokens_in or 0 for answer in known),
        "tokens_out": sum(answer.tokens_out or 0 for answer in known),
        "answers_uncounted": len(came) - len(known),
    }


def _drops(workspace: Workspace, mine: Held) -> Iterator[Drop]:
    """Prompts without a usable answer."""
    articles: dict[str, str] = {}
    asked = mine.stage.asking.inputs[0]
    for path in table_files(workspace, asked.table):
        if "article_id" in pq.read_schema(path).names:
            rows: Any = pq.read_table(path, columns=[asked.by, "article_id"])
            articles |= dict(zip(rows[asked.by].to_pylist(), rows["article_id"].to_pylist(), strict=True))
    known = {answer.prompt_id: answer for answer in mine.answers}
    for prompt in mine.prompts:
        answer = known.get(prompt.id)
        if answer is None or answer.state != "answered":
            yield Drop(
                unit="prompt",
                id=prompt.id,
                article_id=articles.get(prompt.subject, ""),
                reason=Reason.NOT_RUN if answer is None else _UNANSWERED[answer.state],
                detail=prompt.subject,
            )
