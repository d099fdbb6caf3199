"""Text into index terms for BM25: words stemmed per language, names with digits kept, bigrams without spaces.

Lucene's English chain (lower case, 33 stop words, Porter) for English; "IL-6", "IL6" and "il 6" would be torn
apart by it, so hyphenated names of letters and digits become one term.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, TypeVar

import Stemmer

from curation.concepts.scripts import UNSPACED

ANALYSER = "medical@1"
MAX_PARTS = 4
"""A chain of more hyphens than this is running text or a code, not a name."""

_STEMMERS: Mapping[str, str] = {
    "da": "danish",
    "de": "german",
    "en": "porter",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""Language -> its Snowball stemmer; stop words are those that bm25s has of the same languages."""
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "omicron",
            "pi",
            "rho",
            "sigma",
            "sigma",
            "tau",
            "upsilon",
            "phi",
            "chi",
            "psi",
            "omega",
        ],
        strict=True,
    )
)
_GREEK_NAMES = frozenset(_GREEK.values())
_ASCII = re.compile(r"\d+(?:[.,]\d+)+(?![a-z0-9])|[a-z0-9]+(?:-[a-z0-9]+)*(?:'s(?![a-z0-9]))?")
_LETTER = rf"(?:(?![{UNSPACED}])[^\W_])"
_ANY = re.compile(
    rf"[{UNSPACED}]+|\d+(?:[.,]\d+)+(?![^\W_])"
    rf"|{_LETTER}+(?:[-\u2010\u2011]{_LETTER}+)*(?:['\u2019]s(?![^\W_]))?"
)
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_HYPHEN = re.compile(r"[-\u2010\u2011]")
_POSSESSIVE = re.compile(r"['\u2019]s\Z")
_DIGIT = re.compile(r"\d")
_CACHE = 2_000_000


T = TypeVar("T")


class WordMap(dict[str, tuple[T, ...]]):
    """What each word of one language becomes, made when it is first asked for."""

    def __init__(self, make: Callable[[str], tuple[T, ...]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> tuple[T, ...]:
        if len(self) >= _CACHE:
            self.clear()
        made = self[word] = self._make(word)
        return made


class Analyser:
    """Turns texts into terms; remembers what each word of each language became."""

    def __init__(self) -> None:
        self._words: dict[str, WordMap[str]] = {}
        self._stemmers: dict[str, Callable[[str], str]] = {}

    def __call__(self, text: str, language: str) -> list[str]:
        """Terms of a text, in order, repetitions kept.

        Args:
            text: any text.
            language: BCP-47; of a language without a stemmer, words are taken as they are.
        """
        base = language.split("-")[0].lower()
        if base not in self._words:
            self._words[base] = WordMap(lambda word: self.terms(word, base))
        return list(chain.from_iterable(map(self._words[base].__getitem__, words(text))))

    def describe(self) -> dict[str, Any]:
        """What is recorded in results."""
        return {
            "analyser": ANALYSER,
            "stemmers": dict(_STEMMERS),
            "stemmer_version": Stemmer.version(),
        }

    def terms(self, word: str, language: str) -> tuple[str, ...]:
        """What one item of :func:`words` becomes; none, one or several terms."""
        if _IS_UNSPACED.match(word):
            return (word,) if len(word) == 1 else tuple(word[i : i + 2] for i in range(len(word) - 1))
        parts = _HYPHEN.split(_POSSESSIVE.sub("", word))
        if len(parts) == 1:
            return self._plain(parts[0], language)
        whole = [part for part in parts if len(part) > 2 and not _DIGIT.search(part)]
        if len(parts) <= MAX_PARTS and any(_is_sign(part) for part in parts):
            joined = "".join(_GREEK.get(part, part) for part in parts)
            return (_folded(joined), *(term for part in whole for term in self._plain(part, language)))
        return tuple(term for part in parts for term in self._plain(part, language))

    def _plain(self, word: str, language: str) -> tuple[str, ...]:
        stemmer = _STEMMERS.get(language)
        if stemmer and word in _stop_words(language):
            return ()
        word = _GREEK.get(word, word)
        if stemmer and not _DIGIT.search(word):
            if stemmer not in self._stemmers:
                self._stemmers[stemmer] = Stemmer.Stemmer(stemmer).stemWord
            word = self._stemmers[stemmer](word)
        return (_folded(word),)


@functools.cache
def _stop_words(language: str) -> frozenset[str]:
    from bm25s import stopwords  # loads scipy, which most commands need nothing of

    name = "EN" if language == "en" else _STEMMERS[language].upper()
    return frozenset(getattr(stopwords, f"STOPWORDS_{name}"))


def words(text: str) -> list[str]:
    """Lower-case words, hyphenated names and runs of unspaced scripts, in order."""
    if text.isascii():
        return _ASCII.findall(text.lower())
    return _ANY.findall(unicodedata.normalize("NFKC", text).lower())


def _is_sign(part: str) -> bool:
    """Whether this part makes a hyphenated word a name: a digit, a lone letter, a Greek letter."""
    return len(part) == 1 or part in _GREEK_NAMES or _DIGIT.search(part) is not None


def _folded(word: str) -> str:
    """Without accents, so that writings with and without them are one term."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    return "".join(mark for mark in apart if not unicodedata.combining(mark))
