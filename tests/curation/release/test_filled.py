"""Recipes filled from one's own vocabulary: by hash, beside the release, with reasons for the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.evaluation.collection import open_collection
from curation.evaluation.facets import facet_pool
from curation.published.manifest import hash_files, read_manifest
from curation.release.filled import WHY_NOT, look_up, write_filled
from flows.engine.connection import query
from schemas.errors import ReleaseError, UsageError
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.record import to_table
from schemas.vocabulary import ConceptName, VocabularySource
from tests import releases

TASK, FAMILY, FRAME = "crosslingual_qa", "INV:1/treatment", "Comment traite-t-on « {name} » ?"
ENGLISH = query_id(TASK, "en", "How is gout treated?")
Row = dict[str, Any]


def recipe(language: str, name: str, source: str, atom: str, **changes: str) -> Row:
    text = FRAME.replace("{name}", name)
    made = {
        "query-id": query_id(TASK, language, text), "language": language, "concept": "INV:1",
        "facet": "treatment", "template": f"{language}/treatment@1", "frame": FRAME, "source": source,
        "code": f"{source}:1", "atom": atom, "term_type": "PT", "name_sha256": sha256_text(name),
        "text_sha256": sha256_text(text), "article_id": "a1",
    }  # fmt: skip
    return {**made, **changes}


RECIPES = (
    recipe("fr", "goutte", "MSHFRE", "A1"),
    recipe("de", "Gicht", "ICD10", ""),
    recipe("ja", "痛風", "MSHJPN", "A9"),
    recipe("pt", "gota", "MSHPOR", "A3"),
    recipe("ru", "подагра", "MSHRUS", "A4"),
    recipe("es", "gota", "MSHSPA", "A5", frame="¿Cómo se trata {name}?"),
    recipe("it", "gotta", "ICD10", ""),
)
REASONS = {"ja": "atom_absent", "pt": "other_wording", "ru": "source_absent", "es": "recipe_changed",
           "it": "name_absent"}  # fmt: skip


def named(language: str, name: str, source: str, atom: str) -> ConceptName:
    return ConceptName(
        concept="INV:1", name=name, language=language, source=source, atom=atom, tier="restricted",
        restriction=3,
    )  # fmt: skip


@pytest.fixture
def released(tmp_path: Path) -> Path:
    folder = tmp_path / "release" / TASK
    plain = {"language": "en", "license": "CC0-1.0", "is_synthetic": False}
    origin = {"article_id": "a1", "patient_id": "", "source_id": f"{FAMILY}/en"}
    pair = {"query-id": ENGLISH, "label_status": "candidate", "rule": "r@1", "via": "INV:1"}
    tables: dict[str, list[Row]] = {
        "corpus": [{"id": f"d{number}", "title": "", "text": "about gout", **plain} for number in range(3)],
        "queries": [{"id": ENGLISH, "text": "How is gout treated?", "tier": "treatment", **plain}],
        "qrels": [{**pair, "corpus-id": "d1", "score": 2}],
        "excluded": [{"query-id": ENGLISH, "corpus-id": "d2", "reason": "merely_named"}],
        "provenance_corpus": [{"id": f"d{number}", **origin, "patient_id": ""} for number in range(3)],
        "provenance_queries": [{"id": ENGLISH, "split": "test", "family": FAMILY, **origin}],
        "strings": [
            {
                "query-id": ENGLISH,
                "language": "en",
                "kind": "template",
                "name": "gout",
                "start": 7,
                "end": 11,
                "concept": "INV:1",
                "restriction": 0,
            }
        ],
        "hard_pool": [{"query-id": ENGLISH, "corpus-id": "d0", "rank": 1, "label_status": "unjudged"}],
        "recipes": sorted(RECIPES, key=lambda row: row["query-id"]),
    }
    releases.write(folder, tables)
    for name in ("queries", "qrels"):
        path = folder / name / "test-00000-of-00001.parquet"
        path.rename(path.with_name("test-en-00000-of-00001.parquet"))
    releases.seal(folder, releases.manifest(task=TASK))
    return folder


@pytest.fixture
def names(tmp_path: Path) -> Path:
    rows = [
        named("de", "Gicht", "ICD10", ""), named("fr", "goutte", "MSHFRE", "A1"),
        named("fr", "Goutte", "MSHFRE", "A2"), named("ja", "別の病気", "MSHJPN", "A8"),
        named("pt", "gota úrica", "MSHPOR", "A3"), named("es", "gota", "MSHSPA", "A5"),
    ]  # fmt: skip
    path = tmp_path / "names.parquet"
    pq.write_table(to_table(ConceptName, rows), path)
    return path


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    rows = [
        VocabularySource(
            source=name,
            title=name,
            release=f"{name} of 2026",
            licence="invented",
            tier="restricted",
            sha256="",
        )
        for name in ("ICD10", "MSHFRE", "MSHJPN", "MSHPOR", "MSHSPA")
    ]
    path = tmp_path / "sources.parquet"
    pq.write_table(to_table(VocabularySource, rows), path)
    return path


def test_names_come_back_byte_for_byte_or_with_a_reason(released: Path, names: Path, sources: Path) -> None:
    found = look_up(query(), released, names, sources)
    by_language = {row["language"]: row for row in RECIPES}
    assert found.texts == {
        by_language[language]["query-id"]: FRAME.replace("{name}", name)
        for language, name in (("fr", "goutte"), ("de", "Gicht"))
    }
    languages = {row["query-id"]: row["language"] for row in RECIPES}
    assert {languages[item.query]: item.reason for item in found.missing} == REASONS
    assert sum(found.reasons().values()) + len(found.texts) == len(RECIPES)


def test_the_folder_has_them_as_translations_and_the_release_is_as_it_was(
    released: Path, names: Path, sources: Path, tmp_path: Path
) -> None:
    before = hash_files(released)
    filling = look_up(query(), released, names, sources)
    target = tmp_path / "filled"
    made = write_filled(query(), released, filling, target, "v1")
    assert hash_files(released) == before == dict(read_manifest(released).files)
    english = "queries/test-en-00000-of-00001.parquet"
    assert made.files[english] == before[english] and "recipes/test-00000-of-00001.parquet" not in made.files
    assert not made.publishable_by_content and WHY_NOT in made.not_publishable_because
    assert made.version == "1.0.0-filled" and made == read_manifest(target)
    opened = open_collection(target)
    asked = {item.language: item for item in opened.queries}
    assert set(asked) == {"en", "de", "fr"} and {item.family for item in asked.values()} == {FAMILY}
    assert asked["fr"].text == "Comment traite-t-on « goutte » ?"
    assert all(opened.qrels[item.id] == {"d1": 2} for item in asked.values())
    assert all(opened.left_out[item.id].tolist() == [2] for item in asked.values())
    told = {row["language"]: row for row in pq.read_table(target / "provenance" / "strings").to_pylist()}
    assert told.keys() == {"en", "de", "fr"}
    french = told["fr"]
    assert asked["fr"].text[french["start"] : french["end"]] == french["name"] == "goutte"
    assert (french["release"], french["restriction"], french["tier"]) == ("MSHFRE of 2026", 3, "restricted")
    pool = facet_pool(opened)
    assert pool is not None and pool.grades == {item.id: {0: 0, 1: 2} for item in asked.values()}
    again = tmp_path / "again"
    assert write_filled(query(), released, filling, again, "v1") == made and hash_files(again) == made.files


def test_nothing_is_written_into_a_release_or_over_a_folder(
    released: Path, names: Path, sources: Path, tmp_path: Path
) -> None:
    filling = look_up(query(), released, names, sources)
    with pytest.raises(UsageError, match="cannot go into a release"):
        write_filled(query(), released, filling, released / "filled", "v1")
    with pytest.raises(UsageError, match="the folder holds something"):
        write_filled(query(), released, filling, tmp_path, "v1")
    path = released / "recipes" / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(ReleaseError, match="a file of recipes was changed"):
        look_up(query(), released, names, sources)
