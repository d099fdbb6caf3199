"""Which concepts say where in the body they are, in a small vocabulary."""

from __future__ import annotations

import pytest

from curation.diagnosis.concepts import Concepts, build
from curation.tasks.shared.sites import is_local, is_loose
from schemas.vocabulary import ConceptRelation, ConceptType

NEOPLASM, SKIN, GUT, LUNG, KIDNEY = "MONDO:0005070", "HP:0001574", "HP:0025031", "HP:0002086", "HP:0000079"
VESSELS, CYSTS = "HP:0001626", "MESH:D020763"
SYSTEMS = {"skin": SKIN, "gut": GUT, "lung": LUNG, "kidney": KIDNEY}


@pytest.fixture(scope="module")
def concepts() -> Concepts:
    """A carcinoma of many organs, one of the kidney, an infection, and a bleeding."""
    parents = {"squamous": [NEOPLASM, SKIN], "renal": [NEOPLASM, KIDNEY], "tuberculosis": [], "haematoma": []}
    parents |= {"fistula": [VESSELS, NEOPLASM, CYSTS], "nephrosis": [KIDNEY], "angioma": [VESSELS, NEOPLASM]}
    for site, system in SYSTEMS.items():
        for number in range(2):
            parents[f"squamous_{site}{number}"] = ["squamous", system]
            parents[f"tuberculosis_{site}{number}"] = ["tuberculosis", system]
            parents[f"renal{site}{number}"] = ["renal"]
    names = {*parents, NEOPLASM, VESSELS, CYSTS, *SYSTEMS.values()}
    findings = {"haematoma", "fistula", "nephrosis", "angioma"}
    types = [
        ConceptType(concept=name, semantic_type="T033" if name in findings else "T047", group="DISO")
        for name in sorted(names)
    ]
    links = [
        ConceptRelation(concept=name, relation="parent", other=other, source="TEST")
        for name, above in parents.items()
        for other in above
    ]
    return build(types, links)


@pytest.mark.parametrize(
    ("concept", "expected"),
    [
        ("squamous", True),
        ("squamous_gut0", False),
        ("renal", False),
        ("tuberculosis", False),
        ("haematoma", True),
        (NEOPLASM, True),
    ],
)
def test_lesions_without_a_site_are_loose(concept: str, expected: bool, concepts: Concepts) -> None:
    assert is_loose(concept, concepts) is expected


@pytest.mark.parametrize(
    ("concept", "expected"),
    [
        ("squamous", False),
        ("tuberculosis", False),
        ("haematoma", True),
        ("fistula", True),
        ("nephrosis", False),
        ("angioma", False),
    ],
)
def test_lesions_of_what_is_everywhere_are_local(concept: str, expected: bool, concepts: Concepts) -> None:
    assert is_local(concept, concepts) is expected
