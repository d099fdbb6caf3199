"""From answers to verdicts, and from verdicts to the labels of a release.

Verdicts of a workspace are brought into its stages as a table of their own, an input like any other; a task
without verdicts is built as if there were no review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from annotation.adjudication import Disputed, select, third_persons
from annotation.agreement.coefficients import Coefficient
from annotation.agreement.precision import Reviewed, RuleDecision, Stratum, decide, missed_positives, strata
from annotation.assignment import Person
from annotation.candidates import check_facets, group_of, stratum_of
from annotation.report.summary import overall
from annotation.report.words import COEFFICIENTS, DECISIONS, REASONS, UNMEASURED
from annotation.verdicts import ORDERED, RULES, Entry, Terms, counted, resolve
from curation.audit.copies import copies
from curation.release.reviewed import (
    REVIEWED,
    VERDICTS,
    CalibratedPair,
    Copied,
    JudgedAnswer,
    RuleUnderFloor,
    reviewed_stage,
)
from flows.engine.runner import execute, plan
from flows.engine.session import Session
from flows.engine.workspace import Workspace
from flows.review.agreement import scale_of
from flows.review.brought import bring
from flows.review.calibration import verdicts_of
from flows.review.store import BY_DOUBT, ENDED, FRAME, PRECISION, ReviewFolder, review_folder
from flows.review.tasks import task_for
from schemas.benchmark import Qrel, Query
from schemas.review import Allotment, ReviewAnnotation, ReviewCandidate, Verdict
from schemas.spec import DatasetSpec, Review

BROUGHT_VERSION = 4
SHOWN_FIGURES = (Coefficient.PERCENT, Coefficient.ALPHA_ORDINAL, Coefficient.AC2_LINEAR)
"""Figures of agreement that a card tells; all others are in the report of `review agreement`."""
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Resolved:
    """What today's answers come to. `unassigned` are disputed items for which nobody is left."""

    verdicts: list[Verdict]
    log: list[Entry]
    added: int
    disputed: list[Disputed]
    allotted: int
    unassigned: list[str]


def terms_of(folder: ReviewFolder, review: Review | None = None) -> Terms:
    """How many readers an item of this review has, and whether the spec takes the word of one."""
    per_item = folder.json(FRAME).get("per_item", 2)
    return Terms(int(per_item), bool(review and review.single_reader))


def settle(
    folder: ReviewFolder, terms: Terms, people: Sequence[Person] = (), *, dry_run: bool = False
) -> Resolved:
    """Conclude what can be, and give disputed items to third persons; the same again changes nothing.

    Args:
        folder: the review of one task.
        terms: see `terms_of`.
        people: who may adjudicate; those marked as adjudicators, or everybody when nobody is. When nobody
            is named, the disputed items are listed and given to nobody.
        dry_run: write nothing.
    """
    candidates, annotations, given = folder.candidates(), folder.annotations(), folder.allotments()
    before, ended = folder.log(), folder.json(FRAME).get(ENDED, {})
    verdicts, log = resolve(annotations, candidates, before, terms)
    disputed = select(annotations, [item for item in candidates if item.id not in ended], terms)
    made: list[Allotment] = []
    nobody = [item.candidate_id for item in disputed]
    if people:
        made, nobody = third_persons(disputed, {item.id: item for item in candidates}, people, given)
    if not dry_run:
        folder.write_log(log)
        folder.write_verdicts(verdicts)
        if made:
            folder.write_allotments([*given, *made])
    return Resolved(verdicts, log, len(log) - len(before), disputed, len(made), nobody)


def source_of(workspace: Workspace, dataset: str, task: str) -> str:
    """The stage whose queries, qrels and excluded pairs a release of the task takes."""
    is_reviewed = bool(review_folder(workspace, dataset, task).verdicts())
    return REVIEWED.format(task=task) if is_reviewed else f"{task}_all"


def apply_verdicts(session: Session, spec: DatasetSpec) -> dict[str, tuple[str, type]]:
    """Bring the verdicts of a dataset into the workspace's stages and apply them.

    Returns:
        Views of the partition that are read from another table than the task's own.
    """
    instead: dict[str, tuple[str, type]] = {}
    for task in sorted(spec.tasks):
        folder = review_folder(session.workspace, spec.name, task)
        verdicts = folder.verdicts()
        if not verdicts:
            continue
        _bring(session, task, folder, verdicts, spec.review)
        stage = reviewed_stage(task)
        for job in plan(session.workspace, stage, memory_limit=session.settings.memory_limit):
            if not job.is_done():
                execute(job)
        for view, row in (("queries", Query), ("qrels", Qrel)):
            instead[f"{task}_{view}"] = (f"{stage.name}.{view}", row)
    return instead


