"""Every record type survives Arrow and Parquet; what does not fit a column is refused by name."""

from __future__ import annotations

import dataclasses
import enum
import json
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flows.engine.manifest import write_parquet
from schemas.article import Article, KeywordGroup, Section, Translated, Xref
from schemas.benchmark import Evidence, Qrel, Query
from schemas.errors import MedqrelsError
from schemas.record import arrow_schema, arrow_type, columns, from_dict, from_table, record, to_dict, to_table
from schemas.stages import Drop, Reason
from tests.strategies import all_records, rows

RECORDS = all_records()
SECTION: dict[str, Any] = {"number": 1, "parent": 0, "part": "body"}
QREL: dict[str, Any] = {
    "query_id": "q",
    "corpus_id": "d",
    "score": 2,
    "task": "t",
    "rule": "r@1",
    "label_status": "structural",
}


def test_the_registry_is_full() -> None:
    assert len(RECORDS) > 30
    assert {"Article", "Figure", "Passage", "Query", "Qrel", "Excluded", "Drop", "Finding", "Mention"} <= set(
        RECORDS
    )


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_round_trip_through_arrow_and_parquet(name: str, tmp_path: Path) -> None:
    """Through files all rows that were drawn go together, for a file costs as much as hundreds of rows."""
    kind = RECORDS[name]
    path = tmp_path / "rows.parquet"
    every: list[Any] = []

    @settings(
        max_examples=20,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(rows(kind), max_size=3))
    def check(made: list[Any]) -> None:
        table = to_table(kind, made)
        table.validate(full=True)
        assert from_table(kind, table) == made
        for row in made:
            assert from_dict(kind, json.loads(json.dumps(to_dict(row)))) == row
        every.extend(made)

    check()
    assert every
    for rows_of_file in ([], every):
        write_parquet(path, to_table(kind, rows_of_file))
        first = path.read_bytes()
        assert from_table(kind, pq.read_table(path)) == rows_of_file
        write_parquet(path, to_table(kind, iter(rows_of_file)))
        assert path.read_bytes() == first


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_records_are_frozen_closed_and_documented(name: str) -> None:
    kind = RECORDS[name]
    assert dataclasses.is_dataclass(kind) and kind.__doc__ and "__slots__" in vars(kind)
    assert all(documentation for _, _, documentation in columns(kind))
    assert [field.name for field in arrow_schema(kind)] == [column for column, _, _ in columns(kind)]
    with pytest.raises(TypeError):
        typing.cast(Any, kind)(no_such_column=1)


def test_rows_cannot_be_changed() -> None:
    row = Translated(language="en", text="x")
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.text = "y"  # type: ignore[misc]


def test_slices_and_chunks_read_back() -> None:
    made = [Translated(language="en", text=str(number)) for number in range(10)]
    table = to_table(Translated, made)
    assert from_table(Translated, table.slice(3, 4)) == made[3:7]
    assert (
        from_table(Translated, pa.concat_tables([table.slice(5), table.slice(0, 5)])) == made[5:] + made[:5]
    )


def without(table: pa.Table) -> pa.Table:
    return table.drop_columns(["xml_id"])


def more(table: pa.Table) -> pa.Table:
    return table.append_column("extra", pa.array([1]))


def reordered(table: pa.Table) -> pa.Table:
    return table.select(list(reversed(table.schema.names)))


def narrower(table: pa.Table) -> pa.Table:
    return table.set_column(0, "number", pa.array([1], pa.int32()))


def nullable(table: pa.Table) -> pa.Table:
    return table.cast(pa.schema([field.with_nullable(True) for field in table.schema]))


def renamed(table: pa.Table) -> pa.Table:
    return table.rename_columns(["nummer", *table.schema.names[1:]])


@pytest.mark.parametrize("change", [without, more, reordered, narrower, nullable, renamed])
def test_from_table_refuses_other_columns(change: Callable[[pa.Table], pa.Table]) -> None:
    table = to_table(Section, [Section(**SECTION)])
    assert from_table(Section, table) == [Section(**SECTION)]
    with pytest.raises(MedqrelsError, match="Section: the file's columns"):
        from_table(Section, change(table))


