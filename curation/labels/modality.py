"""Modality of a figure on two levels, from its caption, its panels, the sentences that cite it and its image.

What a clause of the caption names first is what it shows; methods it mentions elsewhere count less, and not
at all where it names a drawing, plot or table. A figure that names several modalities clearly carries them
all, the best told first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from curation.labels.caption import Clause, clauses, meant_otherwise
from curation.labels.lexicon import Entry, Hit
from curation.labels.taxonomy import Taxonomy, load
from curation.labels.votes import Tallies, Tally, confidence, decided, undecided
from schemas.label import Label, LabelEvidence, Place

NAMED = 4.5
"""Points of a strong phrase in words that name what a clause shows."""
TOLD = 3.0
"""Points of one elsewhere."""
HEADED = 3.0
"""Points of a noun that heads the phrase that names what a clause shows."""
QUALIFIED = 1.0
"""Points of a weak phrase in what names a title or panel (`axial`, `mean`)."""
HINT = 0.5
"""Points of any other weak phrase or noun."""
MOST_HINTS = 1.0
CITED = 1.5
MOST = 9.0
NOUNS = ("noun", "vague")
DRAWN = frozenset({"chart", "diagram", "table", "gel", "sequence", "structure", "equation", "screenshot"})
"""Groups of what is drawn, plotted or listed: methods that a clause on such a thing names are its matter."""
SECTIONS = frozenset({"ct", "mri"})
"""Images of sections, by whatever they are made for."""
STUDIES = frozenset({"angiography", "fluoroscopy"})
"""Studies with contrast, made by X-rays unless another way is named."""
IMAGE_KIND = 1.5
MIN_POINTS = 1.5
CLEAR = 3.0
ENOUGH = 5.0
MAX_MODALITIES = 4
DIAGRAM = "diagram"
_IMAGE_WORDS = re.compile(
    r"(?:[\W\d]|\b(?:images?|imaging|scans?|views?|pictures?|findings?|sections?|slices?|series|staining|stains?"
    r"|photographs?|micrographs?|recordings?|traces?|tracings?|waveforms?|signals?|and|or)\b)*"
    r"(?:\b(?:of|from|by|de|do|da)\b.*)?",
    re.IGNORECASE,
)
_PATTERNS = (
    ("electron", "magnification", re.compile(r"[×xX] ?\d{1,3}[ ,]\d{3}\b|\b\d{1,3},\d{3} ?[×xX]"), 2.5),
    ("chart", "statistics", re.compile(r"\b[pP] ?[<=>≤] ?0?[.,]\d|\b[nN] ?= ?\d"), 0.6),
    ("pathology", "magnification", re.compile(r"[×xX] ?\d{2,3}\b(?![,.]\d)|\b\d{2,3} ?×"), 0.6),
)
"""What figures in a caption say: magnifications and test statistics."""
_SEEN = re.compile(
    r"\b(?:(?<!hairy )hair|alopecia|hirsut\w+|hypertrichosis|eyebrows|eyelashes|caf[eé][- ]au[- ]lait"
    r"|vitiligo|(?:lax|redundant|thickened|wrinkled|peeling) skin|blisters|ecchymos[ei]s|petechiae|purpura"
    r"|jaundice|cyanosis|acanthosis nigricans|striae|xanthelasmas?|freckl\w+|finger-?nails?|toe-?nails?"
    r"|digital clubbing|clubbing of the|koilonychia|contractures? of the (?:fingers?|toes?|hands?)"
    r"|webbed (?:neck|toes)|facial asymmetry|moon face|low-set ears|(?:small|buried) penis|micropenis"
    r"|ambiguous genitalia)\b",
    re.IGNORECASE,
)
"""Signs that are looked at from outside: a caption that names no way of making images shows a photograph."""
_COUNTED = re.compile(
    r"\b(?:cells?|follicles?|shafts?|participants|patients|cases|groups?|mice|mouse|rats?|prevalence|incidence"
    r"|levels?|concentrations?|cortisol|risk|scores?|rates?|models?|effects?|days?|weeks?|months?)\b|%",
    re.IGNORECASE,
)
"""Words of captions in which a sign is counted, followed over time or looked at closely."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One modality of a figure: group, leaf ('' when it cannot be told), points and reasons."""

    group: str
    leaf: str
    points: float
    evidence: tuple[LabelEvidence, ...]
    at: int


