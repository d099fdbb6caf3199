"""Diseases that a report names in words, whether or not the vocabulary knows them, and what speaks for each.

A title may name a mere symptom or the first error. The title's disease, those of the keywords, those the
report says it presents and those stated in the case are told apart by how the case states each, where it
first does, and how much is said of it outside the case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from curation.diagnosis import sentences as said
from curation.diagnosis.story import MAX_READ, Story
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
from curation.extract.sentences import sentence_spans
from schemas.article import Article

EVIDENCE = (
    "title's",
    "title",
    "abstract",
    "discussed",
    "stated",
    "last stated",
    "first named",
    "often",
    "strong",
    "superseded",
    "elsewhere",
)
"""What speaks for a disease that is named in words."""
Places = Mapping[str, Sequence[tuple[int, int]]]
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
_MOST, _OFTEN, _HALF = 3.0, 4, 0.5
"""What counts as one: of the worth of a statement, of sentences, of the share of an abstract."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What is read of a report beside a case: its title, keywords, and sentences outside all its cases."""

    title: str = ""
    keywords: Sequence[str] = ()
    abstract: Sequence[str] = ()
    discussion: Sequence[str] = ()
    text: str = ""
    """Abstracts and running text as a whole, for acronyms and what is said to be presented."""

    def topic_of(self, phrase: str = "") -> Topic:
        """The topic of a phrase, of the title without one, with the acronyms the report declares for it."""
        return topic_of(phrase or self.title, self.text)


def rest_of(
    title: str,
    keywords: Sequence[str],
    article: Article,
    passages: Iterable[tuple[str, str]],
    told: Places,
) -> Rest:
    """What is read of a report beside its cases.

    Args:
        title: of the report; '' if it does not say what its cases are about.
        keywords: of the report.
        article: the report, for its abstracts and running text.
        passages: id and text of those about its subject.
        told: spans of the cases by passage.
    """
    abstracts = [abstract.text for abstract in article.abstracts]
    return Rest(
        title=title[:MAX_READ],
        keywords=keywords,
        abstract=[text[a:b] for text in abstracts for a, b in sentence_spans(text)],
        discussion=[
            text[a : min(b, a + MAX_READ)]
            for name, text in passages
            for a, b in sentence_spans(text)
            if not any(start <= a < end for start, end in told.get(name, ()))
        ],
        text=" ".join([*abstracts, *(item.text for item in article.passages)]),
    )


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
        item.evidence["title's"] = float(not item.phrase)
        item.evidence |= _spoken(item.topic, rest, title)
        item.evidence |= _stated(item.topic, read, objects, affirmed)
    told = [item for item in made.values() if item.evidence["often"] or item.evidence["stated"]]
    most = max((item.evidence["discussed"] for item in told), default=0.0)
    for item in told:
        item.evidence["discussed"] /= most or 1.0
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


def _spoken(topic: Topic, rest: Rest, title: str) -> dict[str, float]:
    """How the report speaks of a disease outside the case."""
    return {
        "title": float(topic.agreement(title) == NAMES),
        "abstract": min(_share(topic, rest.abstract), _HALF) / _HALF,
        "discussed": _share(topic, rest.discussion),
    }


def _share(topic: Topic, sentences: Sequence[str]) -> float:
    return sum(topic.agreement(item) == NAMES for item in sentences) / max(len(sentences), 1)


def _stated(
    topic: Topic,
    read: Sequence[frozenset[str]],
    objects: Sequence[Sequence[tuple[str, str]]],
    affirmed: Sequence[str],
) -> dict[str, float]:
    """How a case states a disease, and where it names it."""
    stating = [
        at for at, pairs in enumerate(objects) if any(topic.agreement(named) == NAMES for _, named in pairs)
    ]
    named = [at for at, text in enumerate(affirmed) if topic.agreement(text) == NAMES]
    found = set[str]().union(*(read[at] for at in stating))
    count = max(len(affirmed), 1)
    return {
        "stated": max((_worth(read[at]) for at in stating), default=0.0) / _MOST,
        "last stated": stating[-1] / count if stating else 0.0,
        "first named": named[0] / count if named else 1.0,
        "often": min(len(named), _OFTEN) / _OFTEN,
        "strong": float(not found.isdisjoint(("strong", "strong untitled"))),
        "superseded": float("superseded" in found),
        "elsewhere": float(not found.isdisjoint(("elsewhere", "history"))),
    }


def _worth(found: frozenset[str]) -> float:
    plain = next((worth for name, worth in _WORTH.items() if name in found), 1.0)
    return plain - sum(less for name, less in _LESS.items() if name in found)
