"""`medqrels answer` on tasks with model stages of their own: a model is given to the stages named alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.answer_scenes import EVIDENCE, KINDS, SPECS, TRANSLATED, built
from flows.adapters.answering import Terms
from flows.adapters.llm_ledger import Prices
from flows.build.answer import Request, answer, describe, estimate
from flows.build.tasks import build
from flows.cli.app import run_cli
from flows.engine.runner import read_rows, shards_of, table_files
from flows.engine.workspace import Workspace
from flows.inspect.status import status
from flows.specs import read_spec
from schemas.prompt import Prompt
from tests.conftest import made_once
from tests.flows.review.openai_server import OpenAIServer
from tests.pipeline import run_stages

FIRST = "gpt-5-mini"
SCRIPTS = {kind.stage: kind.script for kinds in KINDS.values() for kind in kinds}
TERMS: dict[str, Any] = {"budget": Decimal(50), "prices": Prices(Decimal(1), Decimal(1))}


def unnamed(task: str) -> str:
    """A spec that leaves it to the command which model answers."""
    lines = SPECS[task].splitlines(keepends=True)
    told = "".join(line for line in lines if not line.startswith("model = "))
    return told.replace("min_document_words = 60", "min_document_words = 20")  # so that a query gets labels


class Scripted(OpenAIServer):
    """A server whose model answers every prompt of a workspace as the scripts of the scenes do."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(says=self.say)
        self.workspace, self.known = workspace, dict[str, str]()

    def say(self, system: str, prompt: str) -> tuple[str, str]:
        if prompt not in self.known:
            for stage, script in SCRIPTS.items():
                if shards_of(self.workspace, stage):
                    for one in read_rows(Prompt, table_files(self.workspace, f"{stage}.prompts")):
                        self.known[one.parts[0].value] = json.dumps(script(one))
        return self.known[prompt], prompt

    @property
    def models(self) -> list[str]:
        """Who was asked, in order."""
        return [body["model"] for body in self.seen.bodies]


def asked(spec: Path, *names: str, model: str = "", limit: int | None = None) -> Request:
    return Request(read_spec(spec), names, Terms(model, **TERMS), limit)


def models(workspace: Workspace) -> dict[str, str]:
    """Stage -> whose answers count, as `status` tells it."""
    return {item["stage"].partition("_evidence_")[2]: item["model"] for item in status(workspace)["answers"]}


