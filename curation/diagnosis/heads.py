"""Whether a mention is the whole name of a disease, or only a part of a longer one that is no concept.

Of 'erythema gyratum repens' a vocabulary may know only 'erythema', which is another, wider thing. A single
word is such a head when its concept has many kinds and the words beside it say which, in words that neither
a mention nor a site of the body accounts for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from curation.concepts.normalise import ADJECTIVE
from curation.diagnosis import phrases
from curation.diagnosis.concepts import Concepts
from curation.labels.lexicon import Lexicon
from curation.labels.taxonomy import load
from schemas.concept import Mention

KINDS = 8
"""A concept with fewer below it has no kinds worth telling apart."""
_STEM = 5
"""Letters of an adjective's stem that tell which disease it is of."""
_BEFORE = re.compile(r"(?:(?P<word>[^\W\d_]+)[ ‐–-])$")
_AFTER = re.compile(
    r" (?P<word>[a-z]+(?:ens|ans|atum|osum|icum|oides|iforme|[^aeiou]us|[^aeiou]um|alis|aris))\b"
)
"""A Latin epithet, as dermatologists put them behind the noun."""
_OF_PART = re.compile(r" of (?P<part>(?:(?!(?:in|with|after|due|following|by|and|from)\b)[\w’'-]+ ?){1,6})")
"""What stands behind a process: the part it happened to."""
_INFLECTED = re.compile(r"ly$|...ing$")
"""Adverbs and verbs."""
_NO_KIND = frozenset({"ct", "mri", "mr", "us", "icu", "ii", "iii", "iv", "vi", "usa", "uk"})
_NO_EPITHET = frozenset({"thus", "versus", "virus", "plus", "serum", "minimum", "maximum", "sinus", "campus"})


def is_half(mention: Mention, text: str, start: int, named: Iterable[Mention], concepts: Concepts) -> bool:
    """Whether an adjective that says from which other disease stands before it: 'tuberculous | sarcoid'.

    The longer name is no concept, and two patients with the shorter one need not have the same disease.

    Args:
        mention: what was found.
        text: the title or sentence.
        start: offset of that text in the text the mention lies in.
        named: mentions of the article, one of which is that disease.
        concepts: the vocabulary.
    """
    before = _BEFORE.search(text[: mention.start - start])
    if before is None or not ADJECTIVE.search(before["word"].lower()) or not _is_content(before["word"]):
        return False
    stem = before["word"].lower()[:-3]
    return len(stem) >= _STEM and any(
        other.text.lower().startswith(stem)
        and concepts.kind(other.concept) == "disease"
        and not concepts.is_sign(other.concept)
        and other.concept != mention.concept
        and not concepts.is_above(other.concept, mention.concept)
        and not concepts.is_above(mention.concept, other.concept)
        for other in named
    )


def leaves_out_site(mention: Mention, text: str, start: int, concepts: Concepts) -> bool:
    """Whether what happened is named without the part of the body it happened to: 'rupture | of the spleen'.

    Only of what a vocabulary files under processes and findings: a disease is one wherever it sits.

    Args:
        mention: what was found.
        text: the title or sentence.
        start: offset of that text in the text the mention lies in.
        concepts: the vocabulary.
    """
    if concepts.kind(mention.concept) != "finding":
        return False
    tail = _OF_PART.match(text, mention.end - start)
    return tail is not None and next(iter(_sites().find(tail["part"])), None) is not None


def is_head_only(
    mention: Mention, text: str, start: int, others: Sequence[Mention], concepts: Concepts
) -> bool:
    """Whether a mention is only the head of a name.

    Args:
        mention: what was found.
        text: the title or sentence.
        start: offset of that text in the text the mention lies in.
        others: all mentions of the sentence, of things that are no diseases too.
        concepts: the vocabulary.
    """
    if not mention.text.isalpha() or not concepts.has_kinds(mention.concept, KINDS):
        return False
    first, last = mention.start - start, mention.end - start
    before, after = _BEFORE.search(text[:first]), _AFTER.match(text[last:])
    if after is not None and after["word"] not in _NO_EPITHET:
        return not _is_known(last + after.start("word") + start, others)
    if before is None or not _is_content(before["word"]) or _ends_phrase(text, before.end("word")):
        return False
    return not _is_known(before.start("word") + start, others)


def _is_content(word: str) -> bool:
    """Whether a word before a disease says which one: no stop word, no degree or course, no site."""
    lower = word.lower()
    if word.isupper() and len(word) > 1:
        return lower not in _NO_KIND  # 'MPO vasculitis', 'ALK lymphoma'
    if len(lower) < 4 or _INFLECTED.search(lower) or lower in phrases.GENERIC:
        return False
    return lower not in phrases.COURSE and lower not in phrases.FUNCTION and not _is_site(word)


def _ends_phrase(text: str, end: int) -> bool:
    """Whether the word that ends there belongs to a verb or connective ('confirmed', 'due to')."""
    near = text[max(0, end - 60) : end]
    verbs = (phrases.CONNECTIVE, phrases.STATED, phrases.NAMED_BY)
    return any(found.end() == len(near) for words in verbs for found in words.finditer(near))


def _is_known(at: int, others: Sequence[Mention]) -> bool:
    return any(other.start <= at < other.end for other in others)


@functools.lru_cache(maxsize=4096)
def _is_site(word: str) -> bool:
    return next(iter(_sites().find(word)), None) is not None


@functools.lru_cache(maxsize=1)
def _sites() -> Lexicon:
    return load("region").words
