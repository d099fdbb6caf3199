"""Rules on languages: the stated BCP-47 tag against the scripts and the small words of the text.

Every text is looked at in SQL; texts that look wrong are read again with the words of all languages
(languages.toml), so that nothing rests on a sample.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeGuard

from curation.audit.rule import Check, Collector, Context, Defect, NotCovered, Outcome, Rule, side
from curation.audit.rules.planting import add_row, set_row
from curation.audit.rules.text_rows import literal
from schemas.audit import Coverage

MIN_FOREIGN, MIN_GREEK = 2, 5
"""Letters of a foreign script a text needs before it counts."""
FOREIGN_PERCENT = 30
MIN_LATIN = 30
"""Latin letters of a text without any letter of its own script."""
MIN_HAN, MIN_HANJA = 24, 6
"""Han letters of a Japanese text without kana, of a Korean text without Hangul."""
FEWEST_WORDS, LONG_TEXT = 8, 25
OWN_PERCENT, OTHER_PERCENT, MOST_OWN = 4, 8, 1
MOST_CANDIDATES = 20_000
_BEGINNING = 400
"""Characters that hold enough small words in most texts, so that the rest need not be counted."""
_TAG = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$"
_WORD = re.compile(r"[^\W\d_]+")
_OTHERS = (
    r"\p{Arabic}\p{Armenian}\p{Bengali}\p{Cyrillic}\p{Devanagari}\p{Georgian}\p{Han}\p{Hangul}\p{Hebrew}\p{Hiragana}"
    r"\p{Katakana}\p{Tamil}\p{Telugu}\p{Thai}"
)
"""Scripts other than Latin and Greek; Greek letters stand in texts of every language."""
_KANA, _HAN, _HANGUL = r"\p{Hiragana}\p{Katakana}", r"\p{Han}", r"\p{Hangul}"
_LATIN, _GREEK = r"\p{Latin}", r"\p{Greek}"
_TABLES = ("queries", "corpus")
_HELD = "_languages_stated"
"""Under this name the languages that tables state are kept with the context."""
_LOOKALIKE = r"[A-Za-z][аесорхуіјѕһԁАВЕКМНОРСТХІЈЅ]|[аесорхуіјѕһԁАВЕКМНОРСТХІЈЅ][A-Za-z]"


@cache
def _data() -> dict[str, Any]:
    with Path(__file__).with_suffix(".toml").open("rb") as handle:
        return tomllib.load(handle)


@cache
def words_of() -> Mapping[str, frozenset[str]]:
    """Language -> its small words that no other language here has."""
    listed = {
        language: {word for word in text.split() if len(word) > 1 or not word.isascii()}
        for language, text in _data()["words"].items()
    }
    counts = Counter(word for words in listed.values() for word in words)
    return {
        language: frozenset(word for word in words if counts[word] == 1) for language, words in listed.items()
    }


@cache
def script_of(language: str) -> tuple[str, str]:
    """(ISO 15924 code, character class) of a language's script; a script subtag wins. ('', '') if unknown."""
    primary, *subtags = language.split("-")
    stated = next((subtag.title() for subtag in subtags if len(subtag) == 4 and subtag.isalpha()), "")
    stated = {"Hant": "Hans", "Hani": "Hans"}.get(stated, stated)
    for code, entry in _data()["scripts"].items():
        if code == stated or (not stated and primary.lower() in entry["languages"]):
            return code, entry["letters"]
    return "", ""


def small_words(text: str) -> tuple[int, dict[str, Counter[str]]]:
    """How many words a text has, and which small words of each language."""
    found = Counter(_WORD.findall(text.lower()))
    listed = {
        language: Counter({word: found[word] for word in sorted(words) if found[word]})
        for language, words in words_of().items()
    }
    return found.total(), listed


def _count(letters: str) -> str:
    return f"length(regexp_replace(text, '[^{letters}]', '', 'g'))"


_BEYOND_ASCII = "strlen(text) > length(text)"
"""SQL condition: more bytes than characters. It costs a tenth of looking for letters that ASCII has not."""


def _has(letters: str) -> str:
    """SQL condition: some letter is of scripts other than Latin."""
    return f"({_BEYOND_ASCII} AND regexp_matches(text, '[{letters}]'))"


