"""Readers of open vocabularies: every row they make of files written by us."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TypeVar

import pytest

from curation.vocabulary import babelon, icd10, indra, mesh, obo
from curation.vocabulary.curies import normalise
from curation.vocabulary.tables import Row, Rows
from schemas.errors import InputError
from schemas.stages import Drop
from schemas.vocabulary import (
    ConceptDefinition,
    ConceptMapping,
    ConceptName,
    ConceptRelation,
    ConceptType,
    RetiredConcept,
    VocabularySource,
)
from tests.curation.vocabulary.builders import BABELON, MESH_XML, MONDO_OBO, OBO, SYNONYMS

T = TypeVar("T", bound=Row)


def of(kind: type[T], rows: Rows | list[Row]) -> list[T]:
    return [row for row in rows if isinstance(row, kind)]


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def toy(tmp_path: Path) -> list[Row]:
    return list(obo.read(write(tmp_path / "t.obo", OBO), "0" * 64))


def test_obo_names_carry_scope_and_kind_as_term_type(toy: list[Row]) -> None:
    names = {row.name: row for row in of(ConceptName, toy) if row.concept == "TOY:0000002"}
    assert {name: row.term_type for name, row in names.items()} == {
        "Spotted skin": "PT",
        "Skin spots": "SY",
        "SPS": "AB",
        "Dotty": "RELATED",
        "Rash": "BROAD",
        "Freckled nose": "NARROW",
        "Old spots": "SY",
    }
    assert [name for name, row in names.items() if row.is_preferred] == ["Spotted skin"]
    assert [name for name, row in names.items() if row.is_suppressed] == ["Old spots"]
    assert {row.tier for row in names.values()} == {"open"}  # the licence in the header is CC BY
    assert {row.source for row in names.values()} == {"TOY"}


def test_obo_retired_ids_have_their_one_replacement(toy: list[Row]) -> None:
    assert {(row.concept, row.replacement) for row in of(RetiredConcept, toy)} == {
        ("TOY:0000012", "TOY:0000002"),
        ("TOY:0000004", "TOY:0000003"),
        ("TOY:0000005", ""),  # two replacements are a choice
    }


def test_obo_cross_references_are_normalised_and_inexact_ones_never_merge(toy: list[Row]) -> None:
    assert {(row.other, row.status) for row in of(ConceptMapping, toy)} == {
        ("UMLS:C9000002", "stated"),
        ("SNOMEDCT_US:123", "stated"),
        ("MESH:D900002", "stated"),
        ("MESH:D900001", "kept"),
    }


def test_mondo_says_which_cross_references_it_means_exactly(tmp_path: Path) -> None:
    rows = list(obo.read(write(tmp_path / "m.obo", MONDO_OBO), "0" * 64))
    assert {(row.other, row.status) for row in of(ConceptMapping, rows)} == {
        ("UMLS:C9000001", "stated"),
        ("UMLS:C9000009", "kept"),
        ("DOID:1", "stated"),
    }
    assert [row.semantic_type for row in of(ConceptType, rows)] == ["T047"]


def test_obo_below_a_root_leaves_the_root_and_the_rest_out(tmp_path: Path) -> None:
    path = write(tmp_path / "t.obo", OBO)
    rows = list(obo.read(path, "0" * 64, root="TOY:0000001"))
    assert {row.concept for row in of(ConceptName, rows)} == {"TOY:0000002", "TOY:0000003"}
    assert [(row.concept, row.relation, row.other) for row in of(ConceptRelation, rows)] == [
        ("TOY:0000003", "parent", "TOY:0000002")
    ]
    assert [row.text for row in of(ConceptDefinition, rows)] == ["Skin with spots."]
    with pytest.raises(InputError, match="root"):
        list(obo.read(path, "0" * 64, root="TOY:0009999"))


def test_obo_says_its_release_and_imported_terms_are_left_out(toy: list[Row]) -> None:
    assert [(row.source, row.release) for row in of(VocabularySource, toy)] == [
        ("TOY", "toy/releases/2026-01-02")
    ]
    assert not [row for row in of(ConceptName, toy) if row.concept.startswith("OTHER:")]


@pytest.mark.parametrize(
    "text", ["not OBO at all [", "format-version: 1.2\n", "[Term]\nid: T:1\n! All\n[Term]"]
)
def test_what_is_not_obo_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        list(obo.read(write(tmp_path / "t.obo", text), "0" * 64))


def test_a_term_without_a_name_is_dropped_with_a_reason(tmp_path: Path) -> None:
    path = write(tmp_path / "t.obo", OBO + "\n[Term]\nid: TOY:0000020\n")
    drops = of(Drop, list(obo.read(path, "0" * 64)))
    assert [(item.id, item.reason) for item in drops] == [("TOY:0000020", "record_invalid")]


@pytest.mark.parametrize("packed", [False, True])
def test_mesh_xml_terms_say_how_they_stand_to_the_heading(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("desc2026.xml.gz" if packed else "desc2026.xml")
    path.write_bytes(gzip.compress(MESH_XML.encode()) if packed else MESH_XML.encode())
    rows = list(mesh.read_xml(path, "0" * 64))
    names = {(row.name, row.term_type) for row in of(ConceptName, rows) if row.concept == "MESH:D900002"}
    assert names == {
        ("Spotted Skin", "MH"),
        ("Skin, Spotted", "PM"),
        ("SPS", "AB"),
        ("Dotted Skin", "ET"),
        ("Spotted Nose", "NARROW"),
    }
    assert of(ConceptRelation, rows) == [
        ConceptRelation(concept="MESH:D900002", relation="parent", other="MESH:D900001", source="MESH")
    ]
    assert [row.text for row in of(ConceptDefinition, rows)] == ["Skin that has spots."]
    types = {(row.concept, row.semantic_type) for row in of(ConceptType, rows)}
    assert types == {("MESH:D900001", "T047"), ("MESH:D900002", "T047"), ("MESH:D900002", "T184")}
    assert [row.release for row in of(VocabularySource, rows)] == ["2026"]
    assert len(of(Drop, rows)) == 1


@pytest.mark.parametrize("text", ["<a/>", MESH_XML[:900], "no xml"])
def test_what_is_not_mesh_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        list(mesh.read_xml(write(tmp_path / "desc.xml", text), "0" * 64))


def test_mesh_table_makes_headings_entry_terms_and_tree(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.tsv",
        "D900001\tSpot Diseases\tDiseases, Spot|Spot Diseases\tC17.900\t\n"
        "D900002\tSpotted Skin\tDotted Skin\tC17.900.100\t\nbroken line\n",
    )
    rows = list(mesh.read_tsv(path, "0" * 64, "toy"))
    assert {(row.name, row.term_type) for row in of(ConceptName, rows)} == {
        ("Spot Diseases", "MH"),
        ("Diseases, Spot", "PM"),
        ("Spotted Skin", "MH"),
        ("Dotted Skin", "ET"),
    }
    assert [(row.concept, row.other) for row in of(ConceptRelation, rows)] == [
        ("MESH:D900002", "MESH:D900001")
    ]
    assert [item.id for item in of(Drop, rows)] == ["m.tsv:3"]


def test_what_a_publication_is_is_looked_for_in_no_text(tmp_path: Path) -> None:
    lines = "D900001\tSpot Lists\tSpot Roll\tV02.900\t\nD900002\tSpots\t\tV02.901|L01.2\t\n"
    rows = list(mesh.read_tsv(write(tmp_path / "m.tsv", lines), "0" * 64, "toy"))
    assert {(row.name, row.is_suppressed) for row in of(ConceptName, rows)} == {
        ("Spot Lists", True),
        ("Spot Roll", True),
        ("Spots", False),
    }
    text = MESH_XML.replace("C17.900", "V02.900")
    rows = list(mesh.read_xml(write(tmp_path / "desc.xml", text), "0" * 64))
    assert any(row.is_suppressed for row in of(ConceptName, rows))


def test_babelon_keeps_status_quotes_and_language(tmp_path: Path) -> None:
    table, synonyms = (
        write(tmp_path / "t-de.babelon.tsv", BABELON),
        write(tmp_path / "t-de.syn.tsv", SYNONYMS),
    )
    rows = list(babelon.read([table, synonyms], "0" * 64))
    names = {(row.concept, row.name, row.term_type, row.is_preferred) for row in of(ConceptName, rows)}
    assert names == {
        ("TOY:0000002", 'Gefleckte "bunte" Haut', "PT", True),
        ("TOY:0000003", "Tief gefleckte Haut", "CAND", False),
        ("TOY:0000012", 'Haut "mit Flecken" dazu', "PT", True),
        ("TOY:7777777", "Unerhört", "PT", True),
        ("TOY:0000002", "Fleckenhaut", "SY", False),
        ("TOY:0000002", "Haut mit Tupfen", "SY", False),
    }
    assert {(row.language, row.source) for row in of(ConceptName, rows)} == {("de", "TOY_DE")}
    assert [row.text for row in of(ConceptDefinition, rows)] == ["Haut mit Flecken."]
    assert [item.id for item in of(Drop, rows)] == ["t-de.babelon.tsv:6"]
    assert babelon.language_of(table) == babelon.language_of(synonyms) == ("TOY", "de")


def test_what_is_not_babelon_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="babelon"):
        list(babelon.read([write(tmp_path / "x.tsv", "a\tb\n1\t2\n")], "0" * 64))
    nothing = write(tmp_path / "y.tsv", "subject_id\ttranslation_value\nHP:1\tx\n")
    with pytest.raises(InputError, match="translation_language"):
        babelon.language_of(nothing)


@pytest.mark.parametrize(
    ("synonym", "label", "is_short"),
    [
        ("kip", "kidney inflammation, painful", True),  # initials
        ("kin", "kidney inflammation", True),  # two words begin with its letters
        ("gisp", "gastrointestinal spots", True),
        ("spot", "spotty kidney disease", False),  # the beginning of a word of the name
        ("kidney", "inflammation of kidney", False),
        ("gout", "crystal arthritis", False),
        ("knee", "kidney disease", False),  # letters of one word alone
    ],
)
def test_a_small_synonym_that_shortens_another_name_is_a_short_form(
    tmp_path: Path, synonym: str, label: str, is_short: bool
) -> None:
    terms = [{"id": "0000001", "name": label, "namespace": "mondo", "synonyms": [synonym]}]
    rows = list(indra.read(write(tmp_path / "mondo.json", json.dumps(terms)), "0" * 64, "MONDO", "toy"))
    found = {row.name: row.is_suppressed for row in of(ConceptName, rows)}
    assert found == {label: False, synonym: is_short}


def test_indra_extracts_keep_names_parents_and_cross_references(tmp_path: Path) -> None:
    terms = [
        {"id": "0000001", "name": "disease", "namespace": "mondo"},
        {
            "id": "0000002",
            "name": "spotty disease",
            "namespace": "mondo",
            "synonyms": [
                "spotty disease",
                "spots",
                "SD",
                "aSD2",
                "SPOTTY DISEASE",
                "ham",
                "herpes and measles",
            ],
            "xrefs": [{"namespace": "UMLS", "id": "C9000001"}, {"namespace": "SCTID", "id": "5"}],
            "relations": {"is_a": ["0000001", "0099999"]},
            "alt_ids": ["0000007"],
        },
        {"id": "0021125", "name": "disease characteristic", "namespace": "mondo"},
        {"id": "8", "name": "rare", "namespace": "mondo", "relations": {"is_a": ["0021125"]}},
        {"name": "no id"},
    ]
    rows = list(indra.read(write(tmp_path / "mondo.json", json.dumps(terms)), "0" * 64, "MONDO", "toy"))
    assert {(row.concept, row.name, row.term_type) for row in of(ConceptName, rows)} == {
        ("MONDO:0000001", "disease", "PT"),
        ("MONDO:0000002", "spotty disease", "PT"),
        ("MONDO:0000002", "spots", "SY"),
        ("MONDO:0000002", "SPOTTY DISEASE", "SY"),
        ("MONDO:0000002", "SD", "AB"),
        ("MONDO:0000002", "aSD2", "AB"),
        ("MONDO:0000002", "ham", "AB"),
        ("MONDO:0000002", "herpes and measles", "SY"),
    }
    assert {row.name for row in of(ConceptName, rows) if row.is_suppressed} == {"SD", "aSD2", "ham"}
    assert not any(row.concept == "MONDO:8" for row in of(ConceptType, rows))
    assert {row.other for row in of(ConceptMapping, rows)} == {"UMLS:C9000001", "SNOMEDCT_US:5"}
    assert [(row.concept, row.other) for row in of(ConceptRelation, rows)] == [
        ("MONDO:0000002", "MONDO:0000001")
    ]
    assert [row.concept for row in of(RetiredConcept, rows)] == ["MONDO:0000007"]
    assert len(of(Drop, rows)) == 1
    with pytest.raises(InputError):
        list(indra.read(write(tmp_path / "bad.json", "{}"), "0" * 64, "MONDO", "toy"))


def _icd10(folder: Path) -> list[Row]:
    record = (
        '<record model="gnuhealth.pathology" id="{0}"><field name="name">{2}</field>'
        '<field name="code">{1}</field></record>'
    )
    place = [(f"W{n:02}7", f"W{n:02}.7", "Barn") for n in range(12)]
    codes = [
        ("Z90", "Z90", "Spots"),
        ("Z901", "Z90.1", "Green &amp; blue spots"),
        ("X", "nonsense", "x"),
        *place,
    ]
    data = write(
        folder / "diseases.xml",
        "<tryton><data>" + "".join(record.format(*c) for c in codes) + "</data></tryton>",
    )
    entry = 'msgctxt "model:gnuhealth.pathology,name:{}"\nmsgid "x"\nmsgstr {}\n\n'
    po = (
        'msgid ""\nmsgstr ""\n\n'
        + entry.format("Z90", '"Manchas"')
        + entry.format("Z901", '"Manchas "\n"\\"verdes\\" y azules"')
        + "#, fuzzy\n"
        + entry.format("W007", '"Granero"')
        + entry.format("W017", '"nan"')
        + entry.format("W027", '""')
        + entry.format("W037", '"Granero"')
    )
    return list(icd10.read(data, [write(folder / "es.po", po)], "0" * 64, "toy 1"))


def test_icd10_titles_are_restricted_in_every_language(tmp_path: Path) -> None:
    rows = _icd10(tmp_path)
    names = of(ConceptName, rows)
    assert {row.tier for row in names} == {"restricted"}
    assert {(row.concept, row.name) for row in names if row.language == "es"} == {
        ("ICD10:Z90", "Manchas"),
        ("ICD10:Z90.1", 'Manchas "verdes" y azules'),
        ("ICD10:W03.7", "Granero"),
    }
    assert ("ICD10:Z90.1", "Green & blue spots") in {(row.concept, row.name) for row in names}
    assert [(row.concept, row.other) for row in of(ConceptRelation, rows)] == [("ICD10:Z90.1", "ICD10:Z90")]
    assert len(of(Drop, rows)) == 1


def test_icd10_titles_of_subdivisions_are_suppressed(tmp_path: Path) -> None:
    suppressed = {row.name for row in of(ConceptName, _icd10(tmp_path)) if row.is_suppressed}
    assert suppressed == {"Barn", "Granero"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("UMLS_CUI:C0000001", "UMLS:C0000001"),
        ("SNOMEDCT_US_2023_03_01:1", "SNOMEDCT_US:1"),
        ("MSH:D000001", "MESH:D000001"),
        ("http://purl.obolibrary.org/obo/MONDO_0000001", "MONDO:0000001"),
        ("http://identifiers.org/mesh/D000001", "MESH:D000001"),
        ("https://id.nlm.nih.gov/mesh/D000001", "MESH:D000001"),
        ("http://linkedlifedata.com/resource/umls/id/C0000001", "UMLS:C0000001"),
        ("Unheard:7", "Unheard:7"),
        ("https://example.org/x", None),
        ("free text", None),
    ],
)
def test_identifiers_get_one_prefix_per_vocabulary(text: str, wanted: str | None) -> None:
    assert normalise(text) == wanted
