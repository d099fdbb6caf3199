"""Region of the body that a figure shows or a case is about, on two levels.

Words decide: the caption, sentences that cite the figure, concepts grounded in its caption. What they leave
open stays open. The regions and their parts are defined in region.toml.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from curation.labels import modality
from curation.labels.caption import meant_otherwise
from curation.labels.taxonomy import Taxonomy, load
from curation.labels.votes import Tallies, Tally, Weight, confidence, count_words, decided, undecided
from schemas.label import Label, LabelEvidence, Undecided

CAPTION = Weight(3.0, 0.6, 6.0)
OPENING_OF_CAPTION = Weight(1.5, 0.4, 2.0)
CITING = Weight(1.2, 0.2, 2.0)
CONCEPT = Weight(0.8, 0.2, 1.6)
STATEMENT = Weight(3.0, 0.6, 6.0)
TITLE = Weight(2.0, 0.4, 4.0)
OF_FIGURES = Weight(1.0, 0.2, 4.0)
MIN_POINTS = 1.5
MIN_ALONE = 1.1
MIN_LEAD = 0.4
"""Fewer points than MIN_POINTS are enough from MIN_ALONE on, with this lead over the next region."""
MIN_PART = 1.5
CLEAR = 3.0
ENOUGH = 5.0
MAX_ROWS = 4
ANATOMY = "anatomy"
"""The one kind of diagram that shows a part of a body."""
CLINICAL = frozenset({"radiology", "pathology", "endoscopy", "ophthalmology", "photograph", "signal"})
"""Groups of images that are of a patient: of others the text says more than they show."""
UNPLACED = frozenset({"skin", "whole_body"})
"""Regions that hold only where the words tell no other one."""
_HEAD = 70


@dataclass(frozen=True, slots=True)
class _Choice:
    """One region or part of one: points, reasons, where its first word stands."""

    region: str
    part: str
    points: float
    evidence: tuple[LabelEvidence, ...]
    at: int


def of_figure(
    caption: str,
    citing: Sequence[str] = (),
    names: Sequence[str] = (),
    groups: Sequence[str] = (),
    starts: Sequence[int] = (),
) -> Tallies:
    """Points of every region and part for one figure.

    Where nothing tells what kind of image it is, only words that name what is shown count: `Liver of a man`
    is one, `Risk of liver disease` is not. Text and concepts count where it is first an image of a patient.

    Args:
        caption: its caption without the label.
        citing: sentences of the text that cite it alone.
        names: vocabulary names of the concepts its caption affirms.
        groups: groups of its modalities, () when undecided.
        starts: offsets of its panels' sub-captions.
    """
    taxonomy, found = load("region"), Tallies()
    ignored = meant_otherwise(caption, taxonomy)
    shown = modality.clauses_of(caption, groups, starts)
    if not groups:
        heads = [clause.text[: clause.head] for clause in shown if clause.is_panel or clause is shown[0]]
        count_words(found, taxonomy, "caption", heads, CAPTION, ignored)
        return found
    texts = [clause.text for clause in shown]
    count_words(found, taxonomy, "caption", texts, CAPTION, ignored)
    count_words(found, taxonomy, "caption", [text[:_HEAD] for text in texts[:1]], OPENING_OF_CAPTION, ignored)
    if groups[0] in CLINICAL:
        count_words(found, taxonomy, "citing sentence", citing, CITING)
        count_words(found, taxonomy, "concept", names, CONCEPT)
    return found


def of_case(statements: Iterable[str], titles: Iterable[str], captions: Iterable[str]) -> Tallies:
    """Points of every region and part for one case.

    Args:
        statements: sentences that state its diagnosis.
        titles: the article's titles, where it tells of no other patient.
        captions: captions of the figures that show the patient.
    """
    taxonomy, found = load("region"), Tallies()
    count_words(found, taxonomy, "case", statements, STATEMENT)
    count_words(found, taxonomy, "title", titles, TITLE)
    count_words(found, taxonomy, "caption", captions, OF_FIGURES)
    return found


def labels(
    record: str, article: str, tallies: Tallies, text: str, groups: Sequence[str] = ()
) -> Iterator[Label]:
    """Regions of one figure or case, best first, or the one row that says why there is none.

    Args:
        record: figure or case id.
        article: article id.
        tallies: see `of_figure` and `of_case`.
        text: caption, in which places are compared; '' of a case.
        groups: groups of the figure's modalities and ANATOMY where that is one, () when undecided.
    """
    near = [item for tally in tallies.values() for item in tally.evidence]
    if groups and modality.DRAWN.issuperset(groups):
        yield undecided(record, article, "region", "not_anatomical")
        return
    chosen, reason = _choose(tallies, text)
    if not chosen:
        yield undecided(record, article, "region", reason, near)
        return
    for rank, item in enumerate(chosen, start=1):
        rival = max((other.points for other in chosen if other.region != item.region), default=0.0)
        yield decided(
            record,
            article,
            "region",
            rank,
            item.part or item.region,
            confidence(item.points, rival / 2, ENOUGH),
            Tally(item.points, list(item.evidence)),
            parent=item.region if item.part else "",
        )


def _choose(tallies: Mapping[str, Tally], text: str) -> tuple[list[_Choice], Undecided]:
    taxonomy = load("region")
    regions = [name for name, entity in taxonomy.labels.items() if not entity.parent]
    totals = {name: _total(taxonomy, name, tallies) for name in regions}
    placed = {name for name, points in totals.items() if points >= MIN_POINTS and name not in UNPLACED}
    held = [name for name in regions if totals[name] > 0 and (name not in UNPLACED or not placed)]
    if not held:
        return [], "no_evidence"
    order = sorted(held, key=lambda name: (-totals[name], regions.index(name)))
    lead = totals[order[0]] - (totals[order[1]] if len(order) > 1 else 0.0)
    if totals[order[0]] < MIN_ALONE or (totals[order[0]] < MIN_POINTS and lead < MIN_LEAD):
        return [], "weak_evidence"
    made = {name: list(_choices(taxonomy, name, tallies, text)) for name in order}
    clear = [name for name in order if any(map(_is_clear, made[name]))]
    if lead == 0 and not {order[0], order[1]} <= set(clear):
        return [], "tie"
    first = sorted(made[order[0]], key=_rank)
    others = [item for name in clear if name != order[0] for item in made[name] if _is_clear(item)]
    if lead == 0:
        both = sorted((*first, *(item for item in others if item.region == order[1])), key=_rank)
        rest = [item for item in others if item.region != order[1]]
        return [*both, *sorted(rest, key=_rank)][:MAX_ROWS], ""
    return [*first, *sorted(others, key=_rank)][:MAX_ROWS], ""


def _rank(item: _Choice) -> tuple[float, int, str, str]:
    return (-item.points, item.at, item.region, item.part)


def _total(taxonomy: Taxonomy, region: str, tallies: Mapping[str, Tally]) -> float:
    names = [name for name, entity in taxonomy.labels.items() if region in (name, entity.parent)]
    return round(sum(tallies[name].points for name in names if name in tallies), 4)


def _choices(taxonomy: Taxonomy, region: str, tallies: Mapping[str, Tally], text: str) -> Iterator[_Choice]:
    """A region's parts that are told, or the region itself; its own words count for its best part."""
    own = tallies.get(region, Tally())
    parts = [
        (name, tallies[name])
        for name, entity in taxonomy.labels.items()
        if entity.parent == region and name in tallies
    ]
    parts.sort(key=lambda item: -item[1].points)
    told = [item for item in parts if item[1].points >= MIN_PART]
    if not told and len(parts) == 1 and parts[0][1].points >= MIN_ALONE:
        told = parts
    if not told:
        evidence = (*own.evidence, *(item for _, tally in parts for item in tally.evidence))
        total = own.points + sum(tally.points for _, tally in parts)
        yield _Choice(region, "", round(total, 4), evidence, _at(evidence, text))
        return
    for number, (name, tally) in enumerate(told):
        evidence = (*tally.evidence, *(own.evidence if number == 0 else ()))
        total = tally.points + (own.points if number == 0 else 0.0)
        yield _Choice(region, name, round(total, 4), evidence, _at(evidence, text))


def _at(evidence: Sequence[LabelEvidence], text: str) -> int:
    """Where in the caption the first of its words stands."""
    places = [text.find(item.text) for item in evidence if item.place == "caption"]
    return min((place for place in places if place >= 0), default=len(text))


def _is_clear(choice: _Choice) -> bool:
    """Whether a strong word of its own names it: hints alone make no second region."""
    return choice.points >= CLEAR and any(item.rule.endswith(".strong") for item in choice.evidence)
