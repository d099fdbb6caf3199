"""What a calibration is drawn from: every pair that was put to the judge, whatever became of its query."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.candidates import Pair
from flows.engine.connection import query
from flows.engine.workspace import Workspace
from flows.review.brought import bring
from flows.review.calibration_draw import _frame
from flows.review.release_texts import Known, Published
from schemas.benchmark import Query
from schemas.errors import UsageError
from schemas.tables import TABLES
from tests.curation.audit.small import texts
from tests.releases import manifest

JUDGED = (  # query, document, score, reason, first order
    ("kept", "d1", 2, "", "3 3"),
    ("kept", "d2", None, "middle", "2 0"),
    ("kept", "d3", None, "unstable", "0 0"),
    ("empty", "d1", 0, "", "0 0"),
    ("empty", "d2", 0, "", "0 0"),
    ("empty", "d3", None, "not_run", ""),
)


def published(folder: Path, task: str, queries: Sequence[str], known: Known | None = None) -> Published:
    """A release of some queries whose judge was asked of others, too."""
    rows = [
        {
            "query-id": q, "corpus-id": c, "score": score, "reason": reason, "forward": forward,
            "reversed": forward, "found_by": ["bm25:answer:1"], "model": "m" if forward else "",
        }
        for q, c, score, reason, forward in JUDGED
    ]  # fmt: skip
    tables: dict[str, list[dict[str, Any]]] = {
        "queries": texts(*((name, f"text of {name}") for name in queries)),
        "provenance_queries": [{"id": name, "split": "test", "article_id": "pmc:PMC1.1"} for name in queries],
        "corpus": texts(*((name, "words") for name in ("d1", "d2", "d3"))),
        "provenance_corpus": [{"id": name, "article_id": "pmc:PMC2.1"} for name in ("d1", "d2", "d3")],
        "judgements": rows,
        "qrels": [],
        "excluded": [{"query-id": "kept", "corpus-id": "d1", "reason": "held_elsewhere"}],
    }
    write_release(folder, tables, task)
    return Published(folder, query(), known=known)


def write_release(folder: Path, tables: dict[str, list[dict[str, Any]]], task: str) -> None:
    for table in TABLES:
        if table.name in tables:
            path = folder / table.folder / "test-00000-of-00001.parquet"
            path.parent.mkdir(parents=True)
            schema = table.without("image").schema
            pq.write_table(pa.Table.from_pylist(tables[table.name], schema=schema), path)
    head = dataclasses.asdict(manifest(task=task))
    (folder / "release.json").write_text(json.dumps(head), "utf-8")


def workspace_with(folder: Path, *ids: str) -> Known:
    """A workspace that knows queries which are not released."""
    rows = [
        Query(
            id=name, task="clinical_evidence", text=f"text of {name}", language="en", source_id="s",
            article_id="pmc:PMC3.1", license="CC-BY-4.0", license_evidence="xml", text_sha256="0" * 64,
            tier="diagnosis",
        )
        for name in ids
    ]  # fmt: skip
    workspace = Workspace(folder)
    bring(workspace, "clinical_evidence_views", 1, {"queries": (Query, rows)})
    return Known(workspace, query())


def test_pairs_of_queries_that_the_judge_found_empty_are_drawn_from_as_well(tmp_path: Path) -> None:
    known = workspace_with(tmp_path / "ws", "empty", "another")
    task = published(tmp_path / "release", "clinical_evidence", ["kept"], known)
    found = list(_frame(task))
    assert sorted((one.query_id, one.corpus_id) for one in found) == sorted(row[:2] for row in JUDGED)
    assert Counter(one.stratum for one in found) == {
        "3 3": 1, "2 0": 1, "unstable": 1, "0 0": 2, "not_judged": 1,
    }  # fmt: skip
    assert {one.facets.tier for one in found if one.query_id == "empty"} == {"diagnosis"}
    assert task.rows("queries", ["empty"])["empty"].text == "text of empty"
    assert task.ending("empty", "d1") is None and task.ending("another", "d1") == "gone"


def test_without_the_queries_that_are_not_released_nothing_is_drawn(tmp_path: Path) -> None:
    task = published(tmp_path, "clinical_evidence", ["kept"])
    with pytest.raises(UsageError, match="1 queries that were put to the judge"):
        list(_frame(task))


def test_of_a_question_and_its_translations_the_one_that_was_judged_is_drawn(tmp_path: Path) -> None:
    task = published(tmp_path, "multilingual_evidence", ["kept", "empty"])
    task.__dict__["queries"] = {
        "kept": {"specialty": "", "language": "en", "tier": ""},
        "empty": {"specialty": "", "language": "es", "tier": ""},
    }
    task.__dict__["pool"] = [Pair("empty", "d9", "pool", task.facets("empty"))]
    found = [(one.query_id, one.stratum) for one in _frame(task)]
    assert found == [("kept", "3 3"), ("kept", "2 0"), ("kept", "unstable"), ("empty", "unjudged")]
