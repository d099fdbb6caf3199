"""One form for the ways a word may be written, per language; the keys of the index are made of these forms.

English: spelling, number and participles, then word families (families.toml). Other languages: Snowball.
Everywhere: case, accents, Greek letters, roman numbers; small words ("of", "der", "de la") count for nothing.
"""

from __future__ import annotations

import functools
import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import Stemmer

from curation.concepts.english import fold_english, participle_root
from curation.concepts.hashes import form_hash, word_hash
from curation.concepts.scripts import is_unspaced

_DATA = Path(__file__).parent / "data"
_SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho",
    "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
GREEK_LETTERS = frozenset(_GREEK.values())
"""Names of Greek letters: as signs of statistics and of parts of names they are no names themselves."""
_LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "’": "'", "ß": "ss"})
ADJECTIVE = re.compile(r"(?:al|ic|ar|ous|ive|ary|ed|oid|ac)$")
"""Endings of words that mostly stand before a noun."""
_STANDS_BEFORE = re.compile(ADJECTIVE.pattern[:-2] + r"|ian|ine|ile|ony|oody)$")
_ADJECTIVE = ("ic", "us", "al")
_FINDINGS = ("plasia", "trophy", "cephaly", "dactyly", "megaly", "stenosis", "ectasis")
_ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "er", "or", "ion", "able", "ment", "al", "ive")
_REMEMBERED = 50_000
ROMAN = {
    "ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12",
}  # fmt: skip
_ACRONYMS = frozenset({"as", "at", "her", "his", "its"})
"""English small words that are something else in capitals."""
ROMAN_LETTER = {"i": "1", "v": "5", "x": "10"}
"""Numbers only after a word that counts: 'type I', 'stage V'."""


RULES = 8
"""Version of the code that makes forms of words; the lists it reads are hashed."""


