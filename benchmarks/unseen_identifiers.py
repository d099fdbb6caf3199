"""Identifiers in eight languages that the scan's patterns were not completed on, in two halves.

Sentences and names at even places of `planted_identifiers.toml` may be looked at when patterns are written
(development); those at odd places only give the figure that is reported (held out).
"""

from __future__ import annotations

import random
import string
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.privacy import Pattern, hits

TEMPLATES = Path(__file__).with_name("planted_identifiers.toml")
CLASSES = ("name", "date", "number", "contact")
HALVES = ("development", "held_out")
EACH = 4
"""Sentences made of each template, with other values."""


def planted(seed: int) -> list[tuple[str, str, str, str]]:
    """(half, language, class, sentence) of every planted identifier; the same for the same seed."""
    rows = []
    for language, lists in tomllib.loads(TEMPLATES.read_text("utf-8")).items():
        for kind in CLASSES:
            for place, template in enumerate(lists[kind]):
                half = HALVES[place % 2]
                draw = random.Random(f"{seed} {language} {kind} {place}")
                rows += [
                    (half, language, kind, _filled(template, lists, place % 2, draw)) for _ in range(EACH)
                ]
    return rows


def clean() -> list[tuple[str, str]]:
    """(language, sentence) without anything of a person."""
    lists = tomllib.loads(TEMPLATES.read_text("utf-8"))
    return [(language, text) for language, rows in lists.items() for text in rows["clean"]]


class _Digits(string.Formatter):
    """Fields n1, n2, …: so many digits; the others are looked up."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        name = str(key)
        if name not in kwargs and name[:1] == "n" and name[1:].isdigit():
            size = int(name[1:])
            return str(self._draw.randint(10 ** (size - 1), 10**size - 1))
        return kwargs[name]


def _filled(template: str, lists: Mapping[str, Sequence[str]], half: int, draw: random.Random) -> str:
    """A template with a person's values; names, dates and numbers are of this half's forms."""
    fill = _Digits(draw)
    day, month, year = draw.randint(1, 28), draw.randint(1, 12), draw.randint(1930, 2024)
    person = {"given": draw.choice(lists["given"][half::2]), "last": draw.choice(lists["last"][half::2])}
    named = draw.choice(lists["months"])
    moments = {
        "d": day,
        "dd": f"{day:02}",
        "m": month,
        "mm": f"{month:02}",
        "y": year,
        "yy": f"{year % 100:02}",
        "month": named,
        "mon": named[:3],
        "A": draw.choice("ABCHKM"),
    }
    values: dict[str, Any] = {**person, "age": draw.randint(2, 89)}
    values["full"] = str(lists["full"]).format(**person)
    for field, name in (("date", "dates"), ("id", "ids"), ("phone", "phones"), ("street", "streets")):
        values[field] = fill.vformat(draw.choice(lists[name]), (), moments)
    values["mail"] = f"{draw.choice(('k.lund', 'family', 'xiao_wei', 'm-r'))}{day}@post.example.com"
    return fill.vformat(template, (), {**moments, **values})


def recall(patterns: Sequence[Pattern], seed: int, *, show: str = "development") -> dict[str, Any]:
    """Share found of each half by class and by language, and what was missed of one half.

    Args:
        patterns: what to look for.
        seed: of the values.
        show: half whose missed sentences are told.
    """
    found: dict[str, Counter[str]] = {half: Counter() for half in HALVES}
    asked: dict[str, Counter[str]] = {half: Counter() for half in HALVES}
    missed = set()
    rows = planted(seed)
    for half, language, kind, text in rows:
        is_found = any(True for _ in hits(text, patterns))
        for group in ("all", kind, language):
            asked[half][group] += 1
            found[half][group] += is_found
        if not is_found and half == show:
            missed.add(text)
    unhurt = clean()
    alarms = [text for _, text in unhurt if any(True for _ in hits(text, patterns))]
    return {
        "planted": {half: asked[half]["all"] for half in HALVES},
        **{
            half: {group: round(found[half][group] / count, 3) for group, count in asked[half].items()}
            for half in HALVES
        },
        f"missed_in_{show}": sorted(missed),
        "clean": len(unhurt),
        "false_alarms": sorted(alarms),
    }
