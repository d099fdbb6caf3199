"""English names found in texts of other languages, word by word."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from curation.concepts.cognates import LANGUAGES
from curation.concepts.glosses import meanings
from curation.concepts.index import build_index
from curation.concepts.native import NativeMatcher, open_index
from schemas.vocabulary import ConceptName, ConceptType

NAMES = (
    "1=Limbic encephalitis", "2=Follicular lymphoma", "3=Lymphoma", "4=Syphilis", "5=Wilson disease",
    "6=Wilson sign", "7=Lung cancer", "8=Nausea and vomiting", "9=Natural history", "10=Pelvis",
    "12=Psoas abscess", "13=Mucus", "14=MELAS syndrome", "15=Thrombotic thrombocytopenic purpura",
    "16=Acute pancreatitis", "17=Hepatitis B", "18=Pulmonary embolism", "19=Renal insufficiency",
    "20=Magnetics", "21=Orbit", "22=Factor IV", "23=Renal cell carcinoma", "24=Embolism",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("Una encefalitis límbica.", "es", {"T:1": "encefalitis límbica"}),
        ("Encéphalite limbique", "fr", {"T:1": "Encéphalite limbique"}),
        ("linfoma folicular", "pt", {"T:2": "linfoma folicular"}),
        ("LINFOMA FOLICULAR", "pt", {"T:2": "LINFOMA FOLICULAR"}),
        ("linfoma de células", "es", {"T:3": "linfoma"}),
        ("la sífilis secundaria", "es", {"T:4": "sífilis"}),
        ("La maladie de Wilson", "fr", {"T:5": "maladie de Wilson"}),
        ("cáncer de pulmón", "es", {"T:7": "cáncer de pulmón"}),
        ("náuseas y vómitos", "es", {"T:8": "náuseas y vómitos"}),
        ("un absceso del psoas", "es", {"T:12": "absceso del psoas"}),
        ("púrpura trombocitopénica trombótica", "es", {"T:15": "púrpura trombocitopénica trombótica"}),
        ("eine akute Pankreatitis", "de", {"T:16": "akute Pankreatitis"}),
        ("pancreatite acuta", "it", {"T:16": "pancreatite acuta"}),
        ("une hépatite B", "fr", {"T:17": "hépatite B"}),
        ("eine Niereninsuffizienz", "de", {"T:19": "Niereninsuffizienz"}),
        ("ein Nierenzellkarzinom", "de", {"T:23": "Nierenzellkarzinom"}),
    ],
)
def test_words_that_mean_those_of_a_name_are_its_concept(
    matcher: Callable[..., NativeMatcher], text: str, language: str, wanted: dict[str, str]
) -> None:
    found = matcher(*NAMES).find(text, language)
    assert {item.concept: text[item.start : item.end] for item in found} == wanted
    assert {item.rule for item in found} == {"gloss"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("ciencias naturales e historia", "es"),  # a conjunction that the name lacks
        ("el examen pélvico", "es"),  # an adjective
        ("hay muchos autores", "es"),  # a short stem
        ("Georges Méliès", "pt"),  # an acronym is no word
        ("encefalitis. Límbica", "es"),  # another sentence
        ("encefalitis, límbica", "es"),
        ("una resonancia magnética", "es"),  # an adjective of the noun before
        ("orbito-cerebral", "es"),  # half a word
        ("4 factores", "es"),  # a count
        ("niereninsuffizienz", "de"),  # no noun
        ("Kaffeemaschine", "de"),
        ("limbic encephalitis", "ru"),  # a language whose spellings are not known
    ],
)
def test_what_only_looks_like_it_is_not(
    matcher: Callable[..., NativeMatcher], text: str, language: str
) -> None:
    assert [item for item in matcher(*NAMES).find(text, language) if item.rule == "gloss"] == []


def test_a_word_alone_means_its_likeliest_word(matcher: Callable[..., NativeMatcher]) -> None:
    assert meanings("es")["fiebre"] == ("fever",)
    one = matcher("1=Fever", "2=Fibre")  # a cognate of what the word does not mean
    assert [item.concept for item in one.find("sin fiebre", "es")] == ["T:1"]


def test_a_place_has_a_capital(tmp_path: Path) -> None:
    name = ConceptName(concept="T:1", name="Victoria", language="en")
    build_index([name], tmp_path / "index", [ConceptType(concept="T:1", semantic_type="T083", group="GEOG")])
    one = open_index(tmp_path / "index")
    assert one.find("depois da vitória", "pt") == []
    assert [item.rule for item in one.find("em Vitória", "pt")] == ["gloss"]


def test_what_texts_say_keeps_cognates_from_being_read_alone(
    matcher: Callable[..., NativeMatcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = matcher("1=Carer", "2=Carer stress")
    texts = "la carrera", "stress de carrera"
    assert [[item.concept for item in one.find(text, "es")] for text in texts] == [["T:1"], ["T:2"]]
    monkeypatch.setattr("curation.concepts.glosses.meanings", lambda language: {"carrera": ("!",)})
    other = matcher("1=Carer", "2=Carer stress")
    assert [[item.concept for item in other.find(text, "es")] for text in texts] == [[], ["T:2"]]


def test_a_compound_is_read_in_time(matcher: Callable[..., NativeMatcher]) -> None:
    assert matcher(*NAMES).find("Nieren" * 20_000, "de") == []


def test_an_index_without_names_finds_nothing(matcher: Callable[..., NativeMatcher]) -> None:
    assert matcher().find("fiebre y sífilis", "es") == []


def test_own_names_of_a_language_come_first(matcher: Callable[..., NativeMatcher]) -> None:
    found = matcher("1=encefalitis límbica", "2=encefalitis", language="es").find("encefalitis límbica", "es")
    assert [(item.concept, item.rule) for item in found] == [("T:1", "exact")]


def test_what_is_found_does_not_depend_on_what_was_read_before(
    matcher: Callable[..., NativeMatcher],
) -> None:
    one = matcher(*NAMES)
    texts = [
        text for text in ("sífilis", "linfoma folicular y sífilis", "maladie de Wilson", "") for _ in "12"
    ]
    assert list(one.find_many(texts, "es")) == [one.find(text, "es") for text in texts]


def test_the_index_does_not_depend_on_the_order_of_names(tmp_path: Path) -> None:
    names = [
        ConceptName(concept=f"T:{place}", name=name, language="en")
        for place, name in enumerate(["MELAS", "Melas syndrome", "LYMPHOMA", "Lymphoma", "Syphilis, ocular"])
    ]
    written = []
    for seed in range(4):
        random.Random(seed).shuffle(names)
        build_index(names, tmp_path / f"{seed}.index")
        written.append((tmp_path / f"{seed}.index").read_bytes())
    assert len(set(written)) == 1


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_each_language_has_meanings_of_its_words(language: str) -> None:
    table = meanings(language)
    assert len(table) > 500
    assert all(word.isalpha() and said and all(said) for word, said in table.items())


def test_a_language_that_nobody_learned_has_none() -> None:
    assert meanings("ru") == {}
