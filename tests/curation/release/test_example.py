"""What opens on the Hub: one screen with a row that is published, credits, and front matter the Hub knows."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import lxml.etree
import pyarrow.parquet as pq
import pytest
import yaml
from markdown_it import MarkdownIt

from curation.published.manifest import read_manifest
from curation.release import card, credit, example, facts
from schemas.hashing import sha256_bytes
from schemas.spec import Citation
from tests.curation.release.known import World, make_world, run_sql

HUB_KEYS = {
    *(
        "annotations_creators",
        "configs",
        "dataset_info",
        "extra_gated_prompt",
        "language",
        "language_creators",
    ),
    *("license", "license_details", "license_link", "license_name", "multilinguality", "paperswithcode_id"),
    *("pretty_name", "size_categories", "source_datasets", "tags", "task_categories", "task_ids", "viewer"),
}
"""Keys of a dataset card, https://huggingface.co/docs/hub/datasets-cards: the Hub drops others in silence."""
HUB_LICENCES = {"cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "other"}
"""Those of https://huggingface.co/docs/hub/repositories-licenses that a release can have."""
PEOPLE = Citation(authors=("Doe, Jo", 'O"Neil: Ann'), publisher="A press", year=2026, doi="10.5555/x", url="")


def head(directory: Path) -> str:
    """The card without its front matter, as far as the first screen goes."""
    text = (directory / card.README).read_text("utf-8").split("\n---\n", 1)[1]
    return text[: text.index("## Intended use")]


def test_a_card_shows_a_row_that_is_published(known: Path) -> None:
    shown = facts.compute(known, run_sql)["example"]
    queries = {row["id"]: row for row in pq.read_table(known / "queries").to_pylist()}
    documents = {row["id"]: row for row in pq.read_table(known / "corpus").to_pylist()}
    qrels = {
        (row["query-id"], row["corpus-id"]): row["score"]
        for row in pq.read_table(known / "qrels").to_pylist()
    }
    asked, found = shown["query"], shown["document"]
    assert qrels[asked["id"], found["id"]] == shown["score"] == 2
    assert asked["text"] == queries[asked["id"]]["text"] in head(known)
    assert found["text"] == documents[found["id"]]["text"] in head(known)
    image = queries[asked["id"]]["image"]["bytes"]
    assert (known / asked["file"]).read_bytes() == image and sha256_bytes(image) == asked["image"]
    assert f'<img src="{asked["file"]}"' in head(known)
    assert asked["source"]["title"] in head(known) and asked["source"]["doi"] in head(known)
    assert len(head(known).splitlines()) < 60, "one screen"


def test_a_long_row_is_cut_and_hostile_text_stays_text(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    hostile = (
        "<script>alert(1)</script> ![p](http://x/p.png) | `code` <!-- prose:summary --> " + "word " * 300
    )
    world.documents = [dataclasses.replace(row, text=hostile) for row in world.documents]
    directory = world.release()
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(head(directory))
    tree = lxml.etree.HTML(html)
    assert not list(tree.iter("script"))
    assert {image.get("src") for image in tree.iter("img")} <= set(example_files(directory))
    assert "word word …" in head(directory) and "word " * 200 not in head(directory)
    assert card.prose_of((directory / card.README).read_text("utf-8"))["summary"] == "There are 4 queries."


def example_files(directory: Path) -> list[str]:
    return [path.relative_to(directory).as_posix() for path in directory.glob(f"{example.FILES}*")]


@pytest.mark.parametrize("words", ["Photograph of the patient's face.", "Open wound of the forearm."])
def test_an_image_that_may_upset_is_not_shown(tmp_path: Path, words: str) -> None:
    world = make_world(tmp_path)
    world.queries = [dataclasses.replace(row, text=words) for row in world.queries[:1]]
    kept = {row.id for row in world.queries}
    world.qrels = [row for row in world.qrels if row.query_id in kept]
    world.excluded = [row for row in world.excluded if row.query_id in kept]
    world.retention = [
        dataclasses.replace(row, kept=1, entered=1 if row.stage != "visual_context" else 2)
        if row.unit in ("query", "figure")
        else row
        for row in world.retention
    ]
    directory = world.release()
    assert example_files(directory) == [] and "## One row" not in head(directory)


def test_front_matter_has_only_what_the_hub_knows(known: Path) -> None:
    front = yaml.safe_load((known / card.README).read_text("utf-8").split("---")[1])
    assert set(front) <= HUB_KEYS and front["license"] in HUB_LICENCES


def test_everybody_is_credited_once(world: World) -> None:
    world.sources = [dataclasses.replace(row, title="A *bold* title | with `marks`") for row in world.sources]
    directory = world.release()
    lines = [line for line in credited(directory) if line.startswith("- ")]
    sources = pq.read_table(directory / "provenance/sources").to_pylist()
    assert len(lines) == len(sources) > 1
    for line, row in zip(lines, sources, strict=True):
        assert line.startswith(f"- `{row['id']}`: ") and "A \\*bold\\* title" in line
        assert row["license"] in line and row["doi"] in line and all(name in line for name in row["authors"])


def credited(directory: Path) -> list[str]:
    return (directory / credit.ATTRIBUTION).read_text("utf-8").splitlines()


@pytest.mark.parametrize("citation", [Citation(), PEOPLE], ids=["nobody named", "people named"])
def test_how_to_cite_is_told_twice_and_read_back(known: Path, tmp_path: Path, citation: Citation) -> None:
    manifest = read_manifest(known)
    made = credit.files(manifest, run_sql, facts.views(known), citation)
    cff: dict[str, Any] = yaml.safe_load(made[credit.CFF])
    record = json.loads(made[credit.DATACITE])
    authors = list(citation.authors) or ["The maintainers of Known release"]
    assert [row["name"] for row in cff["authors"]] == [row["name"] for row in record["creators"]] == authors
    assert (cff["cff-version"], cff["type"], cff["license"]) == ("1.2.0", "dataset", "CC-BY-SA-4.0")
    assert cff["version"] == record["version"] == "1.0.0" and cff.get("doi", "") == citation.doi
    assert record.get("publicationYear") == (str(citation.year) if citation.year else None)
    (tmp_path / credit.DATACITE).write_text(made[credit.DATACITE], "utf-8")
    again = credit.files(manifest, run_sql, facts.views(known), credit.stated(tmp_path))
    assert again == made


@pytest.mark.parametrize("text", ["", "[]", '{"creators": 1}', '{"creators": [], "publisher": {"name": 3}}'])
def test_a_record_that_says_nothing_names_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / credit.DATACITE).write_text(text, "utf-8")
    assert credit.stated(tmp_path) == Citation() == credit.stated(tmp_path / "nowhere")
