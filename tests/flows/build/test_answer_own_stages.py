"""`medqrels answer` on tasks with model stages of their own: a model is given to the stages named alone."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks.answer_scenes import EVIDENCE, KINDS, SPECS, TRANSLATED, built
from flows.adapters.answering import Terms
from flows.adapters.llm_ledger import Prices, money
from flows.build.answer import Request, answer, describe, estimate, take
from flows.build.tasks import build
from flows.cli.app import run_cli
from flows.engine.runner import read_rows, shards_of, table_files
from flows.engine.workspace import Workspace
from flows.inspect.decisions import follow
from flows.inspect.status import status
from flows.specs import read_spec
from schemas.errors import UsageError
from schemas.prompt import Prompt
from tests import evidence_world
from tests.conftest import made_once
from tests.flows.adapters.test_apertium import FAKE as FAKE_APERTIUM
from tests.flows.adapters.test_seq2seq import model
from tests.flows.adapters.test_seq2seq import models as transformers  # noqa: F401
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


def test_translations_are_translated_back_by_another_engine_and_stand(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    transformers: Any,  # noqa: F811
) -> None:
    """The commands of docs/translations.md."""
    program = tmp_path / "bin" / "apertium"
    program.parent.mkdir()
    program.write_text(FAKE_APERTIUM, "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    workspace, spec = built(tmp_path, TRANSLATED, unnamed(TRANSLATED))
    with OpenAIServer() as server:
        first = answer(asked(spec, "translation", model="NAME"), workspace.root, server.environment)
        asked_for = server.seen.requests
        made = answer(asked(spec, "back_translation", model="apertium"), workspace.root, {})
    assert server.seen.requests == asked_for == first["stages"][0]["answered"] > 0
    assert made["stages"][0]["answered"] == made["stages"][0]["prompts"] > asked_for  # and known sentences
    run_stages(workspace, spec=read_spec(spec), tasks=[TRANSLATED])
    assert models(workspace) == {"judge": "", "translation": "NAME", "back_translation": "apertium"}
    place = model(tmp_path, "tiny", tokens=["eng_Latn", "spa_Latn"])
    transformers.WORDS["en"] = {}
    request = replace(asked(spec, "back_translation", model="seq2seq:tiny"), place=place)
    assert estimate(request, workspace.root)["stages"][0]["costs_at_most"] == money(Decimal(0))
    told = answer(request, workspace.root, {})["stages"][0]
    assert told["answered"] == told["prompts"] and told["model"] == "seq2seq:tiny"
    (served,) = told["served_models"]
    assert served.startswith("tiny ") and served.endswith("es-en") and str(tmp_path) not in served


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


def of_models(folder: Path, *names: str) -> Path:
    """The spec with some models that answer closed-book."""
    path = folder / "several.toml"
    listed = f"[prompts.models]\nclosed_book = {json.dumps(names)}\n[tasks."
    path.write_text(unnamed(EVIDENCE).replace("[tasks.", listed), "utf-8")
    return path


def rows(workspace: Workspace, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in table_files(workspace, f"{EVIDENCE}_{table}"):
        found += pq.read_table(path).to_pylist()
    return found


def test_several_models_answer_closed_book_and_one_that_guesses_does_not_count(
    place: tuple[Workspace, Path], tmp_path: Path
) -> None:
    workspace, _ = place
    alone = rows(workspace, "difficulty.hard")
    prompts = read_rows(Prompt, table_files(workspace, f"{EVIDENCE}_closed_book.prompts"))
    assert {(row["models"], row["tries"]) for row in alone} == {(1, 3)} and len(prompts) == 21
    spec = of_models(tmp_path, FIRST, "toy")
    told = estimate(asked(spec, "closed_book"), workspace.root)["stages"]
    assert [(row["model"], row["calls"]) for row in told] == [(FIRST, 0), ("toy", 21)]
    with pytest.raises(UsageError, match="says that 'gpt-5-mini' and 'toy' answers"):
        estimate(asked(spec, "closed_book", model="other"), workspace.root)
    wrong = []
    for number, prompt in enumerate(prompts[:-2]):
        right = evidence_world.item_of(prompt)
        options = sorted(set(right["options"]) - {right["options"]["ABCD".index(right["correct"])]})
        said = "none of them" if number < 2 else options[0]
        wrong.append({"prompt_id": prompt.id, "model": "toy", "answer": {"answer": said}})
    file = tmp_path / "toy.jsonl"
    file.write_text("\n".join(map(json.dumps, wrong)), "utf-8")
    made = take(asked(spec, "closed_book"), file, workspace.root)
    assert [(row["model"], row["answered"], row["not_run"]) for row in made["stages"]] == [("toy", 19, 2)]
    lost = [row["detail"] for row in rows(workspace, "closed_book_answers._dropped")]
    assert len(lost) == 2 and all(name.endswith(" toy") for name in lost)
    assert Counter(row["model"] for row in rows(workspace, "tries.attempts")) == {FIRST: 21, "toy": 17}
    assert rows(workspace, "difficulty.hard") == alone  # it guesses: not_run for this model
    [item] = [one for one in status(workspace)["answers"] if one["stage"].endswith("closed_book")]
    assert (item["model"], item["prompts"], item["not_run"]) == (f"{FIRST}, toy", 42, 2)
    found = follow(workspace, prompts[0].subject)
    assert found is not None
    shown = found["decisions"]
    assert {row["model"] for row in shown if row.get("prompt") == prompts[0].kind} == {FIRST, "toy"}


def test_answers_of_all_models_that_count_decide_what_is_hard(
    place: tuple[Workspace, Path], tmp_path: Path
) -> None:
    workspace, _ = place
    alone = rows(workspace, "difficulty.hard")
    spec = of_models(tmp_path, FIRST, "second")
    with Scripted(workspace) as server:
        made = answer(asked(spec, "closed_book"), workspace.root, server.environment)
        assert set(server.models) == {"second"} and len(server.models) == 21
    assert [(row["model"], row["answered"]) for row in made["stages"]] == [(FIRST, 21), ("second", 21)]
    twice = [{**row, "models": 2, "tries": 6, "right": 2 * row["right"]} for row in alone]
    assert rows(workspace, "difficulty.hard") == twice
    text = spec.read_text("utf-8").replace("closed_book = ", "judge = ")
    spec.write_text(text, "utf-8")
    with pytest.raises(UsageError, match="one has to answer clinical_evidence_judge"):
        estimate(asked(spec), workspace.root)


def test_samples_and_mining_depth_are_settings_of_the_task(place: tuple[Workspace, Path]) -> None:
    workspace, spec = place
    assert len(rows(workspace, "closed_book.prompts")) == 21
    assert max(row["rank"] for row in rows(workspace, "pairs.mined")) == 10
    spec.write_text(f"{unnamed(EVIDENCE)}closed_book_samples = 2\nmining_depth = 4\n", "utf-8")
    run_stages(workspace, spec=read_spec(spec), tasks=[EVIDENCE])
    assert estimate(asked(spec, "closed_book"), workspace.root)["stages"][0]["prompts"] == 14
    assert len(rows(workspace, "closed_book.prompts")) == 14
    assert max(row["rank"] for row in rows(workspace, "pairs.mined")) == 4
