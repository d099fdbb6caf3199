"""The scope gate: is an article about human medicine? '' | not_medical | not_human, with the evidence for it.

A linear score over the words of title, keywords, abstract, a sample of the whole text and the journal's name,
and over who is studied: people, animals, the bench, something else. The weights are learned
(`scripts/scope_weights.py`) and committed as integers. The gate favours precision of what is kept. Studies of
groups stay in, for tasks on figures; whether anybody is told of as a patient the case stage decides.
"""

from __future__ import annotations

import collections
import functools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from curation.extract.scope_reading import CLASSES, JOURNAL, PLACES, STEM, classes, counted, read, studied
from schemas.article import Article

NOT_MEDICAL = "not_medical"
NOT_HUMAN = "not_human"
OUT = (NOT_HUMAN, NOT_MEDICAL)
"""The two ways to be out, in the order of the columns of weights."""

_SHOWN = 8
_MARGIN = 0
_CLOSE = 10_000
"""Below this an article is not medical rather than animal or bench by a hair: the words tell neither."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Hundredths by which a word speaks for each way to be out; below 0 it speaks for people and their care."""

    bias: tuple[int, int]
    studied: tuple[tuple[int, int], ...]
    words: dict[str, tuple[int, int]]
    journal: dict[str, tuple[int, int]]


@functools.cache
def weights() -> Weights:
    """The committed weights."""
    data = tomllib.loads(Path(__file__).with_name("scope_weights.toml").read_text("utf-8"))
    return Weights(
        bias=(data["bias"][0], data["bias"][1]),
        studied=tuple((one, other) for one, other in data["studied"].values()),
        words=dict(_rows(data["words"])),
        journal=dict(_rows(data["journal"])),
    )


def _rows(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for line in text.splitlines():
        stem, one, other = line.split()
        yield stem, (int(one), int(other))


def decide(article: Article) -> tuple[str, tuple[str, ...]]:
    """Scope decision and its evidence.

    Args:
        article: the parsed article.

    Returns:
        ('' | 'not_medical' | 'not_human', who is studied ('studied: person 41, animal 3') and up to eight
        words that speak for the decision, like 'title: patients', heaviest first).
    """
    words = read(article)
    stems = {place: counted(found) for place, found in words.items()}
    scores, heavy = score(stems)
    verdict = _verdict(scores)
    spoken = [(value[OUT.index(verdict)] if verdict else -max(value), key) for key, value in heavy.items()]
    spoken = sorted((-weight, key) for weight, key in spoken if weight > 0)[:_SHOWN]
    shown = [f"{place}: {_first(words[place], stem)}" for _, (place, stem) in spoken]
    return verdict, (_who(stems), *dict.fromkeys(shown))


def score(
    stems: dict[str, collections.Counter[str]],
) -> tuple[tuple[int, int], dict[tuple[str, str], tuple[int, int]]]:
    """How much speaks for each way to be out, in 1/100,000, and what each word of each place adds to it."""
    known = weights()
    heavy: dict[tuple[str, str], tuple[int, int]] = {}
    totals = [1000 * known.bias[0], 1000 * known.bias[1]]
    for number, value in enumerate(studied(stems)):
        if value:
            one, other = known.studied[number]
            totals[0] += value * one
            totals[1] += value * other
    shares = {place: share for place, share in PLACES.items() if stems[place]}
    whole = sum(shares.values())
    for place, share in (*shares.items(), ("journal", JOURNAL)):
        here = stems[place]
        table = known.journal if place == "journal" else known.words
        parts = sum(here.values()) * (1000 if place == "journal" else whole)
        for stem in here.keys() & table.keys():
            one, other = table[stem]
            many = 1000 * share * here[stem]
            heavy[place, stem] = added = (many * one // parts, many * other // parts)
            totals[0] += added[0]
            totals[1] += added[1]
    return (totals[0], totals[1]), heavy


def _verdict(scores: tuple[int, int]) -> str:
    animal, other = scores
    if max(scores) < _MARGIN:
        return ""
    return NOT_HUMAN if animal > other else NOT_MEDICAL


def _first(words: list[str], stem: str) -> str:
    """The first word that has the stem."""
    return next(word for word in words if word[:STEM] == stem)


def _who(stems: dict[str, collections.Counter[str]]) -> str:
    """Words of each class in the whole reading, for people to see."""
    of, counts = classes(), collections.Counter[str]()
    for place in PLACES:
        for stem in stems[place].keys() & of.keys():
            counts[CLASSES[of[stem]]] += stems[place][stem]
    return "studied: " + (", ".join(f"{name} {counts[name]}" for name in CLASSES if counts[name]) or "nothing")