def points(
    caption: str, citing: Sequence[str] = (), kinds: Sequence[str] = (), starts: Sequence[int] = ()
) -> Tallies:
    """Points of every group and leaf for one figure.

    Args:
        caption: its caption without the label.
        citing: sentences of the text that cite it.
        kinds: kinds of its images as the images stage decided them.
        starts: offsets of its panels' sub-captions.
    """
    reasons = _Reasons(meant_otherwise(caption, load("modality")))
    title = ""
    for number, clause in enumerate(clauses(caption, starts)):
        ruler = reasons.read(clause, is_first=number == 0, title=title)
        title = title or (ruler if number == 0 else "")
    found = reasons.tallies()
    if not any(tally.points >= MIN_POINTS for tally in found.values()):
        for clause in (clause for sentence in citing for clause in clauses(sentence)):
            reasons.read_citing(clause)
        found = reasons.tallies()
    seen = None if _COUNTED.search(caption) else _SEEN.search(caption)
    if seen and _tells_no_other(found, kinds):
        found.setdefault("clinical", Tally()).add(
            "modality.clinical.sign", "caption", seen.group(), MIN_POINTS
        )
    for kind in sorted(set(kinds)):
        if kind == _group(kind):
            found.setdefault(kind, Tally()).add(f"modality.{kind}.image", "image", kind, IMAGE_KIND)
    return found


def _tells_no_other(found: Tallies, kinds: Sequence[str]) -> bool:
    """Whether nothing speaks for anything but a photograph, and that weakly."""
    groups = {_group(label) for label in found} | {kind for kind in kinds if kind == _group(kind)}
    return groups <= {"photograph"} and all(tally.points < MIN_POINTS for tally in found.values())


def clauses_of(caption: str, groups: Sequence[str], starts: Sequence[int] = ()) -> list[Clause]:
    """The clauses of a caption that tell of the body: not those of its charts and drawings.

    Args:
        caption: the caption.
        groups: groups of the figure's modalities, and `anatomy` where that is one.
        starts: offsets of its panels' sub-captions.
    """
    if "anatomy" in groups:
        return clauses(caption, starts)
    words = load("modality").words
    kept: list[Clause] = []
    is_drawn = False
    for number, clause in enumerate(clauses(caption, starts)):
        hits = words.find(clause.text)
        is_ruled = bool(_ruler(clause, hits))
        is_drawn = is_drawn or (is_ruled and number == 0)
        is_like = not groups and any(_is_drawn(hit) for hit in hits if clause.names(hit.start))
        if not (is_ruled or is_like) and (clause.is_panel or not is_drawn):
            kept.append(clause)
    return kept


