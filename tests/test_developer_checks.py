"""Rows for a developer to read are drawn by the release hash, and committed verdicts are whole."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.developer_checks import sample as checks

COMMITTED = sorted(Path(checks.__file__).parent.glob("*.jsonl"))


def qrel(number: int, score: int) -> dict[str, Any]:
    return {"query-id": f"q{number}", "corpus-id": f"d{number}", "score": score, "rule": "visual_context/x@1"}


def released(directory: Path, rows: list[dict[str, Any]], release_hash: str = "ab") -> Path:
    """A released task with qrels in two splits and nothing else."""
    (directory / "qrels").mkdir(parents=True)
    (directory / "release.json").write_text(
        json.dumps({"release_hash": release_hash, "task": "visual_context"})
    )
    for split, part in (("dev", rows[:1]), ("test", rows[1:])):
        pq.write_table(pa.Table.from_pylist(part), directory / "qrels" / f"{split}-00000-of-00001.parquet")
    return directory


def judged(rows: list[dict[str, Any]], wrong: int = 0) -> list[dict[str, Any]]:
    given = {"release_hash": "ab", "task": "visual_context", "reason": "fits", "kind": "developer check"}
    return [
        {**{name: row[name] for name in ("query-id", "corpus-id", "score", "rule")}, **given}
        | {"verdict": "wrong" if number < wrong else "acceptable"}
        for number, row in enumerate(rows)
    ]


def test_half_of_the_rows_are_of_each_grade_and_a_short_grade_gives_way(tmp_path: Path) -> None:
    many = [qrel(number, 1 + number % 2) for number in range(120)]
    drawn = checks.sample(released(tmp_path / "a", many))
    assert Counter(row["score"] for row in drawn) == {1: 20, 2: 20}
    few = [qrel(number, 1 if number < 5 else 2) for number in range(120)]
    drawn = checks.sample(released(tmp_path / "b", few))
    assert Counter(row["score"] for row in drawn) == {1: 5, 2: 35}
    assert {row["split"] for row in drawn} == {"dev", "test"}


def test_the_draw_follows_the_release_hash_and_not_the_order_of_rows() -> None:
    rows = [qrel(number, 2) for number in range(90)]
    ids = ("query-id", "corpus-id")
    drawn = checks.draw("ab", rows, ids, 40, ("score",))
    assert drawn == checks.draw("ab", rows[::-1], ids, 40, ("score",))
    assert drawn != checks.draw("cd", rows, ids, 40, ("score",))
    assert checks.draw("ab", rows[:7], ids, 40, ("score",)) != []
    assert len(checks.draw("ab", rows[:7], ids, 40, ("score",))) == 7


def test_lower_bound_is_wilsons() -> None:
    assert checks.lower_bound(0, 0) == 0.0
    assert checks.lower_bound(40, 40) == pytest.approx(0.9124, abs=1e-4)
    assert checks.lower_bound(37, 40) == pytest.approx(0.8014, abs=1e-4)
    assert checks.lower_bound(36, 40) < checks.LEAST


def test_verdicts_are_checked_against_the_sample_and_the_bound(tmp_path: Path) -> None:
    directory = released(tmp_path / "a", [qrel(number, 2) for number in range(90)])
    rows = checks.sample(directory)
    path = tmp_path / "verdicts.jsonl"

    def code(lines: list[dict[str, Any]]) -> int:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return checks.check(path, directory)

    assert code(judged(rows, wrong=3)) == 0
    assert code(judged(rows, wrong=4)) == 1
    assert code(judged(rows)[1:]) == 2
    assert code([*judged(rows)[1:], {**judged(rows)[0], "corpus-id": "other"}]) == 2
    assert code([*judged(rows), judged(rows)[0]]) == 2
    assert code([{**row, "reason": " "} for row in judged(rows)]) == 2
    assert code([{**row, "release_hash": "cd"} for row in judged(rows)]) == 2


@pytest.mark.parametrize("path", COMMITTED, ids=[path.stem for path in COMMITTED])
def test_committed_verdicts_are_whole_and_reach_the_bound(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert checks.problems(rows) == []
    assert {row["task"] for row in rows} <= {path.stem}
    assert checks.check(path) == 0


def test_verdicts_on_facets_are_whole_and_hold_no_text() -> None:
    rows = json.loads(Path(checks.__file__).with_name("facet_answers.json").read_text("utf-8"))["rows"]
    assert len({(row["query-id"], row["corpus-id"]) for row in rows}) == len(rows) >= 40
    for row in rows:
        assert set(row) == {
            "query-id", "corpus-id", "facet", "rule", "evidence_sha256", "verdict", "reason",
        }  # fmt: skip
        assert row["verdict"] in checks.VERDICTS and len(row["evidence_sha256"]) == 64


def test_verdicts_on_confusion_sets_are_whole_and_hold_no_text() -> None:
    rows = json.loads(Path(checks.__file__).with_name("confusion_sets.json").read_text("utf-8"))["rows"]
    assert len({row["query-id"] for row in rows}) == len(rows) >= 40
    for row in rows:
        assert set(row) == {"query-id", "tier", "concept", "members_sha256", "verdict", "reason"}
        assert row["verdict"] in checks.VERDICTS and len(row["members_sha256"]) == 64


def test_verdicts_on_names_are_whole_and_hold_no_name() -> None:
    rows = json.loads(Path(checks.__file__).with_name("names.json").read_text("utf-8"))["rows"]
    assert len({(row["concept"], row["language"]) for row in rows}) == len(rows)
    assert min(Counter(row["language"] for row in rows).values()) >= 30
    for row in rows:
        assert set(row) == {"concept", "language", "source", "name_sha256", "verdict", "reason"}
        assert row["verdict"] in checks.VERDICTS and row["reason"].isascii() and len(row["name_sha256"]) == 64
