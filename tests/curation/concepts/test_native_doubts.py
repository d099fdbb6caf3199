"""What names nothing: likeness, names that are no misspelling, lists of things with heads of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from curation.concepts.native import NativeMatcher
from curation.concepts.typos import is_name, rest_of, stands_alone
from schemas.vocabulary import ConceptType


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A measles-like rash came.", []),
        ("He had measles and a measles-like rash.", ["measles"]),
        ("Cat scratch disease-like lesions were seen.", []),
        ("A non-diabetic woman came.", []),
        ("Non-diabetic people, diabetic people.", ["diabetic people"]),
        ("It was a non-metastatic skin cancer.", ["skin cancer"]),
        ("It was a non-Hodgkin lymphoma.", ["non-Hodgkin lymphoma"]),
        ("Insulin-like growth factor rose.", ["Insulin-like growth factor"]),
    ],
)
def test_what_is_only_like_a_thing_or_is_not_it_names_none(
    matcher: Callable[..., NativeMatcher], text: str, found: list[str]
) -> None:
    index = matcher(
        "1=measles",
        "2=cat scratch disease",
        "3=diabetic",
        "4=metastatic skin cancer",
        "5=skin cancer",
        "6=non-Hodgkin lymphoma",
        "7=lymphoma",
        "8=insulin-like growth factor",
        "9=insulin",
        "10=diabetic people",
        "11=scratch",
    )
    assert [text[match.start : match.end] for match in index.find(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("An X-ray showed Dalter sign.", []),
        ("An X-ray showed Salter sign.", ["Salter sign"]),
        ("An X-ray showed Sallter sign.", ["Sallter sign"]),
        ("Macronutrients were weighed.", []),
        ("Micronutrint levels were low.", ["Micronutrint"]),
        ("Humility is a virtue.", []),
        ("The humiditty was high.", ["humiditty"]),
        ("The hmuidity was high.", ["hmuidity"]),
        ("The Wilk test was used.", []),
        ("The walkk test was used.", ["walkk test"]),
    ],
)
def test_names_compounds_and_other_words_are_not_misspelt(
    matcher: Callable[..., NativeMatcher], text: str, found: list[str]
) -> None:
    index = matcher("1=Salter sign", "2=micronutrient", "3=humidity", "4=walk test", "5=nutrients")
    words = [text[match.start : match.end] for match in index.find(text) if match.rule == "typo"]
    words += [text[match.start : match.end] for match in index.find(text) if match.concept == "T:1"]
    assert sorted(set(words)) == found


def test_rules_of_misspelling() -> None:
    assert is_name("Dalter", "salter") and is_name("Wilk", "walk")
    assert not is_name("dalter", "salter") and not is_name("Saltter", "salter")
    assert rest_of("macronutrient") == "nutrient" and rest_of("macro") == "" == rest_of("nephritis")
    assert stands_alone("hmuidity", "humidity") is True
    assert stands_alone("humility", "humidity") is False


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Scabies, eczema, and inner ear disease were seen.", ["Scabies", "eczema", "inner ear"]),
        ("Renal and inner ear disease were seen.", ["Renal and inner ear disease", "inner ear"]),
        ("A survey and asthma under study were told.", ["asthma"]),
        ("He had severe asthma and short stature.", ["asthma", "short stature"]),
        ("He had severe asthma and eczema.", ["severe asthma and eczema"]),
        ("This makes 1% of all cases.", []),
        ("The gene All1 was read.", ["All1"]),
        ("He had acute hepatitis E.", ["hepatitis E"]),
        ("He had acute hepatitis.", ["acute hepatitis"]),
        ("He had acute hepatitis E virus.", ["hepatitis E virus"]),
    ],
)
def test_words_of_lists_keep_to_their_own(
    matcher: Callable[..., NativeMatcher], text: str, found: list[str]
) -> None:
    index = matcher(
        "1=scabies",
        "2=eczema",
        "3=ear disease",
        "4=scabies disease",
        "5=renal disease",
        "6=survey study",
        "7=asthma",
        "8=severe short stature",
        "9=short stature",
        "10=severe eczema",
        "11=All1",
        "12=acute hepatitis",
        "13=hepatitis E",
        "14=hepatitis E virus",
        "15=eczema disease",
        "16=inner ear",
    )
    assert sorted(text[match.start : match.end] for match in index.find(text)) == sorted(found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("This illness affects up to 5 % of men.", []),
        ("It affects about 3 girls in ten.", []),
        ("Families face the loss.", []),
        ("The score complements our scale.", []),
        ("It mostly affects girls, which affects schools.", []),
        ("Faces are shown; the fungus mostly faces north.", ["Faces"]),
        ("The early plants grew.", ["plants"]),
        ("Positive affects and negative affects were told.", ["affects", "affects"]),
        ("The complements were low.", ["complements"]),
        ("A burn of the face a day later.", ["face"]),
        ("Their affects were flat.", ["affects"]),
        ("Children met plants over years.", ["plants"]),
    ],
)
def test_verbs_name_no_things(matcher: Callable[..., NativeMatcher], text: str, found: list[str]) -> None:
    index = matcher("1=affects", "2=face", "5=faces", "3=complements", "4=plants")
    assert [text[match.start : match.end] for match in index.find(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Cows (Bos indicus) were fed.", []),
        ("The leaves of Thymus serpyllum smell.", []),
        ("The skull of Bos was found.", ["Bos"]),
        ("Thymus tissue and Bos status.", ["Thymus", "Bos"]),
        ("The genus Candida dubliniensis grew.", ["Candida"]),
        ("A man with Lupus erythematosus.", ["Lupus"]),
    ],
)
def test_a_genus_is_no_disease_and_no_organ(
    matcher: Callable[..., NativeMatcher], text: str, found: list[str]
) -> None:
    groups = {1: "DISO", 2: "ANAT", 3: "LIVB", 4: "DISO"}
    types = [
        ConceptType(concept=f"T:{number}", semantic_type="", group=group) for number, group in groups.items()
    ]
    index = matcher("1=Bos", "2=Thymus", "3=Candida", "4=Lupus", types=types)
    assert [text[match.start : match.end] for match in index.find(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Genetic causes and genetics, a genetic test.", ["Genetic", "genetics"]),
        ("The genetic basis was told.", []),
        ("Lymphoma hairy cells were seen.", ["Lymphoma"]),
        ("Hairy cell lymphoma was seen.", ["Hairy cell lymphoma"]),
        ("A wound swab and a stab wound.", ["stab wound"]),
    ],
)
def test_fields_cells_and_misspelt_inversions(
    matcher: Callable[..., NativeMatcher], text: str, found: list[str]
) -> None:
    field = ConceptType(concept="T:1", semantic_type="T090", group="OCCU")
    index = matcher("1=Genetics", "2=Lymphoma, hairy cell", "3=lymphoma", "4=Wounds, Stab", types=[field])
    assert [text[match.start : match.end] for match in index.find(text)] == found
