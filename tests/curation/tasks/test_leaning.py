"""Which sentences need the one before them."""

from __future__ import annotations

import pytest

from curation.tasks.shared.leaning import is_numbered, leans


@pytest.mark.parametrize(
    "text",
    [
        "This scan was chosen because it was free.",
        "Since then he had not been seen.",
        "Therefore, the knee was opened.",
        "Nevertheless, the pulse was normal.",
        "On the basis of these findings, gout was named.",
        "As this scan shows, gout is painful.",
        "Each of these studies was small.",
        "To our knowledge, this has not been reported.",
        "We attribute this to rest.",
        "The reason for this is not known.",
        "(3) The joint was washed.",
        "12. Sleep at night",
        "Second, the trial was small.",
        "Both were swollen.",
    ],
)
def test_sentences_that_point_back_conclude_or_go_on_counting(text: str) -> None:
    assert leans(text)


@pytest.mark.parametrize(
    "text",
    [
        "He was well.",
        "This 44-year-old woman came with gout.",
        "This rare case was seen in spring.",
        "In this pilot study, adults rested.",
        "To our knowledge, this is the first report.",
        "The knee was hard and this was odd.",
        "It is known that gout is painful.",
        "Both knees were swollen.",
        "(1) The joint was opened.",
        "1.5 T imaging showed gout.",
        "Thisbe was well.",
    ],
)
def test_sentences_that_stand_alone(text: str) -> None:
    assert not leans(text)


def test_later_items_of_a_list_are_told_from_the_first() -> None:
    assert is_numbered("(b) The joint was washed.") and is_numbered("4) Rest")
    assert not is_numbered("(a) The joint was opened.") and not is_numbered("However, it was washed.")
