"""Closed sets are closed and documented; overlap policy and grades answer for every pair."""

from __future__ import annotations

import ast
import inspect
import itertools
import typing

import pytest

from curation.tasks.registry import TASKS as BUILT
from schemas import stages
from schemas.grades import EXCLUSIONS, GRADES
from schemas.overlap_policy import DIMENSIONS, TASKS, Dimension, Level, level
from schemas.stages import Reason


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
    assert groups[:3] == ["# crawl", "# parse", "# figures and images"] and "# tasks" in groups


def test_every_pair_of_tasks_has_an_overlap_rule() -> None:
    levels = set(typing.get_args(Level))
    assert set(DIMENSIONS) == set(typing.get_args(Dimension)) and len(set(TASKS)) == 10
    for task, other, dimension in itertools.product(TASKS, TASKS, DIMENSIONS):
        assert level(task, other, dimension) in levels
        assert level(task, other, dimension) == level(other, task, dimension)
        if dimension != "target_concept":
            assert level(task, other, dimension) == "zero"
    assert level("case_study", "clinical_case", "target_concept") == "zero"
    assert level("visual_context", "clinical_case", "target_concept") == "reported"


@pytest.mark.parametrize("task", sorted(BUILT))
def test_every_built_task_defines_its_grades(task: str) -> None:
    assert task in TASKS
    assert GRADES[task] and set(GRADES[task]) <= {1, 2}
    assert BUILT[task].name == task and BUILT[task].title and BUILT[task].description


def test_definitions_are_sentences() -> None:
    assert set(GRADES) <= set(TASKS)
    for text in [*EXCLUSIONS.values(), *(text for grades in GRADES.values() for text in grades.values())]:
        assert text[0].isupper() and text.endswith(".") and len(text.split()) >= 6
    assert all(code == code.lower() and code.isidentifier() for code in EXCLUSIONS)
