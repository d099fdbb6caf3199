"""Merging by cross-references: what joins, what is refused, and that order does not matter."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from curation.vocabulary.merge import CrossReference, merge


def ref(concept: str, target: str, source: str = "MONDO", **known: bool) -> CrossReference:
    facts = {"is_live": True, "agrees": True, "is_unique": True} | known
    return CrossReference(concept=concept, other=target, source=source, target=target, **facts)


def ends(*references: CrossReference) -> set[str]:
    return {item.concept for item in references} | {item.target for item in references if item.is_live}


def test_the_id_of_a_merged_concept_follows_the_precedence() -> None:
    references = [ref("DOID:1", "MESH:D1", "DOID"), ref("MONDO:1", "DOID:1"), ref("HP:1", "MESH:D1", "HPO")]
    made = merge(references, ends(*references))
    assert made.canonical == {"DOID:1": "MONDO:1", "MESH:D1": "MONDO:1", "HP:1": "MONDO:1"}
    assert set(made.status.values()) == {"merged"}
    with_umls = [*references, ref("MONDO:1", "UMLS:C1")]
    assert set(merge(with_umls, ends(*with_umls)).canonical.values()) == {"UMLS:C1"}


def test_a_hub_that_is_not_loaded_joins_but_never_names_the_concept() -> None:
    references = [
        ref("MONDO:1", "UMLS:C1", is_live=False),
        ref("HP:1", "UMLS:C1", "HPO", is_live=False),
    ]
    made = merge(references, ends(*references))
    assert made.canonical == {"HP:1": "MONDO:1", "UMLS:C1": "MONDO:1"}


def test_two_ids_of_one_source_are_never_joined() -> None:
    references = [ref("MONDO:1", "UMLS:C1"), ref("MONDO:2", "DOID:2"), ref("DOID:2", "UMLS:C1", "DOID")]
    made = merge(references, ends(*references))
    assert made.status[("DOID:2", "UMLS:C1", "DOID")] == "refused"
    assert made.canonical == {"MONDO:1": "UMLS:C1", "DOID:2": "MONDO:2"}


def test_several_to_one_merges_only_where_a_name_agrees() -> None:
    references = [
        ref("HP:1250", "UMLS:C14544", "HPO", agrees=False, is_unique=False),
        ref("HP:1250", "UMLS:C36572", "HPO", is_unique=False),
    ]
    made = merge(references, ends(*references))
    assert made.canonical == {"HP:1250": "UMLS:C36572"}
    assert made.status[("HP:1250", "UMLS:C14544", "HPO")] == "refused"


def test_without_a_common_name_only_exact_sources_merge() -> None:
    references = [
        ref("MONDO:1", "DOID:1", agrees=False),
        ref("MONDO:2", "MESH:D2", agrees=False),
        ref("MONDO:3", "ICD10:A00", agrees=False),
        ref("MONDO:4", "UMLS:C4", agrees=False, is_live=False),
        ref("HP:5", "UMLS:C5", "HPO", agrees=False),
        ref("UMLS:C6", "HP:6", "UMLS", agrees=False),
    ]
    status = {key[0]: value for key, value in merge(references, ends(*references)).status.items()}
    assert status == {
        "MONDO:1": "merged",
        "MONDO:2": "kept",
        "MONDO:3": "kept",
        "MONDO:4": "kept",
        "HP:5": "kept",
        "UMLS:C6": "merged",
    }


def test_labels_join_what_nothing_stated_does_and_never_two_ids_of_a_source() -> None:
    references = [ref("MONDO:1", "MESH:D1")]
    known = ends(*references) | {"HP:1", "HP:2", "MESH:D2", "DOID:2"}
    namesakes = [("HP:1", "MONDO:1"), ("HP:2", "MESH:D2"), ("DOID:2", "MESH:D2"), ("MESH:D2", "MONDO:1")]
    made = merge(references, known, namesakes)
    assert made.canonical == {"MESH:D1": "MONDO:1", "HP:1": "MONDO:1", "MESH:D2": "HP:2", "DOID:2": "HP:2"}
    assert merge(references, known, namesakes[::-1]).canonical == made.canonical
    assert set(made.status.values()) == {"merged"}  # of cross-references only


_PREFIXES = ("UMLS", "MONDO", "HP", "DOID", "MESH")
_ids = st.builds(lambda prefix, number: f"{prefix}:{number}", st.sampled_from(_PREFIXES), st.integers(1, 6))
_references = st.lists(
    st.builds(
        ref,
        _ids,
        _ids,
        st.sampled_from(("UMLS", "MONDO", "HPO", "DOID", "MESH")),
        is_live=st.booleans(),
        agrees=st.booleans(),
        is_unique=st.booleans(),
    ).filter(lambda item: item.concept.split(":")[0] != item.target.split(":")[0]),
    max_size=25,
)


@given(_references, st.randoms(use_true_random=False))
def test_a_group_has_one_id_per_source_and_order_does_not_matter(
    references: list[CrossReference], random: object
) -> None:
    known = ends(*references)
    listed = [replace(item, is_live=item.target in known) for item in references]
    unique = list({(item.concept, item.other, item.source): item for item in listed}.values())
    made = merge(unique, known)
    groups: dict[str, set[str]] = {}
    for concept, canonical in made.canonical.items():
        assert canonical in known
        assert canonical not in made.canonical
        groups.setdefault(canonical, {canonical}).add(concept)
    for group in groups.values():
        prefixes = [concept.split(":")[0] for concept in group]
        assert len(prefixes) == len(set(prefixes))
    shuffled = list(unique)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = merge(shuffled, known)
    assert (again.canonical, again.status) == (made.canonical, made.status)
