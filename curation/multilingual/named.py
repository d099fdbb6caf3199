"""Whether a translation names what its source names: each concept of the source, and no other one.

Two lists answer. Names that were given with the question are looked for in the text as they are; all other
names that the vocabulary has are found by its matcher, which is not shown those: with them it would only find
again what was put in.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

import Stemmer

from curation.multilingual.numbers import plain
from curation.multilingual.scores import Fault, Score, scored
from curation.multilingual.words import Words, words_of

_TOKEN = re.compile(r"[\dA-Za-zÀ-ɏͰ-ϿЀ-ӿ]+")
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿]")
_MARKS = re.compile(r"[̀-ͯ]")
_BETWEEN = 2
"""Words that may stand among those of a name: an adjective, "of the"."""
_SNOWBALL = {
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
    "ru": "russian",
}


@dataclass(frozen=True, slots=True)
class Concepts:
    """Concepts named in an English text, and those found in its translation."""

    told: Mapping[str, Sequence[str]]
    """Concept of the English text -> names of it in the language, the one given first; none: it has none."""
    retold: Set[str]
    """Those found in the translation without the names that whoever made it was shown."""
    parents: Callable[[str], Set[str]]
    """Concepts one step above one."""
    is_above: Callable[[str, str], bool]
    """Whether the first is anywhere above the second."""
    general: Set[str] = frozenset()
    """Concepts of the English text that are too general to be looked for: pain is said in many ways."""
    are_shown: bool = True
    """Whether whoever translated was shown the names, and told to use them."""


def fidelity(text: str, words: Words, concepts: Concepts) -> Score:
    """Share of the concepts of the source that the translation names.

    One that is found neither by a name that was given nor by another one is lost, unless the concept right
    above it is named in its place; what is named beside them, and is above none of them, is new. New ones
    fail, unless they may be what has no name in the language, under another id; lost ones fail where the
    names were shown: who was shown none may well have used another name. Where nothing could be looked for,
    or what is lost or new does not fail, the check is not run, and says for what.

    Args:
        text: the translation, in NFKC.
        words: of its language.
        concepts: of both texts.
    """
    told = concepts.told
    found = {
        concept
        for concept, names in told.items()
        if concept in concepts.retold or any(says(text, name, words.language) for name in names)
    }
    broader = {
        concept: min(above)
        for concept in told.keys() - found
        if (above := concepts.parents(concept) & concepts.retold)
    }
    missing = sorted(told.keys() - found - broader.keys())
    lost = [concept for concept in missing if told[concept]]
    unnamed = [concept for concept in missing if not told[concept]]
    known = told.keys() | concepts.general
    new = sorted(
        concept
        for concept in concepts.retold - known
        if not any(concepts.is_above(concept, other) for other in known)
    )
    detail = "; ".join(
        [
            *(f"lost: {told[concept][0]}" for concept in lost),
            *(f"new: {concept}" for concept in new),
            *(f"broader: {above} for {concept}" for concept, above in sorted(broader.items())),
            *(f"no name: {concept}" for concept in unnamed),
            *(f"too general: {concept}" for concept in sorted(concepts.general) if not told),
        ]
    )
    if not known:
        return Score("concepts", "not_run", None, "the source names no concept")
    is_failed = len(new) > len(unnamed) or bool(lost and concepts.are_shown)
    if not is_failed and (lost or new or len(unnamed) == len(told)):
        return Score("concepts", "not_run", None, detail)
    share = (len(found) + len(broader)) / max(1, len(told))
    return scored("concepts", Fault.CONCEPT_CHANGED, is_failed, share, detail)


def says(text: str, name: str, language: str) -> bool:
    """Whether a text has a name, inflected or not, its words close together in any order.

    Args:
        text: in NFKC.
        name: of any form; one in capitals is a short form, and stands as it is.
        language: of the text, BCP-47.
    """
    wanted = plain(name).strip()
    if _UNSPACED.search(wanted):
        return _joined(wanted) in _joined(text)
    if wanted.isupper():
        return re.search(rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])", text) is not None
    small = words_of(language).small
    parts = [stem for stem, word in _stems(wanted, language) if word not in small]
    parts = parts or [stem for stem, _ in _stems(wanted, language)]
    if not parts:
        return False
    stems = [stem for stem, _ in _stems(text, language)]
    reach, rest = len(_TOKEN.findall(wanted)) + _BETWEEN, set(parts)
    return any(rest <= set(stems[start : start + reach]) for start, stem in enumerate(stems) if stem in rest)


def _joined(text: str) -> str:
    return re.sub(r"[\s・·‐‑-]", "", text).casefold()


def _stems(text: str, language: str) -> list[tuple[str, str]]:
    """Each word without accents and inflection, and as it is, in lower case."""
    return [(_stem(word, language), word) for word in _TOKEN.findall(text.lower())]


@functools.lru_cache(maxsize=1 << 16)
def _stem(word: str, language: str) -> str:
    folded = _MARKS.sub("", unicodedata.normalize("NFD", word))
    return str(_stemmer(_SNOWBALL.get(language, "english")).stemWord(folded))


@functools.cache
def _stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name)