def _bring(
    session: Session, task: str, folder: ReviewFolder, verdicts: Sequence[Verdict], review: Review
) -> None:
    """Write verdicts, the answers behind them and rules under their floor as a finished shard."""
    candidates = folder.candidates()
    kinds = {item.id: item.kind for item in candidates}
    chosen = sorted(
        (row for row in verdicts if kinds.get(row.candidate_id) in ORDERED and row.label_status != "judge"),
        key=lambda row: row.candidate_id,
    )
    wanted = {row.candidate_id for row in chosen}
    answers = [
        _answer(row)
        for name, rows in sorted(counted(folder.annotations()).items())
        if name in wanted
        for row in rows
    ]
    measured = measure(folder, review)
    folder.write_json(PRECISION, measured)
    under = [
        RuleUnderFloor(rule=row["rule"]) for row in measured["precision"] if row["decision"] == "downgrade"
    ]
    tables: dict[str, tuple[type, list[Any]]] = {
        "verdicts": (Verdict, chosen),
        "answers": (JudgedAnswer, answers),
        "under_floor": (RuleUnderFloor, under),
        "calibration": (CalibratedPair, _calibrated(folder)),
        "copies": (Copied, copies([item for item in candidates if item.id in wanted])),
    }
    bring(session.workspace, VERDICTS.format(task=task), BROUGHT_VERSION, tables)


def _calibrated(folder: ReviewFolder) -> list[CalibratedPair]:
    """The calibration sample with the verdicts of people, and the answers these rest on.

    The published answers to labels are of released queries; the sample is of others too.
    """
    people, told = verdicts_of(folder), counted(folder.annotations())

    def answers(pair: tuple[str, str]) -> tuple[str, ...]:
        rows = told.get(people[pair].candidate_id, ()) if pair in people else ()
        return tuple(sorted(f"{one.role}:{one.annotator}:{_grade(one.grade)}" for one in rows))

    return [
        CalibratedPair(
            query_id=row.query_id,
            corpus_id=row.corpus_id,
            stratum=row.stratum,
            population=row.population,
            drawn=row.drawn,
            judge=row.judge,
            people=found.grade if (found := people.get((row.query_id, row.corpus_id))) else None,
            answers=answers((row.query_id, row.corpus_id)),
        )
        for row in folder.calibration()
    ]


def _grade(grade: int | None) -> str:
    return "-" if grade is None else str(grade)


def _answer(row: ReviewAnnotation) -> JudgedAnswer:
    return JudgedAnswer(
        candidate_id=row.candidate_id,
        annotator=row.annotator,
        role=row.role,
        grade=row.grade,
        reason=row.reason,
        seconds=row.seconds,
    )


def measure(folder: ReviewFolder, review: Review) -> dict[str, Any]:
    """Precision of every rule and the rate of missed positives, from the verdicts on drawn items.

    Items with known grades take no part; items without a verdict count as not drawn. While a queue by doubt
    (`push --by-doubt`) is not finished, nothing is measured: its first part is no random sample. Figures are
    of the release the sample was drawn from; what later releases add is no part of them.
    """
    frame = folder.json(FRAME)
    by = check_facets(frame.get("stratify", ()))
    candidates = {item.id: item for item in folder.candidates()}
    rows: dict[str, list[Reviewed]] = {"positive": [], "pool": []}
    ended = frame.get(ENDED, {})
    one_each: dict[tuple[str, str], Verdict] = {}  # a pair that was asked about in two forms was drawn once
    for verdict in sorted(folder.verdicts(), key=lambda row: row.candidate_id in ended):
        one_each.setdefault((verdict.query_id, verdict.corpus_id), verdict)
    for verdict in one_each.values():
        item = candidates.get(verdict.candidate_id)
        if item is None or item.origin not in rows:
            continue
        is_positive = None if verdict.grade is None else is_relevant(item, verdict.grade)
        group = group_of(item.origin, item.rule, item.rank)
        rows[item.origin].append(Reviewed(item.id, group, stratum_of(item, by), is_positive))
    sizes: dict[str, dict[tuple[str, str], int]] = {"positive": {}, "pool": {}}
    for part in frame.get("populations", ()):
        if part["origin"] in sizes:
            sizes[part["origin"]][part["group"], part["stratum"]] = part["size"]
    is_random = not (frame.get(BY_DOUBT) and _is_open(folder, candidates))
    of_rules = _marked(strata(_sized(rows["positive"], sizes["positive"]), sizes["positive"]), is_random)
    decisions = [
        decide(rule, parts, review.precision_floor, review.precision_minimum)
        for rule, parts in of_rules.items()
    ]
    return {
        "release": frame.get("release", {}),
        "precision": [_decision(item) for item in decisions],
        "missed": _missed(rows["pool"], sizes["pool"], int(frame.get("positives", 0)), is_random),
    }