_ALL = _count(r"\p{L}")


def _many(letters: str, fewest: int = MIN_FOREIGN) -> str:
    """SQL condition: many letters are of some scripts."""
    counted = _count(letters)
    return f"{_has(letters)} AND {counted} >= {fewest} AND {counted} * 100 > {_ALL} * {FOREIGN_PERCENT}"


@cache
def wrong_script(language: str) -> tuple[tuple[str, str], ...]:
    """(what is wrong, SQL condition) for texts stated to be in a language; cheap conditions first."""
    code, own = script_of(language)
    if not code:
        return ()
    found = []
    if code == "Jpan":
        chinese = "".join("".join(_data()["chinese"][kind].split()) for kind in ("simplified", "traditional"))
        no_kana = f"NOT {_has(_KANA)}"
        found.append(("it has characters of Chinese and no kana", f"{_has(chinese)} AND {no_kana}"))
        found.append(
            (f"{MIN_HAN} or more Han letters, no kana", f"{no_kana} AND {_count(_HAN)} >= {MIN_HAN}")
        )
    if code == "Kore":
        no_hangul = f"NOT {_has(_HANGUL)} AND {_count(_HAN)} >= {MIN_HANJA}"
        found.append((f"{MIN_HANJA} or more Han letters, no Hangul", no_hangul))
    if code == "Hans":
        twice = "regexp_matches(text, '[\\p{Hiragana}].*[\\p{Hiragana}]')"
        found.append(("it has hiragana, so it looks Japanese", twice))
    if code != "Grek":
        found.append(("many letters are Greek", _many(_GREEK, MIN_GREEK)))
    if code != "Latn":
        latin_only = f"NOT {_has(own)} AND {_count(_LATIN)} >= {MIN_LATIN}"
        found.append((f"no letter is of its script ({code})", latin_only))
    parts = set(re.findall(r"\\p\{\w+\}", own))
    foreign = "".join(part for part in re.findall(r"\\p\{\w+\}", _OTHERS) if part not in parts)
    found.append((f"many letters are not of its script ({code})", _many(foreign)))
    return tuple(found)


def _few_own_words(language: str) -> str:
    """SQL condition: a text with too few of its language's small words."""
    listed = ", ".join(literal(word) for word in sorted(words_of()[language]))
    own = "len(list_filter(string_split(lower({}), ' '), lambda w: list_contains([" + listed + "], w)))"
    words = "(strlen(text) - strlen(replace(text, ' ', '')) + 1)"
    most, short = f"{words} * {OWN_PERCENT}", (MOST_OWN + 1) * 100
    beginning = own.format(f"substr(text, 1, {_BEGINNING})")  # its last word may be cut: one less is sure
    return f"""CASE WHEN ({beginning} - 1) * 100 >= greatest({most}, {short}) THEN false
        ELSE {words} >= {FEWEST_WORDS} AND {own.format("text")} * 100
            < CASE WHEN {words} >= {LONG_TEXT} THEN {most} ELSE {short} END END"""


def _stated(context: Context) -> list[tuple[str, str | None, int, str]]:
    """(table, language, number of texts, first id) by table and language."""
    held = vars(context)
    if _HELD not in held:
        present = (table for table in _TABLES if table in context.views)
        tables = [table for table in present if "language" in context.columns(table)]
        if not tables:
            raise NotCovered("no table states languages")
        parts = (
            f"""SELECT {place} AS place, '{table}' AS tab, language, count(*) AS n, min(id) AS first
            FROM {table} GROUP BY language"""
            for place, table in enumerate(tables)
        )
        rows = context.rows(f"{' UNION ALL '.join(parts)} ORDER BY place, language", *tables)
        held[_HELD] = [(row["tab"], row["language"], int(row["n"]), row["first"]) for row in rows]
    found: list[tuple[str, str | None, int, str]] = held[_HELD]
    return found


def _has_tag(language: str | None) -> TypeGuard[str]:
    return language is not None and bool(re.match(_TAG, language))


def _left_out(compared: int, skipped: int, why: str) -> Coverage:
    return Coverage(compared_with="", compared=compared, unit="texts", skipped=skipped, why=why)


