"""What a case is about: of the diseases its report names, the one that its own text comes to.

A title may name a mere symptom or the first error. The title's disease, those of the keywords, those the
report says it presents and those stated in the case are compared by learned points: how the case states each,
where it first does, and how much is said of it outside the case (`python -m benchmarks.diagnosis_sentences`).
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curation.cases import diagnosis_score as score
from curation.cases.diagnosis_topic import (
    NO_TOPIC,
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

Places = Mapping[str, Sequence[tuple[int, int]]]
POINTS = Path(__file__).with_suffix(".toml")
_NAMES = 2
"""Agreement of a text that names the disease itself."""
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

    def topic(self, sentences: Sequence[str]) -> Topic:
        """What a case of these sentences is about; the title's topic where nothing else is named."""
        return self.topic_of(best(list(candidates(sentences, self)), _points()))

    def topic_of(self, chosen: Candidate | None) -> Topic:
        """The topic of a candidate, with the acronyms the report declares for it."""
        return topic_of(chosen.phrase if chosen and chosen.phrase else self.title, self.text)


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
        title=title,
        keywords=keywords,
        abstract=[text[a:b] for text in abstracts for a, b in sentence_spans(text)],
        discussion=[
            text[a:b]
            for name, text in passages
            for a, b in sentence_spans(text)
            if not any(start <= a < end for start, end in told.get(name, ()))
        ],
        text=" ".join([*abstracts, *(item.text for item in article.passages)]),
    )


@dataclass(slots=True)
class Candidate:
    """A disease the report may be about.

    Attributes:
        phrase: words that name it; '' for the title as a whole.
        topic: their topic.
        evidence: what speaks for it, by the names of diagnosis_choice.toml, mostly from 0 to 1.
    """

    phrase: str
    topic: Topic
    evidence: dict[str, float] = field(default_factory=dict)


@functools.cache
def _points() -> Mapping[str, int]:
    found: dict[str, int] = tomllib.loads(POINTS.read_text("utf-8"))["points"]
    return found


def best(named: Sequence[Candidate], points: Mapping[str, int]) -> Candidate | None:
    """The candidate with most points, the first of equals; None of none."""
    worth = [sum(points[name] * value for name, value in item.evidence.items()) for item in named]
    return named[worth.index(max(worth))] if named else None


def candidates(sentences: Sequence[str], rest: Rest) -> Iterator[Candidate]:
    """The diseases a case names and may be about, with what speaks for each.

    Args:
        sentences: of the case, in order.
        rest: what is read of its report beside it.
    """
    read = [found for found, _ in score.features(sentences, NO_TOPIC)]
    objects = [list(score.objects(sentence)) for sentence in sentences]
    said = [score.affirmed(sentence) for sentence in sentences]
    title = head_of(without_looks(unquoted(rest.title)))
    made: dict[tuple[frozenset[str], ...], Candidate] = {}
    for phrase, words in _phrases(rest, objects, title):
        topic = topic_of(words)
        if topic.is_known or topic.acronyms or (not phrase and len(topic.stems) > 1):
            made.setdefault((topic.diseases, topic.kinds, topic.stems), Candidate(phrase, topic))
    for item in made.values():
        item.evidence["title's"] = float(not item.phrase)
        item.evidence |= _spoken(item.topic, rest, title)
        item.evidence |= _stated(item.topic, read, objects, said)
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
        "title": float(topic.agreement(title) == _NAMES),
        "abstract": min(_share(topic, rest.abstract), _HALF) / _HALF,
        "discussed": _share(topic, rest.discussion),
    }


def _share(topic: Topic, sentences: Sequence[str]) -> float:
    return sum(topic.agreement(item) == _NAMES for item in sentences) / max(len(sentences), 1)


def _stated(
    topic: Topic,
    read: Sequence[set[str]],
    objects: Sequence[Sequence[tuple[str, str]]],
    said: Sequence[str],
) -> dict[str, float]:
    """How a case states a disease, and where it names it."""
    stating = [
        at for at, pairs in enumerate(objects) if any(topic.agreement(named) == _NAMES for _, named in pairs)
    ]
    named = [at for at, text in enumerate(said) if topic.agreement(text) == _NAMES]
    found = set[str]().union(*(read[at] for at in stating))
    count = max(len(said), 1)
    return {
        "stated": max((_worth(read[at]) for at in stating), default=0.0) / _MOST,
        "last stated": stating[-1] / count if stating else 0.0,
        "first named": named[0] / count if named else 1.0,
        "often": min(len(named), _OFTEN) / _OFTEN,
        "strong": float(not found.isdisjoint(("strong", "strong untitled"))),
        "superseded": float("superseded" in found),
        "elsewhere": float(not found.isdisjoint(("elsewhere", "history"))),
    }


def _worth(found: set[str]) -> float:
    plain = next((worth for name, worth in _WORTH.items() if name in found), 1.0)
    return plain - sum(less for name, less in _LESS.items() if name in found)
