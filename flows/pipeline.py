"""The pipeline, declared once: its stages in order, the command that runs each, and what shapes it.

Flows, `--dry-run`, `show`, `status`, the check of lineage and the release read this table. The resources of a
stage stand in the stage itself; `flows.build.jobs` finds their files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from curation.cases.stage import CASES
from curation.concepts.stage import GROUND, GROUND_EXERCISES, GROUND_QUESTIONS
from curation.diagnosis.stage import DIAGNOSES
from curation.extract.stage import EXTRACT
from curation.images.stage import IMAGES
from curation.labels.questions import LABEL_EXERCISES, LABEL_QUESTIONS
from curation.labels.stage import LABELS
from curation.partition.stage import VERSION as PARTITION_VERSION
from curation.prompts.registry import KINDS
from curation.prompts.stage import model_stage
from curation.tasks.registry import TASKS
from schemas.spec import DatasetSpec, Grounding, Images
from schemas.stages import EarlierStage, ModelStage, RecordStage, ReviewStage, SetStage
from sources.cnxml.exercises import EXERCISES
from sources.questions import QUESTIONS
from sources.stage import CRAWL, CRAWL_VERSION, PARSE

Verb = Literal["crawl", "extract", "ground", "build", "answer", "release"]
PARTITION = "partition"
"""The stage that shares queries out among tasks and splits; which tasks, a spec says."""
ANSWERS_VERSION = 2
"""Of what is written of stored answers (flows.build.model_stages)."""
VERDICTS_VERSION = 1
"""Of what is written of people's verdicts on records of a task (flows.build.review_stages)."""
EARLIER_VERSION = 1
"""Of what is written of an earlier release (flows.build.earlier_stages)."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a spec or a command chooses of the stages; what is not chosen, the stages' own settings decide.

    `tasks` are the parameters of each task.
    """

    images: Images | None = None
    grounding: Grounding = field(default_factory=Grounding)
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: DatasetSpec | None) -> Choices:
        """What a spec chooses; without one, nothing."""
        return cls() if spec is None else cls(spec.images, spec.grounding, parameters_of(spec))


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of the pipeline.

    Attributes:
        name: of the stage.
        verb: the command that runs it.
        version: of the stage in this code.
        stage: what the runner runs; None where the verb does the work in its own way.
        task: the benchmark task it builds, '' for what all tasks share.
        model: of the step that takes what is stored of a model stage's answers, that stage.
        review: of the step that takes people's verdicts on the items of a review stage, that stage.
        earlier: of the step that takes what an earlier release says, that stage.
        is_recorded: whether every release states its version, settings and drops.
        params: what of the choices shapes it.
    """

    name: str
    verb: Verb
    version: int
    stage: RecordStage | SetStage | None = None
    task: str = ""
    model: ModelStage | None = None
    review: ReviewStage | None = None
    earlier: EarlierStage | None = None
    is_recorded: bool = False
    params: Callable[[Choices], Mapping[str, Any]] = lambda choices: {}


def parameters_of(spec: DatasetSpec) -> dict[str, dict[str, Any]]:
    """Settings per task: the spec's own or the defaults, and its licence profile."""
    return {
        name: TASKS[name].settings(**given, licence_profile=spec.licence_profile).model_dump()
        for name, given in spec.tasks.items()
    }


def _of_images(choices: Choices) -> Mapping[str, Any]:
    wanted = choices.images
    if wanted is None:
        return {}
    switched = {name: "on" if getattr(wanted, name) else "off" for name in ("faces", "ocr")}
    return {**switched, "ocr_languages": wanted.ocr_languages}


def _of_grounding(choices: Choices) -> Mapping[str, Any]:
    return {"backend": choices.grounding.backend, "overlaps": choices.grounding.overlaps}


def _step(stage: RecordStage | SetStage, verb: Verb, **more: Any) -> Step:
    return Step(stage.name, verb, stage.version, stage, **more)


