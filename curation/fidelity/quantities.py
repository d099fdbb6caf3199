"""Numbers of a text with their units, in digits or in words, and what each is said of.

'2-day', 'two days' and '2 d' are one quantity; a range gives its unit to both ends; an age is in years.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from curation.cases.patient import SPELLED
from curation.fidelity.words import Word, content_words, stem

_UNITS: Mapping[str, str] = {
    "time": "times?",
    "year": "years? yrs? y/o yo y/?o",
    "month": "months? mos?",
    "week": "weeks? wks?",
    "day": "days? d",
    "hour": "hours? hrs? h",
    "minute": "minutes? mins?",
    "second": "seconds? secs? s",
    "/min": "beats(?:/|\\s+per\\s+|\\s+a\\s+)min(?:ute)? breaths(?:/|\\s+per\\s+|\\s+a\\s+)min(?:ute)?"
    " (?:/|per\\s+)min(?:ute)? times(?:/|\\s+per\\s+|\\s+a\\s+)min(?:ute)? bpm",
    "%": "% percent per\\s?cent",
    "c": "[°º]\\s?c ℃ degrees?\\s+(?:celsius|centigrade|c) c",
    "f": "[°º]\\s?f ℉ degrees?\\s+(?:fahrenheit|f) f",
    "mmhg": "mm\\s?hg millimet(?:re|er)s?\\s+of\\s+mercury",
    "cmh2o": "cm\\s?h2o",
    "bmi": "kg/m(?:2|²)",
    "mm3": "(?:cells|leu[ck]ocytes|platelets)?/mm(?:3|³) per\\s+cubic\\s+millimet(?:re|er)",
    "ul": "(?:cells)?/\\s?[µμu]l (?:cells\\s+)?per\\s+microlit(?:re|er)",
    "g/dl": "g/dl grams?\\s+per\\s+decilit(?:re|er)",
    "g/l": "g/l grams?\\s+per\\s+lit(?:re|er)",
    "mg/dl": "mg/dl milligrams?\\s+per\\s+decilit(?:re|er)",
    "mg/l": "mg/l milligrams?\\s+per\\s+lit(?:re|er)",
    "mg/kg": "mg/kg milligrams?\\s+per\\s+kilogram",
    "ug/dl": "(?:[µμ]g|mcg|ug)/dl",
    "ug/l": "(?:[µμ]g|mcg|ug)/l",
    "ng/ml": "ng/ml",
    "ng/dl": "ng/dl",
    "pg/ml": "pg/ml",
    "u/ml": "i?u/ml",
    "mmol/l": "mmol/l millimoles?\\s+per\\s+lit(?:re|er)",
    "umol/l": "[µμu]mol/l micromoles?\\s+per\\s+lit(?:re|er)",
    "meq/l": "meq/l",
    "u/l": "i?u/l units?\\s+per\\s+lit(?:re|er)",
    "u": "i?u units?",
    "mm/h": "mm/h(?:r|our)?",
    "kg": "kg kilograms? kilos?",
    "g": "g grams? gm",
    "mg": "mg milligrams?",
    "ug": "[µμ]g mcg ug micrograms?",
    "ml": "ml millilit(?:re|er)s? cc",
    "dl": "dl decilit(?:re|er)s?",
    "l": "l lit(?:re|er)s?",
    "cm": "cm centimet(?:re|er)s?",
    "mm": "mm millimet(?:re|er)s?",
    "m": "m met(?:re|er)s?",
}
_MEASURES: Mapping[str, str] = {"kg": "weight", "c": "temperature", "f": "temperature"}
"""Unit -> the one thing about a patient that it measures."""
_LISTED = [(form, unit) for unit, forms in _UNITS.items() for form in re.split(r" (?![^(]*\))", forms)]
_BY_FORM = [
    (re.compile(form, re.IGNORECASE), unit)
    for form, unit in sorted(_LISTED, key=lambda item: (-len(item[0]), item[0]))
]
_UNIT = "|".join(form.pattern for form, _ in _BY_FORM)
_NO_DECADE = r"(?!(?<=\d\d\d0)s\b)"
_UNIT_HERE = re.compile(rf"{_NO_DECADE}(?:{_UNIT})(?![a-z\d²³])", re.IGNORECASE)
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.·]\d+)?"
_SPELT = "|".join(
    sorted(
        (word.replace("-", r"[-\s]") for word in SPELLED if word != "a hundred"),
        key=lambda word: (-len(word), word),
    )
)
_BOUND = r"[\s\u00ad\-‐‑‒–—]*"
_NUMBER = re.compile(
    rf"(?<![\w.,·])(?:(?P<digits>{_DIGITS})|(?P<often>twice|thrice)|(?P<spelt>{_SPELT})(?![^\W\d_]))(?![\d])"
    rf"(?:{_NO_DECADE}{_BOUND}(?P<unit>{_UNIT})(?![\w²³]))?",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"\b(?<!times )(?<!once )(?<!twice )(?:an?|the past|the last)[\s-]+"
    r"(?P<unit>year|month|week|day|hour|minute)\b",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"\b(?:every|each|per)\s+(?P<unit>year|month|week|day|hour|minute)\b"
    r"|\b(?P<again>year|month|week|day|hour|minute)[\s-](?:to|by)[\s-](?P=again)\b",
    re.IGNORECASE,
)
_OLD = re.compile(r"[\s\u00ad\-‐‑‒–—]*(?:old\b|of\s+age\b)", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:[-‐‑‒–—x×]|to|or|and|by)\s*", re.IGNORECASE)
_PAIR = re.compile(r"\s*(?:/|over)\s*", re.IGNORECASE)
_AGED = re.compile(r"\b(?:aged?|age\s+(?:of|was|is))\s*\Z", re.IGNORECASE)
CLAUSE_END = re.compile(r"[.;,:()]\s|[;,:()]|\.$|\b(?:and|but|with|whereas|while)\b", re.IGNORECASE)
_NEAREST = 3
"""Content words on either side of a number that may say what it measures."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a text: its value as a plain decimal, its unit ('' without one), its place."""

    value: str
    unit: str
    start: int
    end: int


