"""All tasks built from the sample and from real articles: shared out, released, audited, damaged by hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit import RULES, audit
from curation.audit.dataset import open_release
from curation.tasks.registry import TASKS
from flows.adapters.answering import Terms
from flows.build.answer import Request, answer
from flows.build.model_stages import settle
from flows.cli.app import run_cli
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.inspect.audit import auditor
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from schemas.audit import AuditReport
from tests.conftest import copied
from tests.fewer import EVERY, plant_fewer
from tests.flows.review.openai_server import OpenAIServer
from tests.pipeline import LABELLED, run_partition, run_stages
from tests.releases import card_text

SPEC = """
name = "several-tasks"
title = "Articles for a test"
licence_profile = "{profile}"
[partition]
dev_share = 0.2
[prompts]
stages = ["hyde", "query2doc"]
is_trial = true
"""
ASKED = 12
"""Prompts that a model was asked; the others are not_run."""
BUILT = tuple(sorted(LABELLED))
"""Of the two tasks that pair cases by diagnosis the one with labels: both want the same articles
(test_release_of_cases). Questions are built in test_reference_qa."""
Row = dict[str, Any]
ASK = query()


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, grounded: Workspace, sample: Workspace) -> Path:
    """The version folder of a release of all tasks."""
    root = tmp_path_factory.mktemp("tasks")
    cards = root / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    profile = "open" if grounded.root == sample.root else "noncommercial"
    text = SPEC.format(profile=profile) + "".join(f"[tasks.{task}]\n" for task in BUILT)
    (cards / "spec.toml").write_text(text, "utf-8")
    spec = read_spec(cards / "spec.toml")
    workspace = copied(grounded, root / "ws")
    run_stages(workspace, spec=spec)
    run_partition(workspace, spec, "1.0.0")
    with OpenAIServer(lambda text, number: "refusal" if sum(text.encode()) % 5 == 0 else None) as server:
        answer(Request(spec, ("hyde",), Terms("a-model"), ASKED), workspace.root, server.environment)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    settle(session, spec)
    for task in BUILT:
        release_task(session, TASKS[task], spec, cards, "1.0.0", {})
    return workspace.releases / "several-tasks" / "1.0.0"


@pytest.fixture(scope="module")
def reports(release: Path) -> dict[str, AuditReport]:
    """Audits of all tasks; the demo plants every canary in the sample, so here a few do."""
    found = {}
    with auditor() as machine, pytest.MonkeyPatch.context() as patch:
        plant_fewer(patch)
        for task in BUILT:
            found[task] = machine.audit(release / task).report
    return found


def rows_of(release: Path, task: str, table: str) -> list[Row]:
    rows: list[Row] = pq.read_table(release / task / table).to_pylist()
    return rows


@pytest.mark.timeout(400)
def test_every_task_is_clean_and_every_canary_is_found(reports: dict[str, AuditReport]) -> None:
    for task, report in reports.items():
        wrong: list[tuple[str, str, str]] = [
            (item.rule, item.status, item.note) for item in report.rules if item.status == "not_run"
        ]
        wrong += [(item.rule, item.canary, item.note) for item in report.canaries if not item.is_found]
        assert report.verdict == "clean", (
            task,
            wrong,
            [r.rule for r in report.rules if r.status == "failed"],
        )
        planted = {item.rule for item in report.canaries}
        assert planted == {rule.id for rule in RULES[::EVERY]}
        assert not report.publishable, "its images are made up"


def test_the_sample_gives_every_task_queries(release: Path, request: pytest.FixtureRequest) -> None:
    """Of real articles too few are here: a task may come out empty and has to be clean all the same."""
    if request.node.callspec.params["grounded"] != "sample":
        assert {"visual_context", "image_search", "summary"} <= {
            task for task in BUILT if rows_of(release, task, "queries")
        }
        return
    for task in BUILT:
        assert rows_of(release, task, "queries") and rows_of(release, task, "qrels"), task
    for task in ("case_study", "image_search", "visual_context"):
        scores = {row["score"] for row in rows_of(release, task, "qrels")}
        assert scores == {1, 2}, task


@pytest.mark.timeout(400)
def test_no_two_tasks_share_anything(release: Path, reports: dict[str, AuditReport]) -> None:
    """The matrix says zero, and so does an independent count over the published keys."""
    for task, report in reports.items():
        if not rows_of(release, task, "queries"):
            continue
        cells = [cell for cell in report.matrix if cell.level == "zero"]
        assert {cell.dimension for cell in cells} >= {"query", "article", "patient", "image_family"}
        assert all(cell.shared == 0 for cell in cells)
    keys: dict[tuple[str, str], set[tuple[str, str]]] = {}
    counted = 0
    for task in BUILT:
        split = {row["id"]: row["split"] for row in rows_of(release, task, "provenance/queries")}
        for row in rows_of(release, task, "provenance/keys"):
            keys.setdefault((row["dimension"], row["key"]), set()).add((task, split[row["query-id"]]))
            counted += 1
    assert counted > 100
    assert [key for key, places in keys.items() if len(places) > 1] == []


def test_the_card_credits_the_vocabularies_that_name_the_targets(release: Path) -> None:
    for task in BUILT:
        head = json.loads((release / task / "release.json").read_text("utf-8"))
        card = card_text(release / task)
        assert [item["source"] for item in head["vocabularies"]] == ["HPO", "MESH", "MONDO"]
        for item in head["vocabularies"]:
            assert item["licence"] in card and item["citation"] in card and item["sha256"][:12] in card


def test_the_release_names_who_answered_what_and_counts_what_nobody_did(release: Path) -> None:
    asked = answered = 0
    for task in BUILT:
        head = json.loads((release / task / "release.json").read_text("utf-8"))
        card = card_text(release / task).partition("## Language models")[2]
        stages = {stage["name"]: stage["params"] for stage in head["stages"]}
        steps = {row["stage"]: row for row in rows_of(release, task, "provenance/funnel")}
        drops = [
            row["reason"] for row in rows_of(release, task, "provenance/drops") if row["unit"] == "prompt"
        ]
        hyde, other = stages[f"{task}_hyde_answers"], stages[f"{task}_query2doc_answers"]
        step, waits = steps[f"{task}_hyde_answers"], steps[f"{task}_query2doc_answers"]
        assert (hyde["prompt"], hyde["is_trial"], other["model"]) == ("hyde@1", True, "")
        assert waits["kept"] == 0 and drops.count("not_run") >= waits["dropped"] == waits["entered"]
        assert f"SHA-256 `{hyde['prompt_sha256'][:12]}`" in card and "| — | — |" in card
        assert "A script or a toy model answered its prompts." in head["not_publishable_because"]
        came = step["entered"] - (drops.count("not_run") - waits["dropped"])
        if came:
            assert (hyde["model"], hyde["served_models"]) == ("a-model", ["a-model-2026"])
            assert "| a-model | a-model-2026 |" in card and "| 0.0 % |" in card
            assert hyde["tokens_in"] > 0 and hyde["tokens_out"] > 0 and not hyde["answers_uncounted"]
            took = f"{hyde['tokens_in']:,} | {hyde['tokens_out']:,} | 0"
            assert f"| {task}_hyde_answers | {took} |" in card
        asked, answered = asked + came, answered + step["kept"]
        folder = release / task / "expansions"
        texts = rows_of(release, task, "expansions") if folder.is_dir() else []
        queries = {row["id"] for row in rows_of(release, task, "queries")}
        assert {row["query-id"] for row in texts} <= queries and len(texts) <= step["kept"]
        assert all(row["prompt_sha256"] == hyde["prompt_sha256"] and len(row["text"]) > 60 for row in texts)
    assert asked == ASKED and 0 < answered < ASKED


def test_what_the_partition_cost_is_told(release: Path) -> None:
    for task in ("visual_context", "summary", "image_search"):
        (step,) = [row for row in rows_of(release, task, "provenance/funnel") if row["stage"] == "partition"]
        lost = [row for row in rows_of(release, task, "provenance/drops") if row["stage"] == "partition"]
        assert step["entered"] == step["kept"] + len(lost)
        assert step["kept"] == len(rows_of(release, task, "queries"))
        assert {row["reason"] for row in lost} <= {"overlap_other_task", "overlap_other_split"}
        assert all(row["detail"] for row in lost)


@pytest.mark.usefixtures("fewer_defects")
@pytest.mark.parametrize("grounded", ["sample"], indirect=True)  # what is not covered depends on no article
def test_without_a_sibling_its_rules_are_not_covered(release: Path, tmp_path: Path) -> None:
    for task in BUILT[:-1]:
        shutil.copytree(release / task, tmp_path / task)
    shutil.rmtree(tmp_path / "summary")
    with auditor() as machine:
        report = machine.audit(tmp_path / "image_search").report
    statuses = {item.rule: (item.status, item.note) for item in report.rules}
    for rule in ("overlap_query", "overlap_article", "overlap_patient", "overlap_image_family"):
        assert statuses[rule][0] == "not_covered"
        assert "summary" in statuses[rule][1] and "case_study" not in statuses[rule][1]
    assert report.verdict == "partial"


def edit(directory: Path, table: str, change: Callable[[list[Row]], str]) -> str:
    """Rewrite the first file of a table by hand; the id the audit must name."""
    path = sorted((directory / table).glob("*.parquet"))[-1]
    schema = pq.read_schema(path)
    rows: list[Row] = pq.read_table(path).to_pylist()
    named = change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    return named


def setting(column: str, value: object, at: int = 0) -> Callable[[list[Row]], str]:
    def change(rows: list[Row]) -> str:
        rows[at][column] = value(rows[at]) if callable(value) else value
        return str(rows[at].get("id") or rows[at].get("query-id"))

    return change


def again(**changes: object) -> Callable[[list[Row]], str]:
    def change(rows: list[Row]) -> str:
        rows.append(rows[0] | changes)
        return str(changes.get("id") or rows[0].get("id") or rows[0]["query-id"])

    return change


def cut_image(row: Row) -> dict[str, Any]:
    return {"bytes": row["image"]["bytes"][:200], "path": row["image"]["path"]}


DEFECTS: tuple[tuple[str, str, Callable[[list[Row]], str]], ...] = (
    ("dangling_ids", "qrels", setting("corpus-id", "pmc:PMC1.1#p1")),
    ("duplicate_ids", "corpus", again()),
    ("duplicate_pairs", "qrels", again()),
    ("empty_texts", "corpus", setting("text", "")),
    ("short_texts", "corpus", setting("text", "Yes, so it is.")),
    ("duplicate_documents", "corpus", again(id="pmc:PMC2.1#p1")),
    ("near_duplicate_documents", "corpus", lambda rows: _nearly(rows)),
    ("text_debris", "corpus", setting("text", lambda row: row["text"] + " <p>markup</p>")),
    ("phi_identifiers", "corpus", setting("text", lambda row: row["text"] + " Her MRN: 48291377.")),
    ("language_script", "corpus", setting("text", lambda row: "Это совсем другой язык, а не тот. " * 4)),
    ("licence_of_rows", "queries", setting("license", "CC-BY-ND-4.0")),
    ("source_texts", "corpus", setting("text", lambda row: row["text"] + " Added by hand.")),
    ("images", "queries", setting("image", cut_image)),
    ("definitions", "qrels", setting("score", 7)),
    ("unjudged_negative", "qrels", setting("score", 0)),
    ("funnel", "provenance/funnel", setting("kept", 1)),
    ("overlap_keys_true", "provenance/keys", setting("key", "nothing")),
    ("retracted", "provenance/sources", setting("is_retracted", True)),
    ("evidence", "provenance/qrels", setting("evidence", [])),
    ("figure_numbers", "corpus", setting("text", lambda row: row["text"] + " See Figure 12.")),
)
NO_ROW = {"funnel"}


def _nearly(rows: list[Row]) -> str:
    for number, row in enumerate([row for row in rows if len(row["text"].split()) > 40]):
        words = row["text"].split()
        words[-1] = "otherwise"
        rows.append(row | {"id": f"pmc:PMC3.1#p{number}", "text": " ".join(words)})
    return "pmc:PMC3.1#p"


@pytest.fixture(scope="module")
def before(release: Path) -> dict[str, int]:
    """What is found before anything is planted by hand, by rule."""
    planted = {rule for rule, _, _ in DEFECTS}
    chosen = [item for item in RULES if item.id in planted]
    report = audit(release / "visual_context", ASK, rules=chosen, plant=False)
    return {item.rule: item.found for item in report.rules}


@pytest.mark.parametrize(("rule", "table", "change"), DEFECTS, ids=[rule for rule, _, _ in DEFECTS])
def test_one_defect_by_hand_is_found_and_its_row_named(
    release: Path,
    before: dict[str, int],
    tmp_path: Path,
    rule: str,
    table: str,
    change: Callable[[list[Row]], str],
) -> None:
    directory = tmp_path / "visual_context"
    shutil.copytree(release / "visual_context", directory)
    named = edit(directory, table, change)
    chosen = [item for item in RULES if item.id == rule]
    (found,) = audit(directory, ASK, rules=chosen, plant=False).rules
    assert found.found > before[rule], found.note
    assert found.status == "failed"
    if rule not in NO_ROW:
        assert named in json.dumps([[side.id for side in item.sides] for item in found.findings])


@pytest.mark.usefixtures("fewer_defects")
@pytest.mark.parametrize("grounded", ["sample"], indirect=True)  # what it says depends on no article
def test_the_command_says_so_with_its_exit_code(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "case_study"
    shutil.copytree(release / "case_study", directory)
    edit(directory, "corpus", setting("text", ""))
    assert run_cli(["audit", str(directory), "--json"]) == 1
    (report,) = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "findings"
    assert report["release_hash"] != open_release(release / "case_study").sha256
    assert (directory / "audit.html").is_file()