def _task_steps() -> list[Step]:
    """Each task per article, then over all of them."""
    found = []
    for name, task in TASKS.items():
        found.append(
            _step(
                task.per_article,
                "build",
                task=name,
                params=lambda choices, name=name: choices.tasks.get(name, {}),
            )
        )
        for stage in task.steps:
            if isinstance(stage, ModelStage):
                found += _of_model(stage, "build")
            elif isinstance(stage, ReviewStage):
                found += _of_people(stage)
            elif isinstance(stage, EarlierStage):
                found.append(Step(stage.name, "build", EARLIER_VERSION, task=name, earlier=stage))
            else:
                found.append(_own(stage, name))
        found.append(_own(task.over_all, name))
    return found


def _own(stage: RecordStage | SetStage, task: str) -> Step:
    """A stage of a task after the first."""
    return _step(
        stage, "build", task=task, params=lambda choices: settings_of(stage, choices.tasks.get(task, {}))
    )


def settings_of(stage: RecordStage | SetStage, chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a stage is given of its task's settings: all where it takes them, else those among its params."""
    if isinstance(stage, RecordStage) and stage.settings is not None:
        return chosen
    return {name: value for name, value in chosen.items() if name in stage.params}


def _of_model(stage: ModelStage, verb: Verb) -> list[Step]:
    """Prompts, answers, what is read of them."""
    return [
        replace(_own(stage.asking, stage.task), verb=verb),
        Step(stage.answers, verb, ANSWERS_VERSION, task=stage.task, model=stage),
        _step(stage.reading, verb, task=stage.task),
    ]


def _of_people(stage: ReviewStage) -> list[Step]:
    """Items, verdicts, what is read of them."""
    return [
        _own(stage.asking, stage.task),
        Step(stage.verdicts, "build", VERDICTS_VERSION, task=stage.task, review=stage),
        _own(stage.reading, stage.task),
    ]


def _model_steps() -> list[Step]:
    """What language models can be asked of each task's queries."""
    asked = [model_stage(kind, task) for task in TASKS.values() for kind in KINDS]
    return [step for stage in asked for step in _of_model(stage, "answer")]


PIPELINE: tuple[Step, ...] = (
    Step(CRAWL, "crawl", CRAWL_VERSION, is_recorded=True),
    _step(PARSE, "extract", is_recorded=True),
    _step(EXTRACT, "extract", is_recorded=True),
    _step(CASES, "extract"),
    _step(IMAGES, "extract", params=_of_images),
    _step(QUESTIONS, "extract"),
    _step(EXERCISES, "extract"),
    _step(GROUND, "ground", params=_of_grounding),
    _step(GROUND_QUESTIONS, "ground", params=_of_grounding),
    _step(GROUND_EXERCISES, "ground", params=_of_grounding),
    _step(DIAGNOSES, "ground"),
    _step(LABELS, "ground"),
    _step(LABEL_QUESTIONS, "ground"),
    _step(LABEL_EXERCISES, "ground"),
    *_task_steps(),
    *_model_steps(),
    Step(PARTITION, "build", PARTITION_VERSION),
)

ORDER: Mapping[str, int] = {step.name: place for place, step in enumerate(PIPELINE)}
"""Place of each stage on the way."""

VERSIONS: Mapping[str, int] = {step.name: step.version for step in PIPELINE}
"""Version of each stage in this code."""

BEFORE_TASKS: tuple[str, ...] = tuple(step.name for step in PIPELINE if step.is_recorded)
"""Stages before the tasks that every release states."""

_ASIDE: Mapping[str, Verb] = {"published": "release"}
"""Tables that a command keeps in the form of a stage; those not named belong to `build`."""


def steps(verb: Verb, tasks: Sequence[str] = ()) -> list[Step]:
    """What is run for a verb, in order; of tasks only those named, if any are.

    A step has a stage for the runner, or is that of what models answered, people concluded or an earlier
    release says.
    """
    runs = (step for step in PIPELINE if step.stage or step.model or step.review or step.earlier)
    found = [step for step in runs if step.verb == verb]
    if not tasks:
        return found
    return [step for name in tasks for step in found if step.task == name]


def in_order(names: Sequence[str]) -> list[str]:
    """Stages in the order of the pipeline, those it does not know last, by name."""
    return sorted(names, key=lambda name: (ORDER.get(name, len(ORDER)), name))


def verb_of(stage: str) -> str:
    """The command that runs a stage."""
    own = next((step.verb for step in PIPELINE if step.name == stage), None)
    return f"medqrels {own or _ASIDE.get(stage, 'build')}"
