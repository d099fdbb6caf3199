"""Rules on nano variant and subsets: what is made passes, every planted defect is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit.dataset import Dataset
from curation.audit.derived import parts_of
from curation.audit.rules.subsets import RULES
from schemas.hashing import sha256_bytes
from schemas.tables import CORPUS, QUERIES
from tests.curation.audit.small import check, dataset, named, planted, qrels, queries, rule_of, texts

Rows = dict[str, list[dict[str, Any]]]
NAMES = tuple(f"q{number}" for number in range(6))


def good() -> Rows:
    """Six queries of split test, one of dev, a document with and one without image for each."""
    rows: Rows = {
        "queries": queries(*((name, f"Text of {name}") for name in (*NAMES, "v0")), specialty="", region=""),
        "corpus": texts(*((f"{side}{name}", f"{side} {name}") for side in "dx" for name in (*NAMES, "v0"))),
        "qrels": qrels(*((name, f"d{name}") for name in (*NAMES, "v0"))),
        "excluded": [{"query-id": name, "corpus-id": f"x{name}", "reason": "own_article"} for name in NAMES],
    }
    rows["provenance_queries"] = [
        {"id": row["id"], "split": "dev" if row["id"] == "v0" else "test"} for row in rows["queries"]
    ]
    rows["provenance_corpus"] = [
        {"id": row["id"], "image_sha256": sha256_bytes(b"x") if row["id"][0] == "d" else None}
        for row in rows["corpus"]
    ]
    for number, row in enumerate(rows["queries"][:6]):
        row |= {"specialty": ("heart", "brain")[number % 2], "region": "head" if number < 3 else "limbs"}
    for row in rows["provenance_queries"]:
        row["image_sha256"] = None
    for table in ("corpus", "queries"):
        rows[table].sort(key=lambda row: row["id"])
    rows |= parts_of(rows, ("nano_corpus", "nano_queries", "nano_qrels", "nano_excluded", "subsets"))
    for facet in ("specialty", "region"):
        rows["subsets"] += [{"subset": facet, "kind": "query", "id": name} for name in NAMES]
    return {name: [dict(row) for row in found] for name, found in rows.items()}


def small(folder: Path, change: Callable[[Rows], Any] = lambda rows: None) -> Dataset:
    rows = good()
    change(rows)
    made = dataset(folder, rows)
    if "nano_queries" in rows:  # no query has an image: the columns are those of the whole
        table = pa.Table.from_pylist(rows["nano_queries"], schema=QUERIES.without("image").schema)
        pq.write_table(table, made.views["nano_queries"][0])
    return made


def test_good_parts_pass(tmp_path: Path) -> None:
    for rule in RULES:
        result = check(rule, small(tmp_path / rule.id), tmp_path)
        assert result.status == "passed" and result.compared > 5, result


def test_a_release_without_parts(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {"queries": queries(("q1", "One?"))})
    assert {check(rule, subject, tmp_path).status for rule in RULES} == {"not_applicable"}


@pytest.mark.parametrize("table", ["nano_qrels", "nano_corpus", "qrels", "provenance_queries"])
def test_a_missing_table_is_said(tmp_path: Path, table: str) -> None:
    subject = small(tmp_path, lambda rows: rows.pop(table))
    result = check(rule_of(RULES, "nano_pairs"), subject, tmp_path)
    assert result.status == "not_run" and table in result.note


def at(table: str, place: int = 0, **values: Any) -> Callable[[Rows], Any]:
    return lambda rows: rows[table][place].update(values)


def gone(table: str, **where: Any) -> Callable[[Rows], Any]:
    def change(rows: Rows) -> None:
        kept = [row for row in rows[table] if any(row[name] != value for name, value in where.items())]
        assert len(kept) < len(rows[table])
        rows[table] = kept

    return change


def more(table: str, **values: Any) -> Callable[[Rows], Any]:
    return lambda rows: rows[table].append({**rows[table][0], **values})


DEFECTS: tuple[tuple[str, Callable[[Rows], Any], str, set[str]], ...] = (
    ("nano_rows", at("nano_corpus", title="Other"), "is not as in corpus", {"dq0"}),
    ("nano_rows", at("nano_queries", 1, text="Other"), "is not as in queries", {"q1"}),
    ("nano_rows", at("queries", 1, specialty="skin"), "is not as in queries", {"q1"}),
    ("nano_rows", more("nano_corpus", id="zz"), "is not in corpus", {"zz"}),
    ("nano_rows", more("nano_queries"), "stands twice", {"q0"}),
    ("nano_pairs", at("nano_qrels", score=1), "not in qrels", {"q0", "dq0"}),
    ("nano_pairs", more("nano_qrels"), "not in qrels", {"q0", "dq0"}),
    ("nano_pairs", gone("nano_qrels", **{"query-id": "q1"}), "missing in nano_qrels", {"q1", "dq1"}),
    ("nano_pairs", gone("nano_qrels", **{"query-id": "q1"}), "has no positive in it", {"q1", "dq1"}),
    ("nano_pairs", gone("nano_corpus", id="dq2"), "not in the nano corpus", {"q2", "dq2"}),
    ("nano_pairs", gone("nano_excluded", **{"query-id": "q2"}), "nano_excluded", {"q2", "xq2"}),
    ("nano_pairs", at("nano_excluded", reason="other"), "not in excluded", {"q0", "xq0"}),
    ("nano_pairs", at("provenance_queries", 2, split="dev"), "is not of split test", {"q2"}),
    ("subsets", more("subsets", id="dq9", kind="document"), "not in the corpus", {"dq9", "modality"}),
    ("subsets", more("subsets", id="v0", kind="query"), "not one of split test", {"v0", "modality"}),
    ("subsets", more("subsets", kind="picture", id="p"), "neither query nor document", {"p", "modality"}),
    ("subsets", more("subsets", subset="colour", kind="query", id="q0"), "no known name", {"q0", "colour"}),
    ("subsets", more("subsets", subset=None, kind="query", id="q0"), "no known name", {"q0"}),
    ("subsets", more("subsets"), "stands twice", {"dq0", "modality"}),
    ("subsets", gone("qrels", **{"query-id": "q3"}), "has no positive", {"q3", "modality", "region"}),
    ("subsets", gone("subsets", kind="document", id="dq3"), "not among the documents", {"q3", "dq3"}),
    ("subsets", more("subsets", subset="region", kind="document", id="dq0"), "not among", {"q1", "dq1"}),
    ("subsets_balanced", gone("subsets", subset="specialty", id="q3"), "equally many", {"specialty"}),
    ("subsets_balanced", gone("subsets", kind="document", id="xq3"), "equally many", {"modality"}),
    ("subsets_balanced", at("queries", 4, region=""), "has no value", {"q4", "region"}),
    ("subsets_balanced", gone("subsets", kind="document"), "equally many", {"modality"}),
)  # fmt: skip


@pytest.mark.parametrize(("rule", "change", "said", "wanted"), DEFECTS)
def test_a_planted_defect_is_found(
    tmp_path: Path, rule: str, change: Callable[[Rows], Any], said: str, wanted: set[str]
) -> None:
    result = check(rule_of(RULES, rule), small(tmp_path, change), tmp_path)
    assert result.status == "failed" and any(said in finding.message for finding in result.findings), result
    assert wanted <= named(result)


def test_a_column_less_and_another_image_are_found(tmp_path: Path) -> None:
    subject = small(tmp_path)
    rows = good()
    for name in ("corpus", "nano_corpus"):
        for row in rows[name]:
            other = name != "corpus" and row["id"] == "dq1"
            row["image"] = {"bytes": b"y" if other else b"x", "path": "a"} if row["id"][0] == "d" else None
        table = pa.Table.from_pylist(rows[name], schema=CORPUS.schema)
        pq.write_table(table, subject.views[name][0])
    result = check(rule_of(RULES, "nano_rows"), subject, tmp_path)
    assert named(result) == {"dq1"} and result.found == 1
    pq.write_table(table.drop_columns(["image"]), subject.views["nano_corpus"][0])
    result = check(rule_of(RULES, "nano_rows"), subject, tmp_path)
    assert "do not both have column image" in result.findings[0].message


def test_canaries_are_found_in_own_and_in_invented_rows(tmp_path: Path) -> None:
    assert planted(RULES, small(tmp_path / "own"), tmp_path / "one") == {}
    bare = dataset(tmp_path / "bare", {"queries": queries(("q1", "One?")), "corpus": texts(("d1", "A"))})
    assert planted(RULES, bare, tmp_path / "two") == {}
