"""Both tasks that pair cases, built from the sample: what they share, and candidates that are no labels."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.report import RULES
from curation.audit.rules import candidates, evidence, hidden, leakage
from curation.tasks.registry import TASKS
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.review.candidates import Options, prepare
from flows.specs import DATA_CARDS, read_spec
from tests.conftest import copied
from tests.pipeline import run_partition, run_stages
from tests.releases import card_text

BUILT = ("case_study", "clinical_case")
SPEC = """
name = "two-tasks"
title = "Cases for a test"
[baselines]
systems = ["bm25"]
nano_queries = 5
nano_documents = 100
[tasks.case_study]
[tasks.clinical_case]
"""
OF_HIDDEN = (*candidates.RULES, *hidden.RULES, *evidence.RULES, *leakage.RULES)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> Workspace:
    """A workspace with a release of both tasks."""
    root = tmp_path_factory.mktemp("cases")
    cards = root / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    spec = read_spec(cards / "spec.toml")
    made = copied(sample, root / "ws")
    run_stages(made, spec=spec)
    run_partition(made, spec, "1.0.0")
    session = Session(Settings(workspace=made.root), made, SilentReporter())
    for task in BUILT:
        release_task(session, TASKS[task], spec, cards, "1.0.0", {})
    return made


@pytest.fixture(scope="module")
def release(workspace: Workspace) -> Path:
    return workspace.releases / "two-tasks" / "1.0.0"


def rows(release: Path, task: str, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(release / task / table).to_pylist()
    return found


def statuses(directory: Path) -> Mapping[str, str]:
    """What the rules on hidden targets say."""
    report = audit(directory, query(), rules=OF_HIDDEN, plant=False)
    return {item.rule: item.status for item in report.rules}


def test_pairs_are_candidates_and_everything_says_so(release: Path) -> None:
    head = json.loads((release / "clinical_case/release.json").read_text("utf-8"))
    assert head["label"] == "candidates" and head["publishable_by_content"] is False
    assert TASKS["clinical_case"].candidates_because in " ".join(head["not_publishable_because"])
    assert {row["label_status"] for row in rows(release, "clinical_case", "qrels")} == {"candidate"}
    assert {row["label_status"] for row in rows(release, "case_study", "qrels")} == {"structural"}
    card = card_text(release / "clinical_case")
    assert "These pairs are **candidates**" in card and "label quality **candidates**" in card
    assert "was **not run**" in card and "Not for publication" in card
    results = json.loads((release / "clinical_case/runs/results.json").read_text("utf-8"))
    assert results["test"]["release"]["label"] == "candidates"


def test_the_diagnosis_is_hidden_and_the_audit_looks_for_it(release: Path) -> None:
    found = statuses(release / "clinical_case")
    assert found == {
        **dict.fromkeys(found, "passed"),
        "candidates": "declared",
        **dict.fromkeys(("gives_away", "gold_columns"), "not_applicable"),
    }
    origins = rows(release, "clinical_case", "provenance/queries")
    assert origins and all(row["hides_target"] for row in origins)
    assert len(rows(release, "clinical_case", "provenance/cuts")) == len(origins)
    assert statuses(release / "case_study")["answer_names"] == "not_applicable"


@pytest.mark.parametrize(
    ("table", "column", "value", "rule"),
    [
        (
            "queries",
            "text",
            lambda row: row["text"] + " It was gout after all.",
            "source_texts",
        ),
        ("provenance/cuts", "start", lambda row: row["start"] + 1, "cuts"),
        ("provenance/cuts", "text", lambda row: "gout", "cuts"),
        ("qrels", "label_status", lambda row: "structural", "candidates_declared"),
    ],
)
def test_what_is_changed_by_hand_is_found(
    release: Path, tmp_path: Path, table: str, column: str, value: Any, rule: str
) -> None:
    directory = Path(shutil.copytree(release / "clinical_case", tmp_path / "clinical_case"))
    path = sorted((directory / table).glob("*.parquet"))[-1]
    held = pq.read_table(path)
    changed = held.to_pylist()
    changed[0][column] = value(changed[0])
    pq.write_table(pa.Table.from_pylist(changed, schema=held.schema), path)
    assert statuses(directory)[rule] == "failed"


def test_a_named_diagnosis_is_found(release: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(release / "clinical_case", tmp_path / "clinical_case"))
    (path,) = (directory / "queries").glob("test-*.parquet")
    held = pq.read_table(path)
    changed = [
        row | {"text": f"{row['text']} Vestibular schwannoma, Crohn disease, takotsubo, osteoid osteoma."}
        for row in held.to_pylist()
    ]
    pq.write_table(pa.Table.from_pylist(changed, schema=held.schema), path)
    assert statuses(directory)["answer_names"] == "failed"


def test_no_article_or_diagnosis_is_in_both_tasks(release: Path) -> None:
    keys = {
        task: {(row["dimension"], row["key"]) for row in rows(release, task, "provenance/keys")}
        for task in BUILT
    }
    assert {kind for kind, _ in keys["case_study"]} >= {"article", "target_concept", "patient"}
    assert not keys["case_study"] & keys["clinical_case"]
    assert all(rows(release, task, "qrels") for task in BUILT)


def test_it_loads(release: Path) -> None:
    for config in ("queries", "corpus", "qrels", "excluded"):
        loaded = datasets.load_dataset(str(release / "clinical_case"), config, split="test")
        assert loaded.num_rows == len(rows(release, "clinical_case", config))
    queries = datasets.load_dataset(str(release / "clinical_case"), "queries", split="test")
    assert "image" not in queries.column_names and min(len(text.split()) for text in queries["text"]) >= 50


def test_candidates_go_to_review(release: Path, workspace: Workspace) -> None:
    made = prepare(
        release / "clinical_case",
        workspace,
        Options(per_item=1, sample=8, gold_share=0.0, ocr=False),
    )
    drawn = made.folder.candidates()
    asked = {(row["query-id"], row["corpus-id"]) for row in rows(release, "clinical_case", "qrels")}
    assert asked & {(item.query_id, item.corpus_id) for item in drawn}


def test_every_rule_on_hidden_targets_runs_in_an_audit() -> None:
    assert {rule.id for rule in OF_HIDDEN} <= {rule.id for rule in RULES}