class _Reasons:
    """What speaks for each label of one figure: every phrase once, where it is worth most."""

    def __init__(self, ignored: Collection[str]) -> None:
        self._ignored = ignored
        self._found: dict[tuple[str, str], tuple[float, str, Place, str]] = {}

    def read(self, clause: Clause, *, is_first: bool, title: str) -> str:
        """Read a clause of the caption.

        Args:
            clause: the clause.
            is_first: the caption begins with it.
            title: the group of what is drawn, as the figure's title says, '' where it says nothing of the
                kind: later sentences tell what it is about, panels of a diagram show only what they head.

        Returns:
            The group of the word for something drawn, plotted or listed that names what the clause shows.
        """
        hits = [hit for hit in _found(clause.text) if hit.text not in self._ignored]
        named = [hit for hit in hits if clause.names(hit.start)]
        ruler = _ruler(clause, hits)
        is_about = bool(ruler) or (bool(title) and not clause.is_panel)
        is_about = is_about or (clause.is_statistical and all(map(_is_drawn, named)))
        is_step = title == DIAGRAM and clause.is_panel
        for hit in hits:
            is_shown = not is_about and (not is_step or _is_shown(clause, hit))
            for entry in hit.entries:
                if not is_shown and _group(entry.label) not in DRAWN:
                    continue
                worth = _worth(entry, hit, clause, is_title=is_first or clause.is_panel)
                if entry.strength in NOUNS and not (ruler and _may_rule(entry, clause, is_first)):
                    worth = HINT
                self._add(entry.label, entry.strength, entry.phrase, worth, "caption", hit.text)
        for label, rule, pattern, worth in _PATTERNS:
            if (seen := pattern.search(clause.text)) and not (is_about and _group(label) not in DRAWN):
                self._add(label, rule, rule, worth, "caption", seen.group())
        return ruler

    def read_citing(self, clause: Clause) -> None:
        """Read a sentence that cites the figure: only images it names first, `An ECG was made (Fig. 1)`."""
        for hit in load("modality").words.find(clause.text):
            for entry in hit.entries:
                if (
                    clause.names(hit.start)
                    and entry.strength == "strong"
                    and _group(entry.label) not in DRAWN
                ):
                    self._add(entry.label, "strong", entry.phrase, CITED, "citing sentence", hit.text)

    def _add(self, label: str, rule: str, phrase: str, worth: float, place: Place, text: str) -> None:
        if worth > self._found.get((label, phrase), (0.0,))[0]:
            self._found[label, phrase] = (worth, f"modality.{label}.{rule}", place, text)

    def tallies(self) -> Tallies:
        """Points by label; hints give a label no more than MOST_HINTS."""
        made: Tallies = {}
        hints: dict[str, float] = {}
        for (label, _), (worth, rule, place, text) in self._found.items():
            given = min(worth, MOST - made[label].points if label in made else MOST)
            if worth <= HINT:
                given = min(given, MOST_HINTS - hints.get(label, 0.0))
                hints[label] = hints.get(label, 0.0) + max(given, 0.0)
            if given > 0:
                made.setdefault(label, Tally()).add(rule, place, text, given)
        return made


def _found(text: str) -> Iterator[Hit]:
    """Phrases of a clause, without a study with contrast that sections are made for: "CT urography"."""
    before = None
    for hit in load("modality").words.find(text):
        is_named_by = (
            before is not None and _labels(before) <= SECTIONS and text[before.end : hit.start] in (" ", "-")
        )
        before = hit
        if not (is_named_by and _labels(hit) <= STUDIES):
            yield hit


def _labels(hit: Hit) -> set[str]:
    return {entry.label for entry in hit.entries}


def _worth(entry: Entry, hit: Hit, clause: Clause, *, is_title: bool) -> float:
    """Points of a phrase by its strength and place."""
    is_named = clause.names(hit.start)
    if entry.strength == "strong":
        return NAMED if is_named else TOLD
    if entry.strength == "view":
        return TOLD if is_named else QUALIFIED
    if entry.strength in NOUNS:
        return HEADED if is_named and clause.is_headed(hit.end) else HINT
    return QUALIFIED if is_named and is_title else HINT


def _may_rule(entry: Entry, clause: Clause, is_first: bool) -> bool:
    """Whether a noun may decide: in a title or a panel, of a chart in a statistical clause as well."""
    is_statistical = clause.is_statistical and _group(entry.label) == "chart"
    return is_first or is_statistical or (clause.is_panel and entry.strength == "noun")


def _ruler(clause: Clause, hits: Sequence[Hit]) -> str:
    """The group of the last word that names what a clause shows where it is for something drawn, else ''.

    A noun gives way to an image that the phrase names before it, a vague one to any that the clause names.
    """
    named = [hit for hit in hits if clause.names(hit.start)]
    for hit in reversed(named):
        if _has(hit, "strong"):
            return _group(hit.entries[0].label) if _is_drawn(hit) else ""
        nouns = [strength for strength in NOUNS if _has(hit, strength)]
        if nouns and clause.is_headed(hit.end):
            others = hits if nouns == ["vague"] else named
            is_ruler = all(_is_drawn(other) for other in others if _has(other, "strong"))
            return _group(hit.entries[0].label) if is_ruler else ""
    return ""


