"""`medqrels answer`: priced, killed, resumed, repeated without a model; what nobody answered is counted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.adapters.answering import Terms, store_of
from flows.adapters.llm_ledger import Prices, read_totals
from flows.adapters.llm_runner import Patience, held
from flows.build.answer import Request, answer, describe, estimate, ledger_of, take
from flows.build.model_stages import own_family, settle, stages_of
from flows.cli.app import run_cli
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.inspect.status import describe as describe_status
from flows.inspect.status import status
from flows.specs import read_spec
from schemas.errors import FetchError, UsageError, WorkspaceError
from schemas.prompt import Prompt, prompt_sha256
from schemas.record import from_dict, to_dict
from schemas.spec import DatasetSpec
from sources.sample import bucket_dir
from tests.conftest import made_once
from tests.flows.review.openai_server import KEY, OpenAIServer
from tests.pipeline import crawl_bucket, new_workspace, run_stages

MODEL = "gpt-test"
PRICES = Prices(Decimal("2.5"), Decimal(10))
HASTE = Patience(first_wait=0.02, longest_wait=0.2, timeout=5)
SPEC = """
name = "asked"
title = "A dataset for a test"
[prompts]
stages = ["hyde", "query2doc"]
[tasks.visual_context]
"""
ALL = tuple(sorted({path.name.partition(".")[0] for path in bucket_dir().glob("PMC*")}))
ARTICLES = ALL[:-4]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few articles of the sample, one task built of them; read-only."""

    def make(folder: Path) -> None:
        workspace = new_workspace(folder)
        crawl_bucket(workspace, ARTICLES)
        run_stages(workspace, ground=False)

    return made_once(tmp_path_factory, "asked", make)


@pytest.fixture
def spec(tmp_path: Path) -> DatasetSpec:
    return read_spec(written(tmp_path))


@pytest.fixture
def place(tmp_path: Path, built: Path) -> Iterator[Workspace]:
    yield Workspace(shutil.copytree(built, tmp_path / "place"))


def written(folder: Path, text: str = SPEC) -> Path:
    path = folder / "spec.toml"
    path.write_text(text, "utf-8")
    return path


def request(spec: DatasetSpec, *names: str, limit: int | None = None, **changes: Any) -> Request:
    fixed: dict[str, Any] = {"budget": Decimal(5), "prices": PRICES, "concurrency": 4, "patience": HASTE}
    return Request(spec, names, Terms(**{"model": MODEL, **fixed, **changes}), limit)


def outputs(workspace: Workspace) -> dict[str, bytes]:
    """Every file of the model stages but what tells time and host."""
    found = sorted(workspace.work.glob("*_hyde*/all/*")) + sorted(workspace.work.glob("*_query2doc*/all/*"))
    return {
        str(path.relative_to(workspace.root)): path.read_bytes() for path in found if path.name != "_run.json"
    }


def rows(workspace: Workspace, table: str) -> list[dict[str, Any]]:
    stage, _, name = table.partition(".")
    found: list[dict[str, Any]] = pq.read_table(
        workspace.stage(stage) / "all" / f"{name}.parquet"
    ).to_pylist()
    return found


def faults(material: str, number: int) -> str | None:
    place = sum(material.encode())
    if number == 1 and place % 5 == 0:
        return "rate"
    return "refusal" if place % 7 == 0 else "wrong_schema" if place % 11 == 0 else None