@functools.cache
def rules() -> str:
    """What the keys of an index depend on; an index made by other rules cannot be read."""
    digest = hashlib.sha256(f"{RULES} {Stemmer.version()}".encode())
    for path in sorted(_DATA.glob("*.toml")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def base_language(language: str) -> str:
    """The primary subtag: 'pt-BR' is 'pt'."""
    return language.replace("_", "-").partition("-")[0].lower() or "en"


def fold(word: str) -> str:
    """Case, accents, ligatures, width and Greek letters folded.

    >>> fold("Sjögren's"), fold("Œdème"), fold("α")
    ('sjogren', 'oedeme', 'alpha')
    """
    if word.isascii():
        word = word.lower()
    elif not is_unspaced(word):
        word = unicodedata.normalize("NFKD", word.casefold()).translate(_LETTERS)
        word = "".join(letter for letter in word if not unicodedata.combining(letter))
        word = _GREEK.get(word, word)
    else:
        return unicodedata.normalize("NFKC", word).lower()
    return word[:-2] if word.endswith("'s") else word


@functools.cache
def _lists() -> Mapping[str, frozenset[str]]:
    loaded = tomllib.loads((_DATA / "words.toml").read_text("utf-8"))
    return {name: frozenset(" ".join(lines).split()) for name, lines in loaded.items()}


@dataclass(frozen=True, slots=True)
class _Families:
    nouns: Mapping[str, str]
    organs: frozenset[str]
    nouns_of_organs: frozenset[str]
    adjectives: frozenset[str]
    findings: frozenset[str]
    qualities: frozenset[str]
    near: Mapping[str, str]
    mined: Mapping[str, str]
    endings: tuple[tuple[str, str], ...]


@functools.cache
def _families() -> _Families:
    loaded = tomllib.loads((_DATA / "families.toml").read_text("utf-8"))
    mined = _mined()
    endings = sorted(loaded["endings"].items(), key=lambda item: (-len(item[0]), item[0]))
    qualities = {word: participle_root(head) for word, head in _heads(loaded["qualities"]).items()}
    near = {word: participle_root(head) for word, head in _heads(loaded["near"]).items()}
    findings = _heads(loaded["findings"])
    organs = _heads(loaded["organs"])
    nouns = {**mined["nouns"], **organs, **findings}
    return _Families(
        nouns,
        frozenset(organs),
        frozenset(organs.values()),
        frozenset(findings),
        frozenset(findings.values()),
        _with_families({*qualities, *map(fold_english, loaded["qualities"])}, mined["near"]),
        {**qualities, **near},
        mined["near"],
        tuple(endings),
    )


def _with_families(words: set[str], near: Mapping[str, str]) -> frozenset[str]:
    """Words and those that mined families join with them."""
    heads = words | {near[word] for word in words if word in near}
    return frozenset(heads | {word for word, head in near.items() if head in heads})


@functools.cache
def _mined() -> Mapping[str, Mapping[str, str]]:
    """Heads by word, as mined.toml has them: forms of words, so they are not folded again."""
    loaded = tomllib.loads((_DATA / "mined.toml").read_text("utf-8"))
    return {
        name: {word: head for head, members in table.items() for word in members.split()}
        for name, table in loaded.items()
    }


def heads() -> frozenset[str]:
    """Heads of the families that are kept by hand."""
    return frozenset(_families().near.values())


def forget() -> None:
    """Read the word lists again, after their files have changed."""
    for remembered in (_lists, _families, _mined, language_of, rules):
        remembered.cache_clear()


def _heads(table: Mapping[str, str]) -> dict[str, str]:
    return {
        fold_english(word): fold_english(head) for head, members in table.items() for word in members.split()
    }


class Word(NamedTuple):
    """One word and its forms, from nearest to widest; `key` is '' for a small word; and their hashes."""

    folded: str
    inflection: str
    noun: str
    key: str
    spelling_hash: int
    inflection_hash: int
    key_hash: int


class Language:
    """How words of one language are folded."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.stop = _lists().get(f"stop_{code}", frozenset())
        self.light = _lists()["light"]
        self.articles = _lists().get(f"articles_{code}", frozenset())
        self.counting = _lists()["counting"]
        self.free = _lists().get(f"free_{code}", frozenset())
        self.common = _lists()["common"] if code == "en" else frozenset[str]()
        self._spellings = _mined()["spellings"] if code == "en" else {}
        self._words: dict[str, Word] = {}
        self._everyday: dict[str, bool] = {}
        self._stemmer = Stemmer.Stemmer(_SNOWBALL[code], 0) if code in _SNOWBALL else None

    def inflection(self, folded: str) -> str:
        """A folded word without its inflection."""
        if folded in ROMAN:
            return ROMAN[folded]
        if self.code == "en":
            form = fold_english(folded) if folded.isascii() else folded
            return self._spellings.get(form, form)
        if self._stemmer is None or is_unspaced(folded):
            return folded
        return str(self._stemmer.stemWord(folded))

    def noun(self, form: str) -> str:
        """The noun an inflected form is an adjective of; itself if it is none."""
        if self.code != "en":
            return form
        families = _families()
        known = families.nouns.get(form)
        if known is not None or len(form) < 6 or form[-2:] not in _ADJECTIVE:
            return known or form
        for old, new in families.endings:
            if form.endswith(old) and len(form) - len(old) > 1:
                return form[: -len(old)] + new
        return form

    def is_finding(self, noun: str) -> bool:
        """Whether a noun names a finding whose adjective stands before what it is found on."""
        families = _families()
        return self.code == "en" and (noun in families.findings or noun.endswith(_FINDINGS))

    def is_organ(self, noun: str) -> bool:
        """Whether a noun is a part of the body."""
        return self.code == "en" and noun in _families().nouns_of_organs

    def is_quality(self, noun: str) -> bool:
        """Whether a word is a quality or has one: "abnormal", "abnormality"."""
        return self.code == "en" and noun in _families().qualities

    def is_of_finding(self, form: str) -> bool:
        """Whether an inflected form is the adjective of a finding, not of a part of the body."""
        families = _families()
        return form in families.adjectives or (
            form not in families.organs and form.endswith(("ed", "ic")) and self.noun(form) != form
        )

    def is_adjective(self, form: str) -> bool:
        """Whether an inflected form is an adjective that is known by its noun."""
        return self.noun(form) != form and (
            form in _families().adjectives or _STANDS_BEFORE.search(form) is not None
        )

    def _near(self, noun: str) -> str:
        """The head of the family a noun belongs to, without participle endings."""
        if self.code != "en":
            return noun
        families = _families()
        root = participle_root(noun) if noun[-1:] in "dg" else noun
        head = families.near.get(noun) or families.near.get(root, root)
        return families.mined.get(head, head)

    def word(self, written: str) -> Word:
        """A word's forms; remembered."""
        known = self._words.get(written)
        if known is None:
            if len(self._words) >= _REMEMBERED:
                self._words.clear()
            folded = fold(written)
            inflection = self.inflection(folded)
            noun = self.noun(inflection)
            # Capitals make a name of some: "hepatitis A", "protein S", "HER2", "AT-rich".
            is_small = folded in self.stop and not (
                written.isupper() and (len(written) == 1 or (folded in _ACRONYMS and self.code == "en"))
            )
            key = "" if is_small else self._near(noun)
            known = self._words[written] = Word(
                folded,
                inflection,
                noun,
                key,
                word_hash(folded),
                word_hash(inflection),
                form_hash(self.code, key) if key else 0,
            )
        return known

    def key_form(self, written: str) -> str:
        """What stands for a word in keys; '' for a small word."""
        return self.word(written).key

    def is_common(self, word: Word) -> bool:
        """Whether a word, or what it is inflected from, is an everyday one; remembered."""
        known = self._everyday.get(word.folded)
        if known is None:
            if len(self._everyday) >= _REMEMBERED:
                self._everyday.clear()
            known = self._everyday[word.folded] = self._is_common(word)
        return known

    def _is_common(self, word: Word) -> bool:
        folded = word.folded
        return bool(self.common) and (
            folded in self.common
            or word.inflection in self.common
            or any(
                folded.endswith(ending)
                and not self.common.isdisjoint((folded[: -len(ending)], folded[: -len(ending)] + "e"))
                for ending in _ENDINGS
            )
        )

    def words(self, written: Sequence[str]) -> list[Word]:
        """Words in order, with 'i', 'v' and 'x' as numbers where a counting word stands before."""
        words = list(map(self.word, written))
        if not ROMAN_LETTER.keys().isdisjoint([word.key for word in words]):
            for place in range(1, len(words)):
                if words[place].key in ROMAN_LETTER and words[place - 1].key in self.counting:
                    words[place] = self.numeral(words[place])
        return words

    def numeral(self, letter: Word) -> Word:
        """A Roman letter as the number it is, spelt as it was."""
        number = self.word(ROMAN_LETTER[letter.folded])
        return number._replace(folded=letter.folded, spelling_hash=letter.spelling_hash)


@functools.cache
def language_of(code: str) -> Language:
    """The rules of a BCP-47 language, by its primary subtag."""
    return Language(base_language(code))
