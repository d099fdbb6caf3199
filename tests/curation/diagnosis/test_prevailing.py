"""A title against the disease that the case states, or that the article speaks of."""

from __future__ import annotations

import pytest

from tests.curation.diagnosis.builders import answer

OTHER = "[Melanoma|MONDO:melanoma] is rare. [Melanoma|MONDO:melanoma] of the hand is rarer."


def test_a_title_gives_way_to_a_stated_disease_that_the_article_is_about() -> None:
    told = (("A man came.", "He was diagnosed with [melanoma|MONDO:melanoma]."),)
    title = "[Lupus|MONDO:lupus] in a farmer"
    assert answer(title=title, cases=told, discussion=[OTHER] * 2).concept == "MONDO:melanoma"
    assert answer(title=title, cases=told).confidence < answer(title=title).confidence


def test_a_title_that_no_sentence_states_is_less_sure_where_the_article_is_about_another_disease() -> None:
    title = "[Lupus|MONDO:lupus] in a farmer"
    alone = answer(title=title)
    assert alone.concept == "MONDO:lupus"
    assert answer(title=title, discussion=[OTHER] * 2).confidence < alone.confidence


@pytest.mark.parametrize(
    "title",
    [
        "Dark urine: is it always [lupus|MONDO:lupus]?",
        "A parotid mass initially classified as [melanoma|MONDO:melanoma]",
    ],
)
def test_what_a_title_only_asks_or_takes_back_is_no_diagnosis(title: str) -> None:
    assert answer(title=title).concept == ""
