"""Numbers of a text in any language, in digits or words, each with every value it may have.

"1.200" is twelve hundred or one and a fifth, by the language and by the writer: a numeral has all its
readings, and two texts agree on a number when one reading is shared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from curation.fidelity.quantities import quantities, unit_at
from curation.multilingual.words import Words, words_of

_DIGITS = re.compile(r"\d+(?:[.,·٫ \u00a0\u202f\u2009']?\d+)*")
_HAN_DIGIT = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_HAN_TEN = {"十": 10, "百": 100, "千": 1000}
_HAN_SCALE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_HAN = re.compile(f"[{''.join([*_HAN_DIGIT, *_HAN_TEN])}]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\s\u00a0\u202f\u2009']\d{3})+")
_SPACE = re.compile(r"[\s\u00ad\-‐‑‒–—]*")


@dataclass(frozen=True, slots=True)
class Numeral:
    """One number as written: every value it may have, its unit ('' without one) and how it is written."""

    readings: frozenset[str]
    unit: str
    is_digits: bool
    is_article: bool = False


def numerals(text: str, words: Words) -> list[Numeral]:
    """Numbers of a text in order.

    Args:
        text: in NFKC, so that full-width digits are plain ones.
        words: of its language.
    """
    lowered = text.lower()
    found = [
        *_in_digits(lowered, words),
        *(_in_han(lowered, words) if words.is_unspaced else _in_words(lowered, words)),
    ]
    return [item for _, item in sorted(found, key=lambda pair: pair[0])]


def english_numerals(text: str) -> list[Numeral]:
    """Numbers of an English text: digits as in any language, words as curation.fidelity reads them."""
    spelt = [
        Numeral(frozenset({item.value}), item.unit, False)
        for item in quantities(text)
        if not text[item.start].isdigit()
    ]
    return [item for _, item in _in_digits(text.lower(), words_of("en"))] + spelt


def plain(text: str) -> str:
    """A text in NFKC, where full-width digits are plain ones; superscripts stay apart from their base."""
    return unicodedata.normalize("NFKC", re.sub(r"([²³])", r"^\1", text))


def _in_digits(text: str, words: Words) -> Iterator[tuple[int, Numeral]]:
    for match in _DIGITS.finditer(text):
        end = match.end()
        readings = {value for part in _parts(match.group()) for value in _readings(part)}
        scale, after = _scale(text, end, words)
        if scale > 1:
            readings |= {_text(Decimal(value) * scale) for value in readings}
        yield match.start(), Numeral(frozenset(readings), _unit(text, after, words), True)


def _parts(written: str) -> list[str]:
    """A numeral with its thousands apart is one; others that only a space parts are read as one and apart."""
    if _GROUPED.fullmatch(written):
        return [written]
    return re.split(r"[\s\u00a0\u202f\u2009']", written)


def _readings(written: str) -> Iterator[str]:
    bare = re.sub(r"[\s\u00a0\u202f\u2009']", "", written).replace("·", ".").replace("٫", ".")
    marks = [char for char in bare if char in ".,"]
    if not marks:
        yield _text(Decimal(bare))
        return
    last = bare.rfind(marks[-1])
    if len(set(marks)) == 2 or len(marks) == 1:
        yield _text(Decimal(re.sub("[.,]", "", bare[:last]) + "." + bare[last + 1 :]))
    if all(len(part) == 3 for part in re.split("[.,]", bare)[1:]):
        yield _text(Decimal(re.sub("[.,]", "", bare)))
    if len(set(marks)) == 1 and len(marks) > 1:
        yield from (_text(Decimal(part)) for part in re.split("[.,]", bare))


def _text(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _scale(text: str, end: int, words: Words) -> tuple[int, int]:
    """The scale word behind a number, 1 without one, and where it ends."""
    start = _SPACE.match(text, end)
    at = start.end() if start else end
    if words.is_unspaced:
        scale = 1
        while at < len(text) and text[at] in (_HAN_SCALE | _HAN_TEN):
            scale *= (_HAN_SCALE | _HAN_TEN)[text[at]]
            at += 1
        return scale, at if scale > 1 else end
    word = _WORD.match(text, at)
    scale = words.scales.get(word.group(), 1) if word else 1
    return (scale, word.end()) if word and scale > 1 else (1, end)


def _unit(text: str, end: int, words: Words) -> str:
    gap = _SPACE.match(text, end)
    at = gap.end() if gap else end
    for form, unit in words.units:
        if form.match(text, at):
            return unit
    return unit_at(text, at)


def _in_words(text: str, words: Words) -> Iterator[tuple[int, Numeral]]:
    for match in _WORD.finditer(text):
        value = words.numbers.get(match.group())
        if value is None:
            continue
        scale, after = _scale(text, match.end(), words)
        readings = frozenset({str(value), str(value * scale)})
        is_article = match.group() in words.articles
        yield match.start(), Numeral(readings, _unit(text, after, words), False, is_article)


def _in_han(text: str, words: Words) -> Iterator[tuple[int, Numeral]]:
    for match in _HAN.finditer(text):
        value = _han_value(match.group())
        scale, after = _scale(text, match.end(), words)
        if value is not None:
            readings = frozenset({str(value), str(value * scale)})
            yield match.start(), Numeral(readings, _unit(text, after, words), False, True)


def _han_value(written: str) -> int | None:
    """The value of 二十三, None of characters that do not make a number."""
    if all(char in _HAN_DIGIT for char in written):
        return int("".join(str(_HAN_DIGIT[char]) for char in written))
    total, digit = 0, None
    for char in written:
        if char in _HAN_DIGIT:
            digit = _HAN_DIGIT[char]
        else:
            total += (1 if digit is None else digit) * _HAN_TEN[char]
            digit = None
    return total + (digit or 0)
