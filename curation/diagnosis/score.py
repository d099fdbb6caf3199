"""How likely each candidate is the principal diagnosis, or none of them: a conditional logit.

Candidates are concepts, and diseases named in words that no concept among them goes by. One is right, or none
is named: the chance of each is its share of the exponentials of all scores
(McFadden 1974, https://eml.berkeley.edu/reprints/mcfadden/zarembka.pdf). Weights were learned by
`python -m benchmarks.diagnosis_ranking --fit` from marked reports.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from curation.diagnosis.candidate import Candidate
from curation.diagnosis.concepts import Concepts
from curation.diagnosis.named import Named
from curation.diagnosis.topic import NAMES

Features = dict[str, float]
Key = str | int
"""A candidate: a CURIE, or the place of a disease among those named in words; '' is none of them."""
NONE = ""
OF_NONE: Features = {"none": 1.0}
"""Features of the answer that no candidate is the diagnosis."""
_AFTER = 0.02
"""Part of a story by which one statement comes after another."""


@functools.lru_cache(maxsize=1)
def _scale() -> tuple[Mapping[str, float], float]:
    """Weight of every feature, and the chance that decides."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return data["weights"], data["enough"]


def enough() -> float:
    """The chance from which a diagnosis is decided."""
    return _scale()[1]


def features(found: Mapping[str, Candidate], concepts: Concepts) -> dict[str, Features]:
    """Features of every candidate, by concept; what is 0 is left out.

    Args:
        found: the candidates of one case.
        concepts: kinds and hierarchy of the vocabulary.
    """
    above = {
        concept: [found[other] for other in sorted(concepts.ancestors(concept) & found.keys())]
        for concept in found
    }
    most = max((item.count for item in found.values() if not item.is_finding), default=1) or 1
    made: dict[str, Features] = {}
    for concept, item in found.items():
        over = above[concept]
        read = {
            "title": item.title,
            "title of a wider one": 0.0 if item.title else max((other.title for other in over), default=0.0),
            "main": float(item.is_main),
            "final": float(item.is_final),
            "finding": float(item.is_finding),
            "sign": float(concepts.is_sign(concept)),
            "often": min(0.0, math.log1p(item.count) - math.log1p(most)),
            "wider one often": math.log1p(sum(other.count for other in over)) / 2 if item.places else 0.0,
            "opens": float(item.opens),
            "defined": float(min(2, item.defines)),
            "last": item.last,
            "superseded": float(_is_superseded(item, found, concepts)),
            "kinds": math.log1p(concepts.count_below(concept)) / 5,
            "taken back": float(item.is_taken_back),
            "beside": float(item.is_beside),
            "named nowhere": float(not item.places),
        }
        made[concept] = {name: value for name, value in read.items() if value}
    return made


def _is_superseded(item: Candidate, found: Mapping[str, Candidate], concepts: Concepts) -> bool:
    """Whether the case states another disease later, neither a kind of it nor what it is a kind of."""
    if item.stated is None or item.places <= {"title", "keyword", "hedged"}:
        return False
    return any(
        other.stated is not None
        and other.stated > item.stated + _AFTER
        and not other.is_finding
        and not concepts.is_above(other.concept, item.concept)
        and not concepts.is_above(item.concept, other.concept)
        for other in found.values()
        if other is not item
    )


def agreeing(named: Sequence[Named], called: Mapping[str, Collection[str]]) -> dict[str, list[int]]:
    """The diseases named in words that each concept is, by concept.

    Args:
        named: the diseases.
        called: what each concept is called in the article.
    """
    return {
        concept: [
            at
            for at, item in enumerate(named)
            if any(item.topic.agreement(words) == NAMES for words in sorted(words_of))
        ]
        for concept, words_of in called.items()
    }


def with_words(
    made: Mapping[str, Features], named: Sequence[Named], same: Mapping[str, Sequence[int]]
) -> dict[Key, Features]:
    """Features of every candidate: of concepts with what speaks for them in words, and of words alone.

    Args:
        made: features of the concepts.
        named: diseases named in words.
        same: see :func:`agreeing`.
    """
    told: dict[Key, Features] = {}
    for concept, read in made.items():
        evidence = [named[at].evidence for at in same[concept]]
        most = {_worded(name): max(one[name] for one in evidence) for name in evidence[0]} if evidence else {}
        told[concept] = {**read, **most}
    alone = set(range(len(named))).difference(*same.values())
    for at in sorted(alone):
        told[at] = {"words alone": 1.0, **{_worded(key): value for key, value in named[at].evidence.items()}}
    return told


def _worded(evidence: str) -> str:
    return f"in words: {evidence}"


def of_words(item: Named, weights: Mapping[str, float]) -> float:
    """How much speaks for a disease named in words, for choosing among those that are one concept."""
    return math.fsum(weights[_worded(name)] * value for name, value in item.evidence.items())


def weights() -> Mapping[str, float]:
    """The weight of every feature."""
    return _scale()[0]


def chances(made: Mapping[Key, Features], weights: Mapping[str, float]) -> dict[Key, float]:
    """The chance of every candidate, and of :data:`NONE` of them."""
    scores: dict[Key, float] = {
        key: math.fsum(weights[name] * value for name, value in read.items())
        for key, read in (*made.items(), (NONE, OF_NONE))
    }
    most = max(scores.values())
    parts = {key: math.exp(score - most) for key, score in scores.items()}
    whole = math.fsum(parts.values())
    return {key: part / whole for key, part in parts.items()}
