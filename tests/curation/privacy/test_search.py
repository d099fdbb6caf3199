"""Patterns take a time that grows with the length of a text alone, and what they find is quoted masked."""

from __future__ import annotations

import random
import re
from re import _constants as opcodes  # type: ignore[attr-defined]  # the one place that knows repeats
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from curation.privacy import (
    BURNED_IN,
    CERTAIN,
    HINTS,
    PATTERNS,
    SHOWN_TO_NOBODY,
    gathered,
    hits,
    masked,
    nominated,
    re2,
)
from tests.curation.release.known import run_sql

EVERY = (*PATTERNS, *BURNED_IN[len(SHOWN_TO_NOBODY) :])


def _repeats(parsed: Any) -> list[int]:
    """Upper bounds of every repeat in a parsed pattern."""
    found: list[int] = []
    for item in parsed:
        if isinstance(item, tuple | list | parser.SubPattern):
            if isinstance(item, tuple) and item and item[0] in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT):
                found.append(int(item[1][1]))
            found += _repeats(item)
    return found


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_no_repeat_is_without_a_bound(number: int) -> None:
    pattern = EVERY[number]
    for one in (pattern.exact, pattern.unless, pattern.guard):
        if one is not None:
            bounds = _repeats(parser.parse(one.pattern, one.flags))
            assert all(bound <= 100 for bound in bounds), (pattern.kind, max(bounds))
    assert _repeats(parser.parse(r"a(?:b\s*)?"))[-1] > 65535, "an open repeat is seen"


HOSTILE = (
    "MRN" + " " * 200,
    "1 " * 100,
    "1.1.",
    "a@",
    "a%",
    "a@" + "a." * 100,
    "patient Aa Aa ",
    "Mr. Aa ",
    "tel:((",
    "+1 1(",
    "born on ",
    "王小",
    "Пациент Аа ",
    "المريض ابن ",
    "admitted 1 May 2019 MRN no. ",
    "O'",
    "1 Aa Aa ",
    "C/Aa ",
    "номер карты № ",
    "hospital number ",
    "\x00",
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_comes_to_an_end(unit: str) -> None:
    """What it costs is measured (benchmarks); with an open repeat these would outlast any test."""
    text = (unit * (32_000 // len(unit) + 1))[:32_000]
    assert sum(1 for _ in hits(text, EVERY)) <= len(text)


def test_masked_quotes_hide_names_and_numbers() -> None:
    assert masked("Mrs. Harper, MRN 4482913") == "M••. H•••••, M•• 4••••••"
    assert masked("k.lund@post.example.com") == "k.l•••@p•••.e••••••.c••"
    assert masked("患者姓名：王小明") == "患•••：王••"
    assert masked("") == ""
    made = random.Random(3)
    for _ in range(300):
        said = "".join(made.choice("aB3 .@-éЯ王س\n") for _ in range(made.randint(0, 30)))
        hidden = masked(said)
        assert len(hidden) == len(said)
        assert not re.search(r"\d{2}|[A-ZÀ-ÞА-Я]{2}", hidden)


def test_a_guard_hides_no_find() -> None:
    """Every find of a pattern is in a text its guard stands in; else SQL and `hits` would pass it over."""
    from benchmarks.unseen_identifiers import planted

    guarded = [pattern for pattern in PATTERNS if pattern.guard]
    assert len(guarded) >= 8
    for half, _, _, text in planted(5):
        if half == "development":
            for pattern in guarded:
                assert pattern.guard is not None
                for match in pattern.exact.finditer(text):
                    assert pattern.guard.search(match[0]), (pattern.kind, match[0])


def test_sql_nominates_whatever_is_found(tmp_path: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchmarks.unseen_identifiers import clean, planted

    said = [text for half, _, _, text in planted(5) if half == "development"] + [text for _, text in clean()]
    path = tmp_path / "said.parquet"
    pq.write_table(pa.table({"text": said}), path)
    for patterns in (CERTAIN, HINTS):
        asked = [
            f"SELECT text FROM {gathered(['FROM said'], count)} WHERE {nominated(patterns)} ORDER BY text"
            for count in (len(said), 1_000_000)
        ]
        few, many = (
            [row["text"] for batch in run_sql(text, {"said": [path]}) for row in batch.to_pylist()]
            for text in asked
        )
        assert few == many and asked[0] != asked[1]
        chosen = set(few)
        found = {text for text in said if any(True for _ in hits(text, patterns))}
        assert found and found <= chosen
        assert len(chosen - found) < len(said) / 10


def test_patterns_for_re2_have_no_look_around() -> None:
    for pattern in PATTERNS:
        for one in (pattern.exact, pattern.guard):
            loose = re2(one.pattern) if one else ""
            assert "(?=" not in loose and "(?!" not in loose and "(?<" not in loose and r"\b" not in loose
