"""A released column is one declaration and what makes its rows: everything else follows from the two."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit import audit, invented
from curation.audit.rules.privacy import PLACES
from curation.published.manifest import read_manifest
from curation.release.change import compare
from curation.release.selects import ROWS
from schemas.columns import number, text
from schemas.published import Column, Published
from schemas.tables import NANO, QRELS, QUERIES, TABLES
from scripts.make_docs import tables_page
from tests.curation.release.known import World, run_sql
from tests.releases import card_text

SPANS = number("evidence_spans", "spans of text the label rests on", reader="auditor")
FAMILY = text("family", "id shared by its translations", repeats=True)
"""Of this one the work table has the value, so that its declaration is enough."""


@contextmanager
def declared(table: Published, column: Column) -> Iterator[None]:
    """As if the declaration of a table in schemas/tables.py had one column more."""
    before = table.columns
    object.__setattr__(table, "columns", (*before, column))
    try:
        yield
    finally:
        object.__setattr__(table, "columns", before)


@contextmanager
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two columns more: one that is made where rows are selected, one that the work table has."""
    with declared(QRELS, SPANS), declared(QUERIES, FAMILY), monkeypatch.context() as patch:
        patch.setitem(ROWS, QRELS.name, "(SELECT *, len(evidence) AS evidence_spans FROM judged)")
        yield


def findings(directory: Path) -> dict[str, list[str]]:
    """What the audit finds, by rule."""
    report = audit(directory, run_sql, plant=False)
    assert not [rule.note for rule in report.rules if rule.status == "not_run"]
    return {rule.rule: [item.message for item in rule.findings] for rule in report.rules if rule.found}


def load(directory: Path, config: str, cache: Path) -> Any:
    import datasets

    return datasets.load_dataset(str(directory), config, split="test", cache_dir=str(cache))


def test_a_column_is_declared_and_made_and_all_else_follows(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = world.release()
    with both(monkeypatch):
        directory = world.release(version="1.1.0")

        spans = {
            (row["query-id"], row["corpus-id"]): len(row["evidence"])
            for row in pq.read_table(directory / "provenance/qrels").to_pylist()
        }
        qrels = load(directory, "qrels", tmp_path / "cache")
        assert {(row["query-id"], row["corpus-id"]): row["evidence_spans"] for row in qrels} == spans
        assert set(spans.values()) == {1}
        queries = load(directory, "queries", tmp_path / "cache")
        assert queries.features["family"].dtype == "string" and set(queries["family"]) == {""}
        (path,) = QUERIES.files(directory)
        group = pq.read_metadata(path).row_group(0)
        places = {group.column(place).path_in_schema: place for place in range(group.num_columns)}
        assert group.column(places["family"]).has_dictionary_page
        assert not group.column(places["text"]).has_dictionary_page

        card = card_text(directory)
        assert "| `evidence_spans` | int64 | spans of text the label rests on |" in card
        assert "| `evidence_spans` | int64 | spans of text the label rests on | auditor |" in tables_page()
        change = compare(before, directory, read_manifest(directory), run_sql)
        assert change.level == "minor"
        assert {"new columns of qrels: evidence_spans", "new columns of queries: family"} <= set(change.notes)

        assert findings(directory) == {}
        found = findings(before)
        assert set(found) == {"schema", "card"}
        assert any("column evidence_spans is missing" in said for said in found["schema"])
        rows = invented.rows()["qrels"]
        assert {row["evidence_spans"] for row in rows} == {0}, "canaries are planted beside it"
    assert any("unknown column evidence_spans" in said for said in findings(directory)["schema"])


def test_a_column_without_what_makes_it_is_an_error(world: World) -> None:
    with declared(QRELS, SPANS), pytest.raises(Exception, match="evidence_spans"):
        world.release()
    assert not list((world.root / "releases").rglob("*.parquet"))


def test_a_value_that_may_not_be_null_is_missed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with declared(QRELS, SPANS):
        monkeypatch.setitem(ROWS, QRELS.name, "(SELECT *, NULL::BIGINT AS evidence_spans FROM judged)")
        assert set(findings(world.release())["schema"]) == {"evidence_spans of qrels is null"}


def test_declarations_agree_with_each_other() -> None:
    by_name = {table.name: table for table in TABLES}
    assert len(by_name) == len(TABLES) == len({table.folder for table in TABLES})
    for table in TABLES:
        names = table.schema.names
        assert len(set(names)) == len(names) and set(table.key) <= set(names) and table.meaning
        for column in table.columns:
            other, _, place = column.refers.partition(".")
            assert not column.refers or place in by_name[other].schema.names
            assert not (column.repeats and column.type != pa.string()), "a dictionary is of texts"
            assert column.meaning and (column.may_be_null or not column.is_optional)
    for small in NANO:
        assert small.columns == by_name[small.name.removeprefix("nano_")].columns


def test_what_people_wrote_is_searched_for_identifiers() -> None:
    written = {(table.name, column.name) for table in TABLES for column in table.columns if column.is_prose}
    small = {table.name for table in NANO}
    assert {(place.table, place.column) for place in PLACES} == {
        pair for pair in written if pair[0] not in small
    }
