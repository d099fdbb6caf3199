"""Counts with their nouns; texts of others on a terminal."""

from __future__ import annotations

import json

import pytest

from schemas.wording import counted, visible, without_password


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


def test_a_terminal_is_told_nothing_by_a_text() -> None:
    hostile = "a\x1b[31mred\x9b2J\x07\r\u202egpj\n\tb é 中"
    assert visible(hostile) == r"a\u001b[31mred\u009b2J\u0007\u000d\u202egpj" + "\n\tb é 中"
    assert json.loads(visible(json.dumps(hostile, ensure_ascii=False))) == hostile


def test_an_address_is_told_without_its_password() -> None:
    told = "no answer of https://me:pass-word@example.org/a@b, tcp://:x@[::1]:1 and you@example.org"
    assert without_password(told) == "no answer of https://example.org/a@b, tcp://[::1]:1 and you@example.org"