def test_killed_and_resumed_it_pays_once_and_the_same_answers_give_the_same_bytes(
    place: Workspace, spec: DatasetSpec, tmp_path: Path
) -> None:
    with OpenAIServer(faults, delay=0.02) as server:
        stored = _killed_midway(place, spec, server)
        asked = server.seen.requests
        assert stored >= 5 and asked <= stored * 3 + 8
        made = answer(request(spec), place.root, server.environment)
        usable = server.seen.outcomes["answered"] + server.seen.outcomes["refusal"]
        prompts = sum(item["prompts"] for item in made["stages"])
        invalid = sum(item["unusable"].get("invalid", 0) for item in made["stages"])
        assert (
            prompts - invalid <= usable <= prompts - invalid + 4
        )  # 4 calls were under way when it was killed
        assert [item["not_run"] for item in made["stages"]] == [0, 0]
        assert invalid and all(item["unusable"]["refused"] for item in made["stages"])
        totals = read_totals(ledger_of(place))
        assert (
            len(totals.open) <= 4 and totals.spent <= 5 and totals.seconds > 0 and totals.rejected >= invalid
        )
        before, requests = outputs(place), server.seen.requests
        again = answer(request(spec), place.root, {})  # neither server nor key is needed
        assert again["run"]["calls"] == 0 and server.seen.requests == requests and outputs(place) == before
    elsewhere = Workspace(shutil.copytree(place.root, tmp_path / "elsewhere"))
    for name in outputs(elsewhere):
        (elsewhere.root / name).unlink(missing_ok=True)
    session = Session(Settings(workspace=elsewhere.root), elsewhere, SilentReporter())
    settle(session, spec, asked={stage.name: MODEL for stage in stages_of(spec)})
    assert outputs(elsewhere) == before
    for stage in stages_of(spec):
        params = json.loads((place.stage(stage.answers) / "all" / "_manifest.json").read_text("utf-8"))[
            "params"
        ]
        good = rows(place, f"{stage.answers}.answers")
        assert params["answers_uncounted"] == 0 and params["tokens_out"] > 0
        assert params["tokens_in"] >= sum(row["tokens_in"] for row in good) > 0
    assert not [p for p in place.root.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]


