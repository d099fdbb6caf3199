"""The principal diagnosis of one case: the candidate likely enough to be it, or an open case and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from curation.diagnosis import score
from curation.diagnosis.candidate import Candidate
from curation.diagnosis.candidates import Reading, Texts
from curation.diagnosis.concepts import Concepts
from schemas.case import Case
from schemas.diagnosis import DiagnosisEvidence, OpenReason, PrincipalDiagnosis

_ELSEWHERE = frozenset({"title", "keyword"})
RIVAL = 0.5
"""Share of the best one's chance from which another holds alike."""


def principal(case: Case, texts: Texts, concepts: Concepts) -> PrincipalDiagnosis:
    """The principal diagnosis of a case, or an open one with its reason.

    Args:
        case: the case with its statements.
        texts: what else it is read from.
        concepts: kinds and hierarchy of the vocabulary.
    """
    reading = Reading(case, texts, concepts)
    found = reading.read()
    is_unmatched = reading.is_unmatched or reading.is_titled_unmatched
    if all(item.is_finding for item in found.values()):
        return _open(case, "not_in_vocabulary" if is_unmatched else "not_named")
    none = score.of_none(reading.is_unmatched, reading.is_titled_unmatched)
    chances = score.chances(score.features(found, concepts), none)
    best = _narrowed(
        max(found.values(), key=lambda item: (chances[item.concept], item.concept)), found, chances, concepts
    )
    confidence = round(_with_wider(best, chances, concepts), 2)
    if confidence < score.enough() or not best.places:
        if chances[""] > chances[best.concept]:
            return _open(case, "not_in_vocabulary" if is_unmatched else "unsure", [best])
        alike = [item for item in found.values() if chances[item.concept] >= RIVAL * chances[best.concept]]
        return _open(case, "ambiguous" if len(alike) > 1 else "unsure", alike)
    return PrincipalDiagnosis(
        case_id=case.id,
        article_id=case.article_id,
        concept=best.concept,
        name=best.name,
        rule=_rule(best, found, concepts),
        confidence=confidence,
        evidence=_evidence(best, found, concepts),
    )


def _narrowed(
    best: Candidate, found: Mapping[str, Candidate], chances: Mapping[str, float], concepts: Concepts
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


def _with_wider(best: Candidate, chances: Mapping[str, float], concepts: Concepts) -> float:
    """The chance of a candidate and of those it is a kind of: what is said of them is said of it."""
    wider = sorted(concepts.ancestors(best.concept) & chances.keys())
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
    """The places that name a diagnosis, statements first."""
    places = best.places.union(*(other.places for other in _wider(best, found, concepts)))
    return "+".join([*sorted(places - _ELSEWHERE), *sorted(places & _ELSEWHERE, reverse=True)])


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
