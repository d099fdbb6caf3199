"""The benchmark tasks that exist, by name: another one is one more folder and one more line here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module

from schemas.errors import UsageError
from schemas.overlap_policy import Dimension, Level
from schemas.stages import ReviewStage
from schemas.task import Task
from schemas.wording import meant


def load(module: str) -> Task:
    """The TASK of a module.

    Raises:
        TypeError: it has none.
    """
    found = import_module(module).TASK
    if not isinstance(found, Task):
        raise TypeError(f"{module}.TASK is no Task")
    return found


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in map(
        load,
        (
            "curation.tasks.visual_context.task",
            "curation.tasks.image_search.task",
            "curation.tasks.summary.task",
            "curation.tasks.case_study.task",
            "curation.tasks.clinical_case.task",
            "curation.tasks.reference_qa.task",
            "curation.tasks.clinical_evidence.task",
            "curation.tasks.concept_discrimination.task",
            "curation.tasks.crosslingual_qa.task",
            "curation.tasks.multilingual_evidence.task",
        ),
    )
}

REVIEW_STAGES: Mapping[str, ReviewStage] = {
    stage.name: stage for task in TASKS.values() for stage in task.review_stages
}
"""Stages that ask people of single records, by name, which is that of their review as well."""


def task_of(name: str) -> Task:
    """The task of a name.

    Raises:
        UsageError: this code has none.
    """
    if name not in TASKS:
        raise UsageError(f"no task is called {name!r}{meant(name, TASKS)}", hint="tasks: " + ", ".join(TASKS))
    return TASKS[name]


def by_lot(tasks: Iterable[str]) -> list[str]:
    """Those of some tasks that draw articles, by name; tasks that this code does not know never do."""
    return sorted(name for name in tasks if name in TASKS and TASKS[name].draws_articles)


def level(task: str, other: str, dimension: Dimension) -> Level:
    """Which overlap of two tasks may be; `task == other` means between splits of one task.

    What a task lacks is only reported. All else must be zero, also with tasks that this code does not know.
    """
    lacking = [dimension in TASKS[name].lacks for name in (task, other) if name in TASKS]
    return "reported" if any(lacking) else "zero"


def listing_images(tasks: Iterable[str]) -> list[str]:
    """Those of some tasks whose rows may have several images, by name."""
    return sorted(name for name in tasks if name in TASKS and TASKS[name].lists_images)
