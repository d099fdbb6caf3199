"""Findings stated by a verb, and findings of a list that share words."""

from __future__ import annotations

import pytest

from curation.concepts.context import assign
from tests.curation.concepts.test_native import Open, found

NAMES = (
    "1=Dystrophic nails", "2=Enlarged kidney", "3=Downturned corners of mouth", "4=Thin skin", "5=Dry skin",
    "6=Posteriorly rotated ears", "7=Small mouth", "8=Brittle hair", "9=Prolonged bleeding time", "10=Fever",
    "11=Large head", "12=Pancreas mass", "13=Femoral bowing", "14=Sister chromatid", "15=Throat tongue but",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The nails were dystrophic.", [("nails were dystrophic", "T:1")]),
        (
            "Her nails had become severely dystrophic by then",
            [("nails had become severely dystrophic", "T:1")],
        ),
        ("Both kidneys appeared to be enlarged on ultrasound", [("kidneys appeared to be enlarged", "T:2")]),
        ("The corners of the mouth were downturned", [("corners of the mouth were downturned", "T:3")]),
        ("Skin that was thin and very dry", [("Skin that was thin", "T:4"), ("dry", "T:5")]),
        ("The ears were low, large and posteriorly rotated", [("posteriorly rotated", "T:6")]),
        ("The hair, which is sparse or brittle", [("brittle", "T:8")]),
        ("The mouths of the sisters were small", [("mouths of the sisters were small", "T:7")]),
        ("The bleeding time was prolonged", [("bleeding time was prolonged", "T:9")]),
    ],
)
def test_a_quality_behind_a_verb_is_said_of_its_subject(
    matcher: Open, text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(matcher(*NAMES), text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The kidney was neither enlarged nor tender",
        "A cyst of the kidney was enlarged",
        "The boy with a cyst in the kidney was enlarged",
        "The corner of the mouth was small",
        "The skin was treated, and the hair of a thin boy was dry",
        "The nails were examined. Dystrophic hair was seen",
        "The nails were dystrophic hair roots",
        "The nails were a dystrophic mass",
        "The kidney and not the skin was thin",
        "The nodes near the kidney were enlarged",
        "All organs except the kidney were enlarged",
        "The kidney was normal or enlarged",
        "The head of the pancreas was large",
        "The femoral head was large",
        "Growth against the kidney was enlarged",
        "In the kidney, but mouth, tongue and throat were enlarged",
    ],
)
def test_a_quality_that_is_said_of_something_else_is_not(matcher: Open, text: str) -> None:
    assert found(matcher(*NAMES), text) == []


@pytest.mark.parametrize(
    ("text", "is_negated"),
    [
        ("The nails were not dystrophic", True),
        ("The nails had never been truly dystrophic", True),
        ("The nails were never dystrophic", True),
        ("Her nails were not only dystrophic but dry", False),
        ("The nails were dystrophic, and the hair was not", False),
        ("The nails were not infrequently dystrophic", False),
        ("The nails were hardly dystrophic", True),
        ("The nails were not treated and were dystrophic", False),
        ("Without treatment the nails were dystrophic", False),
        ("Whether or not the nails were dystrophic is unclear", False),
        ("The nails were dystrophic in no patient", True),
        ("The nails were not found to be dystrophic", True),
        ("The nails were found not to be dystrophic", True),
    ],
)
def test_what_is_denied_of_its_subject_is_negated(matcher: Open, text: str, is_negated: bool) -> None:
    (match, *others) = matcher(*NAMES).find(text)
    (context,) = assign(text, [(match.start, match.end)])
    assert (match.concept, others, context.is_negated) == ("T:1", [], is_negated)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The skin was not thin or dry", [("skin was not thin", True), ("dry", True)]),
        ("The skin was not thin, dry or scaly", [("skin was not thin", True)]),
        (
            "The skin was not thin and was dry",
            [("skin was not thin", True), ("skin was not thin and was dry", False)],
        ),
    ],
)
def test_a_denial_holds_as_far_as_it_can_be_told(
    matcher: Open, text: str, expected: list[tuple[str, bool]]
) -> None:
    spans = [(match.start, match.end) for match in matcher(*NAMES).find(text, overlaps=True)]
    contexts = [context.is_negated for context in assign(text, spans)]
    assert sorted(zip([text[slice(*span)] for span in spans], contexts, strict=True)) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        "was ",
        "fever was ",
        "was very ",
        "fever is to be ",
        "nails of mouth was thin ",
        "Dry skin. The skin was thin. ",
    ],
)
def test_a_text_of_nothing_else_takes_no_longer(matcher: Open, text: str) -> None:
    """Words looked at are bounded in number: read in squares, this would take hours."""
    matcher(*NAMES).find(text * 20_000)


def test_findings_of_a_list_stand_beside_each_other(matcher: Open) -> None:
    opened = matcher("1=Tonic seizure", "2=Myoclonic seizure", "3=Atonic seizure", "4=Seizure")
    assert found(opened, "tonic, myoclonic and atonic seizures") == [
        ("tonic, myoclonic and atonic seizures", "T:1"),
        ("myoclonic and atonic seizures", "T:2"),
        ("atonic seizures", "T:3"),
    ]
    assert found(opened, "tonic and atonic seizures; a seizure") == [
        ("tonic and atonic seizures", "T:1"),
        ("atonic seizures", "T:3"),
        ("seizure", "T:4"),
    ]