def quantities(text: str) -> list[Quantity]:
    """Numbers of an English text in order; number words from two on, 'one' only with a unit, and 'twice'."""
    found: list[Quantity] = []
    for match in _NUMBER.finditer(text):
        unit = "time" if match["often"] else _unit(match["unit"] or "")
        if (not unit and _AGED.search(text, 0, match.start())) or (
            unit == "year" and (_OLD.match(text, match.end()) or _AGED.search(text, 0, match.start()))
        ):
            unit = "age"
        value = _value(match)
        if match["spelt"] and value == "1" and not unit:
            continue
        _give_unit(found, text, match.start(), unit)
        found.append(Quantity(value, unit, match.start(), match.end()))
    return found


def implied(text: str) -> set[tuple[str, str]]:
    """Quantities that a text gives with an article, or as a rhythm: 'a week ago', 'every day'."""
    found = {("1", match["unit"].lower()) for match in _ONE.finditer(text)}
    return found | {("1", (match["unit"] or match["again"]).lower()) for match in _EACH.finditer(text)}


def measured(text: str) -> list[Word]:
    """What a unit says without a word for it: who lost 6 kg lost weight."""
    return [
        Word(item.start, item.end, stem(_MEASURES[item.unit]))
        for item in quantities(text)
        if item.unit in _MEASURES
    ]


def _give_unit(found: list[Quantity], text: str, start: int, unit: str) -> None:
    """Both ends of a range, and both parts of a pressure, are in the unit that stands after the second."""
    if not (found and unit and not found[-1].unit):
        return
    gap = text[found[-1].end : start]
    if _RANGE.fullmatch(gap) or _PAIR.fullmatch(gap):
        last = found[-1]
        found[-1] = Quantity(last.value, unit, last.start, last.end)


def _value(match: re.Match[str]) -> str:
    if match["often"]:
        return {"twice": "2", "thrice": "3"}[match["often"].lower()]
    if match["spelt"]:
        return str(SPELLED[re.sub(r"\s", "-", match["spelt"].lower())])
    number = Decimal(match["digits"].replace(",", "").replace("·", "."))
    return format(number.normalize(), "f")


def _unit(written: str) -> str:
    return next((unit for form, unit in _BY_FORM if form.fullmatch(written)), "") if written else ""


def unit_at(text: str, at: int) -> str:
    """The unit that starts at a place of any text, '' if none does; names of units in English."""
    match = _UNIT_HERE.match(text, at)
    return _unit(match.group()) if match else ""


def said_of(text: str, found: Iterable[Quantity]) -> dict[tuple[str, str], set[str]]:
    """(value, unit) -> stems of the nearest content words of its clause, up to the next number."""
    listed = list(found)
    words = [word for word in content_words(text) if not _is_part(word, listed)]
    told: dict[tuple[str, str], set[str]] = {}
    for place, item in enumerate(listed):
        first = listed[place - 1].end if place else 0
        last = listed[place + 1].start if place + 1 < len(listed) else len(text)
        before = [match.end() for match in CLAUSE_END.finditer(text, first, item.start)]
        after = CLAUSE_END.search(text, item.end, last)
        start, end = max([first, *before]), after.start() if after else last
        left = [word.stem for word in words if start <= word.start and word.end <= item.start]
        right = [word.stem for word in words if item.end <= word.start and word.end <= end]
        order = [
            mark
            for mark, gap in (("first", text[item.end : last]), ("second", text[first : item.start]))
            if gap and _PAIR.fullmatch(gap)
        ]
        told.setdefault((item.value, item.unit), set()).update(left[-_NEAREST:], right[:_NEAREST], order)
    return told


def _is_part(word: Word, found: Iterable[Quantity]) -> bool:
    return any(item.start <= word.start and word.end <= item.end for item in found)
