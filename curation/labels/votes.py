"""Points for labels: what each phrase gives by its place and strength, and how a decision comes of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from curation.labels.lexicon import Lexicon
from curation.labels.taxonomy import Taxonomy
from schemas.label import Facet, Label, LabelEvidence, Place, Undecided

MAX_EVIDENCE = 6
_TEXT = 80


@dataclass(frozen=True, slots=True)
class Weight:
    """Points of one different strong and weak phrase at a place, and the most one place may give a label."""

    strong: float
    weak: float
    most: float


@dataclass(slots=True)
class Tally:
    """Points of one label."""

    points: float = 0.0
    evidence: list[LabelEvidence] = field(default_factory=list)

    def add(self, rule: str, place: Place, text: str, points: float) -> None:
        """Count one reason."""
        self.points = round(self.points + points, 4)
        self.evidence.append(
            LabelEvidence(rule=rule, place=place, text=text[:_TEXT], points=round(points, 2))
        )


Tallies = dict[str, Tally]


def count_words(
    tallies: Tallies,
    taxonomy: Taxonomy,
    place: Place,
    texts: Iterable[str],
    weight: Weight,
    ignored: Collection[str] = (),
) -> None:
    """Count the phrases of all labels in the texts of one place, each once; ignored ones not."""
    _count(tallies, taxonomy.facet, taxonomy.words, place, texts, weight, ignored)


def count_fields(
    tallies: Tallies, taxonomy: Taxonomy, place: Place, texts: Iterable[str], points: float
) -> None:
    """Count what a journal title or subject heading names; a place gives a label its points once."""
    _count(tallies, taxonomy.facet, taxonomy.fields, place, texts, Weight(points, points, points))


def count_types(
    tallies: Tallies, taxonomy: Taxonomy, place: Place, texts: Iterable[str], points: float
) -> None:
    """Count article types and subject headings that state the label as such."""
    _count(tallies, taxonomy.facet, taxonomy.types, place, texts, Weight(points, points, points))


def _count(
    tallies: Tallies,
    facet: str,
    lexicon: Lexicon,
    place: Place,
    texts: Iterable[str],
    weight: Weight,
    ignored: Collection[str] = (),
) -> None:
    seen: set[tuple[str, str]] = set()
    given: dict[str, float] = {}
    for text in texts:
        for hit in lexicon.find(text):
            for entry in hit.entries if hit.text not in ignored else ():
                key = (entry.label, entry.phrase)
                worth = weight.weak if entry.strength == "weak" else weight.strong
                points = min(worth, weight.most - given.get(entry.label, 0.0))
                if key in seen or points <= 0:
                    continue
                seen.add(key)
                given[entry.label] = given.get(entry.label, 0.0) + points
                rule = f"{facet}.{entry.label}.{entry.strength}"
                tallies.setdefault(entry.label, Tally()).add(rule, place, hit.text, points)


def ranked(tallies: Mapping[str, Tally], order: Sequence[str]) -> list[tuple[str, float]]:
    """Labels by points, equal ones in the taxonomy's order; those without points are left out."""
    place = {name: number for number, name in enumerate(order)}
    found = [(name, tally.points) for name, tally in tallies.items() if tally.points > 0]
    return sorted(found, key=lambda item: (-item[1], place[item[0]]))


def confidence(points: float, rival: float, enough: float) -> float:
    """How sure a decision is: its share against the next label, less where it has not `enough` points."""
    if points <= 0:
        return 0.0
    share = points / (points + max(rival, 0.0))
    return round(share * min(1.0, points / enough), 2)


def decided(
    record: str,
    article: str,
    facet: Facet,
    rank: int,
    value: str,
    sure: float,
    tally: Tally,
    parent: str = "",
) -> Label:
    """A row for a label that was decided."""
    return Label(
        id=record,
        article_id=article,
        facet=facet,
        rank=rank,
        value=value,
        parent=parent,
        confidence=sure,
        evidence=strongest(tally.evidence),
    )


def undecided(
    record: str, article: str, facet: Facet, reason: Undecided, evidence: Iterable[LabelEvidence] = ()
) -> Label:
    """A row for a facet that was not decided, with what spoke for the labels that were near."""
    return Label(
        id=record,
        article_id=article,
        facet=facet,
        rank=1,
        value="",
        confidence=0.0,
        evidence=strongest(evidence),
        reason=reason,
    )


def strongest(evidence: Iterable[LabelEvidence]) -> tuple[LabelEvidence, ...]:
    """The reasons that gave most, as found among equals."""
    return tuple(sorted(evidence, key=lambda item: -item.points)[:MAX_EVIDENCE])