def _killed_midway(place: Workspace, spec: DatasetSpec, server: OpenAIServer) -> int:
    """Kill a run when some answers are stored; how many are."""
    code = (
        "import os, sys\nfrom tests.flows.build.test_answer import *\n"
        "answer(request(read_spec(Path(sys.argv[2]))), sys.argv[1], os.environ)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(place.root), str(place.root.parent / "spec.toml")],
        cwd=Path(__file__).parents[3],
        env={**os.environ, **server.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started = time.monotonic()
    while process.poll() is None and _stored(place) < 8 and time.monotonic() - started < 60:
        time.sleep(0.01)
    assert process.poll() is None, "it ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    seen = -1
    while seen != server.seen.requests:  # what was on its way still arrives
        seen = server.seen.requests
        time.sleep(0.2)
    return _stored(place)


def _stored(place: Workspace) -> int:
    path = ledger_of(place)
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    ended = [json.loads(line) for line in lines if line.endswith("\n")]
    return sum(line.get("outcome") in ("answered", "refused") for line in ended)


def test_what_nobody_answered_is_not_run_and_counted(place: Workspace, spec: DatasetSpec) -> None:
    session = Session(Settings(workspace=place.root), place, SilentReporter())
    settle(session, spec)
    prompts = rows(place, "visual_context_hyde.prompts")
    assert len(prompts) > 5 and rows(place, "visual_context_hyde_texts.expansions") == []
    drops = rows(place, "visual_context_hyde_answers._dropped")
    assert {(row["unit"], row["reason"]) for row in drops} == {("prompt", "not_run")} and len(drops) == len(
        prompts
    )
    queries = {row["id"]: row["article_id"] for row in rows(place, "visual_context_all.queries")}
    assert all(row["article_id"] == queries[row["detail"]] for row in drops)
    with OpenAIServer() as server:
        made = answer(request(spec, "hyde", limit=3), place.root, server.environment)
        assert server.seen.requests == 3 and made["stages"][0]["not_run"] == len(prompts) - 3
        assert "again" in made["next"] and made["run"]["limit"] == 3
        whole = answer(request(spec, "visual_context"), place.root, server.environment)
        assert server.seen.requests == 2 * len(prompts) and "release" in whole["next"]
    texts = rows(place, "visual_context_hyde_texts.expansions")
    assert {row["query_id"] for row in texts} == set(queries) and len({row["text"] for row in texts}) == len(
        texts
    )
    assert {(row["model"], row["served_model"]) for row in texts} == {(MODEL, f"{MODEL}-2026")}
    found = status(place)
    [hyde] = [item for item in found["answers"] if item["stage"] == "visual_context_hyde"]
    assert (hyde["answered"], hyde["not_run"], hyde["model"]) == (len(prompts), 0, MODEL)
    assert f"visual_context_hyde: {len(prompts)} of {len(prompts)} prompts by {MODEL}" in describe_status(
        found
    )


def test_another_model_is_asked_anew_and_the_first_ones_answers_stay(
    place: Workspace, spec: DatasetSpec
) -> None:
    with OpenAIServer() as server:
        answer(request(spec, "hyde"), place.root, server.environment)
        first, asked = outputs(place), server.seen.requests
        made = answer(request(spec, "hyde", model="other", limit=2), place.root, server.environment)
        assert server.seen.requests == asked + 2 and made["stages"][0]["answered"] == 2
        assert outputs(place) != first
        assert [item["model"] for item in status(place)["answers"]] == ["other"]
        kept = answer(replace(request(spec, "hyde", model=""), limit=0), place.root, {})
        assert kept["stages"][0]["model"] == "other"  # whose answers counted before
        answer(request(spec, "hyde"), place.root, {})
        assert outputs(place) == first and server.seen.requests == asked + 2


def test_each_kind_of_stage_may_have_a_model_of_its_own(place: Workspace, tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, SPEC + '[prompts.models]\nquery2doc = "second"\n'))
    found = estimate(request(spec, model=""), place.root)
    assert [item["model"] for item in found["stages"]] == ["", "second"] and found["circular"] == []
    assert "nobody: give --model" in describe(found)
    with pytest.raises(UsageError, match="'second' answers visual_context_query2doc"):
        estimate(request(spec), place.root)
    assert estimate(request(spec, "hyde"), place.root)["stages"][0]["model"] == MODEL
    with OpenAIServer(lambda material, number: None) as server:
        made = answer(request(spec, "query2doc", model="", limit=2), place.root, server.environment)
    assert [(item["model"], item["answered"]) for item in made["stages"]] == [("second", 2)]
    wrong = read_spec(written(tmp_path, SPEC + '[prompts.models]\njudge = "second"\n'))
    with pytest.raises(UsageError, match="does not have: 'judge'"):
        stages_of(wrong)


def test_a_judge_of_the_family_of_the_reasoning_paths_is_told(tmp_path: Path) -> None:
    text = """name = "asked"
title = "A dataset for a test"
[prompts]
model = "gpt-5-mini"
[prompts.models]
judge = "{judge}"
[tasks.clinical_evidence]
"""
    said = {}
    for judge in ("gpt-4.1", "claude-sonnet-4", "gpt-5-mini"):
        spec = read_spec(written(tmp_path, text.format(judge=judge)))
        models = {stage.name: spec.prompts.models_of(stage.kind)[0] for stage in stages_of(spec)}
        said[judge] = own_family(spec, models)
    assert said["claude-sonnet-4"] == []
    assert len(said["gpt-4.1"]) == len(said["gpt-5-mini"]) == 1
    assert "gpt-4.1 judges by reasoning paths of gpt-5-mini (family gpt)" in said["gpt-4.1"][0]


def test_the_budget_holds_over_all_stages_and_runs(place: Workspace, spec: DatasetSpec) -> None:
    with OpenAIServer() as server:
        poor = request(spec, budget=Decimal("0.04"))
        made = answer(poor, place.root, server.environment)
        assert made["run"]["stopped"] == "budget" and "raise --budget" in made["next"]
        assert server.seen.requests > 0 and read_totals(ledger_of(place)).spent <= Decimal("0.04")
        asked = server.seen.requests
        assert answer(poor, place.root, server.environment)["run"]["calls"] == 0
        assert server.seen.requests == asked
        told = estimate(request(spec), place.root)
        left = sum(item["calls"] for item in told["stages"])
        assert left and Decimal(told["spent_before"]) > 0
        costs = sum(Decimal(item["costs_at_most"]) for item in told["stages"])
        before = read_totals(ledger_of(place)).known
        answer(request(spec), place.root, server.environment)
        assert server.seen.requests == asked + left
        assert 0 < read_totals(ledger_of(place)).known - before <= costs


def test_a_server_that_refuses_all_leaves_what_was_stored_and_tells_no_key(
    place: Workspace, spec: DatasetSpec
) -> None:
    with OpenAIServer(lambda text, number: "unauthorised") as server:
        with pytest.raises(FetchError) as raised:
            answer(request(spec), place.root, server.environment)
        assert KEY not in str(raised.value) and "same command again" in str(raised.value)
        assert server.seen.requests <= 4
    assert status(place)["answers"][0]["not_run"] > 0


def test_command_line(
    place: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path)
    monkeypatch.setattr("flows.cli.answer.with_progress", lambda common, work: work())
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    before = sorted(place.root.rglob("*"))

    def cli(*words: str) -> tuple[int, str, str]:
        code = run_cli(["answer", *words, "--spec", str(path), "--workspace", str(place.root)])
        told = capsys.readouterr()
        return code, told.out, told.err

    code, out, _ = cli("hyde", "--dry-run", "--json", "--price-in", "1", "--price-out", "1", "--model", "m")
    [planned] = json.loads(out)["stages"]
    assert code == 0 and planned["calls"] == planned["prompts"] > 5 and Decimal(planned["costs_at_most"]) > 0
    assert sorted(place.root.rglob("*")) == before
    for words, hint in (
        (("nonsense",), "stages: hyde, query2doc, visual_context_hyde"),
        ((), "--model NAME"),
        (("--model", "m"), "OPENAI_BASE_URL to the address"),
        (("--model", "m", "--set", "prompts.model=n"), "--set prompts.model=m"),
        (("--set", "prompts.stages=[]"), 'stages = ["hyde"]'),
        (("--set", 'prompts.stages=["nonsense"]'), "kinds: hyde, query2doc"),
        (("--price-in", "1"), "belong together"),
    ):
        code, _, err = cli(*words)
        assert code == 2 and hint in err, (words, err)
    with OpenAIServer() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        code, out, err = cli("--model", MODEL, "--limit", "2")
        assert code == 1 and "2 of " in out and "not_run" in out and "next: " in out and KEY not in out + err
        code, out, _ = cli("--json")
        assert code == 0 and json.loads(out)["run"]["unasked"] == 0


def test_prompts_of_other_queries_make_answers_stale(place: Workspace, spec: DatasetSpec) -> None:
    with OpenAIServer() as server:
        answer(request(spec, "hyde"), place.root, server.environment)
    crawl_bucket(place, ALL)
    with pytest.raises(WorkspaceError, match="medqrels extract"):
        estimate(request(spec, "hyde"), place.root)
    run_stages(place, ground=False)
    stale = {item["stage"]: item for item in status(place)["stages"] if item["state"] == "stale"}
    assert stale["visual_context_hyde"]["next"] == "medqrels answer"
    told = estimate(request(spec, "hyde"), place.root)["stages"][0]
    assert 0 < told["not_run"] == told["calls"] < told["prompts"]


def test_recorded_answers_stand_in_for_a_model_and_give_the_same_bytes(
    place: Workspace, spec: DatasetSpec, tmp_path: Path
) -> None:
    empty = Workspace(shutil.copytree(place.root, tmp_path / "empty"))
    with OpenAIServer(lambda text, number: "refusal" if sum(text.encode()) % 7 == 0 else None) as server:
        answer(request(spec), place.root, server.environment)
    asked = rows(place, "visual_context_hyde.prompts") + rows(place, "visual_context_query2doc.prompts")
    prompts = [from_dict(Prompt, row) for row in asked]
    by_id = {prompt.id: prompt for prompt in prompts}
    lines = []
    for number, item in enumerate(held(prompts, MODEL, store_of(place))):
        row = {**to_dict(item), "subject": "told by the prompt"}
        if number % 2:  # by the hash of what was asked, as another workspace would know it
            prompt = by_id[row.pop("prompt_id")]
            row["asked_sha256"] = prompt_sha256(
                prompt.system, prompt.parts, prompt.answer_schema, prompt.max_tokens
            )
        lines.append(json.dumps(row))
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join([*lines, json.dumps({**json.loads(lines[0]), "prompt_id": "prompt:0"})]))
    made = take(request(spec, model=""), file, empty.root)
    assert (made["recorded"]["rows"], made["recorded"]["taken"]) == (len(lines) + 1, len(lines))
    assert made["recorded"]["to_no_prompt"] == [f"line {len(lines) + 1}: prompt:0"]
    assert outputs(empty) == outputs(place) and not ledger_of(empty).exists()
    again = take(request(spec, model=""), file, empty.root)
    assert again["recorded"] == made["recorded"] and outputs(empty) == outputs(place)
    parquet = place.stage("visual_context_hyde_answers") / "all" / "answers.parquet"
    assert take(request(spec, "hyde"), parquet, empty.root)["recorded"]["to_no_prompt"] == []


