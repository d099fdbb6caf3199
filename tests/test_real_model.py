"""`answer` before a real server with a real model, on loopback: what it says is poor, and is counted."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from benchmarks.answer_scenes import EVIDENCE, MODEL, SPECS
from benchmarks.measure import ROOT
from benchmarks.model_server import NAME
from benchmarks.real_model import outputs, served
from flows.adapters.answering import Terms
from flows.adapters.llm_runner import Patience
from flows.build.answer import Request, answer
from flows.engine.workspace import Workspace
from flows.specs import read_spec
from tests.conftest import share_vocabulary
from tests.exam_files import ITEMS, write_exams
from tests.pipeline import crawl_questions, new_workspace, run_stages

MACHINES = ("x86_64", "arm64")
"""For which the model and its server are packaged; `make model-env` knows them, too."""
STAGE = f"{EVIDENCE}_intent"


@pytest.fixture
def model() -> Iterator[Mapping[str, str]]:
    """What a client needs to reach the model."""
    if platform.machine() not in MACHINES:
        pytest.skip("the small model is not packaged for this machine")
    python = ROOT / ".venv-model-server/bin/python"
    assert python.is_file(), "make model-env"
    with served(python) as reach:
        yield reach


def test_every_prompt_ends_as_a_count_and_is_read_again_without_the_model(
    model: Mapping[str, str], tmp_path: Path, sample: Workspace
) -> None:
    workspace = new_workspace(tmp_path / "workspace")
    share_vocabulary(sample, workspace)
    crawl_questions(workspace, write_exams(tmp_path / "exams", ITEMS[:2]))
    spec_file = tmp_path / "spec.toml"
    spec_file.write_text(SPECS[EVIDENCE].replace(MODEL, NAME), "utf-8")
    spec = read_spec(spec_file)
    run_stages(workspace, spec=spec, tasks=[EVIDENCE])
    terms = Terms(NAME, Decimal(0), concurrency=1, patience=Patience(timeout=600))
    request = Request(spec, ("intent",), terms)
    made = answer(request, workspace.root, model)
    [stage] = made["stages"]
    assert stage["stage"] == STAGE and stage["prompts"] == 2 and stage["not_run"] == 0
    assert stage["answered"] + sum(stage["unusable"].values()) == 2
    assert stage["served_models"] == ([NAME] if stage["answered"] else [])
    run = made["run"]
    assert run["calls"] >= 2 and run["tokens_in"] > 200 and run["tokens_out"] > 0 and not run["failed"]
    before = outputs(workspace, [STAGE])
    again = answer(request, workspace.root, {})
    assert again["run"]["calls"] == 0 and before and outputs(workspace, [STAGE]) == before
