"""The principal diagnosis of one case: the candidate likely enough to be it, or an open case and why.

The likeliest candidate, decided or not, is what the sentences are read for that state the diagnosis.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from curation.diagnosis import score
from curation.diagnosis.candidate import Candidate
from curation.diagnosis.candidates import Reading, Texts
from curation.diagnosis.concepts import Concepts
from curation.diagnosis.grounded import Grounded, Kind, Name
from curation.diagnosis.named import Named, named_in
from curation.diagnosis.score import Key
from curation.diagnosis.statements import in_keywords, select
from curation.diagnosis.story import Story, statement, story_of
from schemas.case import Case
from schemas.diagnosis import DiagnosisEvidence, OpenReason, PrincipalDiagnosis

_ELSEWHERE = frozenset({"title", "keyword"})
K = TypeVar("K", bound=Key)
RIVAL = 0.5
"""Share of the best one's chance from which another holds alike."""


@dataclass(frozen=True)
class Ranked:
    """The candidates of one case and how likely each is its diagnosis.

    Attributes:
        reading: where they were found.
        named: diseases named in words.
        same: those of them that each concept is.
        features: of every candidate.
        weights: of the features.
    """

    reading: Reading
    named: Sequence[Named]
    same: Mapping[str, Sequence[int]]
    features: Mapping[Key, score.Features]
    weights: Mapping[str, float] = field(default_factory=score.weights)

    @property
    def found(self) -> Mapping[str, Candidate]:
        """Concepts; what is first named by a sentence chosen for another one is none of them."""
        found = self.reading.found
        return {concept: item for concept, item in found.items() if concept in self.features}

    @property
    def is_unmatched(self) -> bool:
        """Whether title or statements name the diagnosis in words that are no concept."""
        return self.reading.is_unmatched or self.reading.is_titled_unmatched

    @functools.cached_property
    def chances(self) -> Mapping[Key, float]:
        """The chance of every candidate, and of none."""
        return score.chances(self.features, self.weights)

    def best(self, keys: Iterable[K]) -> K | Literal[""]:
        """The likeliest of some candidates, by name or place of equal ones; NONE of no candidates."""
        return max(keys, key=lambda key: (self.chances[key], str(key)), default="")

    def is_outdone(self, best: str) -> bool:
        """Whether a disease named in words is likelier than a concept, and no name of the vocabulary."""
        key = self.best(key for key in self.chances if isinstance(key, int))
        if not isinstance(key, int) or self.chances[key] <= self.chances[best]:
            return False
        return not self.reading.is_mentioned(self.named[key].topic)

    def grounded(self) -> Grounded:
        """What the names of the vocabulary in the sentences are to the likeliest concept."""
        best = self.best(self.found)
        is_known = bool(best) and not self.is_outdone(best)

        def kind(concept: str) -> Kind:
            concepts = self.reading.concepts
            if is_known and (concept == best or concepts.is_above(best, concept)):
                return "concept"
            if is_known and concepts.is_above(concept, best):
                return "wider"
            return "disease" if concepts.kind(concept) == "disease" else "finding"

        names = [
            [
                Name(mention.start - sentence.start, mention.end - sentence.start, kind(mention.concept))
                for mention in self.reading.mentioned(sentence)
            ]
            for sentence in self.reading.story.sentences
        ]
        return Grounded(names, is_known)

    def phrase(self) -> str:
        """Words for the likeliest candidate of all; '' where none is named, or by the title as a whole."""
        key = self.best(key for key in self.chances if key != score.NONE)
        if isinstance(key, int):
            return self.named[key].phrase
        if key not in self.found:
            return ""
        words = [self.named[at] for at in self.same[key]]
        if not words:
            return self.found[key].name
        if not all(item.phrase for item in words):
            return ""  # the title says it, and what goes with it
        return max(words, key=lambda item: score.of_words(item, self.weights)).phrase


def ranked(case: Case, story: Story, texts: Texts, concepts: Concepts) -> Ranked:
    """The candidates of a case with all that speaks for them.

    Args:
        case: the case.
        story: its sentences.
        texts: what else it is read from.
        concepts: kinds and hierarchy of the vocabulary.
    """
    reading = Reading(case, story, texts, concepts)
    found = reading.read()
    named = list(named_in(story, texts.rest))
    same = score.agreeing(named, reading.called())
    return Ranked(
        reading=reading,
        named=named,
        same=same,
        features=score.with_words(score.features(found, concepts), named, same),
    )