def is_relevant(item: ReviewCandidate, grade: int) -> bool:
    """Whether a grade makes a positive; what a task has between its grades does not."""
    task = task_for(item.kind, item.task)
    return grade > 0 and not (task and task.between and task.between.score == grade)


def _is_open(folder: ReviewFolder, candidates: Mapping[str, ReviewCandidate]) -> bool:
    """Whether an item that was given to readers has no verdict yet."""
    given = {row.candidate_id for row in folder.allotments()}
    done = {row.candidate_id for row in folder.verdicts()}
    open_ones = given - done - folder.json(FRAME).get(ENDED, {}).keys()
    return any(candidates[name].origin in ("positive", "pool") for name in open_ones & candidates.keys())


def _marked(groups: Mapping[str, Sequence[Stratum]], is_random: bool) -> dict[str, list[Stratum]]:
    return {name: [replace(part, is_random=is_random) for part in parts] for name, parts in groups.items()}


def _sized(rows: Sequence[Reviewed], sizes: Mapping[tuple[str, str], int]) -> list[Reviewed]:
    """Reviewed items of groups and strata the last draw had; the others no longer say anything of it."""
    return [row for row in rows if (row.group, row.stratum) in sizes]


def _missed(
    rows: Sequence[Reviewed], sizes: Mapping[tuple[str, str], int], found: int, is_random: bool
) -> dict[str, Any] | None:
    if not sizes:
        return None
    bands: dict[tuple[str, str], int] = {}
    for (group, _), size in sizes.items():  # a proportional sample: bands are the strata of this estimate
        bands["pool", group] = bands.get(("pool", group), 0) + size
    moved = [Reviewed(row.item_id, "pool", row.group, row.is_positive) for row in _sized(rows, sizes)]
    estimate = missed_positives(_marked(strata(moved, bands), is_random)["pool"], found)
    return {
        "rate": _rounded(estimate.rate.value),
        "low": _rounded(estimate.rate.low),
        "high": _rounded(estimate.rate.high),
        "reason": estimate.rate.reason,
        "reviewed": estimate.rate.reviewed,
        "population": estimate.rate.population,
        "missed": _rounded(estimate.missed),
        "found": found,
        "found_share": _rounded(estimate.found_share),
        "bands": [{"band": name, **_plain(asdict(part))} for name, part in estimate.bands],
    }


def _decision(item: RuleDecision) -> dict[str, Any]:
    made = _plain(asdict(item.precision))
    return {
        **made,
        "rule": item.rule,
        "decision": item.decision,
        "reason": made["reason"] or item.reason.value,
        "floor": item.floor,
        "minimum": item.minimum,
        "version_bump": item.version_bump,
    }


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _rounded(value) if isinstance(value, float) else value for name, value in values.items()}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def review_summary(workspace: Workspace, spec: DatasetSpec, task: str) -> dict[str, Any] | None:
    """What a release's card tells of the task's review beyond its table of answers; None without verdicts."""
    folder = review_folder(workspace, spec.name, task)
    if not folder.verdicts():
        return None
    measured = measure(folder, spec.review)
    candidates = folder.candidates()
    found = overall(candidates, folder.annotations(), scale_of(candidates), SHOWN_FIGURES)
    return {
        "agreement": [_plain(row) for row in found],
        "precision": measured["precision"],
        "missed": measured["missed"],
        "rules": RULES,
        "words": {"coefficients": COEFFICIENTS, "reasons": REASONS | UNMEASURED, "decisions": DECISIONS},
    }
