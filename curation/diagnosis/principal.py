"""The principal diagnosis of one case: the candidate clearly ahead of every other, or an open case and why.

A case stays open when two hold alike, when what it is diagnosed with is no concept, or when nothing is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from curation.diagnosis.candidate import Candidate
from curation.diagnosis.candidates import FULL_TITLE, Reading, Texts
from curation.diagnosis.concepts import Concepts
from schemas.case import Case
from schemas.diagnosis import OpenReason, PrincipalDiagnosis

MARGIN = 1.5
"""Points the best must be ahead of the next; beside an unknown one, have from elsewhere than the title."""

STATED = 2.0
"""Points that statements must give to a diagnosis that the title does not name."""
_BESIDE = frozenset({"keyword", "case", "often", "discussion"})

INFERRED = 0.45
"""Most confidence in a diagnosis that no place states: too little to pair patients by."""


def principal(case: Case, texts: Texts, concepts: Concepts) -> PrincipalDiagnosis:
    """The principal diagnosis of a case, or an open one with its reason.

    Args:
        case: the case with its statements.
        texts: what else it is read from.
        concepts: kinds and hierarchy of the vocabulary.
    """
    reading = Reading(case, texts, concepts)
    reading.read()
    ranked = reading.ranked()
    is_unmatched = reading.is_unmatched or reading.is_titled_unmatched
    if not _is_enough(ranked) and not is_unmatched:
        reading.read_story()
        ranked = reading.ranked()
    if not _is_enough(ranked):
        named: OpenReason = "unsure" if reading.names_disease() else "not_named"
        return _open(case, "not_in_vocabulary" if is_unmatched else named)
    best = _foremost(ranked)
    if (reading.is_unmatched and not best.is_main) or (
        reading.is_titled_unmatched and "title" not in best.points
    ):
        return _open(case, "not_in_vocabulary")
    if _is_only_keyword(best):
        reading.read_story()
        ranked = reading.ranked()
        best = _foremost(ranked)
        if _is_only_keyword(best):
            return _open(case, "unsure", [best])
    beside = reading.beside if best.concept not in reading.beside else frozenset[str]()
    rivals = [
        other
        for other in ranked
        if other is not best and other.concept not in beside and _is_rival(best, other)
    ]
    if best.is_finding and not best.is_stated:
        return _open(case, "unsure", [best])
    if not (best.is_stated and "title" in best.points) and (prevailing := reading.prevailing(best)):
        rivals.append(prevailing)
    stated = sum(points for rule, points in best.points.items() if rule not in ("title", "case", "often"))
    if rivals or (reading.has_unknown and stated < MARGIN):
        return _open(case, "ambiguous", [best, *rivals])
    return _decided(case, best, max((other.total for other in ranked if other is not best), default=0.0))


def _foremost(ranked: Sequence[Candidate]) -> Candidate:
    """The first; a disease only the title names gives way to a stated one that the article is about."""
    best = ranked[0]
    if best.is_only_titled:
        stated = (other for other in ranked if other.is_stated and other.is_enough)
        return next((other for other in stated if other.prevails_over(best)), best)
    return best


def _is_rival(best: Candidate, other: Candidate) -> bool:
    """Whether the case may as well have the other."""
    if best.is_only_titled and other.is_stated:
        return not best.prevails_over(other)
    if best.is_stated and other.is_only_titled and best.prevails_over(other):
        return False
    ahead = best.total - other.total
    if "title" in best.points and "title" in other.points:  # talk does not choose between the two
        ahead += other.points.get("often", 0.0) - best.points.get("often", 0.0)
    return other.is_named and ahead < MARGIN


def _is_only_keyword(best: Candidate) -> bool:
    """Whether nothing but a keyword names it: what a report has to do with, not what its patient has."""
    if "title" in best.points or "keyword" not in best.points or "story" in best.points:
        return False
    stated = sum(points for rule, points in best.points.items() if rule not in _BESIDE)
    return stated < STATED


def _is_enough(ranked: Sequence[Candidate]) -> bool:
    return bool(ranked) and ranked[0].is_enough


def _open(case: Case, reason: OpenReason, between: Iterable[Candidate] = ()) -> PrincipalDiagnosis:
    contenders = tuple(sorted(candidate.concept for candidate in between))
    return PrincipalDiagnosis(
        case_id=case.id, article_id=case.article_id, reason=reason, contenders=contenders
    )


def _decided(case: Case, best: Candidate, next_best: float) -> PrincipalDiagnosis:
    """Confidence is how far ahead of the next it is, and how much speaks for it at all."""
    ahead = best.total / (best.total + next_best)
    most = INFERRED if "story" in best.points else 1.0
    much = min(1.0, best.total / (2 * FULL_TITLE))
    named = sorted(best.points.items(), key=lambda item: (-item[1], item[0]))
    return PrincipalDiagnosis(
        case_id=case.id,
        article_id=case.article_id,
        concept=best.concept,
        name=best.name,
        rule="+".join(rule for rule, points in named if points and rule not in ("case", "often")) or "case",
        confidence=min(most, round(ahead * (0.5 + 0.5 * much), 2)),
        evidence=tuple(best.evidence[key] for key in sorted(best.evidence)),
    )
