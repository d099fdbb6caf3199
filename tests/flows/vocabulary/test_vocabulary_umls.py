"""A Metathesaurus to tables: every packaging, every option, ill-formed lines, killed builds."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.vocabulary.umls import UmlsOptions
from flows.engine.progress import SilentReporter
from flows.engine.workspace import open_workspace
from flows.vocabulary.store import Vocabulary
from flows.vocabulary.umls_build import build_umls
from schemas.errors import InputError, UsageError
from tests.curation.vocabulary.builders import metathesaurus, mrconso, write_metathesaurus

ROOT = Path(__file__).resolve().parents[3]
TABLES = ("names", "types", "relations", "definitions", "mappings", "retired")


def build(root: Path, place: Path, **options: Any) -> Vocabulary:
    return build_umls(open_workspace(root, create=True), place, UmlsOptions(**options), SilentReporter())


def rows(vocabulary: Vocabulary, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(vocabulary.table(table)).to_pylist()
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    folder = tmp_path_factory.mktemp("umls")
    return build(folder / "ws", write_metathesaurus(folder / "2026AA" / "META"))


def test_names_have_language_tier_and_preference(made: Vocabulary) -> None:
    names = {(row["concept"], row["name"]): row for row in rows(made, "names")}
    assert len(names) == made.rows("names") == 8  # one repeated, one suppressed
    german = names["UMLS:C9000001", "Gefleckte Haut"]
    assert (german["language"], german["tier"], german["restriction"]) == ("de", "restricted", 3)
    assert german["code"] == "MSHGER:D900002"
    english = names["UMLS:C9000001", "Spotted skin"]
    assert (english["code"], english["tier"], english["is_preferred"]) == ("HP:9000001", "terms", True)
    assert names["UMLS:C9000001", "Skin, spotted"]["is_preferred"] is False
    assert names["UMLS:C9000001", "斑点皮肤"]["language"] == "zh"
    assert names["UMLS:C9000002", 'Deeply "spotted" skin']["restriction"] == 9
    assert made.manifest["names_left_out"] == {"suppressed": 1, "repeated": 1, "ill_formed": 0}
    assert made.manifest["names_read"] == 10
    assert made.manifest["release"] == "2026AA"


def test_who_classifications_are_restricted_whatever_level_is_stated(made: Vocabulary) -> None:
    tiers = {row["source"]: row["tier"] for row in rows(made, "names")}
    assert tiers["ICD10"] == "restricted"
    sources = {row["source"]: (row["tier"], row["licence"]) for row in rows(made, "sources")}
    assert sources["ICD10"][0] == "restricted"
    assert sources["SNOMEDCT_US"] == ("restricted", "UMLS Metathesaurus License, SRL 9")
    assert sources["UMLS"][0] == sources["HPO"][0] == "terms"


def test_the_second_concept_is_the_relation_of_the_first(made: Vocabulary) -> None:
    found = {(row["concept"][-1], row["relation"], row["other"][-1]) for row in rows(made, "relations")}
    assert found == {
        ("1", "parent", "3"),  # C9000001|PAR|C9000003: the second is a parent of the first
        ("3", "child", "1"),
        ("1", "child", "2"),
        ("1", "sibling", "5"),
        ("1", "parent", "5"),  # RB with inverse_isa
        ("5", "child", "1"),  # RN with isa
        ("1", "broader", "3"),
        ("1", "drug", "4"),  # C9000001|RO|C9000004|may_treat: the second treats the first
        ("4", "related", "1"),  # its inverse makes no disease a drug of a drug
        ("1", "synonym", "5"),
    }


def test_types_definitions_mappings_and_retired_ids(made: Vocabulary) -> None:
    types = {(row["concept"][-1], row["semantic_type"], row["group"]) for row in rows(made, "types")}
    assert ("4", "T121", "CHEM") in types
    assert len(types) == 6
    assert {(row["text"], row["language"], row["tier"]) for row in rows(made, "definitions")} == {
        ("Skin with spots.", "en", "terms"),
        ("Haut mit Flecken.", "de", "restricted"),
    }
    assert {(row["concept"], row["other"]) for row in rows(made, "mappings")} == {
        ("UMLS:C9000001", "HP:9000001"),
        ("UMLS:C9000002", "SNOMEDCT_US:123"),
        ("UMLS:C9000005", "ICD10:Z99.8"),
    }
    assert {row["concept"]: row["replacement"] for row in rows(made, "retired")} == {
        "UMLS:C9000070": "UMLS:C9000001",
        "UMLS:C9000071": "",
        "UMLS:C9000072": "",
    }


@pytest.mark.parametrize(
    ("options", "wanted", "reason"),
    [
        ({"languages": ("de", "zh")}, {"Gefleckte Haut", "斑点皮肤"}, "language"),
        ({"sources": ("SNOMEDCT_US",)}, {'Deeply "spotted" skin'}, "source"),
        ({"types": ("CHEM",)}, {"Spotamycin"}, "semantic_type"),
        ({"types": ("T047",)}, {"Spots by another name"}, "semantic_type"),
    ],
)
def test_options_choose_names_and_say_what_they_left_out(
    tmp_path: Path, options: dict[str, Any], wanted: set[str], reason: str
) -> None:
    made = build(tmp_path / "ws", write_metathesaurus(tmp_path / "META"), **options)
    assert {row["name"] for row in rows(made, "names")} == wanted
    concepts = {row["concept"] for row in rows(made, "names")}
    for table in ("types", "relations", "definitions"):
        assert {row["concept"] for row in rows(made, table)} <= concepts
    counts = made.manifest["names_left_out"]
    assert counts[reason] > 0
    assert sum(counts.values()) + len(wanted) == made.manifest["names_read"]


def test_suppressed_names_can_be_kept_marked(tmp_path: Path) -> None:
    made = build(tmp_path / "ws", write_metathesaurus(tmp_path / "META"), keep_suppressed=True)
    assert [row["name"] for row in rows(made, "names") if row["is_suppressed"]] == ["Old spots"]


@pytest.mark.parametrize("options", [{"languages": ("xx",)}, {"types": ("T999",)}])
def test_what_no_metathesaurus_has_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="UMLS has no"):
        build(tmp_path / "ws", write_metathesaurus(tmp_path / "META"), **options)


def test_options_that_leave_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="passes the options"):
        build(tmp_path / "ws", write_metathesaurus(tmp_path / "META"), languages=("ko",))


def _zipped(folder: Path) -> Path:
    """As MetamorphoSys makes it: META below a folder, big files split and packed."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "2026AA-full.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in metathesaurus().items():
            data = text.encode()
            if name == "MRCONSO.RRF":
                cut = len(data) // 2  # in the middle of a line
                archive.writestr(f"2026AA/META/{name}.aa.gz", gzip.compress(data[:cut]))
                archive.writestr(f"2026AA/META/{name}.ab.gz", gzip.compress(data[cut:]))
            else:
                archive.writestr(f"2026AA/META/{name}", data)
    return folder