def _is_shown(clause: Clause, hit: Hit) -> bool:
    """Whether a panel shows what a phrase names: nothing follows in its noun phrase but words for images.

    "CT images of the chest" is such a phrase, "EEG features" and "CT acquisition" are none.
    """
    rest = clause.text[hit.end : max(hit.end, clause.head)]
    return clause.names(hit.start) and _IMAGE_WORDS.fullmatch(rest) is not None


def _has(hit: Hit, strength: str) -> bool:
    return any(entry.strength == strength for entry in hit.entries)


def _group(label: str) -> str:
    """The group of a label, a group's own name, '' for what is no label."""
    entity = load("modality").labels.get(label)
    return "" if entity is None else entity.parent or label


def _is_drawn(hit: Hit) -> bool:
    return all(_group(entry.label) in DRAWN for entry in hit.entries)


def choose(tallies: Mapping[str, Tally], caption: str) -> list[Choice]:
    """Modalities of a figure, best first: the leading one, then others that the caption names clearly."""
    taxonomy = load("modality")
    made = [choice for group in _groups(taxonomy) for choice in _choices(taxonomy, group, tallies, caption)]
    made.sort(key=lambda item: (-item.points, item.at, item.group, item.leaf))
    if not made or made[0].points < MIN_POINTS:
        return []
    return [made[0], *(item for item in made[1:] if _is_clear(item))][:MAX_MODALITIES]


def _groups(taxonomy: Taxonomy) -> list[str]:
    return [name for name, entity in taxonomy.labels.items() if not entity.parent]


def _choices(taxonomy: Taxonomy, group: str, tallies: Mapping[str, Tally], caption: str) -> Iterator[Choice]:
    """A group's leaves that are told, or the group itself; its own words count for its best leaf."""
    own = tallies.get(group, Tally())
    leaves = [
        (name, tallies[name])
        for name, entity in taxonomy.labels.items()
        if entity.parent == group and name in tallies
    ]
    leaves.sort(key=lambda item: -item[1].points)
    told = [item for item in leaves if item[1].points >= MIN_POINTS]
    if not told:
        total = own.points + sum(tally.points for _, tally in leaves)
        evidence = (*own.evidence, *(item for _, tally in leaves for item in tally.evidence))
        if total > 0:
            yield Choice(group, "", total, evidence, _at(evidence, caption))
        return
    for number, (name, tally) in enumerate(told):
        evidence = (*tally.evidence, *(own.evidence if number == 0 else ()))
        total = tally.points + (own.points if number == 0 else 0.0)
        yield Choice(group, name, total, evidence, _at(tally.evidence, caption))


def _at(evidence: Sequence[LabelEvidence], caption: str) -> int:
    """Where in the caption the first of its words stands."""
    places = [caption.find(item.text) for item in evidence if item.place == "caption"]
    return min((place for place in places if place >= 0), default=len(caption))


def _is_clear(choice: Choice) -> bool:
    """Whether a strong word of the caption names it: hints alone make no second modality."""
    return choice.points >= CLEAR and any(
        item.place == "caption" and item.rule.endswith(".strong") for item in choice.evidence
    )


def labels(
    figure: str,
    article: str,
    caption: str,
    citing: Sequence[str] = (),
    kinds: Sequence[str] = (),
    starts: Sequence[int] = (),
) -> Iterator[Label]:
    """Modalities of one figure, or why there is none; the arguments are those of `points`."""
    tallies = points(caption, citing, kinds, starts)
    chosen = choose(tallies, caption)
    if not chosen:
        near = [item for tally in tallies.values() for item in tally.evidence]
        yield undecided(figure, article, "modality", "weak_evidence" if near else "no_evidence", near)
        return
    for rank, item in enumerate(chosen, start=1):
        others = [other.points for other in chosen if other.group != item.group]
        sure = confidence(item.points, max(others, default=0.0) / 2, ENOUGH)
        yield decided(
            figure,
            article,
            "modality",
            rank,
            item.leaf or item.group,
            sure,
            Tally(item.points, list(item.evidence)),
            parent=item.group if item.leaf else "",
        )
