"""Errors planted into translations that people made, for the checks of curation.multilingual to find.

Shares no code with the checks. Most are planted into the English text, whose true translation then says
something else: so every language gets the same errors, in its own natural words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from benchmarks.translation_pairs import Pair

_DIGITS = re.compile(r"(?<![\w.,/–-])(\d{1,4})(?![\w.,/–-])")
_UNITS = {
    "days": "weeks",
    "weeks": "days",
    "hours": "minutes",
    "minutes": "hours",
    "months": "years",
    "years": "months",
    "day": "week",
    "week": "month",
    "hour": "minute",
    "year": "month",
    "month": "year",
    "mg": "g",
    "ml": "l",
    "cm": "mm",
    "mm": "cm",
    "kg": "mg",
    "°C": "°F",
}
_UNIT = re.compile(r"(?<=\d[ -])(" + "|".join(sorted(_UNITS, key=len, reverse=True)) + r")\b")
_DENIED = re.compile(
    r"\b(is|are|was|were|do|does|did|has|have|had|can|could|should|will|would|may|must) not\b"
)
_WITHOUT = re.compile(r"\b[Ww]ithout\b")
_NO = re.compile(r"\b(there (?:is|are|was|were)|had|has|have|with|shows?|showed) no\b")
_OF_QUESTION = re.compile(r"\bnot ")
_AFFIRMED = re.compile(r"\b(is|are|was|were|can|could|should|will)\b(?! not)(?= [a-z])")
_OTHER_DENIAL = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|unable|lack\w*|fail\w*)\b|n't", re.IGNORECASE
)
_SIDE = re.compile(r"\b([Ll])eft\b|\b([Rr])ight\b")
_TWO_SIDES = re.compile(r"lateral|dextro|levo|dextra|situs|\bsides?\b|handed", re.IGNORECASE)
_PAIRED = re.compile(
    r"\b(lung|kidney|eye|ear|arm|leg|hand|foot|shoulder|knee|hip|elbow|ankle|wrist|thumb|femur|tibia|humerus|"
    r"radius|ulna|ventricle|atrium|hemisphere|testis|ovary|breast|cornea|retina|iris)\b"
)
_OF_BODIES = ("name", "definition", "question")
"""Elsewhere 'left' and 'right' are mostly no sides."""
_FAR = ("de", "en", "es", "fr", "it", "pt", "ja", "zh", "ru")

Plant = Callable[[Pair, Mapping[str, str]], Pair | None]


def _with_source(pair: Pair, source: str | None) -> Pair | None:
    if source is None or source == pair.source:
        return None
    return Pair(pair.kind, pair.language, source, pair.text)


def number(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """Another number: one more than half as much again."""
    found = _DIGITS.search(pair.source)
    if found is None:
        return None
    changed = str(int(found[1]) * 3 // 2 + 1)
    return _with_source(pair, pair.source[: found.start()] + changed + pair.source[found.end() :])


def unit(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """Another unit behind the same number."""
    return _with_source(pair, _UNIT.sub(lambda match: _UNITS[match[1]], pair.source, count=1))


def negation_lost(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """A denial that only the English has: put into a sentence that had none."""
    if _OTHER_DENIAL.search(pair.source):
        return None
    return _with_source(pair, _AFFIRMED.sub(r"\1 not", pair.source, count=1))


def negation_new(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """A denial that only the translation has: the one of the English taken out."""
    if len(_OTHER_DENIAL.findall(pair.source)) == 1:
        for form, by in ((_DENIED, r"\1"), (_WITHOUT, "with"), (_NO, r"\1 some"), (_OF_QUESTION, "")):
            if form.search(pair.source) and (form is not _OF_QUESTION or pair.kind == "question"):
                return _with_source(pair, form.sub(by, pair.source, count=1))
    return None


def side(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """Left and right exchanged, where one of them is a side of a body."""
    if pair.kind not in _OF_BODIES or not _names_one_side(pair.source):
        return None
    swapped = _SIDE.sub(
        lambda match: (
            ("R" if match[1] == "L" else "r") + "ight"
            if match[1]
            else ("L" if match[2] == "R" else "l") + "eft"
        ),
        pair.source,
    )
    return _with_source(pair, swapped)


def side_added(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """A side that only the translation has: the one of the English taken out."""
    if pair.kind not in _OF_BODIES or not _names_one_side(pair.source):
        return None
    source = " ".join(_SIDE.sub("", pair.source).split())
    return _with_source(pair, source[:1].upper() + source[1:])


def side_lost(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """A side that only the English has: put before a part of the body, or behind a question."""
    if pair.kind not in _OF_BODIES or _SIDE.search(pair.source) or _TWO_SIDES.search(pair.source):
        return None
    chosen = ("left", "right")[len(pair.source) % 2]
    if pair.kind == "question":
        return _with_source(pair, f"{pair.source.removesuffix('?')} on the {chosen} side?")
    return _with_source(pair, _PAIRED.sub(rf"{chosen} \1", pair.source, count=1))


def _names_one_side(text: str) -> bool:
    return len({match.group().lower() for match in _SIDE.finditer(text)}) == 1


def wrong_language(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """The same in a language next to the right one, in a text of a query's length."""
    return in_another(pair, others) if _is_long(pair) else None


def wrong_language_short(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """The same for what is shorter: names."""
    return None if _is_long(pair) else in_another(pair, others)


def _is_long(pair: Pair) -> bool:
    return pair.kind == "question" or len(pair.text) >= _least(pair.language)


def _least(language: str) -> int:
    """Characters of a short question."""
    return 20 if language in ("ja", "zh") else 50


def in_another(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """A text in another language that it is known in, None where there is none."""
    order = [name for name in _FAR if name != pair.language and name != "en" and name in others]
    if not order:
        return None
    chosen = order[len(pair.source) % len(order)]
    if others[chosen] == pair.text:
        return None
    return Pair(pair.kind, pair.language, pair.source, others[chosen])


def untranslated(pair: Pair, others: Mapping[str, str]) -> Pair | None:
    """The first half of the source left as it was, of a short question all of it."""
    words = pair.source.split()
    if len(words) < 8:
        return Pair(pair.kind, pair.language, pair.source, pair.source) if pair.kind == "question" else None
    kept = " ".join(words[: len(words) // 2])
    return Pair(pair.kind, pair.language, pair.source, f"{kept} {pair.text[len(pair.text) // 2 :]}")


PLANTS: Mapping[str, Plant] = {
    "number": number,
    "unit": unit,
    "negation_lost": negation_lost,
    "negation_new": negation_new,
    "side": side,
    "side_added": side_added,
    "side_lost": side_lost,
    "wrong_language": wrong_language,
    "wrong_language_short": wrong_language_short,
    "untranslated": untranslated,
}


def by_source(pairs: Sequence[Pair]) -> dict[str, dict[str, str]]:
    """English text -> language -> what it is there."""
    found: dict[str, dict[str, str]] = {}
    for pair in pairs:
        found.setdefault(pair.source, {})[pair.language] = pair.text
    return found
