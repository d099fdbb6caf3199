"""The fairness gap: on whole families alone, between the best and the worst language."""

from __future__ import annotations

import numpy as np
import pytest

from curation.evaluation.fairness import core_families, gaps
from schemas.benchmark import CORE_LANGUAGES

FAMILIES = [f"c{number}/cause" for number in range(20) for _ in CORE_LANGUAGES]
LANGUAGES = [language for _ in range(20) for language in CORE_LANGUAGES]
HARD = np.array([number % 4 / 10 for number in range(20) for _ in CORE_LANGUAGES])
"""How much less every language has of a hard concept."""


def test_the_gap_is_best_minus_worst_and_a_hard_concept_is_hard_in_every_language() -> None:
    lost = {"ja": 0.3, "zh": 0.1}
    scores = 1 - HARD - np.array([lost.get(language, 0) for language in LANGUAGES])
    undefined = np.full(len(scores), np.nan)
    made = gaps(np.column_stack([scores, undefined]), ["nDCG@10", "bpref"], FAMILIES, LANGUAGES)
    assert made.keys() == {"nDCG@10"}
    found = made["nDCG@10"]
    assert (found["worst"], found["families"]) == ("ja", 20)
    assert [found[name] for name in ("gap", "low", "high")] == pytest.approx([0.3, 0.3, 0.3])
    assert found["languages"]["zh"] == pytest.approx(0.75)


def test_families_without_a_language_and_languages_outside_the_core_do_not_count() -> None:
    families, languages = [*FAMILIES, "c0/cause", "alone", ""], [*LANGUAGES, "de", "en", "en"]
    assert core_families(families, languages) == sorted(set(FAMILIES))
    scores = np.ones((len(families), 1))
    scores[-3:] = 0
    found = gaps(scores, ["RR"], families, languages)["RR"]
    assert found["gap"] == 0 and "de" not in found["languages"]


def test_without_a_parallel_core_there_is_no_gap_and_of_one_family_no_interval() -> None:
    assert gaps(np.ones((2, 1)), ["RR"], ["f", "f"], ["en", "es"]) == {}
    one = gaps(np.ones((6, 1)), ["RR"], FAMILIES[:6], LANGUAGES[:6])["RR"]
    assert one["gap"] == 0 and one["low"] is None
