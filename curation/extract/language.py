"""Language of running text: the declared one, else a rule of script and function words, else langdetect.

The rule is fast and answers for most texts; langdetect reads letters (a thousand texts a second) where words
are few or two languages share them. Deterministic and modest: 'und' unless one language clearly leads.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files

from langdetect.detector_factory import DetectorFactory
from langdetect.lang_detect_exception import LangDetectException

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
_MIN_HITS = 8
_LEAD = 2
_MIN_LETTERS = 20
_MIN_PROBABILITY = 0.9
"""Bounds set on the dev half of benchmarks.languages. Each of langdetect's seven trials ends near 0 or 1, so
that a probability is nearly a number of sevenths: this asks for all, far from where rounding matters."""


def guess_language(texts: Iterable[str]) -> str:
    """Language of the first 2,000 characters of texts as a two-letter code, or 'und'."""
    sample = ""
    for text in texts:
        sample += text[: _SAMPLE - len(sample)] + " "
        if len(sample) >= _SAMPLE:
            break
    by_script = _by_script(sample) if _OTHER_SCRIPT.search(sample) else ""
    return by_script or _by_function_words(sample) or by_letters(sample)


def by_letters(sample: str) -> str:
    """The language all trials of langdetect agree on, else 'und': the same for a text always and anywhere.

    Chinese is zh, traditional or simplified.
    """
    if sum(map(len, _WORD.findall(sample))) < _MIN_LETTERS:
        return UNKNOWN
    detector = _detectors().create()
    detector.append(sample)
    shares: Counter[str] = Counter()
    try:
        for found in detector.get_probabilities():
            shares[found.lang.partition("-")[0]] += found.prob
    except LangDetectException:  # no letters that any of its languages has
        return UNKNOWN
    return next((name for name, share in shares.items() if share >= _MIN_PROBABILITY), UNKNOWN)


@functools.cache
def _detectors() -> DetectorFactory:
    """Its profiles in order of their names; its own loader takes them in the order of the disk."""
    profiles = sorted((files("langdetect") / "profiles").iterdir(), key=lambda path: path.name)
    factory = DetectorFactory()
    factory.set_seed(0)
    factory.load_json_profile([path.read_text("utf-8") for path in profiles])
    return factory


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
    """The language whose function words lead clearly, '' if none does."""
    hits: Counter[str] = Counter()
    for run, count in Counter(sample.lower().split()).items():
        for word in (run,) if run.isalpha() else _WORD.findall(run):
            for language in _COUNTS.get(word, ()):
                hits[language] += count
    ranked = sorted(hits.items(), key=lambda pair: (-pair[1], pair[0]))
    if not ranked or ranked[0][1] < _MIN_HITS:
        return ""
    if len(ranked) > 1 and ranked[0][1] < ranked[1][1] * _LEAD:
        return ""
    return ranked[0][0]