def _untagged(context: Context) -> Outcome:
    """Texts without a language tag; also how many texts are compared, and which are in no known script."""
    found = Collector("language_script", "error")
    compared, coverage = 0, []
    for table, language, count, first in _stated(context):
        if not _has_tag(language):
            message = f"{count} texts state no language (BCP-47) but {language!r}, first {first}"
            found.add(message, side(table, first, language))
        elif not script_of(language)[0]:
            why = "no script is known for this language tag"
            coverage.append(_left_out(0, count, f"{table} in {language}: {why}"))
            continue
        compared += count
    return dataclasses.replace(found.outcome(compared), coverage=tuple(coverage))


def _inwrong_script(context: Context) -> str:
    """SQL for texts that are not in the script of their language, and what is wrong."""
    parts = []
    for place, (table, language, _, _) in enumerate(_stated(context)):
        wrong = wrong_script(language) if _has_tag(language) else ()
        if language and wrong:
            cases = " ".join(f"WHEN {test} THEN {literal(what)}" for what, test in wrong)
            sides = ", ".join(f"{'id' if name == table else 'NULL'} AS {name}" for name in _TABLES)
            parts.append(f"""SELECT {place} AS place, {sides}, text, language, wrong
                FROM (SELECT id, text, language, CASE {cases} END AS wrong FROM {table}
                    WHERE language = {literal(language)}) WHERE wrong IS NOT NULL""")
    return " UNION ALL ".join(parts)


def _mismatched(context: Context) -> Outcome:
    """Texts whose small words are another language's; languages without listed words are left out."""
    found = Collector("language_mismatch", "warn")
    compared, coverage = 0, []
    for table, stated, count, _ in _stated(context):
        language = stated or ""
        if language.split("-")[0].lower() in words_of():
            left, why = _words(context, table, language, found), "too many texts to read again"
        else:
            left, why = count, "no small words are listed for this language; see language_script"
        if left:
            coverage.append(_left_out(count - left, left, f"{table} in {language}: {why}"))
        compared += count - left
    return dataclasses.replace(found.outcome(compared), coverage=tuple(coverage))


def _words(context: Context, table: str, language: str, found: Collector) -> int:
    """Texts whose small words are another language's; returns how many candidates were not looked at."""
    primary = language.split("-")[0].lower()
    few = _few_own_words(primary)
    text = f"SELECT id, text FROM {table} WHERE language = {literal(language)} AND {few} ORDER BY id"
    seen = 0
    for batch in context.batches(text, table):
        for name, said in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            seen += 1
            if seen > MOST_CANDIDATES:
                continue
            other = another_language(said, primary)
            if other:
                message = f"the text is stated to be in {language}; its small words look like {other}"
                found.add(message, side(table, name, said))
    return max(0, seen - MOST_CANDIDATES)


def another_language(text: str, stated: str) -> str:
    """The language whose small words a text has instead of those of the stated one, '' if none."""
    total, listed = small_words(text)
    own = listed.pop(stated).total()
    best = max(sorted(listed), key=lambda language: listed[language].total())
    other = listed[best].total()
    if total >= LONG_TEXT:
        is_other = (
            own * 100 < total * OWN_PERCENT and other * 100 >= total * OTHER_PERCENT and other >= 3 * own
        )
    else:
        is_other = total >= FEWEST_WORDS and own <= MOST_OWN and other >= 3 + own and len(listed[best]) >= 2
    return best if is_other else ""


_LOOKALIKES = f"""SELECT tab, id, text FROM (
    SELECT 'queries' AS tab, id, text FROM queries UNION ALL SELECT 'corpus', id, text FROM corpus)
    WHERE {_BEYOND_ASCII} AND regexp_matches(text, '{_LOOKALIKE}') ORDER BY tab, id"""


def _mixed(context: Context) -> Outcome:
    """Words that mix scripts, quoted."""
    found = Collector("mixed_script_words", "warn")
    for batch in context.batches(_LOOKALIKES, "queries", "corpus"):
        for table, name, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            match = re.search(rf"\w*(?:{_LOOKALIKE})\w*", text)
            assert match is not None, "the same pattern chose the row"
            message = "a word mixes Latin letters with Cyrillic look-alikes"
            found.add(message, side(table, name, text, *match.span()))
    return found.outcome(0)


