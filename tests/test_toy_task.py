"""A task is one folder and one line: a toy one goes from building to the judge with nothing else edited."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.engine.workspace import Workspace
from schemas.errors import MedqrelsError
from schemas.stages import check_reasons
from tests.releases import card_text
from tests.toy_task.task import TASK

SPEC = """
name = "toy-set"
title = "One toy task"
[partition]
dev_share = 0.2
[baselines]
systems = ["bm25"]
nano_queries = 5
nano_documents = 100
[tasks.toy_search]
min_words = 12
"""
PROSE = "Written by people for a test."


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cards")
    (folder / TASK.name).mkdir()
    for name in ("summary", "intended_use", "limitations"):
        (folder / TASK.name / f"{name}.md").write_text(PROSE, "utf-8")
    for name in ("intended_use", "limitations", "collection", "acknowledgement"):
        (folder / f"{name}.md").write_text(PROSE, "utf-8")
    (folder / "spec.toml").write_text(SPEC, "utf-8")
    return folder


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> Path:
    return Path(shutil.copytree(sample.root, tmp_path_factory.mktemp("toy") / "ws"))


@pytest.fixture(scope="module")
def told(root: Path, cards: Path, repository: Path) -> Mapping[str, Any]:
    """What came of it, in a process where the registry has the one line more."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.toy_task.drive", str(root), str(cards)],
        capture_output=True,
        text=True,
        cwd=repository,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return made


def rows(root: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(
        root / "releases/toy-set/1.0.0/toy_search" / table
    ).to_pylist()
    return found


def test_it_is_built_and_released_with_what_it_declares(told: Mapping[str, Any], root: Path) -> None:
    head = told["release"]
    assert {item["stage"]: item["to_do"] for item in told["planned"]} == {
        "toy_search": 0,
        "toy_search_all": 0,
    }
    assert head["task_title"] == "Toy search" and head["counts"]["queries"] > 10
    assert head["grades"] == {"2": TASK.grades[0].definition, "1": TASK.grades[1].definition}
    assert "own_article" in head["exclusions"] and set(head["exclusions"]) <= set(TASK.all_exclusions)
    (stage,) = [item for item in head["stages"] if item["name"] == "toy_search"]
    assert stage["params"] == {"min_words": 12, "licence_profile": "open"}
    assert {row["score"] for row in rows(root, "qrels")} == {1, 2}
    assert "toy_uncited" in {row["reason"] for row in rows(root, "provenance/drops")}
    assert {row["split"] for row in rows(root, "provenance/queries")} == {"test", "dev"}
    card = card_text(root / "releases/toy-set/1.0.0/toy_search")
    assert "**Toy.** Captions and passages have at least 12 words." in card


def test_its_audit_is_clean(told: Mapping[str, Any]) -> None:
    assert len(told["audit"]) == told["rules"]
    assert {name: said for name, said in told["audit"].items() if said[0] in ("failed", "not_run")} == {}


def test_it_goes_to_review_with_its_own_words(told: Mapping[str, Any]) -> None:
    assert told["candidates"] == told["tasks"] > 10 and told["offered"] == [0, 1, 2]
    for text in (TASK.question.text, "Toy caption", "Toy passage", *(grade.name for grade in TASK.grades)):
        assert text in told["layout"]
    assert "Toy caption and passage" in told["guideline"] and "Privacy" in told["guideline"]
    assert {item["rule"] for item in told["known"]} == {"toy_search/first@1"}


def test_a_judge_grades_it_by_its_scale(told: Mapping[str, Any]) -> None:
    assert all(level.meaning in told["prompt"] for level in TASK.scale.levels)
    assert TASK.scale.query in told["prompt"] and TASK.scale.document in told["prompt"]
    assert set(told["judged"]) == {0, 1, 2} and len(told["judged"]) > 10


def test_the_documentation_lists_it(told: Mapping[str, Any]) -> None:
    assert "| `min_words` | 15 | a shorter caption or passage is left out |" in told["docs"]
    assert "some of its own: `toy_uncited`." in told["docs"]


def test_a_reason_that_nobody_declared_is_refused() -> None:
    """The set is closed: each stage has the common reasons and its own."""
    check_reasons(TASK.per_article, ["toy_uncited", "short_passage"])
    with pytest.raises(MedqrelsError, match="toy_search drops for 'no_abstract'"):
        check_reasons(TASK.per_article, ["no_abstract"])
