"""Planted identifiers of invented people are found in sentences no pattern was made from."""

from __future__ import annotations

import pytest

from benchmarks.unseen_identifiers import CLASSES, clean, planted, recall
from curation.privacy import PATTERNS, hits


def test_recall_on_the_held_out_half_of_eight_languages() -> None:
    """The bounds are what was measured when the patterns were frozen, less two hundredths."""
    found = recall(PATTERNS, seed=19)
    assert found["planted"] == {"development": 396, "held_out": 396}
    assert found["development"]["all"] == 1.0
    held = found["held_out"]
    assert held["all"] >= 0.85
    assert {name: held[name] >= least for name, least in BOUNDS.items()} == dict.fromkeys(BOUNDS, True), held
    assert found["false_alarms"] == [] and found["clean"] == len(clean()) == 50


BOUNDS = {"name": 0.62, "date": 0.97, "number": 0.89, "contact": 0.91}


@pytest.mark.parametrize(
    "text",
    [
        "During 60 minutes of monitoring 11 patients, scores fell; Scoring 3 points was rare.",
        "The cannula resided at the T10-11 level and was placed 2 cm below Lisfranc joint 1 to 3.",
        "Nodule measuring 4 Hounsfield units; GenBank accession number 4482913 was deposited.",
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
