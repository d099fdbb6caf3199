"""Draws the calibration sample of a review: pairs of the judge's table, and unjudged results of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from annotation.candidates import Pair
from annotation.judge.sampling import NOT_JUDGED, PER_CELL, UNJUDGED, UNSTABLE, Mined, draw_pairs
from curation.tasks.registry import task_of
from flows.review.calibration import facts_of, shapers
from flows.review.release_texts import Published
from flows.review.store import CALIBRATION, ReviewFolder
from schemas.errors import UsageError
from schemas.grades import UNDECIDED
from schemas.review import CalibrationPair

JUDGED_IN = "en"
"""What a judge is asked about a question with translations: its own words."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `review push --calibration` asks for: pairs in all, and of each stratum first."""

    count: int
    per_cell: int = PER_CELL


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was judged: one model with one wording of its prompts."""

    model: str
    served_model: str
    prompt_sha256: str


def draw_calibration(
    task: Published, wanted: Wanted, folder: ReviewFolder, per_item: int
) -> tuple[list[CalibrationPair], dict[str, Any]]:
    """The sample and what calibration.json says of it; the sample so far, when no more is asked for.

    The first draw's release orders every later one, so that a larger sample holds the smaller.

    Raises:
        UsageError: the task has no judge's answers, several models judged it, or one annotator is too few.
    """
    told = folder.json(CALIBRATION)
    if told and wanted.count <= int(told["asked"]):
        return folder.calibration(), told
    if per_item < 2:
        raise UsageError(
            "a calibration needs two annotators for each item", hint="leave out --per-item, or give 2 or more"
        )
    if wanted.count < 1 or wanted.per_cell < 0:
        raise UsageError("--calibration is 1 or more, --per-cell 0 or more")
    head = task.manifest
    judges = judges_of(task)
    if len(judges) != 1:
        raise UsageError(
            "several models judged this task" if judges else "no model has judged a pair of this task",
            file=str(task.directory),
            hint="medqrels answer --spec SPEC, then medqrels release: a calibration is of one judge",
        )
    seed = str(told.get("seed") or head.release_hash)
    frame = list(_frame(task))
    made = draw_pairs(frame, wanted.count, wanted.per_cell, seed)
    return made, {
        "seed": seed,
        "asked": wanted.count,
        "per_cell": wanted.per_cell,
        "judge": asdict(judges[0]),
        "release": {"version": head.version, "release_hash": head.release_hash},
        "mined": len(task.judgements),
        **facts_of(task.judgements, shapers(head.stages, head.shaped_by, head.task)),
        "strata": dict(sorted(Counter(pair.stratum for pair in frame).items())),
    }


def judges_of(task: Published) -> list[Asked]:
    """Models that judged a task's pairs, by name."""
    found = {(row["model"], row["served_model"], row["prompt_sha256"]) for row in task.judgements}
    return [Asked(*one) for one in sorted(found) if one[0]]


def _frame(task: Published) -> Iterator[Mined]:
    """All that may be drawn: what the judge was to be asked about, and top results that nobody labelled.

    Whether a query was kept, released or excluded plays no part: a query is kept for what the judge said of
    it, and a sample of kept ones would be chosen by what it is to measure. A pair that people judged already
    stays in, too. Of translations there is one pair, the one that the judge saw.

    Raises:
        UsageError: the workspace no longer has a query that the judge was asked about.
    """
    between = task_of(task.manifest.task).between
    middle = between.score if between else None
    found = {pair.key for pair in task.pool}
    lost = {row["query-id"] for row in task.judgements} - task.queries.keys() - task.unreleased.keys()
    if lost:
        raise UsageError(
            f"{len(lost)} queries that were put to the judge are neither in the release nor in the workspace",
            file=str(task.directory),
            hint="draw where the release was made, or medqrels build and release again",
        )
    is_translated = task_of(task.manifest.task).by_language
    asked = set()
    for row in task.judgements:
        key = (row["query-id"], row["corpus-id"])
        asked.add(key)
        if is_translated and task.facets(key[0]).language != JUDGED_IN:
            continue
        reason = row["reason"]
        if row["score"] is None and reason not in UNDECIDED:
            stratum, judge = (UNJUDGED if key in found else NOT_JUDGED), None
        elif reason == UNSTABLE:
            stratum, judge = UNSTABLE, None
        else:
            stratum, judge = row["forward"], middle if row["score"] is None else row["score"]
        yield Mined(*key, stratum, judge, task.facets(key[0]))
    for pair in task.pool:
        if pair.key not in asked:
            yield Mined(*pair.key, UNJUDGED, None, pair.facets)


def as_pair(row: CalibrationPair, task: Published) -> Pair:
    """A drawn pair as one that a candidate is made of."""
    return Pair(row.query_id, row.corpus_id, "calibration", task.facets(row.query_id))