def test_from_table_refuses_another_record_of_the_same_width() -> None:
    with pytest.raises(MedqrelsError):
        from_table(Evidence, to_table(Xref, []))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("number", None),
        ("number", "1"),
        ("number", 1.5),
        ("number", True),
        ("number", 2**63),
        ("number", -(2**80)),
        ("title", None),
        ("title", 5),
        ("title", b"bytes"),
        ("title", ["a"]),
        ("title", "\ud800"),
        ("part", "nowhere"),
        ("part", None),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_column(column: str, value: Any) -> None:
    good = Section(**SECTION)
    with pytest.raises(MedqrelsError, match=rf"Section\.{column}: value does not fit"):
        to_table(Section, [good, Section(**{**SECTION, column: value})])


@pytest.mark.parametrize(
    "evidence",
    [
        None,
        "abc",
        (None,),
        ("abc",),
        (Translated(language="en", text="x"),),
        (Evidence(text_id=None, start=0, end=1, text=""),),  # type: ignore[arg-type]
        (Evidence(text_id="p", start="0", end=1, text=""),),  # type: ignore[arg-type]
    ],
)
def test_nested_values_are_checked_too(evidence: Any) -> None:
    with pytest.raises(MedqrelsError, match=r"Qrel\.evidence"):
        to_table(Qrel, [Qrel(**QREL), Qrel(**QREL, evidence=evidence)])


def test_closed_values_inside_nested_records_are_checked() -> None:
    empty = {name: None for name, _, _ in columns(Article)}
    tuples = {name: () for name, kind, _ in columns(Article) if "tuple" in str(kind)}
    texts = {name: "" for name, kind, _ in columns(Article) if kind is str}
    flags = {name: False for name, kind, _ in columns(Article) if kind is bool}
    licence = RECORDS["Licence"](spdx="CC0-1.0", evidence="test")
    base = {**empty, **tuples, **texts, **flags, "licence": licence}
    assert from_table(Article, to_table(Article, [Article(**base)])) == [Article(**base)]
    wrong = Section(**{**SECTION, "part": "cellar"})
    with pytest.raises(MedqrelsError, match=r"Article\.sections.*part: 'cellar'"):
        to_table(Article, [Article(**{**base, "sections": (wrong,)})])


@pytest.mark.parametrize("terms", ["abc", None, ("a", None), 5])
def test_lists_of_texts_are_lists(terms: Any) -> None:
    with pytest.raises(MedqrelsError, match=r"KeywordGroup\.terms"):
        to_table(KeywordGroup, [KeywordGroup(language="en", type="", terms=terms)])


def test_rows_of_another_type_are_refused() -> None:
    with pytest.raises(MedqrelsError, match="Section: rows of another type: Translated"):
        to_table(Section, [Section(**SECTION), Translated(language="en", text="x")])


def test_reasons_are_read_back_as_reasons() -> None:
    drop = Drop(unit="article", id="a", article_id="a", reason=Reason.NO_BODY)
    assert from_table(Drop, to_table(Drop, [drop]))[0].reason == Reason.NO_BODY
    with pytest.raises(MedqrelsError, match=r"Drop\.reason.*'boredom'"):
        to_table(Drop, [dataclasses.replace(drop, reason=typing.cast(Any, "boredom"))])


def test_from_dict_names_missing_and_unknown_keys() -> None:
    with pytest.raises(MedqrelsError, match=r"missing \['text'\], unknown \['txt'\]"):
        from_dict(Translated, {"language": "en", "txt": "x"})


@pytest.mark.parametrize("kind", [dict[str, int], object, int | str, tuple[str, ...] | None, set[str]])
def test_annotations_without_an_arrow_type_are_refused(kind: Any) -> None:
    with pytest.raises(TypeError):
        arrow_type(kind)


def test_two_types_cannot_share_a_name() -> None:
    class Section:
        id: str

    with pytest.raises(TypeError, match="two record types are called Section"):
        record(Section)
    assert arrow_schema(RECORDS["Section"]).names[0] == "number"


def test_enums_and_literals_are_text() -> None:
    class Colour(enum.StrEnum):
        RED = "red"

    assert arrow_type(Colour) == arrow_type(Literal["a", "b"]) == pa.string()


def test_an_optional_record_may_be_absent() -> None:
    row = Query(
        id="q",
        task="t",
        text="",
        language="en",
        source_id="f",
        article_id="a",
        license="CC0-1.0",
        license_evidence="x",
        text_sha256="0",
    )
    assert row.image is None
    assert from_table(Query, to_table(Query, [row])) == [row]
