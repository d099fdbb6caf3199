from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.labels import concepts
from curation.labels.concepts import Named, lineage, named_in, parents_in
from curation.labels.taxonomy import load
from curation.labels.votes import Tallies
from schemas.concept import Mention
from schemas.record import to_table
from schemas.vocabulary import ConceptRelation


def mention(concept: str, name: str, text_id: str = "a#p1", **said: Any) -> Mention:
    return Mention(
        article_id="a", text_id=text_id, start=0, end=len(name), text=name, concept=concept, name=name, **said
    )


def points(named: tuple[Named, ...], parents: dict[str, tuple[str, ...]] | None = None) -> Tallies:
    tallies: Tallies = {}
    concepts.count(tallies, load("specialty"), named, parents)
    return tallies


def test_only_affirmed_concepts_count_those_of_most_texts_first() -> None:
    got = named_in(
        [
            mention("X:1", "b"),
            mention("X:2", "c", "a#p1"),
            mention("X:2", "c", "a#p2"),
            mention("X:2", "c", "a#p2"),
            mention("X:3", "d", is_negated=True),
            mention("X:4", "e", is_family=True),
            mention("X:5", "f", is_hypothetical=True),
            mention("X:6", "g", is_historical=True),
        ]
    )
    assert got == (Named("X:2", "c", 2), Named("X:1", "b", 1))


def test_a_curie_decides_and_its_name_does_where_none_is_listed() -> None:
    listed = points((Named("HP:0000478", "anything", 1),))
    assert list(listed) == ["ophthalmology"]
    assert listed["ophthalmology"].evidence[0].rule == "specialty.ophthalmology.concept"
    named = points((Named("MONDO:1", "Psoriasis", 1),))
    assert named["dermatology"].evidence[0].rule == "specialty.dermatology.concept_name"
    assert points((Named("MONDO:2", "unheard of", 5),)) == {}


def test_a_concept_inherits_from_what_stands_above_it() -> None:
    parents = {"HP:1": ("HP:2", "HP:3"), "HP:2": ("HP:0000478",), "HP:3": ("HP:0002664", "HP:1")}
    got = points((Named("HP:1", "tumour of the iris", 1),), parents)
    assert sorted(got) == ["oncology", "ophthalmology"]
    assert list(lineage("HP:1", parents)) == ["HP:1", "HP:2", "HP:3", "HP:0000478", "HP:0002664"]


def test_concepts_in_more_texts_weigh_more_up_to_a_limit() -> None:
    once = points((Named("HP:0000478", "x", 1),))["ophthalmology"].points
    often = points((Named("HP:0000478", "x", 9),))["ophthalmology"].points
    many = points(tuple(Named("HP:0000478", f"x{number}", 3) for number in range(20)))["ophthalmology"].points
    assert once < often < many == 3.0


def test_parents_are_read_for_vocabularies_with_branches_only(tmp_path: Path) -> None:
    rows = [
        ConceptRelation(concept="HP:1", relation="parent", other="HP:2", source="HPO"),
        ConceptRelation(concept="HP:1", relation="parent", other="HP:0", source="HPO"),
        ConceptRelation(concept="HP:2", relation="child", other="HP:1", source="HPO"),
        ConceptRelation(concept="UMLS:C1", relation="parent", other="UMLS:C2", source="X"),
    ]
    pq.write_table(to_table(ConceptRelation, rows), tmp_path / "relations.parquet")
    assert parents_in(tmp_path / "relations.parquet") == {"HP:1": ("HP:0", "HP:2")}
