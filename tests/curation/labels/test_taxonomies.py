from __future__ import annotations

import pytest

from curation.images.kind_terms import KINDS
from curation.labels import country
from curation.labels.concepts import branches
from curation.labels.taxonomy import STRENGTHS, borrow, load, parse, phrases, read_data
from schemas.errors import MedqrelsError

FACETS = ("specialty", "body_system", "domain", "modality")


@pytest.mark.parametrize("facet", FACETS)
def test_every_taxonomy_reads_and_every_phrase_has_its_label(facet: str) -> None:
    taxonomy = load(facet)
    assert {entry.label for entry in taxonomy.entries} <= set(taxonomy.labels)
    assert {entry.strength for entry in taxonomy.entries} <= set(STRENGTHS)
    with_words = {entry.label for entry in taxonomy.entries if entry.strength in ("strong", "weak")}
    assert with_words == set(taxonomy.labels)
    assert len({entity.name for entity in taxonomy.labels.values()}) == len(taxonomy.labels)


@pytest.mark.parametrize("facet", FACETS)
def test_every_phrase_finds_itself(facet: str) -> None:
    taxonomy = load(facet)
    for entry in taxonomy.entries:
        beings = taxonomy.beings
        others = {"field": taxonomy.fields, "type": taxonomy.types, "animal": beings, "person": beings}
        lexicon = others.get(entry.strength, taxonomy.words)
        hits = lexicon.find(entry.phrase.replace("*", ""))
        assert any(entry in hit.entries for hit in hits), entry


def test_sizes_are_those_promised() -> None:
    assert len(load("specialty").labels) >= 16
    assert len(load("body_system").labels) == 12
    assert list(load("domain").labels) == [
        "clinical_case", "clinical_study", "basic_science", "public_health", "education", "non_medical"
    ]  # fmt: skip


def test_modality_groups_are_the_kinds_of_images() -> None:
    labels = load("modality").labels
    groups = {name for name, entity in labels.items() if not entity.parent}
    assert groups == set(KINDS) - {"compound"}
    assert all(not labels[entity.parent].parent for entity in labels.values() if entity.parent)


def test_concept_branches_name_labels_that_exist() -> None:
    for curie, targets in branches().items():
        assert curie.partition(":")[2], curie
        for facet, labels in targets.items():
            assert set(labels) <= set(load(facet).labels), curie


def test_countries_have_one_region_and_who_regions_have_their_members() -> None:
    who = country.countries().who
    members = {region: sum(value == region for value in who.values()) for region in set(who.values())}
    assert members == {"AFR": 47, "AMR": 36, "EMR": 22, "EUR": 55, "SEAR": 10, "WPR": 30, "": members[""]}
    assert all(len(code) == 2 and code.isupper() for code in who)


def label(**more: str) -> dict[str, str]:
    return {"id": "a", "name": "A", "strong": "x", **more}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no label"),
        ([label(), label()], "declared twice"),
        ([label(id="A b")], "letters, digits"),
        ([label(name="")], "letters, digits"),
        ([label(strong="x, y", weak="y")], "names 'y' twice"),
        ([label(parent="b")], "not above it"),
        ([label(colour="red")], "unknown key 'colour'"),
        ([label(kind="odd")], "kind is none of"),
    ],
)
def test_a_faulty_taxonomy_is_refused(rows: list[dict[str, str]], message: str) -> None:
    with pytest.raises(MedqrelsError, match=message):
        parse("specialty", {"label": rows})


def test_a_label_may_be_a_word_of_journals_and_of_texts() -> None:
    taxonomy = parse("specialty", {"label": [label(strong="heart", field="heart", type="heart")]})
    assert [entry.strength for entry in taxonomy.entries] == ["strong", "field", "type"]


def test_borrowed_words_come_after_own_and_not_where_they_are_weak() -> None:
    data = {"label": [{"id": "s", "name": "S", "strong": "own", "weak": "b", "words_of": "x"}]}
    borrow(data, {"x": {"strong": "a, b, own"}})
    assert phrases(data["label"][0]["strong"]) == ("own", "a")
    with pytest.raises(MedqrelsError, match="no specialty"):
        borrow({"label": [{"id": "s", "words_of": "y"}]}, {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": {"NOWHERE": {"FR": "france"}}}, "none of the regions"),
        ({"names": {"EUR": {"FRA": "france"}}}, "malformed"),
        ({"names": {"EUR": {"FR": "france"}, "AFR": {"FR": "x"}}}, "twice"),
        ({"names": {"EUR": {"FR": "gaul", "BE": "gaul"}}}, "names FR and BE"),
        ({"states": {"QQ": "somewhere"}}, "not listed"),
    ],
)
def test_faulty_countries_are_refused(change: dict[str, object], message: str) -> None:
    data = read_data("countries.toml") | change
    if "names" in change:
        data["states"] = {}
    with pytest.raises(MedqrelsError, match=message):
        country.parse(data)
