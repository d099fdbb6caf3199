"""What each language is checked by: languages.toml is written by people, fitted.toml by a benchmark."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

_NOTHING = re.compile(r"(?!)")
_REACH = 30
"""Characters that the neighbour of a word is looked for in."""


@dataclass(frozen=True, slots=True)
class Denial:
    """Fitted weights of what speaks for a denial in the English text, in hundredths of a log-odds."""

    bias: int
    lost: int
    """Least log-odds of a denial where the English text denies; below it, the translation has lost it."""
    new: int
    """Least log-odds of none where the English text denies nothing."""
    weights: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Words:
    """One language of languages.toml, its word lists as expressions over lower-case text."""

    language: str
    scripts: frozenset[str]
    needs: frozenset[str]
    """Scripts of which a text has at least one letter: Japanese is not written in Han alone."""
    is_unspaced: bool
    denies: re.Pattern[str]
    before: frozenset[str]
    """Those that deny what stands behind them: with the character before they make no word."""
    hints: re.Pattern[str]
    neutral: frozenset[str]
    """Words that deny, each with the one before or behind it, where they deny nothing: sin embargo, 不全."""
    written: frozenset[str]
    """Those of them that stand in languages.toml."""
    sides: Mapping[str, re.Pattern[str]]
    either: re.Pattern[str]
    """Words for both of two things: sides where the source names sides, and no word of a side elsewhere."""
    no_sides: re.Pattern[str]
    """Where words of sides stand for none: law, politics, hands of a molecule."""
    side_hints: re.Pattern[str]
    """Of English: what a translation may tell by a word of a side, dextrocardia as 右位心."""
    small: frozenset[str]
    """Words that names may have or lack: articles and prepositions."""
    numbers: Mapping[str, int]
    articles: frozenset[str]
    """Forms of number words that are articles, too."""
    scales: Mapping[str, int]
    units: Sequence[tuple[re.Pattern[str], str]]
    ratio: tuple[float, float] | None
    """Shortest and longest translation, in characters for each of its source; None: not measured."""
    denial: Denial | None
    """None: denials are compared by the lists alone."""


@functools.cache
def words_of(language: str) -> Words:
    """The data of a language.

    Args:
        language: primary BCP-47 subtag.

    Raises:
        KeyError: there is none.
    """
    table = _tables()[language]
    fitted = _read("fitted.toml").get(language, {})
    is_unspaced = bool(table.get("is_unspaced"))
    numbers, articles = _numbers(table)
    return Words(
        language=language,
        scripts=frozenset(table["scripts"]),
        needs=frozenset(table.get("needs", ())),
        is_unspaced=is_unspaced,
        denies=_any_of(table["denies"], is_unspaced),
        before=frozenset(table.get("before", ())),
        hints=_any_of(table["hints"], is_unspaced),
        neutral=frozenset((*table.get("neutral", ()), *fitted.get("neutral", ()))),
        written=frozenset(table.get("neutral", ())),
        sides={side: _any_of(table[side], is_unspaced) for side in ("left", "right", "both")},
        either=_any_of(table["either"], is_unspaced),
        no_sides=_any_of(table["no_sides"], is_unspaced),
        side_hints=_any_of(table.get("side_hints", ()), is_unspaced),
        small=frozenset(table["small"]),
        numbers=numbers,
        articles=articles,
        scales=table.get("scales", {}),
        units=_units(table.get("units", {}), is_unspaced),
        ratio=tuple(fitted["ratio"]) if "ratio" in fitted else None,
        denial=Denial(**fitted["denial"]) if "denial" in fitted else None,
    )


@functools.cache
def known_languages() -> tuple[str, ...]:
    """Languages that translations can be checked in, in alphabetical order; English is the source's."""
    return tuple(sorted(_tables().keys() - {"en"}))


def _tables() -> dict[str, Any]:
    return _read("languages.toml")


@functools.cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("curation.multilingual") / name).read_text("utf-8"))


def denials(text: str, words: Words) -> Iterator[tuple[str, ...]]:
    """Each denial of a lower-case text, as the two pairs of words, or of characters, it stands in."""
    step = r"\S" if words.is_unspaced else r"\w+"
    for match in words.denies.finditer(text):
        is_apart = match.group() in words.before
        before = not is_apart and re.search(
            rf"({step})\W*$", text[max(0, match.start() - _REACH) : match.start()]
        )
        behind = re.match(rf"\W*({step})", text[match.end() : match.end() + _REACH])
        word = match.group().replace("’", "'")
        gap = "" if words.is_unspaced else " "
        yield tuple(
            pair for pair in (before and before[1] + gap + word, behind and word + gap + behind[1]) if pair
        )


def denies(text: str, words: Words) -> bool:
    """Whether a lower-case text denies anything."""
    return any(words.neutral.isdisjoint(pairs) for pairs in denials(text, words))


def _any_of(listed: Sequence[str], is_unspaced: bool) -> re.Pattern[str]:
    """One expression for words: "*" is any letters; without spaces between words, wherever they stand."""
    if not listed:
        return _NOTHING
    forms = sorted(listed, key=lambda form: (-len(form), form))
    options = [re.escape(form).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for form in forms]
    joined = "|".join(options)
    if is_unspaced:
        return re.compile(joined)
    elided = [form for form in forms if form in ("n't", "n'")]  # joined to the word before, or behind
    alternatives = [rf"(?<!\w)(?:{joined})(?!\w)", *(form.replace("'", "['’]") for form in elided)]
    return re.compile("|".join(alternatives))


def _numbers(table: Mapping[str, Any]) -> tuple[dict[str, int], frozenset[str]]:
    found: dict[str, int] = {}
    articles = set()
    groups = [(value, forms) for value, forms in enumerate(table.get("numbers", ()), start=1)]
    groups += [(value * 10, forms) for value, forms in enumerate(table.get("tens", ()), start=3)]
    for value, forms in groups:
        for form in forms.split():
            found[form.removesuffix("+")] = value
            if form.endswith("+"):
                articles.add(form.removesuffix("+"))
    return found, frozenset(articles)


def _units(table: Mapping[str, str], is_unspaced: bool) -> list[tuple[re.Pattern[str], str]]:
    """Units, those with longer names first; behind a name of a spaced language no letter follows."""
    end = "" if is_unspaced else r"(?!\w)"
    apart = re.compile(r" (?![^(]*\))(?!\?)")
    forms = [(form, unit) for unit, listed in table.items() for form in apart.split(listed)]
    forms.sort(key=lambda pair: (-len(pair[0]), pair[0]))
    return [(re.compile(rf"(?:{form}){end}"), unit) for form, unit in forms]
