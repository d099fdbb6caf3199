"""Excludes1 pairs of a tabular list in the form of NCHS: codes, prefixes, ranges; no words of it are kept."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.vocabulary.excludes import read
from flows.cli.app import run_cli
from flows.engine.workspace import Workspace
from flows.vocabulary.store import current
from schemas.errors import InputError
from schemas.stages import Drop
from schemas.vocabulary import ConceptRelation, VocabularySource

TABULAR = """<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.tabular>
  <version>2031</version>
  <chapter>
    <name>1</name><desc>Invented disorders (A00-B99)</desc>
    <excludes1><note>of whole fields (Z00-Z99)</note></excludes1>
    <section id="A00-A09">
      <desc>Invented ones (A00-A09)</desc>
      <diag><name>A00</name><desc>Sailor's rash</desc>
        <excludes1>
          <note>rash of cooks (A01.0)</note>
          <note>rash of smiths (A02.-, A03.1-)</note>
          <note>those of sleep (A04-A06)</note>
          <note>a rash without a code</note>
        </excludes1>
        <diag><name>A00.1</name><desc>of the left hand</desc>
          <excludes1><note>of the right one (A00.2)</note></excludes1></diag>
        <diag><name>A00.2</name><desc>of the right hand</desc></diag>
      </diag>
      <diag><name>A04</name><desc>Yawning</desc></diag>
      <diag><name>A05</name><desc>Dreams</desc></diag>
      <diag><name>A06</name><desc>Snoring</desc></diag>
    </section>
  </chapter>
</ICD10CM.tabular>
"""


@pytest.fixture
def tabular(tmp_path: Path) -> Path:
    path = tmp_path / "icd10cm_tabular_2031.xml"
    path.write_text(TABULAR, "utf-8")
    return path


def test_pairs_are_of_codes_alone(tabular: Path) -> None:
    rows = list(read(tabular, "0"))
    (source,) = [row for row in rows if isinstance(row, VocabularySource)]
    assert (source.release, source.tier) == ("2031", "restricted")
    pairs = [(row.concept, row.other) for row in rows if isinstance(row, ConceptRelation)]
    assert pairs == [
        ("ICD10CM:A00", f"ICD10CM:{code}") for code in ("A01.0", "A02", "A03.1", "A04", "A05", "A06")
    ] + [("ICD10CM:A00.1", "ICD10CM:A00.2")]
    (drop,) = [row for row in rows if isinstance(row, Drop)]
    assert drop.id.startswith("icd10cm_tabular_2031.xml:") and "A00" in drop.detail
    assert not any(word in str(rows) for word in ("rash", "Dreams", "hand"))


def test_another_file_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "other.xml"
    path.write_text("<html/>", "utf-8")
    with pytest.raises(InputError, match="not the tabular list of ICD-10-CM, but <html>"):
        list(read(path, "0"))


def test_the_command_adds_them_to_a_vocabulary(tabular: Path, tmp_path: Path) -> None:
    ontology = tmp_path / "small.obo"
    ontology.write_text(
        "format-version: 1.2\nontology: inv\n\n[Term]\nid: INV:1\nname: Sailors rash\nxref: ICD10CM:A00.1\n"
        "\n[Term]\nid: INV:2\nname: Cooks rash\nxref: ICD10CM:A01.0\n",
        "utf-8",
    )
    place = str(tmp_path / "ws")
    assert run_cli(["vocabulary", "add", "obo", str(ontology), "--workspace", place]) == 0
    assert run_cli(["vocabulary", "add", "excludes", str(tabular), "--workspace", place]) == 0
    vocabulary = current(Workspace(tmp_path / "ws"))
    assert vocabulary is not None
    table = pq.read_table(vocabulary.table("relations")).to_pylist()
    assert ("ICD10CM:A00", "ICD10CM:A01.0") in {
        (row["concept"], row["other"]) for row in table if row["relation"] == "excludes"
    }
