"""The rule on near copies of queries in the other tasks of a release: equal ones share a key."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from curation.audit.dataset import Dataset
from curation.audit.pictures import is_hashed
from curation.audit.rule import (
    MAX_EXAMPLES,
    Check,
    Collector,
    Context,
    Defect,
    NotApplicable,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.duplicate_defects import LONG, SHORT, UNSPACED, near
from curation.audit.rules.duplicates import NEAR_TEXT
from curation.audit.rules.overlap_keys import absent_siblings
from curation.audit.rules.planting import new_row
from curation.audit.rules.text_rows import About, about, by_id
from curation.similarity.text.engine import Match, Texts, locate, near_pairs
from curation.tasks.registry import level
from schemas.audit import Coverage

RULE = "near_queries_across_tasks"


def _across_tasks(context: Context) -> Outcome:
    """Queries of this task that are nearly the same as one of a sibling."""
    absent = absent_siblings(context)
    siblings = sorted(context.siblings, key=lambda item: (item.task, item.name))
    if not siblings and not absent:
        raise NotApplicable("the dataset is one task: nothing beside it to overlap with")
    found = Collector(RULE, "error")
    compared = 0
    covered: list[Coverage] = []
    missed = [f"siblings absent: {', '.join(absent)}; not covered"] if absent else []
    for sibling in siblings:
        if level(context.subject.task, sibling.task, "query") != "zero":
            continue
        if "queries" not in sibling.views:
            missed.append(f"{sibling.name}: table absent: queries; not covered")
            continue
        compared += _compare(context, sibling, found, covered)
    covered += [
        Coverage(compared_with=task, compared=0, unit="pairs of queries", why="its files were not given")
        for task in absent
    ]
    outcome = found.outcome(compared)
    nothing = "" if compared or missed else "this task or every one beside it has no query with a word in it"
    return dataclasses.replace(outcome, coverage=tuple(covered), missed="; ".join(missed), nothing=nothing)


def _compare(context: Context, sibling: Dataset, found: Collector, covered: list[Coverage]) -> int:
    """Compare with one sibling; the number of pairs."""
    beside = dataclasses.replace(context, subject=sibling, siblings=())
    theirs = _texts(context, sibling)
    matches = near_pairs(context.queries, theirs)
    mine, others = context.queries.sketch.digests, theirs.sketch.digests
    near_ones = [pair for pair in matches.pairs if mine[pair.one_row] != others[pair.other_row]]
    kept = _same_targets(context, beside, near_ones)
    covered += matches.coverage(sibling.name, "pairs of queries")
    if left := len(near_ones) - len(kept):
        unit = "near-duplicate pairs on other target concepts: not a finding"
        covered.append(Coverage(compared_with=sibling.name, compared=left, unit=unit))
    room = max(0, MAX_EXAMPLES - len(found.kept))
    ours = by_id(context.queries, (pair.one for pair in kept[:room]))
    quoted = by_id(theirs, (pair.other for pair in kept[:room]))
    for place, pair in enumerate(kept):
        message = f"a query is {pair.value:.0%} the same as one of {sibling.task}"
        if place >= room:
            found.add(message)
            continue
        one, other = ours[pair.one], quoted[pair.other]
        shared = locate(one, other)
        found.add(
            message,
            side("queries", pair.one, one, *(shared.one if shared else ())),
            side("queries", pair.other, other, *(shared.other if shared else ()), dataset=sibling.name),
        )
    return matches.compared


def _texts(context: Context, sibling: Dataset) -> Texts:
    """A sibling's queries, sketched once for all audits of a command."""
    key = ("query texts", sibling.name, sibling.sha256, str(sibling.directory))
    known: Texts | None = context.shared.get(key)
    if known is None:
        known = context.texts_of(sibling, "queries", "queries")
        if is_hashed(sibling):
            context.shared[key] = known
    return known


def _same_targets(context: Context, beside: Context, pairs: Sequence[Match]) -> list[Match]:
    """Pairs but for those that both name target concepts and share none."""
    mine, theirs = about(context, {pair.one for pair in pairs}), about(beside, {pair.other for pair in pairs})
    kept = []
    for pair in pairs:
        one = mine.get(pair.one, About()).targets
        other = theirs.get(pair.other, About()).targets
        if not one or not other or one & other:
            kept.append(pair)
    return kept


def _near(what: str, name: str, text: str, changed: str) -> Defect:
    """A query of ours, and a near copy of it in a sibling; both invented."""
    ours, theirs = (f"canary:{name}-{number}" for number in (1, 2))
    mine = new_row("queries", {"id": ours, "text": text})
    copied = new_row("second.queries", {"id": theirs, "text": changed})
    plant = f"{mine}; {copied}; SELECT '{ours}' AS one, '{theirs}' AS other"
    return Defect(f"in a sibling task, {what}", plant, second="sibling")


RULES = (
    Rule(
        RULE,
        1,
        "No near-duplicate query in another task",
        (
            "No query is nearly the same as a query of a sibling task, unless both name target concepts and "
            f"share none; equal ones are found by overlap_query. {NEAR_TEXT}"
        ),
        "error",
        "pairs of queries",
        checks=(
            Check(
                "a query is nearly the same as one of another task",
                _across_tasks,
                (
                    _near("a query of 25 words, three changed", "long", LONG, near(LONG)),
                    _near(
                        "a short query with one letter less",
                        "short",
                        SHORT,
                        SHORT.replace("lanterns", "lantern"),
                    ),
                    _near(
                        "a query without spaces, two characters changed",
                        "unspaced",
                        UNSPACED,
                        UNSPACED[:-2] + "消し",
                    ),
                ),
                at_once=True,
            ),
        ),
    ),
)
