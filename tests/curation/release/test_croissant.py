"""croissant.json: read by mlcroissant as consumers read it, and true to the files it stands beside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.published.manifest import read_manifest
from curation.release import croissant_rai, croissant_terms, facts
from curation.release.card import texts
from curation.release.credit import stated
from curation.release.rights import FAMILIES, licence_link
from curation.tasks.registry import TASKS
from schemas.tables import TABLES
from tests.curation.release.known import make_world, run_sql

CITED = {"authors": ["Doe, Jo"], "year": 2026, "doi": "10.5555/x", "url": "https://example.org/x"}
INSIDE = Path(__file__).resolve().parents[3] / "benchmarks/croissant_inside.py"


def read(directory: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((directory / croissant_terms.FILE).read_text("utf-8"))
    return content


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two splits, images, people who are named."""
    world = make_world(tmp_path_factory.mktemp("whole"))
    world.dev = {world.queries[0].id}
    world.citation = CITED
    return world.release()


def read_by_mlcroissant(release: Path) -> dict[str, Any]:
    """In a process of its own, which may abort at its exit: what counts is the line it printed before."""
    done = subprocess.run(
        [sys.executable, INSIDE, release], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["warnings"] == []
    assert set(told["record_sets"]) == {table.name for table in TABLES if table.files(release)}
    for name, found in told["record_sets"].items():
        assert (found["difference"], found["undeclared"]) == ("", []), name
        assert found["rows"] == found["read"], name
    return {name: found["rows"] for name, found in told["record_sets"].items()}


def test_mlcroissant_reads_every_record_as_it_is_in_the_files(whole: Path) -> None:
    rows = read_by_mlcroissant(whole)
    assert rows["queries"] == 4 and len(list((whole / "queries").iterdir())) == 2


def test_a_release_without_queries_is_read_too(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.queries, world.qrels, world.excluded, world.citation = [], [], [], CITED
    rows = read_by_mlcroissant(world.release())
    assert (rows["queries"], rows["qrels"]) == (0, 0) and rows["corpus"] > 0


def test_every_licence_a_release_can_have_leads_somewhere() -> None:
    links = [licence_link(family) for family in FAMILIES]
    assert len(set(links)) == len(links)
    assert [link for link in links if not link.startswith("https://")] == ["README.md#acknowledgement"]


def test_it_is_sealed_and_names_no_place(whole: Path) -> None:
    manifest, content = read_manifest(whole), read(whole)
    assert croissant_terms.FILE in manifest.files
    urls = {part["contentUrl"]: part for part in content["distribution"] if part["@type"] == "cr:FileObject"}
    assert urls.keys() == {name for name in manifest.files if name.endswith(".parquet")}
    for url, part in urls.items():
        assert part["sha256"] == manifest.files[url]
        assert part["contentSize"] == f"{(whole / url).stat().st_size} B"
    assert content["license"] == "https://creativecommons.org/licenses/by-sa/4.0/"
    licensed = {
        name for name in ("queries", "corpus") if f"{name}/license" in json.dumps(content["recordSet"])
    }
    assert licensed == {"queries", "corpus"}
    assert str(whole.parents[2]) not in json.dumps(content)


def test_it_says_who_and_when_and_follows_from_the_files(whole: Path) -> None:
    content, citation = read(whole), stated(whole)
    assert content["datePublished"] == "2026" and content["identifier"] == "https://doi.org/10.5555/x"
    assert content["creator"] == [{"@type": "sc:Person", "name": "Doe, Jo"}]
    assert "author = {Doe, Jo}" in content["citeAs"]
    prose = {"collection": "From *PMC*.", "limitations": "- One\n  more.\n- Two.", "intended_use": "A.\n\nB."}
    manifest = read_manifest(whole)
    prose |= dict.fromkeys(("summary", "acknowledgement"), "Text.")
    told = texts(whole, manifest, facts.compute(whole, run_sql), prose, run_sql, citation, manifest.files)
    again = json.loads(told[croissant_terms.FILE])
    differing = {name for name in content.keys() | again.keys() if content.get(name) != again.get(name)}
    assert differing == {"rai:dataCollection", "rai:dataLimitations", "rai:dataUseCases"}
    assert again["rai:dataLimitations"] == ["One more.", "Two."] and again["rai:dataUseCases"] == ["A.", "B."]
    assert again["rai:dataCollection"].startswith("From *PMC*. Rows were made from 2 articles of ")


def test_statements_count_what_the_tables_hold(whole: Path) -> None:
    content = read(whole)
    drops = pq.read_table(whole / "provenance/drops").num_rows
    assert content["rai:dataCollectionMissingData"].startswith(f"{drops} unit")
    assert "Language en: 4 queries, 8 documents" in content["rai:dataBiases"]
    task = TASKS["visual_context"]
    grades = [row for row in content["rai:dataAnnotationProtocol"] if row.startswith("Grade ")]
    assert grades == [f"Grade {each.score}: {each.definition}" for each in task.grades if each.score]
    labels = [node["prov:label"] for node in content["prov:wasGeneratedBy"]]
    assert labels == [*(f"{row['name']}@{row['version']}" for row in read_manifest(whole).stages), "release"]


def test_what_people_and_models_did_is_told(whole: Path) -> None:
    review = {"answers": 6, "people": 2, "pairs": 3, "adjudicated": 1}
    agreement = [
        {"coefficient": "krippendorff_alpha", "value": 0.5, "low": 0.25, "high": 0.75},
        {"coefficient": "fleiss_kappa", "value": None, "low": None, "high": None},
    ]
    numbers = {**facts.compute(whole, run_sql), "review": {**review, "agreement": agreement}}
    asked = {"model": ["a-model", "b-model"], "prompt": "expand@1"}
    step = {"stage": "expand", "params": asked, "models": ("a-model", "b-model")}
    prose = dict.fromkeys(("collection", "limitations", "intended_use"), "Text.")
    told = croissant_rai.statements(read_manifest(whole), numbers, prose, [step])
    assert told["rai:annotationsPerItem"] == "6 answers of 2 people on 3 pairs; 1 answer settled a dispute."
    assert told["rai:dataAnnotationPlatform"] == ["Label Studio"]
    assert told["rai:machineAnnotationTools"] == [
        "language model a-model, b-model, stage expand, prompt expand@1"
    ]
    said = [row for row in told["rai:dataAnnotationAnalysis"] if row.startswith("Agreement")]
    assert said == ["Agreement of annotators, krippendorff_alpha: 0.500 (95 % interval 0.250 to 0.750)"]
    assert not set(told) - croissant_terms.RAI_NAMES
