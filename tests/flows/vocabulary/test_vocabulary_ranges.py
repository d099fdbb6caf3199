"""Tables written range by range are those written at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.vocabulary.umls import UmlsOptions
from flows.engine.progress import SilentReporter
from flows.engine.workspace import Workspace, open_workspace
from flows.vocabulary import current, merge, umls_build
from flows.vocabulary.commands import add, mesh_reading, obo_reading
from flows.vocabulary.ranges import bounds, conditions
from flows.vocabulary.store import write_batches
from flows.vocabulary.umls_build import build_umls
from schemas.record import arrow_schema, to_table
from schemas.vocabulary import ConceptName
from tests.curation.vocabulary.builders import MESH_XML, OBO, write_metathesaurus


def test_cuts_follow_the_row_groups_and_hold_every_value_once(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    values = [f"C{number:07d}" for number in range(10_000)]
    pq.write_table(pa.table({"CUI": values}), path, row_group_size=500)
    cuts = bounds([path], "CUI", 2_000)
    assert 3 <= len(cuts) <= 5
    held = [
        sum(low <= value < high for value in values)
        for low, high in zip(["", *cuts], [*cuts, "D"], strict=True)
    ]
    assert sum(held) == len(values)
    assert max(held) <= 4_000
    assert bounds([path], "CUI") == []
    assert list(conditions([], "x")) == ["true"]
    assert list(conditions(["a'b"], "x")) == ["x < 'a''b'", "x >= 'a''b'"]


def test_bytes_do_not_depend_on_how_rows_were_batched(tmp_path: Path) -> None:
    names = [ConceptName(concept=f"T:{number}", name="n" * (number % 7)) for number in range(45_001)]
    table = to_table(ConceptName, names)
    made = []
    for size in (1_000, 19_999, 45_001):
        path = tmp_path / f"{size}.parquet"
        output = write_batches(table.to_batches(max_chunksize=size), arrow_schema(ConceptName), path)
        assert output.rows == 45_001
        made.append(path.read_bytes())
    assert made[0] == made[1] == made[2]
    assert [pq.ParquetFile(path).metadata.row_group(0).num_rows] == [20_000]


def test_a_metathesaurus_in_ranges_is_the_one_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write_metathesaurus(tmp_path / "META")

    def build(root: Path) -> dict[str, bytes]:
        made = build_umls(open_workspace(root, create=True), place, UmlsOptions(), SilentReporter())
        return {name: made.table(name).read_bytes() for name in made.manifest["tables"]}

    whole = build(tmp_path / "whole")

    def cut(files: Sequence[Path], column: str, rows: int = 0) -> list[str]:
        return ["C9000001", "C9000003", "C9000004"]

    monkeypatch.setattr(umls_build, "bounds", cut)
    assert build(tmp_path / "ranges") == whole


def test_a_merge_in_ranges_is_the_one_made_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy.obo").write_text(OBO, "utf-8")
    (tmp_path / "desc.xml").write_text(MESH_XML, "utf-8")

    def merged(root: Path) -> dict[str, bytes]:
        add([obo_reading(tmp_path / "toy.obo"), mesh_reading(tmp_path / "desc.xml")], str(root))
        made = current(Workspace(root))
        assert made is not None
        return {name: made.table(name).read_bytes() for name in made.manifest["tables"]}

    whole = merged(tmp_path / "whole")

    def cut(files: Sequence[Path], column: str, rows: int = 0) -> list[str]:
        return ["MESH:D900002", "TOY:0000002", "TOY:0000003"]

    monkeypatch.setattr(merge, "bounds", cut)
    assert merged(tmp_path / "ranges") == whole
