"""A Metathesaurus with restricted sources and generated relations: tiers, atoms, hierarchy, retired ids."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from curation.vocabulary.umls import UmlsOptions
from flows.engine.progress import SilentReporter
from flows.engine.workspace import open_workspace
from flows.vocabulary.umls_build import build_umls
from tests.curation.vocabulary.builders import mrconso, mrsab
from tests.restricted_umls import restricted

LINES = (
    mrconso("C9000001", "gout", code="HP:1", aui="A1", preferred=True),
    mrconso("C9000002", "joint disease", code="HP:2", aui="A2", preferred=True),
    mrconso("C9000001", "Gicht", lat="GER", sab="MSHGER", code="D1", srl="0", aui="A3"),
    mrconso("C9000001", "Gicht", lat="GER", sab="MSHGER", code="D1", srl="0", aui="A4"),
)
STYS = "".join(f"C900000{n}|T047|B2|Disease or Syndrome|AT{n}||\n" for n in (1, 2))


def test_chosen_sources_are_restricted_and_atoms_stay(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "MRCONSO.RRF").write_text("".join(LINES), "utf-8")
    (plain / "MRSAB.RRF").write_text(mrsab((("HPO", "0", "ENG"), ("MSHGER", "0", "GER"))), "utf-8")
    (plain / "MRSTY.RRF").write_text(STYS, "utf-8")
    meta = restricted(plain, tmp_path / "META", {"MSHGER"}, [("HP:1", "HP:2"), ("HP:1", "HP:9")])
    workspace = open_workspace(tmp_path / "ws", create=True)
    made = build_umls(workspace, meta, UmlsOptions(), SilentReporter())
    names = {row["name"]: row for row in pq.read_table(made.table("names")).to_pylist()}
    assert (names["Gicht"]["tier"], names["Gicht"]["restriction"], names["Gicht"]["atom"]) == (
        "restricted", 3, "A3",
    )  # fmt: skip
    assert (names["gout"]["tier"], names["gout"]["atom"]) == ("terms", "A1")
    found = {(row["concept"][-1], row["relation"], row["other"][-1])
             for row in pq.read_table(made.table("relations")).to_pylist()}  # fmt: skip
    assert found == {("1", "parent", "2"), ("2", "child", "1")}
    retired = {row["concept"]: row["replacement"] for row in pq.read_table(made.table("retired")).to_pylist()}
    assert retired == {"UMLS:C9999001": "UMLS:C9000001", "UMLS:C9999002": ""}
