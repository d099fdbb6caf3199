"""Counts with their nouns."""

from __future__ import annotations

import pytest

from schemas.wording import counted


@pytest.mark.parametrize(
    ("count", "noun", "many", "text"),
    [
        (1, "item", "", "1 item"),
        (0, "item", "", "0 items"),
        (2000, "query", "", "2,000 queries"),
        (3, "survey", "", "3 surveys"),
        (2, "person", "people", "2 people"),
    ],
)
def test_a_count_with_its_noun(count: int, noun: str, many: str, text: str) -> None:
    assert counted(count, noun, many) == text
