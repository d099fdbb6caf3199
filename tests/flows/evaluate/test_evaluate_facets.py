"""`evaluate` on questions on a facet of a named concept: systems rank the passages about it alone."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curation.audit import audit
from curation.audit.rules import facet_results
from curation.published.manifest import read_manifest
from curation.release.write import Written
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import open_workspace
from flows.evaluate.evaluate import describe
from flows.release.baselines import derive
from schemas.spec import Baselines
from tests import releases
from tests.curation.evaluation.world import Release

TEXTS = {
    "d1": "Linnet fever is treated with rest and cold water.",
    "d2": "Linnet fever is fatal in one of ten.",
    "d3": "Linnet fever was first seen by sailors.",
    "d4": "Water, rest and treatment, treatment, treatment of all that is treated.",
}
QUERIES = (("q1", "en", "How is linnet fever treated?"), ("q2", "ja", "ヒワ熱はどう治療しますか。"))


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """One question in two languages: d1 answers, d2 is near, d3 far; d4 is of something else."""
    made = Release(
        documents=[{"id": name, "text": text} for name, text in TEXTS.items()],
        queries=[
            {"id": name, "text": text, "language": language, "family": "C:1/treatment"}
            for name, language, text in QUERIES
        ],
        qrels=[
            (name, document, grade) for name, _, _ in QUERIES for document, grade in (("d1", 2), ("d2", 1))
        ],
    )
    folder = made.write(tmp_path)
    strings = [
        {"query-id": name, "language": language, "kind": "template", "concept": "C:1", "name": "linnet fever"}
        for name, language, _ in QUERIES
    ]
    far = [{"query-id": name, "corpus-id": "d3", "rank": 1} for name, _, _ in QUERIES]
    releases.write(folder, {"strings": strings, "hard_pool": far})
    made.seal(folder)
    return folder


def test_a_system_ranks_the_passages_about_the_concept_and_a_file_counts_where_it_has_them_all(
    release: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    whole = tmp_path / "mine.trec"
    lines = [f"q1 Q0 {name} {rank} {9 - rank} mine" for rank, name in enumerate(("d4", "d1", "d2", "d3"), 1)]
    whole.write_text("\n".join([*lines, "q2 Q0 d1 1 9 mine\n"]), "utf-8")
    out = tmp_path / "out"
    (made,) = run(str(release), "--system", "bm25", "--run", str(whole), "--out", str(out))
    told = made["facet_ndcg"]
    systems = told["systems"]
    assert set(systems) == {"bm25", "mine", "exact name", "by lot"}
    assert (systems["mine"]["queries"], systems["mine"]["facet"]["mean"]) == (1, 1.0)
    assert systems["bm25"]["languages"]["en"] == 1.0
    assert systems["bm25"]["languages"]["ja"] == systems["by lot"]["languages"]["ja"]  # no word in common
    ranked = gzip.decompress((out / systems["bm25"]["run_file"]).read_bytes()).decode().splitlines()
    assert {line.split()[2] for line in ranked} == {"d1", "d2", "d3"}  # not d4, which has more of the words
    assert "Facets of the right concept" in (out / "results.html").read_text("utf-8")
    assert json.loads((out / "results.json").read_text("utf-8"))["facet_ndcg"] == told
    assert "mine, nDCG@10 among passages about the concept: 1.000 (1 query)" in describe([made])


def test_without_all_core_languages_there_is_no_gap(
    release: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    (made,) = run(str(release), "--system", "bm25", "--out", str(tmp_path / "out"))
    assert made["facet_ndcg"]["core"]["families"] == 0  # two languages are no core
    assert "gap between languages" not in describe([made])
    told = made["facet_ndcg"]["systems"]["bm25"]
    told["core"]["mean"] = 0.5
    told["fairness"] = {"gap": 0.25}
    assert "parallel core 0.500, gap between languages 0.250" in describe([made])


def test_a_release_ships_the_rankings_of_these_passages_and_its_audit_agrees(
    release: Path, tmp_path: Path
) -> None:
    head = replace(read_manifest(release), counts={"queries": 2, "corpus": 4})
    written = Written(release, head, {}, ("test",))
    workspace = open_workspace(tmp_path / "workspace", create=True)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    systems = Baselines(systems=("bm25", "dense", "hybrid"), nano_queries=0, distractors=0)
    derive(session, systems, written)
    told = json.loads((release / "runs/results.json").read_text("utf-8"))["test"]["facet_ndcg"]
    assert {"bm25", "dense", "hybrid", "exact name", "by lot"} == set(told["systems"])
    assert (told["queries"], told["passages"]) == (2, 3.0)
    releases.seal(release)
    (rule,) = audit(release, query(), rules=facet_results.RULES, plant=False).rules
    assert rule.status == "passed" and rule.compared > 5, rule.findings
    told["systems"]["dense"]["facet"]["mean"] = 0.99
    results = json.loads((release / "runs/results.json").read_text("utf-8"))
    results["test"]["facet_ndcg"] = told
    (release / "runs/results.json").write_text(json.dumps(results), "utf-8")
    (rule,) = audit(release, query(), rules=facet_results.RULES, plant=False).rules
    assert rule.status == "failed" and len(rule.findings) == 1
