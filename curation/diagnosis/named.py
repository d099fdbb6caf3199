"""Diseases that a report names in words, whether or not the vocabulary knows them, and what speaks for each.

A title may name a mere symptom or the first error. The title's disease, those of the keywords, those the
report says it presents and those stated in the case are told apart by how and where the case states each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from curation.diagnosis import sentences as said
from curation.diagnosis.story import Story
from curation.diagnosis.topic import (
    NAMES,
    Topic,
    head_of,
    is_disease,
    presented,
    topic_of,
    unquoted,
    without_looks,
)

EVIDENCE = (
    "title's",
    "title",
    "stated",
    "last stated",
    "first named",
    "strong",
    "superseded",
    "elsewhere",
)
"""What speaks for a disease that is named in words."""
_ENDS = re.compile(
    r"[.;:(\[]|,(?= (?:and|which|with|but|who|for|so))|\b(?:was|were|is|are|based|after|treated|presenting"
    r"|following|by|without|at the|on the|given|who|that|which|because|as well as"
    r"|in (?:the|our|his|her|a) (?:patient|case))\b"
)
"""Where the words that name what was diagnosed end."""
_DIAGNOSED = re.compile(
    r"\bdiagnos\w+\s+(?:(?:the|this|our|her|his) \w+ )?(?:with|as|of|was|is|to be|to have|having|:)\s+"
    r"(?:an? |the )?(?:case of )?",
    re.IGNORECASE,
)
"""What comes before the words that name what was diagnosed."""
_ACRONYM = re.compile(r"\b[A-Z]{3,}\b")
_WORTH = {"final": 3.0, "explicit": 2.0, "confirmed": 2.0, "pathology": 1.5}
"""How plainly a sentence states, the plainest first; any other cue counts 1."""
_LESS = {"elsewhere": 1.5, "history": 1.5, "superseded": 1.5, "early": 0.5}
_MOST = 3.0
"""The worth of the plainest statement."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What is read of a report beside a case: title, keywords, and its text for what it says it presents."""

    title: str = ""
    keywords: Sequence[str] = ()
    text: str = ""

    def topic_of(self, phrase: str = "") -> Topic:
        """The topic of a phrase, of the title without one, with the acronyms the report declares for it."""
        return topic_of(phrase or self.title, self.text)


@dataclass(slots=True)
class Named:
    """A disease the report may be about.

    Attributes:
        phrase: words that name it; '' for the title as a whole.
        topic: their topic.
        evidence: what speaks for it, by the names of :data:`EVIDENCE`, from 0 to 1 or little below.
    """

    phrase: str
    topic: Topic
    evidence: dict[str, float] = field(default_factory=dict)


def named_in(story: Story, rest: Rest) -> Iterator[Named]:
    """The diseases a case names and may be about, with what speaks for each.

    Args:
        story: of the case.
        rest: what is read of its report beside it.
    """
    read = [found for found, _ in story.read]
    objects = [list(said.objects(sentence)) for sentence in story.texts]
    affirmed = [said.affirmed(sentence) for sentence in story.texts]
    title = head_of(without_looks(unquoted(rest.title)))
    made: dict[tuple[frozenset[str], ...], Named] = {}
    for phrase, words in _phrases(rest, objects, title):
        topic = topic_of(words)
        if topic.is_known or topic.acronyms or (not phrase and len(topic.stems) > 1):
            made.setdefault((topic.diseases, topic.kinds, topic.stems), Named(phrase, topic))
    for item in made.values():
        stating = [
            at
            for at, pairs in enumerate(objects)
            if any(item.topic.agreement(words) == NAMES for _, words in pairs)
        ]
        naming = [at for at, text in enumerate(affirmed) if item.topic.agreement(text) == NAMES]
        if stating or naming or (not item.phrase and item.topic.is_known):
            item.evidence["title's"] = float(not item.phrase)
            item.evidence["title"] = float(item.topic.agreement(title) == NAMES)
            item.evidence |= _told([read[at] for at in stating], stating, naming, max(len(read), 1))
            yield item


def _phrases(
    rest: Rest, objects: Iterable[Sequence[tuple[str, str]]], title: str
) -> Iterator[tuple[str, str]]:
    """What a case may be about: how a candidate is called, and the words its topic is made of."""
    yield "", title
    for words in (*filter(is_disease, rest.keywords), *presented(rest.text)):
        yield words, words
    for side, named in (pair for pairs in objects for pair in pairs):
        behind = _DIAGNOSED.search(named) if side in ("from", "clause") else None
        words = named[behind.end() :] if behind else named
        words = (words.rpartition(",")[2] if side == "before" else words).strip(" ,.:;")
        words = _ENDS.split(words)[0].strip(" ,") if side == "after" or behind else words
        if is_disease(words) or _ACRONYM.search(words):
            words = f"the {words}" if words.isupper() else words  # a text in capitals has no acronyms
            yield words, words


def _told(
    read: Sequence[frozenset[str]], stating: Sequence[int], naming: Sequence[int], count: int
) -> dict[str, float]:
    """How a case of so many sentences states a disease, and where it names it.

    Args:
        read: features of the sentences that state it.
        stating: which sentences these are.
        naming: which sentences name it.
        count: of all sentences.
    """
    found = frozenset[str]().union(*read)
    return {
        "stated": max(map(_worth, read), default=0.0) / _MOST,
        "last stated": stating[-1] / count if stating else 0.0,
        "first named": naming[0] / count if naming else 1.0,
        "strong": float(not found.isdisjoint(("strong", "strong untitled"))),
        "superseded": float("superseded" in found),
        "elsewhere": float(not found.isdisjoint(("elsewhere", "history"))),
    }


def _worth(found: frozenset[str]) -> float:
    plain = next((worth for name, worth in _WORTH.items() if name in found), 1.0)
    return plain - sum(less for name, less in _LESS.items() if name in found)
