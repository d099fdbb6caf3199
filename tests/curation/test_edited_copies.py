"""Sentences copied with changes."""

from __future__ import annotations

import pytest

from curation.similarity.text.edited import copyable, edited_copies


@pytest.mark.parametrize(
    ("text", "is_copy"),
    [
        ("Compared with old rest, new rest gives lower pain scores in well and ill men.", True),
        ("Compared with pain, men of old age rest at lower steps.", False),
        ("New rest gives lower scores in well men.", True),
        ("New rest gives lower scores.", False),
        ("After a year we saw that, unlike steps, it helps people who are old.", True),
        ("After a year we saw that steps, unlike rest, helped people who are old.", False),
        (
            "In men of the ward whom we saw for a year we found that, compared with rest, new rest gives a "
            "lower pain score, and that most of them were home by the end of May and well in June.",
            True,
        ),
        ("Men in rest scores lower gives rest new well and pain.", False),
    ],
)
def test_edited_copies_of_a_sentence(text: str, is_copy: bool) -> None:
    own = copyable(
        [
            "Aim\nCompared with rest, new rest gives a lower pain score. Unlike steps, it helps people.",
            "Compared to old rest, new rest gives lower scores in well and ill men.",
        ]
    )
    assert bool(edited_copies(text, own)) is is_copy


def test_places_are_those_of_the_text() -> None:
    text = "Steps.\nIn men, compared with rest, new rest gives lower pain scores. Nothing else."
    ((found, other),) = edited_copies(
        text, copyable(["Compared with rest, new rest gives a lower pain score."])
    )
    assert text[found.start : found.end] == "In men, compared with rest, new rest gives lower pain scores."
    assert other.tokens[:2] == ("compared", "with")
    assert not edited_copies(text, copyable(["", "Rest. Pain."]))
    signs = "患者は左膝の痛みで来院した。"
    assert edited_copies(signs, copyable([f"初診時、{signs}"]))
