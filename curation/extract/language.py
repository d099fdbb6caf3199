"""Language of running text: the declared one, else a small rule of script and function words.

Deterministic and modest: 'und' unless one language clearly leads. Later stages may refine it with a model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

UNKNOWN = "und"

_FUNCTION_WORDS = {
    "en": "the of and to in was with for were that is on as by at this from are which be an or not have has",
    "es": "el la de los las en y del que con por una para se un fue es al como más su entre este pacientes",
    "fr": "le la les des du et en une que dans est pour par sur au avec qui ne pas aux cette été ont nous",
    "pt": "o os da do das dos em e uma com para que não foi no na ao pela mais são entre pacientes foram",
    "de": "der die das und in den von mit des dem eine ist im zu für auf nicht bei wurde als ein sich nach",
    "it": "il di della e che in del con per una sono la dei nel gli le alla è un dal delle stato più",
}
_COUNTS: dict[str, tuple[str, ...]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _COUNTS[_word] = (*_COUNTS.get(_word, ()), _language)

_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_OTHER_SCRIPT = re.compile(r"[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff]")
_SAMPLE = 2000
_MIN_HITS = 5
_LEAD = 1.2


def guess_language(texts: Iterable[str]) -> str:
    """Language of the first 2,000 characters of texts: en es fr pt de it ru ja zh or 'und'."""
    sample = ""
    for text in texts:
        sample += text[: _SAMPLE - len(sample)] + " "
        if len(sample) >= _SAMPLE:
            break
    return (_by_script(sample) if _OTHER_SCRIPT.search(sample) else "") or _by_function_words(sample)


def _by_script(sample: str) -> str:
    """Language of a text that is mostly Han, Kana or Cyrillic, 'und' without any letter, else ''."""
    letters = sum(map(len, _WORD.findall(sample)))
    if not letters:
        return UNKNOWN
    han, kana = len(_HAN.findall(sample)), len(_KANA.findall(sample))
    if han + kana > letters * 0.3:
        return "ja" if kana > (han + kana) * 0.1 else "zh"
    return "ru" if len(_CYRILLIC.findall(sample)) > letters * 0.5 else ""


def running_language(declared: str, texts: Iterable[str]) -> str:
    """The declared language (primary subtag kept as written) or, when none is stated, the guessed one."""
    stated = declared.strip()
    return stated if stated and stated != UNKNOWN else guess_language(texts)


def _by_function_words(sample: str) -> str:
    hits: Counter[str] = Counter()
    for run, count in Counter(sample.lower().split()).items():
        for word in (run,) if run.isalpha() else _WORD.findall(run):
            for language in _COUNTS.get(word, ()):
                hits[language] += count
    ranked = sorted(hits.items(), key=lambda pair: (-pair[1], pair[0]))
    if not ranked or ranked[0][1] < _MIN_HITS:
        return UNKNOWN
    if len(ranked) > 1 and ranked[0][1] < ranked[1][1] * _LEAD:
        return UNKNOWN
    return ranked[0][0]
