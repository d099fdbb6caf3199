"""Ages in German: of persons, not of what lasted so long; the sex that article and ending tell."""

from __future__ import annotations

import pytest

from curation.cases.patient import introduces


@pytest.mark.parametrize(
    ("sentence", "years", "sex"),
    [
        ("Die 19-jährige Auszubildende bemerkte seit 8 Tagen eine Schwäche.", 19.0, "female"),
        ("Bei einer bisher gesunden 54-jährigen Lehrerin fiel ein Knoten auf.", 54.0, "female"),
        ("Der 71-jährige Rentner klagte seit 3 Monaten über Husten.", 71.0, "male"),
        ("Ein 45 Jahre alter Landwirt stellte sich vor.", 45.0, "male"),
        ("Wir berichten über einen 54-Jährigen mit Fieber.", 54.0, "male"),
        ("Ein 5 Monate alter Säugling trank schlecht.", 5 / 12, ""),
        ("Einem 6-jährigen Kind wurde ein Zahn gezogen.", 6.0, ""),
        ("Die Patientin war 63 Jahre alt.", 63.0, ""),
        ("Im Alter von 45 Jahren erkrankte der Patient.", 45.0, ""),
    ],
)
def test_ages_of_persons(sentence: str, years: float, sex: str) -> None:
    age = introduces(sentence)
    assert age is not None and age.years == pytest.approx(years, abs=0.001) and age.sex == sex


@pytest.mark.parametrize(
    "sentence",
    [
        "Nach einer 2-jährigen Therapie war der Patient gesund.",
        "Der 3-wöchige Krankheitsverlauf des Patienten war mild.",
        "Seit 8 Tagen hatte die Patientin Schmerzen.",
        "Die 60-jährige Mutter der Patientin war gesund.",
    ],
)
def test_what_lasted_and_relatives_give_no_age(sentence: str) -> None:
    assert introduces(sentence) is None
