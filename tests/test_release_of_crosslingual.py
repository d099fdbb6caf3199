"""crosslingual_qa built from the sample and released: by language, known items apart, audited."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules import facet_results
from curation.tasks.registry import TASKS
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from tests.conftest import copied
from tests.pipeline import run_partition, run_stages
from tests.releases import card_text

NAME = "crosslingual_qa"
SPEC = f"""
name = "crosslingual"
title = "Questions in several languages for a test"
[baselines]
systems = ["bm25"]
nano_queries = 0
[tasks.{NAME}]
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> Path:
    """The task's release; read-only."""
    root = tmp_path_factory.mktemp("crosslingual")
    cards = root / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    spec = read_spec(cards / "spec.toml")
    workspace = copied(sample, root / "ws")
    run_stages(workspace, spec=spec)
    run_partition(workspace, spec, "1.0.0")
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    release_task(session, TASKS[NAME], spec, cards, "1.0.0", {})
    return workspace.releases / "crosslingual/1.0.0" / NAME


def rows(directory: Path, table: str) -> dict[str, dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(directory / table).to_pylist()
    return {row.get("id") or row["query-id"]: row for row in found}


def test_human_text_has_configs_of_its_own_and_finds_its_english_version(release: Path) -> None:
    asked = rows(release, "queries")
    assert {row["tier"] for row in asked.values()} == {"definition", "parallel"}
    questions = datasets.load_dataset(str(release), "en-queries", split="test")
    assert set(questions["tier"]) == {"definition"}
    documents, labels = rows(release, "corpus"), rows(release, "qrels")
    for language, count in (("es", 2), ("fr", 2), ("pt", 3)):
        loaded = datasets.load_dataset(str(release), f"parallel-{language}-queries", split="test")
        pairs = datasets.load_dataset(str(release), f"parallel-{language}-qrels", split="test")
        assert loaded.num_rows == pairs.num_rows == count and set(loaded["language"]) == {language}
        for name in loaded["id"]:
            label = labels[name]
            own = documents[label["corpus-id"]]
            assert (own["title"], own["language"], label["score"]) == ("", "en", 2)
            assert (label["rule"], label["label_status"]) == (f"{NAME}/translation-of@1", "structural")
            article = rows(release, "provenance/queries")[name]["article_id"]
            assert label["corpus-id"].partition("#")[0] == article
    assert len(datasets.load_dataset(str(release), "queries", split="test")) == len(asked) == 9


def test_one_corpus_has_the_name_that_mteb_looks_for_in_each_language(release: Path) -> None:
    corpus = datasets.load_dataset(str(release), "corpus", split="test")["id"]
    for language in ("en", "parallel-es"):
        assert datasets.load_dataset(str(release), f"{language}-corpus", split="test")["id"] == corpus


def test_texts_of_articles_are_not_called_made(release: Path) -> None:
    made = {row["id"] for row in pq.read_table(release / "provenance/made_texts").to_pylist()}
    assert made == {name for name, row in rows(release, "queries").items() if row["tier"] == "definition"}


def test_results_lead_with_the_facet_and_the_exact_name(release: Path) -> None:
    told = json.loads((release / "runs/results.json").read_text("utf-8"))["test"]["facet_ndcg"]
    assert {"bm25", "exact name", "by lot"} == set(told["systems"])
    assert (told["queries"], told["queries_of_one_grade"]) == (0, 2)  # known items are no questions
    assert "The exact English name alone has nDCG@10" in card_text(release)


def test_the_audit_finds_nothing(release: Path) -> None:
    found = {rule.rule: rule for rule in audit(release, query(), plant=False).rules}
    wrong = {name: rule.findings[:2] for name, rule in found.items() if rule.status in ("failed", "error")}
    assert not wrong
    for name in ("string_origins", "families", "facet_results", "overlap_keys_true", "restricted_strings"):
        assert found[name].status == "passed" and found[name].compared > 0, name


def test_a_headline_that_was_edited_is_found(release: Path, tmp_path: Path) -> None:
    edited = Path(shutil.copytree(release, tmp_path / NAME))
    path = edited / "runs/results.json"
    found = json.loads(path.read_text("utf-8"))
    found["test"]["facet_ndcg"]["queries_of_one_grade"] = 1
    path.write_text(json.dumps(found), "utf-8")
    (rule,) = audit(edited, query(), rules=facet_results.RULES, plant=False).rules
    assert rule.status == "failed" and "files give 2" in rule.findings[0].message