def test_every_packaging_gives_the_same_bytes(tmp_path: Path, made: Vocabulary) -> None:
    crlf = tmp_path / "crlf"
    crlf.mkdir()
    for name, text in metathesaurus().items():
        (crlf / name).write_bytes(text.replace("\n", "\r\n").encode())
    places = [write_metathesaurus(tmp_path / "g[z]*", packed=True), _zipped(tmp_path / "zip"), crlf]
    for number, place in enumerate([*places, tmp_path / "zip" / "2026AA-full.zip"]):
        other = build(tmp_path / f"w[s]{number}", place)
        for table in TABLES:
            assert other.table(table).read_bytes() == made.table(table).read_bytes(), (place, table)


def test_a_folder_without_the_required_files_is_refused(tmp_path: Path) -> None:
    folder = write_metathesaurus(tmp_path / "META")
    (folder / "MRSAB.RRF").unlink()
    with pytest.raises(UsageError, match=r"MRSAB\.RRF"):
        build(tmp_path / "ws", folder)
    with pytest.raises(UsageError, match="no such folder"):
        build(tmp_path / "ws", tmp_path / "absent")
    packed = write_metathesaurus(tmp_path / "META")
    (packed / "MRSTY.RRF.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(UsageError, match="more than one"):
        build(tmp_path / "ws", packed)


def test_files_that_may_be_absent_leave_empty_tables(tmp_path: Path) -> None:
    folder = write_metathesaurus(tmp_path / "META")
    for name in ("MRREL.RRF", "MRDEF.RRF", "MRCUI.RRF"):
        (folder / name).unlink()
    made = build(tmp_path / "ws", folder)
    assert [made.rows(name) for name in ("relations", "definitions", "retired")] == [0, 0, 0]
    assert made.rows("names") == 8


BAD_LINES = {
    2: b"C9000001|ENG|short\n",
    4: mrconso("9000001", "no such form of CUI").encode(),
    5: b"C9000001|ENG|P|L1|PF|S1|Y|A1||||HPO|PT|X|bad \xff\xfe bytes|0|N||\n",
    7: mrconso("C9000001", "one bar | too many").encode(),
    9: mrconso("C9000001", "").encode(),
    10: mrconso("C9000001", "level of its own", srl="high").encode(),
}


def test_ill_formed_lines_are_quarantined_with_file_and_line(tmp_path: Path, made: Vocabulary) -> None:
    folder = write_metathesaurus(tmp_path / "META")
    lines = (folder / "MRCONSO.RRF").read_bytes().splitlines(keepends=True)
    for number in sorted(BAD_LINES):
        lines.insert(number - 1, BAD_LINES[number])
    (folder / "MRCONSO.RRF").write_bytes(b"".join(lines))
    damaged = build(tmp_path / "ws", folder)
    assert damaged.table("names").read_bytes() == made.table("names").read_bytes()
    drops = {row["id"]: row for row in rows(damaged, "drops")}
    assert set(drops) == {f"MRCONSO.RRF:{number}" for number in BAD_LINES}
    assert {row["reason"] for row in drops.values()} == {"record_invalid"}
    assert all(row["detail"] for row in drops.values())
    assert damaged.manifest["names_left_out"]["ill_formed"] == len(BAD_LINES)
    assert damaged.manifest["names_read"] == 10 + len(BAD_LINES)


def test_a_file_that_is_no_rrf_is_refused_not_read_for_ever(tmp_path: Path) -> None:
    folder = write_metathesaurus(tmp_path / "META")
    (folder / "MRCONSO.RRF").write_text("a,b,c\n" * 30_000)
    with pytest.raises(InputError, match="not RRF"):
        build(tmp_path / "ws", folder)


_KILLED = """
import os, pathlib, signal, sys
from curation.vocabulary.umls import UmlsOptions
from flows.engine.progress import SilentReporter
from flows.vocabulary import store, umls_build
from flows.engine.workspace import open_workspace
left = [int(sys.argv[3])]
step = store.Build.step
def killed(self, name, make, path):
    left[0] -= 1
    def half(target):
        if left[0] == 0:
            target.write_bytes(b"half a file")
            os.kill(os.getpid(), signal.SIGKILL)
        return make(target)
    return step(self, name, half, path)
store.Build.step = killed
umls_build.build_umls(
    open_workspace(pathlib.Path(sys.argv[1]), create=True),
    pathlib.Path(sys.argv[2]),
    UmlsOptions(),
    SilentReporter(),
)
"""


@pytest.mark.parametrize("step", [1, 7, 9, 13])
def test_a_killed_build_goes_on_and_gives_the_same_bytes(tmp_path: Path, made: Vocabulary, step: int) -> None:
    place = write_metathesaurus(tmp_path / "2026AA" / "META")
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "ws"), str(place), str(step)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not list((tmp_path / "ws/vocabulary/sources").glob("*/manifest.json"))
    again = build(tmp_path / "ws", place)
    for table in (*TABLES, "sources", "drops"):
        assert again.table(table).read_bytes() == made.table(table).read_bytes(), table
    assert sorted(path.name for path in again.folder.iterdir()) == sorted(
        path.name for path in made.folder.iterdir()
    )
    assert (again.folder / "manifest.json").read_bytes() == (made.folder / "manifest.json").read_bytes()


def test_a_finished_build_is_not_made_again(tmp_path: Path) -> None:
    place = write_metathesaurus(tmp_path / "META")
    first = build(tmp_path / "ws", place)
    before = first.table("names").stat().st_mtime_ns
    assert build(tmp_path / "ws", place).table("names").stat().st_mtime_ns == before
    assert json.loads((first.folder / "manifest.json").read_text())["fingerprint"] == first.fingerprint
    other = build(tmp_path / "ws", place, languages=("en",))
    assert other.folder != first.folder
