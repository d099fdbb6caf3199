"""Restricted names from the files alone: made texts are listed, and no name listed by hash stands in them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules import restricted
from curation.published.manifest import OLDEST_FORMAT, read_manifest
from schemas.audit import RuleResult
from schemas.record import to_table
from schemas.vocabulary import ConceptName
from tests.curation.audit.small import check, dataset
from tests.curation.release.known import World, edit, make_world, run_sql

(RULE,) = restricted.RULES
MADE = "What is seen in a chest film of invented fever?"
CLOSED = "Chronic imaginary fever of the left hand"
Row = dict[str, Any]


def one(directory: Path) -> RuleResult:
    (result,) = audit(directory, run_sql, rules=[RULE], plant=False).rules
    return result


def named(result: RuleResult) -> set[str]:
    return {item.id for finding in result.findings for item in finding.sides}


def with_made_text(root: Path, *names: ConceptName) -> World:
    """The known build with one query and one title that no article has, and a vocabulary."""
    world = make_world(root)
    world.queries[0] = dataclasses.replace(world.queries[0], text=MADE)
    world.documents[1] = dataclasses.replace(world.documents[1], title="A title somebody made")
    path = root / "names.parquet"
    pq.write_table(to_table(ConceptName, names), path)
    world.more = {"names": [path]}
    return world


OPEN_NAME = ConceptName(concept="MADE:1", name="Invented fever", source="MADE", tier="open")
CLOSED_NAMES = (
    ConceptName(concept="UMLS:C1", name=CLOSED, source="CLOSED", tier="restricted"),
    ConceptName(concept="UMLS:C2", name="invented FEVER", source="CLOSED", tier="restricted"),
)


def test_texts_and_titles_of_articles_need_no_vocabulary(tmp_path: Path) -> None:
    directory = make_world(tmp_path).release()
    result = one(directory)
    assert (result.status, result.found, result.compared) == ("passed", 0, 20)
    assert "no text was made" in result.note
    assert not (directory / "provenance" / "made_texts").exists()


@pytest.mark.parametrize("column", ["text", "title"])
def test_a_made_text_or_title_that_is_not_listed_is_named(tmp_path: Path, column: str) -> None:
    directory = make_world(tmp_path).release()
    edit(
        directory, "corpus", lambda rows: rows[3].update({column: "A name nobody may print, in plain sight."})
    )
    result = one(directory)
    assert result.status == "failed"
    assert named(result) == {"pmc:PMC901.1#p4"}
    assert result.findings[0].sides[0].quote.startswith("A name nobody may print")


def test_made_texts_without_restricted_names_in_use_pass_and_say_so(tmp_path: Path) -> None:
    world = with_made_text(tmp_path, OPEN_NAME)
    directory = world.release()
    manifest = read_manifest(directory)
    assert (manifest.made_texts, manifest.restricted_names) == (2, 0)
    listed = pq.read_table(directory / "provenance" / "made_texts").to_pylist()
    assert [(row["table"], row["id"], row["field"]) for row in listed] == [
        ("corpus", world.documents[1].id, "title"),
        ("queries", world.queries[0].id, "text"),
    ]
    assert not (directory / "provenance" / "restricted_names").exists()
    result = one(directory)
    assert (result.status, result.found) == ("passed", 0)
    assert "2 texts and titles were made" in result.note and "no restricted name" in result.note


def test_made_texts_are_compared_with_hashes_of_restricted_names(tmp_path: Path) -> None:
    world = with_made_text(tmp_path, OPEN_NAME, *CLOSED_NAMES)
    directory = world.release()
    assert read_manifest(directory).restricted_names == 2
    rows = pq.read_table(directory / "provenance" / "restricted_names").to_pylist()
    assert len(rows) == 1, "a name that an open source gives in another spelling is nobody's secret"
    assert CLOSED not in (directory / "release.json").read_text("utf-8")
    assert one(directory).status == "passed" and "none of 1 names" in one(directory).note

    def plant(rows: list[Row]) -> None:
        row = next(row for row in rows if row["id"] == world.queries[0].id)
        row["text"] = "Is there a CHRONIC imaginary-fever of the left hand, doctor?"

    edit(directory, "queries", plant)
    result = one(directory)
    assert result.status == "failed" and world.queries[0].id in named(result)
    assert any("only restricted sources have" in finding.message for finding in result.findings)


def test_a_list_that_lacks_what_release_json_counts_is_an_error(tmp_path: Path) -> None:
    directory = with_made_text(tmp_path, OPEN_NAME, *CLOSED_NAMES).release()
    edit(directory, "provenance/made_texts", lambda rows: rows.pop())
    assert {"made_texts"} <= named(one(directory))
    for path in (directory / "provenance" / "restricted_names").iterdir():
        path.unlink()
    assert {"made_texts", "restricted_names"} <= named(one(directory))


def test_a_concept_of_a_restricted_source_belies_that_none_was_in_use(tmp_path: Path) -> None:
    tables: dict[str, list[Row]] = {
        name: [] for name in ("queries", "corpus", "provenance_queries", "provenance_corpus", "sources")
    }
    key = {"query-id": "q1", "dimension": "target_concept", "key": "ICD10:I10"}
    result = check(RULE, dataset(tmp_path / "a", {**tables, "keys": [key]}), tmp_path)
    assert result.status == "failed" and named(result) == {"restricted_names", "q1"}
    in_use = dataset(tmp_path / "b", {**tables, "keys": [key]}, restricted_names=7)
    assert check(RULE, in_use, tmp_path).status == "not_applicable"  # there is no text to search
    other = dataset(tmp_path / "c", {**tables, "keys": [key | {"key": "HP:0001250"}]})
    assert check(RULE, other, tmp_path).status == "not_applicable"


def test_a_release_of_the_older_format_that_does_not_list_them_cannot_be_judged(tmp_path: Path) -> None:
    tables: dict[str, list[Row]] = {
        name: [] for name in ("queries", "corpus", "provenance_queries", "provenance_corpus", "sources")
    }
    old = dataset(tmp_path, tables, made_texts=3, format_version=OLDEST_FORMAT)
    result = check(RULE, old, tmp_path)
    assert result.status == "not_run" and result.note.startswith("3 released texts")
    assert check(RULE, dataset(tmp_path, tables, made_texts=3), tmp_path).status == "failed"


def test_no_list_is_written_where_nothing_was_made(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    path = tmp_path / "names.parquet"
    pq.write_table(to_table(ConceptName, CLOSED_NAMES), path)
    world.more = {"names": [path]}
    directory = world.release()
    assert read_manifest(directory).restricted_names == 2
    assert not list(directory.rglob("restricted_names*"))
