"""Whether a translation of an English text may stand: every check, its score, and what it was seen by.

A translation is kept if no check fails. A check that could not run is `not_run` with its cause; it is neither
passed nor failed. Nothing here asks a model or an encoder.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from curation.fidelity.sides import sides
from curation.multilingual.back import Back, control, differences, is_copy
from curation.multilingual.denial import seen
from curation.multilingual.language import log_odds
from curation.multilingual.name_runs import name_runs
from curation.multilingual.named import Concepts, fidelity, says
from curation.multilingual.numbers import Numeral, english_numerals, numerals, plain
from curation.multilingual.scores import Checked, Fault, Score, scored
from curation.multilingual.words import Words, denies, words_of


@dataclass(frozen=True, slots=True)
class Translation:
    """An English text and what is said to say the same in another language."""

    source: str
    text: str
    language: str
    answers: tuple[str, ...] = ()
    """Names of the answer, in both languages, that a query may not give away."""


LEAST_ODDS, LEAST_ODDS_OF_NAME = -50, -220
"""Hundredths of a log-odds of its language against the likeliest other one, below which a text is of that: of
questions and what is as long, and of names of which no run of letters is known."""
LEAST_LETTERS = 40
"""Letters of what is no name, of a language with spaces."""
LEAST_TOLD, LEAST_UNSPACED = 12, 5
"""Letters from which on a language is told."""
LEAST_KANA = 15
"""Letters from which on a Japanese name has kana."""
MOST_FOREIGN = 0.34
MOST_ENGLISH = 0.4
"""Share of letters in words that stand in the source just so, for other scripts and for the Latin one."""
LONGEST_RUN = 4
"""Words in a row that stand in the source just so."""
LEAST_WORDS = 4
"""Words from which on a share of them is told: names of diseases are Latin in many languages."""

_WORD = re.compile(r"[^\W\d_]+")
_LOWER = re.compile(r"(?<!\w)[a-zà-öø-ÿ]{3,}(?!\w)", re.ASCII)
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|\bet al\b|#\w+")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+")
_NAME_OF_SUBSTANCE = re.compile(r"\d[\d,]*(?:-[^\W\d_]|(?=[^\W\d_]*[αβγ]))")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_DECADE = re.compile(r"\b(1[5-9]|20)\d0s\b")
_HALF = re.compile(r"\bhalf an? (hundred|thousand|million|billion)\b")
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_ROMAN = {
    name: str(place)
    for place, name in enumerate(["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"], start=1)
}
_ANYWHERE = ("Latin", "Greek", "Micro", "Feminine", "Masculine", "Superscript", "Modifier", "")
"""Scripts of names and signs that stand in texts of every language."""
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_IMPLIED = {word: str(place) for words in (_MONTHS, _ORDINALS) for place, word in enumerate(words, start=1)}
_IMPLIED |= {word[:3]: str(place) for place, word in enumerate(_MONTHS, start=1)}
_IMPLIED |= {
    "half": "0.5",
    "twice": "2",
    "double": "2",
    "once": "1",
    "pair": "2",
    "both": "2",
    "dozen": "12",
    "decade": "10",
}


def check(item: Translation, concepts: Concepts | None = None, back: Back | None = None) -> Checked:
    """All checks of a translation.

    Args:
        item: texts of any form; they are compared in NFKC.
        concepts: None: `concepts` is not run.
        back: what an engine made of it in English; None: `back_translation` is not run.

    Raises:
        KeyError: nothing is known of the language.
    """
    words = words_of(item.language)
    source, text = plain(item.source), plain(item.text)
    is_asked = source.rstrip().endswith("?")
    if not _WORD.search(text):
        return Checked((Score("text", "failed", 0.0, "no letter", Fault.EMPTY),))
    return Checked(
        (
            _script(text, words, is_asked),
            _language(text, words, is_asked),
            _remainder(source, text, words, is_asked),
            _length(source, text, words),
            *_numbers(source, text, words),
            _negation(source, text, words),
            _sides(source, text, words),
            fidelity(text, words, concepts)
            if concepts
            else Score("concepts", "not_run", None, "no vocabulary"),
            _answer(source, text, item.language, item.answers),
            _back(item, back),
        )
    )


def script_of(letter: str) -> str:
    """Script of a letter by its Unicode name: Latin, Han, Hiragana, Katakana, Cyrillic, or another."""
    name = unicodedata.name(letter, "")
    if name.startswith(("CJK UNIFIED", "CJK COMPATIBILITY", "IDEOGRAPHIC ITERATION")):
        return "Han"
    return name.partition(" ")[0].partition("-")[0].capitalize()


def _script(text: str, words: Words, is_asked: bool) -> Score:
    """Share of letters in scripts that the language does not have; Latin names stand in every one."""
    letters = [script_of(char) for char in text if char.isalpha()]
    own = sum(script in words.scripts for script in letters)
    is_long = own >= LEAST_KANA or is_asked  # no Japanese question does without
    lacks = bool(words.needs) and is_long and not words.needs & set(letters)
    other = sum(script not in words.scripts and script not in _ANYWHERE for script in letters)
    share = other / len(letters)
    is_failed = share > 0 or own == 0 or lacks  # one letter of a third script is no short form
    return scored("script", Fault.WRONG_SCRIPT, is_failed, share, "no kana" if lacks else "")


def _language(text: str, words: Words, is_asked: bool) -> Score:
    if "Latin" not in words.scripts:
        text = _LATIN_WORD.sub(" ", text)  # names and short forms
    letters = sum(map(len, _WORD.findall(text)))
    is_name = not is_asked and letters < LEAST_LETTERS
    if is_name and (told := _language_of_name(text, words)) is not None:
        return told
    if letters < (LEAST_UNSPACED if words.is_unspaced else LEAST_TOLD):
        return Score("language", "not_run", None, "too short to tell languages of one script apart")
    if words.needs:  # kana are written in no other language; without any, `script` has looked already
        has_own = bool(words.needs & {script_of(char) for char in text})
        return Score("language", "passed" if has_own else "not_run", 1.0 if has_own else None, "by script")
    found = log_odds(text)
    if not found:
        return Score("language", "not_run", None, "no letter that tells")
    likely, odds = max(found, key=lambda language: (found[language], language)), found[words.language]
    least = LEAST_ODDS_OF_NAME if is_name else LEAST_ODDS
    return scored("language", Fault.WRONG_LANGUAGE, odds < least, odds / 100, likely)


def _language_of_name(text: str, words: Words) -> Score | None:
    """None where its script tells, or nothing is known of such names."""
    runs = name_runs(words.language)
    if runs is None or words.needs & {script_of(char) for char in text}:
        return None
    if (found := runs.odds(text, words.language)) is None:
        return None
    likely, odds = found
    is_other = odds < runs.least[words.language]
    return scored("language", Fault.WRONG_LANGUAGE, is_other, odds / 10, likely)


def _remainder(source: str, text: str, words: Words, is_asked: bool) -> Score:
    """What stands in the translation as in its source: words in a row, and the share of letters."""
    source, text = _ADDRESS.sub(" ", source), _ADDRESS.sub(" ", text)
    told = set(_LOWER.findall(source))
    tokens, before = _LATIN_WORD.findall(text), f" {' '.join(_LATIN_WORD.findall(source))} "
    run = _longest_run(tokens, before)
    if is_asked and text.casefold() == source.casefold():
        return scored("remainder", Fault.UNTRANSLATED, True, 1.0, " ".join(tokens))
    if "Latin" not in words.scripts:
        kept = sum(len(word) for word in _LOWER.findall(text) if word in told)
        share = kept / max(1, sum(char.isalpha() for char in text))
        is_failed = share > MOST_FOREIGN or len(run) >= LONGEST_RUN
        return scored("remainder", Fault.UNTRANSLATED, is_failed, share, " ".join(run))
    lower = [word for word in tokens if word.islower()]
    share = sum(len(word) for word in lower if word in told) / max(1, sum(map(len, tokens)))
    is_failed = (share > MOST_ENGLISH and len(tokens) >= LEAST_WORDS) or len(run) >= LONGEST_RUN
    return scored("remainder", Fault.UNTRANSLATED, is_failed, share, " ".join(run))


def _longest_run(tokens: Sequence[str], source: str) -> Sequence[str]:
    """The longest run of words that stands in the source, most in lower case: names are no remainder."""
    best: Sequence[str] = ()
    for start in range(len(tokens)):
        end = start + len(best) + 1
        while end <= len(tokens) and f" {' '.join(tokens[start:end])} " in source:
            run = tokens[start:end]
            best = run if sum(word.islower() and len(word) > 1 for word in run) > LONGEST_RUN // 2 else best
            end += 1
    return best


def _length(source: str, text: str, words: Words) -> Score:
    ratio = len(text.strip()) / max(1, len(source.strip()))
    if words.ratio is None:
        return Score("length", "not_run", None, "no bounds measured for this language")
    low, high = words.ratio
    slack = 10 / max(1, len(source.strip()))  # of a word or two everything is possible
    return scored("length", Fault.LENGTH_UNLIKELY, not low - slack <= ratio <= high + slack, ratio)


def _numbers(source: str, text: str, words: Words) -> Iterator[Score]:
    one, other = english_numerals(source), numerals(text, words)
    ordinals = set(_ORDINAL.findall(source))
    implied = {_IMPLIED[word] for word in _WORD.findall(source.lower()) if word in _IMPLIED}
    implied |= {_ROMAN[word] for word in _WORD.findall(source) if word in _ROMAN}
    implied |= {"0"} if ":00" in source + text else set()
    implied |= {str(int(century) + 1) for century in _DECADE.findall(source)}
    implied |= {str(_SCALES[scale] // 2) for scale in _HALF.findall(source.lower())}
    names = {reading for match in _NAME_OF_SUBSTANCE.findall(text) for reading in re.findall(r"\d+", match)}
    lost = [item for item in one if not _is_among(item, other) and not item.readings & (ordinals | {"1"})]
    new = [
        item
        for item in other
        if not item.is_article and not _is_among(item, one) and not item.readings & (implied | names | {"1"})
    ]
    if not any(item.is_digits for item in one):  # words for numbers are told in other ways, too: a pair, both
        new = [item for item in new if item.is_digits]
    listed = [*(f"lost: {_named(item)}" for item in lost), *(f"new: {_named(item)}" for item in new)]
    yield scored("numbers", Fault.NUMBER_CHANGED, bool(listed), len(listed), "; ".join(listed))
    changed = sorted({now for item in one if (now := _unit_changed(item, one, other))})
    yield scored("units", Fault.UNIT_CHANGED, bool(changed), len(changed), "; ".join(changed))


def _is_among(item: Numeral, others: Iterable[Numeral]) -> bool:
    return any(item.readings & other.readings for other in others)


def _named(item: Numeral) -> str:
    return f"{'/'.join(sorted(item.readings))} {item.unit}".rstrip()


def _unit_changed(item: Numeral, own: Sequence[Numeral], others: Sequence[Numeral]) -> str:
    """What a number is now said of, where every place of it has another unit.

    A place without one may have any, but not one that the number has in its own text, too: these two viruses.
    """
    unit = "year" if item.unit == "age" else item.unit
    units = [other.unit for other in others if other.readings & item.readings and not other.is_name]
    bare = sum(other.readings == item.readings and not other.unit and not other.is_name for other in own)
    for _ in range(bare):
        if "" in units:
            units.remove("")
    if not unit or not units or "" in units or unit in units:
        return ""
    return f"{_named(item)}: now {', '.join(sorted(set(units)))}"


def _negation(source: str, text: str, words: Words) -> Score:
    """Whether what the English text says of denial is too unlikely beside its translation.

    Of short texts, and without weights of the language: whether only one of the texts denies, and the other
    has no more words that may stand for a denial.
    """
    if (found := seen(source, text, words)) is not None:
        detail = ("lost" if found.is_denied else "new") if found.is_unlikely else ""
        return scored("negation", Fault.NEGATION_CHANGED, found.is_unlikely, found.chance / 100, detail)
    english, one, other = words_of("en"), source.lower(), text.lower()
    told, retold = denies(one, english), denies(other, words)
    if told == retold:
        return scored("negation", Fault.NEGATION_CHANGED, False, 0.0)
    hints = words.hints.findall(other), english.hints.findall(one)
    own, more = hints if told else hints[::-1]
    is_excused = len(own) > len(more)
    detail = f"{'lost' if told else 'new'}: {own[0]}" if is_excused else "lost" if told else "new"
    return scored("negation", Fault.NEGATION_CHANGED, not is_excused, 1.0, detail)


def _sides(source: str, text: str, words: Words) -> Score:
    """Whether both texts name the same sides of the body, also none."""
    english, lowered = words_of("en"), words.no_sides.sub(" ", text.lower())
    told = _as_sides(map(str, sides(english.no_sides.sub(" ", source.lower()))[""]))
    named = _as_sides(side for side, form in words.sides.items() if form.search(lowered))
    if told == {"left", "right"} and words.either.search(lowered):
        named |= told
    detail = f"{' '.join(sorted(told)) or 'none'}: now {' '.join(sorted(named)) or 'none'}"
    is_other = told != named
    lowered = source.lower()  # a right, and dextrocardia, may be told by a word of a side
    is_excused = not told and (english.side_hints.search(lowered) or english.no_sides.search(lowered))
    is_failed = is_other and not is_excused
    return scored("sides", Fault.SIDE_CHANGED, is_failed, float(is_other), detail if is_other else "")


def _as_sides(found: Iterable[str]) -> frozenset[str]:
    """Both sides are left and right."""
    return frozenset(side for name in found for side in (("left", "right") if name == "both" else (name,)))


def _answer(source: str, text: str, language: str, answers: Sequence[str]) -> Score:
    """Whether a translation says an answer that its source does not say."""
    if not answers:
        return Score("answer", "not_run", None, "no answer is known")
    left = [name for name in answers if says(text, name, language) and not says(source, name, "en")]
    return scored("answer", Fault.ANSWER_LEFT, bool(left), len(left), "; ".join(left))


def _back(item: Translation, back: Back | None) -> Score:
    """How much an engine that translated it back into English says otherwise than the source."""
    if back is None:
        return Score("back_translation", "not_run", None, "no engine")
    if is_copy(item.text, back.text):
        detail = f"{back.engine} gave back what it was given"
        return Score("back_translation", "failed", 0.0, detail, Fault.BACK_CHANGED)
    if why := control(item.language, back.known):
        return Score("back_translation", "not_run", None, f"{back.engine} failed its control: {why}")
    found = list(differences(item.source, back.text))
    detail = "; ".join([*found, f"{back.engine}: {back.text}"])
    return scored("back_translation", Fault.BACK_CHANGED, bool(found), len(found), detail)
