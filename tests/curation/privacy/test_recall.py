"""Planted identifiers of invented people are found in sentences no pattern was made from."""

from __future__ import annotations

import pytest

from benchmarks.unseen_identifiers import CLASSES, clean, planted, recall
from curation.privacy import CERTAIN, PATTERNS, SHOWN_TO_NOBODY, hits


def test_recall_on_the_held_out_half_of_eight_languages() -> None:
    """The bounds are what was measured when the patterns were frozen, less two hundredths."""
    found = recall(PATTERNS, seed=19)
    assert found["planted"] == {"development": 396, "held_out": 396}
    assert found["development"]["all"] == 1.0
    held = found["held_out"]
    assert held["all"] >= 0.86
    assert {name: held[name] >= least for name, least in BOUNDS.items()} == dict.fromkeys(BOUNDS, True), held
    assert found["false_alarms"] == [] and found["clean"] == len(clean()) == 50


BOUNDS = {"name": 0.62, "date": 0.98, "number": 0.90, "contact": 0.93}


def test_certain_patterns_are_right_about_numbers_of_records() -> None:
    """What withholds a row says whose it is: few names and days do, most numbers."""
    found = recall(CERTAIN, seed=19)
    assert found["held_out"]["number"] >= 0.62 and found["held_out"]["all"] >= 0.23
    assert found["false_alarms"] == []


def test_a_review_holds_back_all_but_great_ages() -> None:
    assert {pattern.kind for pattern in set(PATTERNS) - set(SHOWN_TO_NOBODY)} == {"an age above 89"}


@pytest.mark.parametrize(
    "text",
    [
        "During 60 minutes of monitoring 11 patients, scores fell; Scoring 3 points was rare.",
        "The cannula resided at the T10-11 level and was placed 2 cm below Lisfranc joint 1 to 3.",
        "Nodule measuring 4 Hounsfield units; GenBank accession number 4482913 was deposited.",
        "Tiene una alta afinidad, como se publicó el 5 de mayo de 2019, por su receptor.",
        "A C/N ratio of 30 and a C/P ratio (Figure 6); cell-seeding densities (2000/2500) were compared.",
        "Le logiciel est à l’adresse\xa0: https://outil22.example.org/ en accès libre.",
        "请填写姓名和身份证号码以登录系统。",
        "The strain XY12345 (accession number AB123456) was compared with other isolates.",
        "Between 3 March 2011 and 4 May 2019 all patients were admitted; the data were locked.",
    ],
)
def test_words_of_papers_are_no_identifiers(text: str) -> None:
    assert list(hits(text, PATTERNS)) == []


def test_the_halves_share_no_sentence_and_no_name() -> None:
    rows = planted(1)
    halves = [
        {(language, kind, text) for half, language, kind, text in rows if half == name}
        for name in ("development", "held_out")
    ]
    assert not halves[0] & halves[1] and {kind for _, kind, _ in halves[0]} == set(CLASSES)
    assert planted(1) == rows
