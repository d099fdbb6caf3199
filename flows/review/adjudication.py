"""Adjudication of a review: gives disputed items to a third person, and writes verdicts with their log."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.adjudication import DISPUTES, Disputed
from annotation.assignment import Person, read_people
from annotation.verdicts import RULES, Terms
from flows.engine.workspace import Workspace
from flows.review.calibration import review_settings
from flows.review.progress import next_step
from flows.review.store import ReviewFolder, review_folders
from flows.review.verdicts import Resolved, settle, terms_of
from schemas.errors import UsageError
from schemas.review import Allotment
from schemas.spec import Review
from schemas.wording import counted

DISPUTED = "disputed.json"
"""What an adjudicator is shown of the readers' answers, by candidate; no pseudonyms."""
ADJUDICATOR = "ADJ1"
"""Pseudonym of the third person when nobody is named."""


def adjudicate(
    folder: ReviewFolder,
    people: Sequence[Person] = (),
    review: Review | None = None,
    *,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Bring verdicts, log and adjudicators' allotments up to date with the answers; a rerun changes nothing.

    Args:
        folder: the review.
        people: who may adjudicate; whoever did before, else ADJ1, when none is named.
        review: what the dataset's spec says of reviews.
        dry_run: write nothing.

    Returns:
        JSON values: disputed items with reason and adjudicator, and how many verdicts rest on which rule.

    Raises:
        InputError: the log does not fit the annotations.
    """
    terms = terms_of(folder, review)
    made = settle(folder, terms, people or _adjudicators(folder.allotments()), dry_run=dry_run)
    if not dry_run:
        folder.write_json(DISPUTED, _shown(folder.json(DISPUTED), made.disputed))
    return _told(folder, made, terms, dry_run)


def _told(folder: ReviewFolder, made: Resolved, terms: Terms, dry_run: bool) -> dict[str, Any]:
    whose = {row.candidate_id: row.annotator for row in folder.allotments() if row.role == "adjudicator"}
    return {
        "review": f"{folder.path.parent.name}/{folder.path.name}",
        "per_item": terms.per_item,
        "candidates": len(folder.candidates()),
        "disputed": [
            {
                "candidate_id": row.candidate_id,
                "reason": row.reason,
                "adjudicator": whose.get(row.candidate_id),
            }
            for row in made.disputed
        ],
        "new_allotments": made.allotted,
        "nobody_left": sorted(made.unassigned),
        "verdicts": len(made.verdicts),
        "without_grade": sum(row.grade is None for row in made.verdicts),
        "by_rule": dict(sorted(Counter(row.rule for row in made.verdicts).items())),
        "new_log_lines": made.added,
        "dry_run": dry_run,
        "next": "the same command without --dry-run" if dry_run else next_step(folder, terms),
    }


def adjudicate_all(
    workspace: Workspace,
    name: str = "",
    annotators: Path | None = None,
    spec: Path | None = None,
    *,
    dry_run: bool = False,
) -> list[dict[str, Any]]:
    """Adjudicate every review of a workspace, of a DATASET, or one DATASET/TASK.

    Raises:
        UsageError: there is none of that name, or the list of annotators or the spec cannot be used.
    """
    people: list[Person] = []
    if annotators is not None:
        try:
            people = read_people(annotators.read_text("utf-8"), str(annotators))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError("the list of annotators cannot be read", file=str(annotators)) from error
    found = [(dataset, folder) for dataset, _, folder in review_folders(workspace, name)]
    with contextlib.nullcontext() if dry_run else workspace.writing():
        return [
            adjudicate(folder, people, review_settings(dataset, spec), dry_run=dry_run)
            for dataset, folder in found
        ]


def _adjudicators(given: Sequence[Allotment]) -> list[Person]:
    names = sorted({row.annotator for row in given if row.role == "adjudicator"}) or [ADJUDICATOR]
    return [Person(name, adjudicates=True) for name in names]


def _shown(before: dict[str, Any], disputed: Sequence[Disputed]) -> dict[str, Any]:
    """The readers' answers by candidate; those of items decided meanwhile stay as they were shown."""
    return before | {
        item.candidate_id: {"reason": item.reason, "rationales": list(item.rationales)} for item in disputed
    }


def describe(made: dict[str, Any]) -> str:
    """An adjudication in words."""
    tense = "would get" if made["dry_run"] else "got"
    lines = [
        f"{made['review']}: {counted(made['verdicts'], 'verdict')} of {counted(made['candidates'], 'item')}"
    ]
    lines += [
        f"  {counted(count, 'verdict')} by {rule}: {RULES[rule]}" for rule, count in made["by_rule"].items()
    ]
    if made["without_grade"]:
        lines.append(f"  {made['without_grade']:,} of them without a grade: nobody could judge the item.")
    reasons = Counter(row["reason"] for row in made["disputed"])
    lines.append(f"{counted(len(made['disputed']), 'item')} for an adjudicator")
    lines += [f"  {counted(count, 'item')}: {DISPUTES[reason]}" for reason, count in sorted(reasons.items())]
    new = counted(made["new_allotments"], "item")
    if made["new_allotments"]:
        lines.append(f"  {new} {tense} an adjudicator.")
    if made["nobody_left"]:
        lines.append(
            f"  nobody is left to adjudicate {counted(len(made['nobody_left']), 'item')}: name more people."
        )
    lines.append(f"next: {made['next']}")
    return "\n".join(lines)