def principal(case: Case, texts: Texts, concepts: Concepts) -> PrincipalDiagnosis:
    """The principal diagnosis of a case, or an open one with its reason, and where it is stated.

    Args:
        case: the case.
        texts: what else it is read from.
        concepts: kinds and hierarchy of the vocabulary.
    """
    story = story_of(case, {**texts.continued, **texts.passages}, texts.headed)
    told = ranked(case, story, texts, concepts)
    topic = texts.rest.topic_of(told.phrase())
    stated = [
        statement(story.sentences[at], rule)
        for at, rule in select(story.texts, topic, story.headed, told.grounded())
    ]
    for item in stated:
        told.reading.read_statement(item)
    said = (*texts.titles, *stated)
    keywords = in_keywords([keyword.text for keyword in texts.keywords], said)
    return replace(_decided(case, told, concepts), statements=(*said, *keywords))


def _decided(case: Case, told: Ranked, concepts: Concepts) -> PrincipalDiagnosis:
    """The likeliest concept where it is likely enough, or why the case is open."""
    found, chances = told.found, told.chances
    best = told.best(found)
    is_unmatched = told.is_unmatched or told.is_outdone(best)
    if all(item.is_finding for item in found.values()):
        return _open(case, "not_in_vocabulary" if is_unmatched else "not_named")
    chosen = _narrowed(found[best], found, chances, concepts)
    confidence = round(_with_wider(chosen, chances, concepts), 2)
    if confidence < score.enough() or not chosen.places:
        is_beaten = told.is_outdone(best) or chances[score.NONE] > chances[chosen.concept]
        if not chosen.places or is_beaten or told.reading.is_titled_unmatched:
            return _open(case, "not_in_vocabulary" if is_unmatched else "unsure", [chosen])
        alike = [item for item in found.values() if chances[item.concept] >= RIVAL * chances[chosen.concept]]
        return _open(case, "ambiguous" if len(alike) > 1 else "unsure", alike)
    return PrincipalDiagnosis(
        case_id=case.id,
        article_id=case.article_id,
        concept=chosen.concept,
        name=chosen.name,
        rule=_rule(chosen, found, concepts),
        confidence=confidence,
        evidence=_evidence(chosen, found, concepts),
    )


def _narrowed(
    best: Candidate, found: Mapping[str, Candidate], chances: Mapping[Key, float], concepts: Concepts
) -> Candidate:
    """The likeliest kind of a candidate that is nearly as likely, or the candidate: both say the same."""
    kinds = [
        item
        for item in found.values()
        if item.places
        and concepts.is_above(best.concept, item.concept)
        and chances[item.concept] >= RIVAL * chances[best.concept]
    ]
    return max(kinds, key=lambda item: (chances[item.concept], item.concept), default=best)


def _with_wider(best: Candidate, chances: Mapping[Key, float], concepts: Concepts) -> float:
    """The chance of a candidate and of those it is a kind of: what is said of them is said of it."""
    wider = sorted(concepts.ancestors(best.concept).intersection(chances))
    return min(1.0, chances[best.concept] + sum(chances[concept] for concept in wider))


def _wider(best: Candidate, found: Mapping[str, Candidate], concepts: Concepts) -> list[Candidate]:
    """What a candidate is a kind of and that is named too, as the diagnosis or by a word of its name.

    What is said of it is said of the kind: "the lymphoma". A sign that a vocabulary files above a disease is
    another thing.
    """
    words = _words(best)
    wider = (found[concept] for concept in sorted(concepts.ancestors(best.concept) & found.keys()))
    return [
        other for other in wider if other.places and (other.is_main or not words.isdisjoint(_words(other)))
    ]


def _words(item: Candidate) -> set[str]:
    named = " ".join([item.name, *(there.text for there in item.evidence.values())])
    return {word.rstrip("s") for word in re.findall(r"[^\W\d_]{4,}", named.lower())}


def _rule(best: Candidate, found: Mapping[str, Candidate], concepts: Concepts) -> str:
    """The places that name a diagnosis, statements first; case where the story alone does."""
    places = best.places.union(*(other.places for other in _wider(best, found, concepts)))
    named = [*sorted(places - _ELSEWHERE), *sorted(places & _ELSEWHERE, reverse=True)]
    return "+".join(named) or "case"


def _evidence(
    best: Candidate, found: Mapping[str, Candidate], concepts: Concepts
) -> tuple[DiagnosisEvidence, ...]:
    """The mentions a decision rests on."""
    evidence = {
        key: value for other in _wider(best, found, concepts) for key, value in other.evidence.items()
    }
    evidence |= best.evidence
    return tuple(evidence[key] for key in sorted(evidence))


def _open(case: Case, reason: OpenReason, between: Iterable[Candidate] = ()) -> PrincipalDiagnosis:
    contenders = tuple(sorted(candidate.concept for candidate in between))
    return PrincipalDiagnosis(
        case_id=case.id, article_id=case.article_id, reason=reason, contenders=contenders
    )
