"""What speaks for a concept as the principal diagnosis of a case, and how much."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.diagnosis import DiagnosisEvidence

THRESHOLD = 3.0
"""Points it takes to be a diagnosis: a title, an explicit statement, or several weaker places."""
SEEN, TOLD = 1.5, 0.5
"""Points of a finding that was seen, and of being told of in the case at all."""
NO_STATEMENT = frozenset({"title", "keyword", "discussion", "case", "often", "story"})
_PREVAILING = 3
"""Mentions in the running text that make a disease one that the article is about."""


@dataclass(slots=True)
class Candidate:
    """A concept, what speaks for it, and how much."""

    concept: str
    name: str = ""
    points: dict[str, float] = field(default_factory=dict)
    evidence: dict[tuple[int, str, int], DiagnosisEvidence] = field(default_factory=dict)
    is_main: bool = False
    is_finding: bool = False
    count: int = 0

    @property
    def total(self) -> float:
        """Points of all places together."""
        return sum(self.points.values())

    @property
    def is_enough(self) -> bool:
        """Whether it may be a diagnosis: talk of it alone makes none."""
        often = self.points.get("often", 0.0)
        return self.total - often + min(often, TOLD) >= THRESHOLD

    def prevails_over(self, other: Candidate) -> bool:
        """Whether the article speaks of it far more than of another."""
        return self.count >= _PREVAILING and self.count >= 2 * other.count

    @property
    def stated(self) -> float:
        """Points of the sentences of the case that state a diagnosis."""
        return sum(points for rule, points in self.points.items() if rule not in NO_STATEMENT)

    @property
    def is_stated(self) -> bool:
        """Whether a sentence of the case states it to be the diagnosis, not as what is only likely."""
        return self.is_main and self.stated >= SEEN

    @property
    def is_only_titled(self) -> bool:
        """Whether the title names it, and no sentence of the case that states a diagnosis."""
        return "title" in self.points and self.stated < SEEN

    @property
    def is_named(self) -> bool:
        """Whether a better place than the discussion names it."""
        return any(rule not in ("discussion", "case", "often") for rule in self.points)
