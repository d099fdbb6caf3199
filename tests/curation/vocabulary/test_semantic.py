"""Semantic types: the UMLS table is whole, and rules choose the nearest or longest match."""

from __future__ import annotations

from curation.vocabulary.semantic import by_hierarchy, by_icd10_code, by_tree, groups, type_names

_GROUPS = {"ACTI", "ANAT", "CHEM", "CONC", "DEVI", "DISO", "GENE", "GEOG"} | {
    *("LIVB", "OBJC", "OCCU", "ORGA", "PHEN", "PHYS", "PROC")
}


def test_the_table_has_every_type_and_group_of_the_semantic_network() -> None:
    assert len(groups()) == 127
    assert set(groups().values()) == _GROUPS
    assert (groups()["T047"], type_names()["T047"]) == ("DISO", "Disease or Syndrome")


def test_the_nearest_ancestor_with_a_rule_decides() -> None:
    parents: dict[str, list[str]] = {
        "HP:0000118": [],
        "HP:0002664": ["HP:0000118"],
        "HP:1": ["HP:0002664"],
        "HP:2": ["HP:1", "HP:0000118"],
        "HP:3": ["HP:0000118"],
        "HP:4": ["HP:4"],
        "ODD:1": [],
    }
    types = {row.concept: (row.semantic_type, row.rule) for row in by_hierarchy(parents)}
    assert types["HP:2"] == types["HP:0002664"] == ("T191", "below HP:0002664")
    assert types["HP:3"] == types["HP:4"] == ("T033", "HP default")
    assert "ODD:1" not in types


def test_tree_numbers_and_codes_go_by_the_longest_rule() -> None:
    assert [(row.semantic_type, row.rule) for row in by_tree("MESH:D1", ["C23.888.592", "C10.1"])] == [
        ("T047", "MESH tree C"),
        ("T184", "MESH tree C23.888"),
    ]
    assert [row.semantic_type for row in by_tree("MESH:D1", [])] == ["T077"]
    assert [row.semantic_type for row in by_icd10_code("ICD10:C50", "C50")] == ["T191"]
    assert [row.semantic_type for row in by_icd10_code("ICD10:J45", "J45")] == ["T047"]
