"""The rule on one concept under two ids in two tasks: keys compare ids, names tell that two are one concept.

Names of targets are published as hashes salted with their concept (curation.release.target_names); the
names that queries are made of stand in `strings` as they are, so each can be looked up under every target of
a sibling.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Mapping

from curation.audit.dataset import Dataset
from curation.audit.rule import Check, Collector, Context, Defect, NotApplicable, Outcome, Rule, side
from curation.audit.rules.overlap_keys import absent_siblings
from curation.audit.rules.planting import new_row
from curation.release.target_names import name_hash, names_rows
from curation.tasks.registry import level
from schemas.audit import Coverage

RULE = "merged_targets"
_STRINGS, _TARGETS = "strings", "target_names"
_NAMED = """SELECT concept, name, min("query-id") AS q FROM strings WHERE name <> ''
    GROUP BY ALL ORDER BY ALL"""
_HASHED = "SELECT concept, name_hash FROM target_names ORDER BY ALL"
_MESSAGE = "a target of {ours} and a target of {theirs} have a name in common"


def _two_ids(context: Context) -> Outcome:
    """Targets of this task and of a sibling with other ids that share a name which a query is made of."""
    absent = absent_siblings(context)
    siblings = sorted(context.siblings, key=lambda item: (item.task, item.name))
    if not siblings and not absent:
        raise NotApplicable("the dataset is one task: nothing beside it to overlap with")
    found = Collector(RULE, "warn")
    compared, covered = 0, []
    missed = [f"siblings absent: {', '.join(absent)}; not covered"] if absent else []
    for sibling in siblings:
        if level(context.subject.task, sibling.task, "target_concept") != "zero":
            continue
        pairs = _compare(context, sibling, found)
        covered.append(Coverage(compared_with=sibling.name, compared=pairs, unit="names and targets"))
        compared += pairs
    outcome = found.outcome(compared)
    nothing = "" if compared or missed else "no query of the two tasks is made of a vocabulary's name"
    return dataclasses.replace(outcome, coverage=tuple(covered), missed="; ".join(missed), nothing=nothing)


def _compare(context: Context, sibling: Dataset, found: Collector) -> int:
    """Look names of either task up under the targets of the other; the number of look-ups."""
    beside = dataclasses.replace(context, subject=sibling, siblings=())
    compared = 0
    for one, other, is_ours in ((context, beside, True), (beside, context, False)):
        if _STRINGS not in one.subject.views or _TARGETS not in other.subject.views:
            continue
        named = one.rows(_NAMED, _STRINGS)
        hashes = _hashes(other)
        compared += len(named) * len(hashes)
        for row, target in _shared(named, hashes):
            here = side("queries", row["q"], row["concept"], dataset="" if is_ours else sibling.name)
            there = side(_TARGETS, target, target, dataset=sibling.name if is_ours else "")
            found.add(_MESSAGE.format(ours=one.subject.task, theirs=other.subject.task), here, there)
    return compared


def _hashes(context: Context) -> Mapping[str, frozenset[str]]:
    """Target concept -> hashes of its names."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in context.rows(_HASHED, _TARGETS):
        found[row["concept"]].add(row["name_hash"])
    return {concept: frozenset(hashes) for concept, hashes in found.items()}


def _shared(
    named: list[dict[str, str]], hashes: Mapping[str, frozenset[str]]
) -> Iterator[tuple[dict[str, str], str]]:
    """Names that are also one of another target."""
    for row in named:
        for concept, known in hashes.items():
            if concept != row["concept"] and name_hash(concept, row["name"]) in known:
                yield row, concept


def _planted() -> Defect:
    """A query of ours made of a name, and a sibling's target of another id that has this name."""
    ours, mine, theirs = "canary:two-ids", "CANARY:one", "CANARY:other"
    name = "linnet fever of sailors"
    rows = [
        new_row("queries", {"id": ours, "text": f"What causes “{name}”?", "language": "en"}),
        new_row("strings", {"query-id": ours, "name": name, "concept": mine, "language": "en"}),
        *(new_row("second.target_names", row) for row in names_rows(theirs, [("en", name)])),
    ]
    return Defect(
        "one concept under two ids in two tasks",
        "; ".join([*rows, f"SELECT '{ours}' AS one, '{theirs}' AS other"]),
        second="sibling",
    )


RULES = (
    Rule(
        RULE,
        1,
        "No concept under two ids in two tasks",
        "No name that a query is made of is, under another id, a name of a target concept of a sibling task: "
        "two ids for one concept would part what overlap_target_concept compares. A word with two meanings "
        "is such a name, too, so this is to be looked at, and no error.",
        "warn",
        "names and targets",
        checks=(Check("targets of two tasks share a name", _two_ids, _planted()),),
    ),
)
