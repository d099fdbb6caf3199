"""Makes the review of a task's own records from what its stages ask people: questions with a suspect key.

It needs no release: the items stand in the workspace, and most never get as far as a release. The review is
called as the stage is, beside the one of the task's pairs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from annotation.assignment import assign, numbered
from annotation.candidates import Ending
from curation.tasks.registry import REVIEW_STAGES
from flows.engine.register import read_register
from flows.engine.runner import read_rows, shards_of, table_files
from flows.engine.workspace import Workspace
from flows.review.candidates import Options, answered
from flows.review.privacy import hold_reported, hold_withdrawn, scan
from flows.review.reports import reported_in
from flows.review.store import ENDED, FRAME, SOURCES, ReviewFolder
from schemas.review import ReviewCandidate, ReviewItem
from schemas.stages import ReviewStage


def stages_asking(workspace: Workspace, task: str) -> list[ReviewStage]:
    """Review stages of a task, or of that name, which have asked people anything by now."""
    found = [stage for stage in REVIEW_STAGES.values() if task in (stage.task, stage.name)]
    return [stage for stage in found if items_of(workspace, stage)]


def items_of(workspace: Workspace, stage: ReviewStage) -> list[ReviewItem]:
    """What a stage asks people as it stands; nothing before it has run."""
    if not shards_of(workspace, stage.name):
        return []
    return read_rows(ReviewItem, table_files(workspace, f"{stage.name}.items"))


def prepare_items(
    workspace: Workspace, dataset: str, stage: ReviewStage, options: Options, folder: ReviewFolder
) -> dict[str, Any]:
    """Bring a review up to a stage's items: hold back, give out; what was given before stays.

    An item that the stage asks no more, or that is held back, is given to nobody any more; answers stay.

    Args:
        workspace: where the items stand.
        dataset: whose review it is.
        stage: what asks.
        options: people and how many of them see each item.
        folder: where the review is kept.

    Raises:
        UsageError: fewer people than an item needs.
    """
    before = folder.candidates()
    rows = items_of(workspace, stage)
    asked = [_candidate(dataset, stage, row) for row in rows]
    found = scan(asked, None, {})
    found.findings += hold_reported(asked, reported_in(workspace, dataset))
    found.findings += hold_withdrawn(asked, read_register(workspace))
    had, now = {item.id for item in before}, {item.id for item in asked}
    ends: dict[str, Ending] = {}
    for item in before:
        if item.id in found.held:
            ends[item.id] = "held_back"
        elif item.id not in now:
            ends[item.id] = "changed" if item.query_id in {one.query_id for one in asked} else "gone"
    live = [item for item in asked if item.id not in found.held]
    told = answered(folder)
    given = [
        row
        for row in folder.allotments()
        if row.candidate_id not in ends or (row.candidate_id, row.annotator) in told
    ]
    new = assign(live, list(options.people) or numbered(options.per_item), given, options.per_item)
    folder.write_candidates({item.id: item for item in (*before, *live)}.values())
    folder.write_held_back(found.findings)
    folder.write_allotments([*given, *new.allotments])
    folder.write_json(FRAME, {"per_item": options.per_item, ENDED: ends})
    folder.write_json(SOURCES, _sources(rows))
    return {
        "dataset": dataset,
        "task": stage.name,
        "folder": str(folder.path),
        "candidates": len(live),
        "new": sum(item.id not in had for item in live),
        "ended": dict(sorted(Counter(ends.values()).items())),
        "held_back": found.kinds(),
        "allotted": dict(sorted(Counter(row.annotator for row in (*given, *new.allotments)).items())),
        "short": len(new.short),
        "undrawn": 0,
        "calibration": {},
    }


def _candidate(dataset: str, stage: ReviewStage, row: ReviewItem) -> ReviewCandidate:
    return ReviewCandidate(
        id=row.id,
        dataset=dataset,
        task=stage.name,
        kind=stage.kind,
        query_id=row.unit,
        corpus_id="",
        shown=row.shown,
        origin="doubted",
        language=row.language,
    )


def _sources(rows: list[ReviewItem]) -> dict[str, list[str]]:
    """Collection or article -> licences of what is shown of it."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        found[row.article_id].add(row.license)
    return {name: sorted(given) for name, given in sorted(found.items())}