def test_what_a_script_wrote_makes_a_trial_and_wrong_rows_are_named(
    place: Workspace, spec: DatasetSpec, tmp_path: Path
) -> None:
    session = Session(Settings(workspace=place.root), place, SilentReporter())
    settle(session, spec)
    [first, second, *_] = rows(place, "visual_context_hyde.prompts")
    file, passage = tmp_path / "written.jsonl", {"passage": "A cyst of the left kidney. " * 4}

    def row(**changes: Any) -> str:
        return json.dumps({"prompt_id": first["id"], "model": "hand", "answer": passage, **changes})

    file.write_text(row() + "\n\n" + row(prompt_id=second["id"], served_model="", by="human"))
    made = take(request(spec, "hyde", model=""), file, place.root)
    assert made["recorded"]["scripted"] == 2 and "not publishable" in describe(made)
    manifest = json.loads(
        (place.stage("visual_context_hyde_answers") / "all" / "_manifest.json").read_text("utf-8")
    )
    assert manifest["params"]["is_trial"] is True and manifest["params"]["model"] == "hand"
    by = {row["prompt_id"]: row["by"] for row in rows(place, "visual_context_hyde_answers.answers")}
    assert by == {first["id"]: "model", second["id"]: "human"}
    before = outputs(place)
    for text, message in (
        (row() + "\n{", "line 2"),
        (row() + "\n[]", "no JSON object"),
        (row(answer={"passage": 3}, prompt_id=second["id"]), "passage as hyde@1 asks for"),
        (row(answer={"passage": "another"}), "is stored already"),
        (row() + "\n" + row(answer={"passage": "x"}), "stands in line 1"),
        (row(model=""), "model is missing"),
        (row() + "\n" + row(model="other", prompt_id=second["id"]), "of 'other', not of 'hand'"),
        (row(prompt_id=None), "neither prompt_id nor asked_sha256"),
        (row(state="perhaps"), "state 'perhaps'"),
        (row(by="a friend"), "by 'a friend' is unknown: model, engine, human"),
        (row(by="human"), "is stored already"),
        (row(tokens_in=-1), "no count"),
        (row(answer=None), "no text"),
        ("", "no answers in this file"),
    ):
        file.write_text(text)
        with pytest.raises(UsageError) as raised:
            take(request(spec, "hyde", model=""), file, place.root)
        assert message in str(raised.value) and raised.value.file == str(file)
    assert outputs(place) == before
