"""Structure: references, ids, shards, splits, texts; of our releases and of other layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.dataset import Dataset
from curation.audit.rules import integrity
from schemas.audit import RuleResult
from tests.curation.audit.small import check, dataset, rule_of
from tests.curation.release.known import edit, run_sql

Row = dict[str, Any]
HOSTILE = "'); DROP TABLE queries; -- \"\n\u202e\u0000".replace("\u0000", "")
FOREIGN: dict[str, list[Row]] = {
    "queries": [{"id": "q1", "text": "What is a cyst of the liver?"}],
    "corpus": [{"id": "d1", "title": "", "text": "A cyst is a closed sac that holds fluid."}],
    "qrels": [{"query-id": "q1", "corpus-id": "d1", "score": 1}],
}


def foreign(folder: Path, **changes: list[Row]) -> Dataset:
    return dataset(folder, {**FOREIGN, **changes}, "beir")


def of(rule: str, subject: Dataset, scratch: Path) -> RuleResult:
    return check(rule_of(integrity.RULES, rule), subject, scratch)


def named(result: RuleResult) -> list[str]:
    return [item.id for finding in result.findings for item in finding.sides]


def test_another_layout_runs_what_its_tables_allow(tmp_path: Path) -> None:
    status = {rule.id: check(rule, foreign(tmp_path), tmp_path).status for rule in integrity.RULES}
    assert status == {
        "schema": "not_covered",
        "confidence": "not_covered",
        "shards": "passed",
        "splits": "not_covered",
        "dangling_ids": "passed",
        "duplicate_ids": "passed",
        "duplicate_pairs": "passed",
        "positive_and_excluded": "not_covered",
        "query_without_positive": "passed",
        "definitions": "not_covered",
        "empty_texts": "passed",
        "short_texts": "passed",
        "funnel": "not_covered",
    }


def test_a_layout_without_qrels_is_not_covered_where_they_matter(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {name: FOREIGN[name] for name in ("queries", "corpus")}, "jsonl")
    status = {rule.id: check(rule, subject, tmp_path).status for rule in integrity.RULES}
    assert status["dangling_ids"] == status["duplicate_pairs"] == "not_covered"
    assert status["duplicate_ids"] == status["empty_texts"] == "passed"


def test_dangling_qrels_of_another_layout_name_both_ends(tmp_path: Path) -> None:
    pairs = [("q1", "gone"), (HOSTILE, "d1"), ("q1", "d1")]
    qrels = [{"query-id": query, "corpus-id": document, "score": 1} for query, document in pairs]
    result = of("dangling_ids", foreign(tmp_path, qrels=qrels), tmp_path)
    assert result.found == 2
    assert {"gone", "q1 gone", HOSTILE, f"{HOSTILE} d1"} == set(named(result))


def test_duplicate_and_missing_ids_of_another_layout(tmp_path: Path) -> None:
    corpus = [*FOREIGN["corpus"] * 2, {"id": None, "title": "", "text": "Nobody gave this text an id."}]
    result = of("duplicate_ids", foreign(tmp_path, corpus=corpus), tmp_path)
    assert set(named(result)) == {"d1", "None"}
    result = of("duplicate_pairs", foreign(tmp_path / "b", qrels=FOREIGN["qrels"] * 3), tmp_path)
    assert named(result) == ["q1", "d1"] and "3 times" in result.findings[0].message


@pytest.mark.parametrize(
    ("text", "is_empty", "is_short"),
    [
        (None, True, False),
        ("", True, False),
        (" …\u200b\n", True, False),
        ("\u202e\u2066", True, False),
        ("cyst", False, True),
        ("囊肿是什么", False, False),
        ("囊肿", False, True),
        ("낭종이란 무엇", False, False),
        ("What is a cyst?", False, False),
        (". " * 150 + "x", False, False),
        ("é" * 10, False, False),
        ("१२३४५६७८९०", False, False),
    ],
)
def test_empty_and_short_queries(tmp_path: Path, text: str | None, is_empty: bool, is_short: bool) -> None:
    subject = foreign(tmp_path, queries=[{"id": "q1", "text": text}])
    assert (of("empty_texts", subject, tmp_path).found == 1) == is_empty
    assert (of("short_texts", subject, tmp_path).found == 1) == is_short


def test_a_picture_may_stand_alone_as_a_document_but_not_as_our_query(tmp_path: Path) -> None:
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    rows = {"id": ["a", "b"], "text": ["", ""]}
    pictures = pa.array([{"bytes": b"x", "path": "x.png"}, None], image)
    views = {}
    for name in ("queries", "corpus"):
        views[name] = [tmp_path / f"{name}.parquet"]
        pq.write_table(pa.table({**rows, "title": ["", ""], "image": pictures}), views[name][0])
    theirs = Dataset("x", "audited", "mteb", tmp_path, "0", views)
    assert named(of("empty_texts", theirs, tmp_path)) == ["b", "b"]
    ours = Dataset("x", "audited", "release", tmp_path, "0", views)
    result = of("empty_texts", ours, tmp_path)
    assert [(item.table, item.id) for finding in result.findings for item in finding.sides] == [
        ("corpus", "b"), ("queries", "a"), ("queries", "b"),
    ]  # fmt: skip


def test_shards_of_another_layout_that_drift(tmp_path: Path) -> None:
    """Files of an MTEB directory are looked at as they lie there, not only as views."""
    subject = foreign(tmp_path / "views")
    folder = tmp_path / "dataset" / "de-corpus"
    folder.mkdir(parents=True)
    one = pa.table({"id": [1, 2], "text": ["a", "b"]})
    pq.write_table(one, folder / "train-00000-of-00002.parquet")
    pq.write_table(pa.table({"id": ["3"], "text": ["c"]}), folder / "train-00001-of-00002.parquet")
    pq.write_table(pa.table({"other": [1]}), folder / "queries-00000-of-00001.parquet")
    mteb = Dataset("x", "audited", "mteb", tmp_path / "dataset", "0", subject.views)
    result = of("shards", mteb, tmp_path)
    assert result.found == 1
    assert "column id is int64 and string" in result.findings[0].message
    assert "de-corpus/train-00001-of-00002.parquet" in named(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.append_column("x", table.column("id")), "unknown column x"),
        (lambda table: table.drop_columns(["title"]), "column title is missing"),
        (lambda table: table.append_column("id", table.column("id")), "column id stands twice"),
        (lambda table: table.select(table.column_names[::-1]), "columns are in another order"),
        (
            lambda table: table.set_column(1, "title", table.column("title").cast(pa.large_string())),
            "column title is large_string, not string",
        ),
        (
            lambda table: table.cast(
                pa.schema([field.with_nullable(field.name != "text") for field in table.schema])
            ),
            "column text may not hold nulls",
        ),
        (
            lambda table: table.set_column(1, "title", table.column("title").dictionary_encode()),
            "column title is dictionary",
        ),
    ],
)
def test_columns_other_than_declared_are_named(copy: Path, change: Any, message: str) -> None:
    (path,) = (copy / "corpus").glob("*.parquet")
    pq.write_table(change(pq.read_table(path)), path)
    report = audit(copy, run_sql, rules=[rule_of(integrity.RULES, "schema")], plant=False)
    assert any(message in finding.message for finding in report.rules[0].findings)


def test_an_optional_table_may_be_absent_and_a_declared_one_not(copy: Path, tmp_path: Path) -> None:
    rule = rule_of(integrity.RULES, "schema")
    assert not (copy / "provenance" / "target_names").exists()
    assert audit(copy, run_sql, rules=[rule], plant=False).rules[0].status == "passed"
    for path in (copy / "provenance" / "keys").glob("*"):
        path.unlink()
    (result,) = audit(copy, run_sql, rules=[rule], plant=False).rules
    assert [finding.message for finding in result.findings] == ["table keys has no file"]


def test_nulls_are_found_without_statistics_too(copy: Path) -> None:
    (path,) = (copy / "provenance" / "queries").glob("*.parquet")
    edit(copy, "provenance/queries", lambda rows: rows[1].update({"split": None}))
    table = pq.read_table(path)
    pq.write_table(table, path, write_statistics=False)
    rules = [rule_of(integrity.RULES, name) for name in ("schema", "splits")]
    schema, splits = audit(copy, run_sql, rules=rules, plant=False).rules
    name = table.column("id")[1].as_py()
    assert named(schema) == [name] and "split of provenance_queries is null" in schema.findings[0].message
    assert name in named(splits)


def test_rows_in_files_of_another_split(copy: Path) -> None:
    (path,) = (copy / "excluded").glob("*.parquet")
    table = pq.read_table(path)
    pq.write_table(table.slice(0, 2), path.with_name("dev-00000-of-00001.parquet"))
    pq.write_table(table.slice(2, 0), path.with_name("train-00000-of-00001.parquet"))
    rule = rule_of(integrity.RULES, "splits")
    (result,) = audit(copy, run_sql, rules=[rule], plant=False).rules
    messages = [finding.message for finding in result.findings]
    assert "files of excluded are of split 'train'" in messages
    assert any(message.startswith("the row is in a dev file of excluded") for message in messages)


def test_names_of_concepts_nobody_asks_about_dangle(copy: Path) -> None:
    folder = copy / "provenance" / "target_names"
    folder.mkdir()
    row = {"concept": "HP:0000001", "language": "en", "words": 1, "name_hash": "0" * 16}
    pq.write_table(pa.Table.from_pylist([row]), folder / "test-00000-of-00001.parquet")
    (result,) = audit(copy, run_sql, rules=[rule_of(integrity.RULES, "dangling_ids")], plant=False).rules
    assert result.found == 1 and "HP:0000001" in named(result)


def test_empty_tables_have_nothing_wrong(tmp_path: Path) -> None:
    everything = ("queries", "corpus", "qrels", "excluded", "provenance_queries", "provenance_corpus")
    tables: dict[str, list[Row]] = {name: [] for name in (*everything, "provenance_qrels", "keys", "sources")}
    for rule in integrity.RULES:
        if rule.id not in ("schema", "funnel"):
            result = check(rule, dataset(tmp_path / rule.id, tables), tmp_path)
            wanted = "passed" if result.compared else "not_applicable"
            assert (result.status, result.found) == (wanted, 0), (rule.id, result.note)


def _dangle(rows: list[Row]) -> None:
    rows[0]["corpus-id"] = "gone"


def _repeat(rows: list[Row]) -> None:
    rows.append(dict(rows[0]))


def _shorten(rows: list[Row]) -> None:
    del rows[0]


@pytest.mark.parametrize(
    ("table", "damage"),
    [("qrels", _dangle), ("qrels", _repeat), ("provenance/qrels", _shorten), ("corpus", _repeat)],
    ids=["a qrel dangles", "a qrel stands twice", "a qrel lost its provenance", "a document stands twice"],
)
def test_what_is_wrong_already_does_not_make_the_audit_invalid(
    copy: Path, table: str, damage: Callable[[list[Row]], None]
) -> None:
    """The first row is where planted defects go too: one of them must not hide behind the other."""
    edit(copy, table, damage)
    rules = [rule_of(integrity.RULES, name) for name in ("dangling_ids", "duplicate_ids", "duplicate_pairs")]
    report = audit(copy, run_sql, rules=rules)
    assert report.verdict == "findings"
    assert [item.canary for item in report.canaries if not item.is_found] == []
