"""Numbers of a text in any language, in digits or words, each with every value it may have.

"1.200" is twelve hundred or one and a fifth, by the language and by the writer: a numeral has all its
readings, and two texts agree on a number when one reading is shared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from curation.fidelity.quantities import quantities, unit_at
from curation.multilingual.words import Words, words_of

_DIGITS = re.compile(r"(?<![\w.,)])\.\d+|\d+(?:[.,·٫ \u00a0\u202f\u2009']?\d+)*")
_HAN_DIGIT = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_HAN_TEN = {"十": 10, "百": 100, "千": 1000}
_MORE = "多余餘数數"
_HAN_SCALE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_HAN = re.compile(f"[{''.join([*_HAN_DIGIT, *_HAN_TEN])}]+")
_TENS_FIRST = re.compile(r"[\s\-]*(?:[ye]\b|et\b)?[\s\-]*")
"""Between tens and ones of a number in words: treinta y cinco, vingt-quatre, двадцать четыре."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\s\u00a0\u202f\u2009']\d{3})+")
_DECADE = re.compile(r"1[5-9]\d0s\b|20\d0s\b")
"""Elsewhere told by its century: 20 世纪 30 年代."""
_FIRST_YEAR = re.compile(r"\b(19|20)\d\d[-‐‑–]\Z")
_SHORT_YEAR = re.compile(r"\d\d")
_RANGE = re.compile(r"\s*[-‐‑–—~]\s*\d")
_NAME_BEFORE = re.compile(r"[a-zα-ω]-?\Z")
_RANGE_OF_SCALE = re.compile(
    r"\b(\d[\d.,]*)(\s*(?:and|to|or|[-–])\s*\d[\d.,]*\s*)(hundred|thousand|million|billion)\b"
)
_ORDINAL_AS_DEGREE = re.compile("º(?=[ \u00a0]?[CF]\\b)")
_ENDING = re.compile(r"-?[^\W\d_]{1,4}\s+")
"""Of an ordinal number: the 28th week, la 28e semaine, 28-ой недели."""
_SPACE = re.compile(r"[\s\u00ad\-‐‑‒–—]*")


@dataclass(frozen=True, slots=True)
class Numeral:
    """One number as written: every value it may have, its unit ('' without one) and how it is written."""

    readings: frozenset[str]
    unit: str
    is_digits: bool
    is_article: bool = False
    is_name: bool = False
    """Part of a name, which has no unit: SARS-CoV-2."""


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
    lowered, words = text.lower(), words_of("en")
    spelt = [
        Numeral(
            frozenset({item.value, str(int(item.value) * _scale(lowered, item.end, words)[0])}),
            item.unit,
            False,
        )
        for item in quantities(text)
        if not text[item.start].isdigit()
    ]
    return [item for _, item in _in_digits(_shared_scales(lowered), words)] + spelt


def _shared_scales(text: str) -> str:
    """An English text with the scale of a range or a list at both ends: 14 and 22 million."""
    return _RANGE_OF_SCALE.sub(r"\1 \3 \2\3", text)


def plain(text: str) -> str:
    """A text in NFKC, where full-width digits are plain ones; superscripts stay apart from their base."""
    return unicodedata.normalize("NFKC", re.sub(r"([²³])", r"^\1", _ORDINAL_AS_DEGREE.sub("°", text)))


def _in_digits(text: str, words: Words) -> Iterator[tuple[int, Numeral]]:
    following = ""
    found = []
    for match in reversed(list(_DIGITS.finditer(text))):
        end = match.end()
        readings = {value for part in _parts(match.group()) for value in _readings(part)}
        scale, after = _scale(text, end, words)
        if scale > 1:
            readings |= {_text(Decimal(value) * scale) for value in readings}
        if words.language == "en":
            readings |= _of_years(text, match)
        unit = _unit(text, after, words) or (following if _RANGE.match(text, end) else "")
        is_name = _NAME_BEFORE.search(text, 0, match.start()) is not None
        found.append((match.start(), Numeral(frozenset(readings), unit, True, is_name=is_name)))
        following = unit
    yield from reversed(found)


def _of_years(text: str, match: re.Match[str]) -> set[str]:
    """Other ways to tell an English year: of the 1930s, 30; of 2019-20, 2020."""
    if _DECADE.match(text, match.start()):
        return {match.group()[2:]}
    before = _FIRST_YEAR.search(text, 0, match.start())
    return {before[1] + match.group()} if before and _SHORT_YEAR.fullmatch(match.group()) else set()


def _parts(written: str) -> list[str]:
    """A numeral with its thousands apart is one; others that only a space parts are read as one and apart."""
    if _GROUPED.fullmatch(written):
        return [written]
    return re.split(r"[\s\u00a0\u202f\u2009']", written)


def _readings(written: str) -> Iterator[str]:
    bare = (
        re.sub(r"^\.|[\s\u00a0\u202f\u2009']", lambda sign: "0." if sign.group() == "." else "", written)
        .replace("·", ".")
        .replace("٫", ".")
    )
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
        at += at < len(text) and text[at] in _MORE
        while at < len(text) and text[at] in (_HAN_SCALE | _HAN_TEN):
            scale *= (_HAN_SCALE | _HAN_TEN)[text[at]]
            at += 1
        return scale, at if scale > 1 else end
    word = _WORD.match(text, at)
    scale = words.scales.get(word.group(), 1) if word else 1
    return (scale, word.end()) if word and scale > 1 else (1, end)


def _unit(text: str, end: int, words: Words) -> str:
    """What stands behind a number, or behind its ending."""
    gap = _SPACE.match(text, end)
    ending = _ENDING.match(text, end)
    for at in (gap.end() if gap else end, ending.end() if ending else end):
        for form, unit in words.units:
            if form.match(text, at):
                return unit
        if unit := unit_at(text, at):
            return unit
    return ""


def _in_words(text: str, words: Words) -> Iterator[tuple[int, Numeral]]:
    """Numbers in words; tens and ones that make one number are told as that, and asked for as neither."""
    found: list[tuple[int, Numeral]] = []
    before, end = 0, 0
    for start, word in _number_words(text, words):
        value, is_article = words.numbers[word], word in words.articles
        scale, after = _scale(text, start + len(word), words)
        readings = {str(value), str(value * scale)}
        if before in range(20, 100, 10) and value < 10 and _TENS_FIRST.fullmatch(text, end, start):
            readings |= {str((before + value) * scale)}
            is_article = True
            found[-1] = found[-1][0], replace(found[-1][1], is_article=True)
        found.append((start, Numeral(frozenset(readings), _unit(text, after, words), False, is_article)))
        before, end = value, start + len(word)
    yield from found


def _number_words(text: str, words: Words) -> Iterator[tuple[int, str]]:
    """Words for numbers with their places; of words that a hyphen joins, each, unless they are one number."""
    for match in _WORD.finditer(text):
        if match.group() in words.numbers:
            yield match.start(), match.group()
        else:
            for part in re.finditer(r"[^\W\d_]+", match.group()):
                if part.group() in words.numbers:
                    yield match.start() + part.start(), part.group()


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
