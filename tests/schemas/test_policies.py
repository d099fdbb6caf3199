"""Closed sets are closed and documented; overlap policy and grades answer for every pair."""

from __future__ import annotations

import ast
import inspect
import itertools
import typing
from dataclasses import replace
from typing import Any

import pytest

from curation.tasks.registry import TASKS, level
from schemas import stages
from schemas.grades import EXCLUSIONS
from schemas.overlap_policy import DIMENSIONS, Dimension, Level
from schemas.stages import Reason
from schemas.task import Grade, Task


def test_reasons_are_unique_and_named_by_their_value() -> None:
    tree = ast.parse(inspect.getsource(stages))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Reason").body
    written = [ast.literal_eval(node.value) for node in body if isinstance(node, ast.Assign)]
    assert len(written) == len(set(written)) == len(Reason)  # an alias would vanish from the enum silently
    for reason in Reason:
        assert reason.value == reason.name.lower()


def test_reasons_are_in_the_groups_of_their_stage() -> None:
    lines = inspect.getsource(Reason).splitlines()
    groups = [line.strip() for line in lines if line.strip().startswith("#")]
    assert (
        groups[:3] == ["# crawl", "# parse", "# figures and images"]
        and "# what several tasks drop for" in groups
    )


def test_every_pair_of_tasks_has_an_overlap_rule() -> None:
    levels = set(typing.get_args(Level))
    assert set(DIMENSIONS) == set(typing.get_args(Dimension))
    named = (*TASKS, "clinical_case")  # the last is of another version of the code
    for task, other, dimension in itertools.product(named, named, DIMENSIONS):
        assert level(task, other, dimension) in levels
        assert level(task, other, dimension) == level(other, task, dimension)
        if dimension != "target_concept":
            assert level(task, other, dimension) == "zero"
    assert level("case_study", "clinical_case", "target_concept") == "zero"
    assert level("visual_context", "clinical_case", "target_concept") == "reported"


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_every_task_says_what_its_grades_exclusions_and_settings_mean(task: Task) -> None:
    told = [grade.definition for grade in task.grades] + list(task.all_exclusions.values())
    for text in told:
        assert text[0].isupper() and text.endswith(".") and len(text.split()) >= 6
    assert all(code == code.lower() and code.isidentifier() for code in task.all_exclusions)
    assert all(field.description for field in task.settings.model_fields.values())
    assert task.title and task.description and task.card and task.question.guideline


def test_what_two_tasks_drop_or_exclude_for_is_common() -> None:
    """A reason has one meaning; one that a second task needs moves to schemas."""
    own = [reason for task in TASKS.values() for reason in task.reasons]
    assert len(own) == len(set(own)) and not set(own) & {reason.value for reason in Reason}
    codes = [code for task in TASKS.values() for code in task.exclusions]
    assert len(codes) == len(set(codes)) and not set(codes) & EXCLUSIONS.keys()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"grades": (Grade(0, "No", "No."), Grade(2, "Yes", "Yes."))}, "highest"),
        ({"exclusions": {"own_article": "Of the article."}}, "own_article"),
        ({"gold_rules": ("summary/own@",)}, "its name"),
        ({"extra_tables": ("hard_pool",)}, "extra tables"),
    ],
)
def test_a_task_whose_parts_do_not_fit_is_none(change: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        replace(TASKS["visual_context"], **change)
