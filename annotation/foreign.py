"""Answers that somebody gave in another person's project, and what maintainers decided about them.

Such an answer counts for nobody until a recorded decision assigns it to the person who gave it. The decision
holds the answer itself: it outlives the server.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from annotation.sync import ForeignAnswer, Lent
from schemas.review import Allotment, ReviewAnnotation, ReviewCandidate, Role

Choice = Literal["assigned", "ask_again"]
Held = tuple[int, ForeignAnswer]
"""An answer with its id on the server."""
Place = tuple[str, Role, str, str]


@dataclass(frozen=True, slots=True)
class Decision:
    """That an answer counts as one of the person who gave it, or for nobody; the last one holds."""

    decision: Choice
    answer: ForeignAnswer
    by: str
    why: str


@dataclass(slots=True)
class Decided:
    """What the decisions so far come to."""

    assigned: dict[Place, ForeignAnswer] = field(default_factory=dict)
    """By person and item: the answer as it was when it was assigned."""
    ignored: set[str] = field(default_factory=set)
    """Ids of answers that count for nobody."""
    ever: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """Person who gave it, candidate -> ids of annotations that ever were assigned."""

    def givers(self) -> set[str]:
        """Pseudonyms of those whose rows decisions have a say in."""
        return {name for name, _ in self.ever}


def decided(decisions: Iterable[Decision]) -> Decided:
    """Apply decisions in the order in which they were made."""
    made = Decided()
    for one in decisions:
        answer, where = one.answer, place(one.answer)
        if one.decision == "assigned":
            made.assigned[where] = answer
            made.ignored.discard(answer.id)
            made.ever[answer.given_by, answer.candidate_id].add(answer.annotation("").id)
        else:
            made.ignored.add(answer.id)
            if where in made.assigned and made.assigned[where].id == answer.id:
                del made.assigned[where]
    return made


def standing(found: Iterable[Held], state: Decided) -> list[Held]:
    """Answers that nobody has decided about; what an assigned one was changed to is a conflict instead."""
    listed = list(found)
    there = {answer.id for _, answer in listed}
    return [
        (number, answer)
        for number, answer in listed
        if answer.id not in state.ignored and not _is_assigned(answer, state, there)
    ]


def _is_assigned(answer: ForeignAnswer, state: Decided, there: set[str]) -> bool:
    chosen = state.assigned.get(place(answer))
    return chosen is not None and (chosen.id == answer.id or chosen.id not in there)


def lent(found: Iterable[Held], state: Decided, giver: str, task: str) -> dict[str, Lent]:
    """By candidate: one person's answers in other projects that count, or did until that was taken back.

    An assigned answer that is no longer on the server counts as it was assigned: whoever put it into the
    wrong project may clear it away there.

    Args:
        found: foreign answers of all projects as last seen.
        state: what was decided.
        giver: pseudonym.
        task: name of the task.
    """
    here: dict[Place, list[Held]] = defaultdict(list)
    for number, answer in found:
        if answer.given_by == giver and answer.is_readable and answer.id not in state.ignored:
            here[place(answer)].append((number, answer))
    rows: dict[str, list[tuple[str, int, ReviewAnnotation]]] = defaultdict(list)
    for where, chosen in sorted(state.assigned.items(), key=lambda item: item[1].id):
        if chosen.given_by != giver:
            continue
        same = [item for item in here[where] if item[1].id == chosen.id]
        for number, answer in (same[-1:] or here[where]) or [(0, chosen)]:
            rows[chosen.candidate_id].append((answer.at, number, answer.annotation(task)))
    return {
        candidate: Lent(tuple(rows[candidate]), frozenset(ids))
        for (name, candidate), ids in sorted(state.ever.items())
        if name == giver
    }


def objection(
    answer: ForeignAnswer,
    candidates: Mapping[str, ReviewCandidate],
    allotments: Sequence[Allotment],
    annotations: Iterable[ReviewAnnotation],
    state: Decided,
) -> str:
    """Why an answer cannot count as one of the person who gave it, '' if it can.

    Args:
        answer: the answer.
        candidates: by id.
        allotments: who reads what.
        annotations: answers that were taken, of any state.
        state: what was decided before.
    """
    name, item = answer.given_by, candidates.get(answer.candidate_id)
    if name.startswith("account "):
        return f"{name} has no pseudonym; list it with push --annotators and pull, or ask again"
    if not answer.is_readable:
        return "it does not fit the layout"
    if answer.role != "annotator":
        return "an adjudicator's project shows what the annotators answered"
    if item is None:
        return "its item is not one of this review"
    same = {row.id for row in candidates.values() if _pair(row) == _pair(item)}
    if any(
        row.role == "adjudicator" and row.annotator == name and row.candidate_id in same for row in allotments
    ):
        return f"{name} is the adjudicator of this pair"
    own = {
        row.id
        for row in annotations
        if row.annotator == name and row.candidate_id in same and row.state in ("current", "conflict")
    }
    for one in same:
        own -= state.ever.get((name, one), set())
    others = [one for one in state.assigned.values() if one.given_by == name and one.candidate_id in same]
    if own or any(place(one) != place(answer) for one in others):
        return f"{name} has answered this pair already: one person's answer would count twice"
    return ""


def _pair(item: ReviewCandidate) -> tuple[str, str]:
    return item.query_id, item.corpus_id


def place(answer: ForeignAnswer) -> Place:
    """Whose project, which item, and who answered there."""
    return answer.project_of, answer.role, answer.candidate_id, answer.given_by
