"""Words become terms: names with digits stay whole, endings and accents go, unspaced scripts give bigrams."""

import pytest

from curation.evaluation.terms import Analyser


@pytest.fixture
def analyse() -> Analyser:
    return Analyser()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("IL-6", ["il6"]),
        ("IL6", ["il6"]),
        ("COVID-19", ["covid19", "covid"]),
        ("p53 and 5-FU", ["p53", "5fu"]),
        ("HbA1c of 7.5 %", ["hba1c", "7.5"]),
        ("X-ray's", ["xray", "rai"]),
        ("TNF-α", ["tnfalpha", "tnf"]),
        ("TNF-alpha", ["tnfalpha", "tnf", "alpha"]),
        ("follow-up", ["follow", "up"]),
        ("the patients' lungs", ["patient", "lung"]),
        ("Crohn's disease", ["crohn", "diseas"]),
        ("Guillain–Barré", ["guillain", "barr\u0065"]),
        ("a-b-c-d-e-f", ["b", "c", "d", "e", "f"]),
        ("", []),
        ("_ ... ()", []),
    ],
)
def test_english(analyse: Analyser, text: str, terms: list[str]) -> None:
    assert analyse(text, "en") == terms


def test_hyphens_of_every_kind_are_one(analyse: Analyser) -> None:
    assert analyse("IL\u20106 IL\u20116 IL-6", "en") == ["il6"] * 3


def test_each_language_has_its_own_endings(analyse: Analyser) -> None:
    assert analyse("лечение опухолей", "ru") == ["лечен", "опухол"]
    assert analyse("los pulmones", "es") == analyse("pulmón", "es") == ["pulmon"]
    assert analyse("les œdèmes cérébraux", "fr") == analyse("œdème cérébral", "fr")
    assert analyse("Lungen", "de-AT") == analyse("Lunge", "de")


def test_unspaced_scripts_give_bigrams_in_any_language(analyse: Analyser) -> None:
    assert analyse("肺がん", "ja") == ["肺が", "がん"]
    assert analyse("肺炎 IL-6", "zh") == ["肺炎", "il6"]
    assert analyse("肺", "zh") == ["肺"]
    assert analyse("the 肺炎 case", "en") == ["肺炎", "case"]


def test_a_language_without_a_stemmer_keeps_its_words(analyse: Analyser) -> None:
    assert analyse("plucní zánety", "cs") == ["plucni", "zanety"]