def labels(workspace: Workspace, task: str) -> tuple[int, int]:
    rows = status(workspace)["tasks"][task]
    return rows["queries"], rows["qrels"]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exam questions, every stage of which one model answered; read-only."""

    def make(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        workspace, spec = built(folder, EVIDENCE, unnamed(EVIDENCE))
        with Scripted(workspace) as server:
            answer(asked(spec, model=FIRST), workspace.root, server.environment)

    return made_once(tmp_path_factory, "own-stages", make)


@pytest.fixture
def place(tmp_path: Path, answered: Path) -> Iterator[tuple[Workspace, Path]]:
    made = Path(shutil.copytree(answered, tmp_path / "place"))
    yield Workspace(made / "built"), made / "spec.toml"


def test_another_judge_is_asked_for_the_judge_alone(place: tuple[Workspace, Path]) -> None:
    workspace, spec = place
    before, had = models(workspace), labels(workspace, EVIDENCE)
    assert set(before.values()) == {FIRST} and had[0] > 0 and had[1] > 0
    one = answer(asked(spec, "judge", model="claude-2", limit=0), workspace.root, {})
    assert one["stages"][0]["prompts"] > 0 and one["circular"] == []
    assert models(workspace) == before | {"judge": "claude-2"}
    same = answer(asked(spec, "judge", model="gpt-4.1", limit=0), workspace.root, {})
    assert "gpt-4.1 judges by reasoning paths of gpt-5-mini (family gpt)" in same["circular"][0]
    with Scripted(workspace) as server:
        answer(asked(spec, "judge", model="claude-2"), workspace.root, server.environment)
        assert set(server.models) == {"claude-2"}
    assert labels(workspace, EVIDENCE) == had  # the same script judged
    build([EVIDENCE], str(workspace.root), read_spec(spec))
    assert "medqrels release" in status(workspace)["next"]
    assert models(workspace) == before | {"judge": "claude-2"} and labels(workspace, EVIDENCE) == had


def test_texts_to_search_with_are_of_another_model_and_labels_stay(place: tuple[Workspace, Path]) -> None:
    workspace, spec = place
    spec.write_text(unnamed(EVIDENCE).replace("[prompts]", '[prompts]\nstages = ["hyde"]'), "utf-8")
    before, had = models(workspace), labels(workspace, EVIDENCE)
    told = estimate(asked(spec, "hyde", model="other"), workspace.root)
    assert told["prompts_to_come"] == [] and "not priced" not in describe(told)
    with OpenAIServer() as server:
        made = answer(asked(spec, "hyde", model="other"), workspace.root, server.environment)
    assert told["stages"][0]["calls"] == made["stages"][0]["answered"] == had[0] > 0
    assert models(workspace) == before | {"hyde": "other"} and labels(workspace, EVIDENCE) == had


def test_the_price_names_the_stages_that_will_ask_more(place: tuple[Workspace, Path]) -> None:
    workspace, spec = place
    own = [f"{EVIDENCE}_{name}" for name in ("closed_book", "rewrite", "reasoning_path", "judge")]
    first = estimate(asked(spec, "intent", model="new"), workspace.root)
    assert first["prompts_to_come"] == own
    assert f"not priced: these answers make prompts of {', '.join(own)}; how many" in describe(first)
    spec.write_text(unnamed(EVIDENCE).replace("[prompts]", '[prompts]\nstages = ["hyde"]'), "utf-8")
    judge = estimate(asked(spec, "judge", model="new"), workspace.root)
    assert judge["prompts_to_come"] == [f"{EVIDENCE}_hyde"]
    assert estimate(asked(spec, "judge"), workspace.root)["prompts_to_come"] == []  # nothing waits


def test_a_model_for_a_task_is_for_all_its_stages(place: tuple[Workspace, Path]) -> None:
    workspace, spec = place
    for names in ((), (EVIDENCE,)):
        answer(asked(spec, *names, model=f"m{len(names)}", limit=0), workspace.root, {})
        assert set(models(workspace).values()) == {f"m{len(names)}"}
    assert labels(workspace, EVIDENCE) == (0, 0)


def test_translations_are_translated_back_by_another_and_stand(tmp_path: Path) -> None:
    """The two commands of docs/translations.md."""
    workspace, spec = built(tmp_path, TRANSLATED, f"{unnamed(TRANSLATED)}back_translation = true\n")
    with OpenAIServer() as server:
        answer(asked(spec, "translation", model="NAME"), workspace.root, server.environment)
        had = server.seen.requests
        made = answer(asked(spec, "back_translation", model="back"), workspace.root, server.environment)
    assert had > 0 and {body["model"] for body in server.seen.bodies[had:]} == {"back"}
    assert made["stages"][0]["answered"] == made["stages"][0]["prompts"] > had  # and known sentences
    run_stages(workspace, spec=read_spec(spec), tasks=[TRANSLATED])
    assert models(workspace) == {"judge": "", "translation": "NAME", "back_translation": "back"}


def test_next_is_answer_as_long_as_prompts_of_any_stage_wait(
    place: tuple[Workspace, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, spec = place
    root = str(workspace.root)
    answer(asked(spec, "reasoning_path", "judge", model="m", limit=0), workspace.root, {})

    def told(*words: str) -> str:
        run_cli(["answer", *words, "--spec", str(spec), "--workspace", root, "--json"])
        return str(json.loads(capsys.readouterr().out)["next"])

    paths = f"{EVIDENCE}_reasoning_path"
    assert told("intent").startswith(f"medqrels answer --spec {spec}: prompts of {paths} wait")
    build([EVIDENCE], root, read_spec(spec))
    assert status(workspace)["next"] == "medqrels answer --spec SPEC"
    answer(asked(spec, "reasoning_path", "judge", model=FIRST), workspace.root, {})
    change = 'prompts.stages=["hyde"]'
    assert told("intent", "--set", change) == (
        f"medqrels answer {EVIDENCE}_hyde --spec {spec} --set '{change}' --model NAME: prompts of "
        f"{EVIDENCE}_hyde wait"
    )
    assert told("intent") == f"medqrels build --spec {spec}, then medqrels release {spec}"
