"""Unjudged is not negative, excluded stays excluded, expert means experts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit.rules import languages, leakage, mteb, privacy, statistics
from curation.audit.rules.judgement import RULES
from tests.curation.audit.small import check, dataset, named, planted, qrels, queries, rule_of, texts

ZERO = rule_of(RULES, "unjudged_negative")
RANKED = rule_of(RULES, "excluded_honoured")
SILVER = rule_of(RULES, "silver_label")


@pytest.mark.parametrize("status", ["structural", "", None, "guessed"])
@pytest.mark.parametrize("score", [0, -1, None])
def test_an_unjudged_pair_is_not_negative(tmp_path: Path, status: str | None, score: int | None) -> None:
    rows: list[dict[str, Any]] = qrels(("q1", "d1")) + qrels(("q1", "d2"))
    rows[1] |= {"score": score, "label_status": status}
    result = check(ZERO, dataset(tmp_path, {"qrels": rows}), tmp_path)
    assert (result.status, named(result), result.compared) == ("failed", {"q1", "d2"}, 2)


@pytest.mark.parametrize("status", ["judge", "expert", "adjudicated"])
def test_a_judged_negative_is_one(tmp_path: Path, status: str) -> None:
    rows = qrels(("q1", "d1")) + qrels(("q1", "d2"), score=0, status=status)
    assert check(ZERO, dataset(tmp_path, {"qrels": rows}), tmp_path).status == "passed"


def test_negatives_of_a_foreign_dataset(tmp_path: Path) -> None:
    def pairs(score: int) -> list[dict[str, Any]]:
        return [{"query-id": "q", "corpus-id": "d", "score": score}]

    assert check(ZERO, dataset(tmp_path / "1", {"qrels": pairs(1)}, "beir"), tmp_path).status == "passed"
    assert check(ZERO, dataset(tmp_path / "0", {"qrels": pairs(0)}, "beir"), tmp_path).status == "not_covered"


def test_severity_by_task() -> None:
    assert ZERO.severity_for("concept_discrimination") == "warn" and ZERO.severity_for("summary") == "error"


def _ranked(tmp_path: Path, folder: str, rows: list[dict[str, Any]]) -> Any:
    subject = dataset(
        tmp_path,
        {
            "queries": queries(("q1", "One?"), ("q2", "Two?")),
            "corpus": texts(("d1", "A"), ("d2", "B"), ("d3", "C")),
            "qrels": qrels(("q1", "d1"), ("q2", "d2")),
            "excluded": [{"query-id": "q1", "corpus-id": "d3", "reason": "own_article"}],
        },
    )
    path = tmp_path / folder / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return check(RANKED, subject, tmp_path)


def _pairs(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"query-id": query, "corpus-id": document} for query, document in pairs]


def test_ranked_candidates(tmp_path: Path) -> None:
    clean = _ranked(tmp_path / "1", "top_ranked", _pairs(("q1", "d1"), ("q2", "d2"), ("q2", "d3")))
    assert (clean.status, clean.compared) == ("passed", 3)
    listed = [{"query-id": "q1", "corpus-ids": ["d1", "d3"]}, {"query-id": "q2", "corpus-ids": ["d2"]}]
    assert named(_ranked(tmp_path / "2", "top_ranked", listed)) == {"q1", "d3"}
    run = _ranked(tmp_path / "3", "runs/bm25", _pairs(("q1", "d3"), ("q9", "d1"), ("q1", "d8")))
    assert named(run) == {"q1", "d3", "q9", "d8"}
    lacking = _ranked(tmp_path / "4", "top_ranked", _pairs(("q1", "d1")))
    assert named(lacking) == {"q2"} and "zero_top_ranked" in lacking.findings[0].message
    nothing = [{"query-id": "q1", "corpus-ids": ["d1"]}, {"query-id": "q2", "corpus-ids": []}]
    assert named(_ranked(tmp_path / "5", "top_ranked", nothing)) == {"q2"}
    assert _ranked(tmp_path / "6", "runs", [{"qid": "q1"}]).status == "failed"


def test_without_candidates_nothing_is_said(tmp_path: Path) -> None:
    assert check(RANKED, dataset(tmp_path, {"queries": []}), tmp_path).status == "not_applicable"


def test_expert_means_experts(tmp_path: Path) -> None:
    rows = (
        qrels(("q1", "d1"), status="expert") + qrels(("q2", "d1"), status="adjudicated") + qrels(("q3", "d1"))
    )

    def status(name: str, **changes: Any) -> str:
        return check(SILVER, dataset(tmp_path / name, {"qrels": rows}, **changes), tmp_path).status

    assert status("1", label="expert", expert_minimum=2) == "passed"
    assert status("2", label="expert", expert_minimum=3) == "failed"
    assert status("3", label="silver", expert_minimum=3) == "passed"
    assert status("4", label="gold") == "failed"
    none = dataset(tmp_path / "5", {"qrels": qrels(("q1", "d1"))}, label="expert", expert_minimum=0)
    assert check(SILVER, none, tmp_path).status == "failed"
    foreign = dataset(tmp_path / "6", {"qrels": qrels(("q1", "d1"))}, "beir")
    assert check(SILVER, foreign, tmp_path).status == "not_covered"


TOGETHER = (*leakage.RULES, *privacy.RULES, *languages.RULES, *statistics.RULES, *mteb.RULES, *RULES)


def test_canaries_of_a_foreign_dataset(tmp_path: Path) -> None:
    """What another layout has is proven; what it lacks is said, and no canary is missed for it."""
    for kind, more in (("beir", {}), ("mteb", {"language": "en"})):
        subject = dataset(
            tmp_path / kind,
            {
                "queries": [{"id": f"q{n}", "text": f"Which drug is number {n}?", **more} for n in (1, 2)],
                "corpus": [{"id": f"d{n}", "text": f"Document number {n}.", **more} for n in range(9)],
                "qrels": [{"query-id": f"q{n}", "corpus-id": f"d{n}", "score": 1} for n in (1, 2)],
            },
            kind,  # type: ignore[arg-type]
        )
        assert planted(TOGETHER, subject, tmp_path / f"scratch-{kind}") == {}
        statuses = {check(rule, subject, tmp_path).status for rule in TOGETHER}
        assert statuses <= {"passed", "not_covered", "not_applicable"}