def _said(name: str, table: str, text: str, language: str) -> Defect:
    """A further text stated to be in a language."""
    values = f"{literal(f'planted: {name}')} AS id, {literal(text)} AS text, '{language}' AS language"
    return Defect(name, add_row(table, values))


def _add_word(name: str, table: str, word: str) -> Defect:
    """A further word in the first text."""
    return Defect(name, set_row(table, f"text = concat_ws(' ', text, '{word}')"))


_GERMAN = "Die Patientin wurde mit Fieber und Husten aufgenommen, und die Bildgebung zeigte einen Erguss."
_ENGLISH = "She was admitted with a fever and a cough, and the films that were taken had shown an effusion."

_rule = partial(Rule, unit="texts")
RULES = (
    _rule(
        "language_script",
        1,
        "The script fits the language",
        f"Every text states a BCP-47 language, and no more than {FOREIGN_PERCENT} % of its letters are of "
        "another script than that language's (Latin letters are met in all languages; Greek ones count from "
        f"{MIN_GREEK} on). A text of {MIN_LATIN} or more Latin letters has some of its own script. Japanese "
        f"texts have no characters of Chinese only, and kana when they have {MIN_HAN} or more Han letters, "
        f"Korean ones Hangul when they have {MIN_HANJA}; Chinese texts have no two hiragana.",
        severity="error",
        checks=(
            Check(
                "texts state no language (BCP-47)",
                _untagged,
                (
                    _said("no language", "corpus", "A plain text.", ""),
                    _said("a language by its name", "queries", "A plain text.", "English"),
                ),
                at_once=True,
            ),
            Check(
                "the text is stated to be in {language}; {wrong}",
                _inwrong_script,
                (
                    _said("a Chinese string among Japanese", "queries", "糖尿病应该怎样治疗？", "ja"),
                    _said("a long Chinese string among Japanese", "corpus", "急性心筋梗塞" * 4, "ja"),
                    _said("a Chinese string among Korean", "corpus", "急性心筋梗塞", "ko"),
                    _said("a Japanese string among Chinese", "corpus", "糖尿病の治療について", "zh"),
                    _said("Greek in English", "queries", "Η ασθενής εισήχθη με πυρετό", "en"),
                    _said("Cyrillic in English", "corpus", "Больной поступил с жалобами", "en"),
                    _said("English among Russian", "queries", _ENGLISH, "ru"),
                ),
                at_once=True,
            ),
        ),
    ),
    _rule(
        "language_mismatch",
        1,
        "The words fit the language",
        f"Of texts with {LONG_TEXT} or more words, fewer than {OWN_PERCENT} % small words (the, of, and, "
        f"…) of the stated language and {OTHER_PERCENT} % or more of another, three times as many, is a "
        f"mismatch; of texts with {FEWEST_WORDS} to {LONG_TEXT - 1} words, at most {MOST_OWN} of the stated "
        "language and three more of another.",
        severity="warn",
        checks=(
            Check(
                "the small words of a text are another language's",
                _mismatched,
                (
                    _said("a German text among English", "queries", _GERMAN, "en"),
                    _said("an English text among Portuguese", "corpus", f"{_ENGLISH} {_ENGLISH}", "pt-BR"),
                ),
                at_once=True,
            ),
        ),
    ),
    _rule(
        "mixed_script_words",
        1,
        "No look-alike letters",
        "No word mixes Latin letters with Cyrillic letters that look the same: it reads well and matches "
        "nothing.",
        severity="warn",
        checks=(
            Check(
                "a word mixes Latin letters with Cyrillic look-alikes",
                _mixed,
                (
                    _add_word("a Cyrillic letter at the end of an English word", "corpus", "tumo\u0440"),
                    _add_word(
                        "a Cyrillic letter at the beginning of an English word", "queries", "\u0430bscess"
                    ),
                ),
                at_once=True,
            ),
        ),
        tables=("queries", "corpus"),
        compared="SELECT 1 FROM queries UNION ALL SELECT 1 FROM corpus",
    ),
)
