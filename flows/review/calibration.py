"""How far a task's judge agrees with people: from a review in the workspace, and for a release.

Of a release all figures come from the tables it publishes; a review is measured by the same code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotation.judge.circularity import circular, families, has_model, unknown
from annotation.judge.order import Orders, order_effect
from annotation.judge.standing import NOT_RANDOM, OTHER_JUDGE, Bar, Key, standing
from annotation.verdicts import SINGLE
from curation.tasks.registry import task_of
from flows.review.store import BY_DOUBT, CALIBRATION, ENDED, FRAME, ReviewFolder
from flows.specs import DATA_CARDS, read_spec
from schemas.grades import UNDECIDED
from schemas.prompt import models_in
from schemas.review import CalibrationPair, Verdict
from schemas.spec import DatasetSpec, Review
from schemas.task import Task

Row = Mapping[str, Any]
Calibrate = Callable[[Sequence[Row], Sequence[Row]], dict[str, Any]]
"""Rows of the tables judgements and calibration -> the content of provenance/calibration.json."""


def people_of(folder: ReviewFolder) -> dict[Key, int]:
    """Pair -> the grade of its verdict, where two people or an adjudicator made it."""
    return {pair: row.grade for pair, row in verdicts_of(folder).items() if row.grade is not None}


def verdicts_of(folder: ReviewFolder) -> dict[Key, Verdict]:
    """Pair -> its verdict, where two people or an adjudicator gave it a grade."""
    return {
        (row.query_id, row.corpus_id): row
        for row in folder.verdicts()
        if row.grade is not None and row.rule != SINGLE and row.label_status != "judge"
    }


def is_random(folder: ReviewFolder, rows: Iterable[CalibrationPair]) -> bool:
    """Whether what was judged so far is a random part: not while a queue by doubt is open."""
    if not folder.json(FRAME).get(BY_DOUBT):
        return True
    wanted = {(row.query_id, row.corpus_id) for row in rows}
    done = {row.candidate_id for row in folder.verdicts()} | folder.json(FRAME).get(ENDED, {}).keys()
    return all(item.id in done for item in folder.candidates() if (item.query_id, item.corpus_id) in wanted)


def calibration_of(folder: ReviewFolder, task: Task, bar: Review) -> dict[str, Any] | None:
    """What the review says of its judge today; None where no calibration was drawn."""
    told = folder.json(CALIBRATION)
    if not told:
        return None
    return _measured(folder, folder.calibration(), people_of(folder), told["judge"], told, task, bar)


def judge_of(folder: ReviewFolder) -> dict[str, Any] | None:
    """How far the task's judge agrees with people, where a calibration sample was drawn."""
    dataset, task = folder.path.parent.name, folder.path.name
    if not folder.json(CALIBRATION):
        return None
    return calibration_of(folder, task_of(task), review_settings(dataset))


def about_judge(found: Mapping[str, Any]) -> str:
    """The standing of a judge in one line."""
    kappa = found["kappa"]
    told = f" (weighted κ {kappa['value']:.3f})" if kappa["value"] is not None else ""
    return f"judge {found['judge']['model']}: {found['status']}, {found['why']}{told}"


def review_settings(dataset: str, spec: Path | None = None) -> Review:
    """What the given spec says of reviews, else that of the dataset, else the defaults."""
    own = DATA_CARDS / dataset / "spec.toml"
    path = spec or (own if own.is_file() else None)
    return read_spec(path).review if path else Review()


def _measured(
    folder: ReviewFolder,
    rows: Sequence[CalibrationPair],
    people: Mapping[Key, int],
    judge: Mapping[str, str],
    facts: Mapping[str, Any],
    task: Task,
    bar: Review,
) -> dict[str, Any]:
    """Figures with what is known of the judge itself."""
    told = folder.json(CALIBRATION)
    not_run = "" if is_random(folder, rows) else NOT_RANDOM
    if told and dict(told["judge"]) != dict(judge):
        not_run = OTHER_JUDGE
    made = standing(
        rows,
        people,
        told.get("strata", {}),
        [grade.score for grade in reversed(task.choices)],
        {grade.score for grade in task.grades if grade.score > 0},
        Bar(bar.judge_floor, bar.judge_minimum),
        facts["order"],
        facts.get("seeds") or asdict(order_effect(())),  # samples drawn before there were any
        not_run=not_run,
    )
    return made | {
        "judge": dict(judge),
        "families": facts["families"],
        "circular": facts["circular"],
        "unknown_families": facts.get("unknown_families", []),  # samples of before name none
        "drawn_from": told.get("release", {}),
        "mined_then": told.get("mined"),
    }


def facts_of(rows: Sequence[Row], shaped_by: Iterable[str]) -> dict[str, Any]:
    """What a judge's own answers say of it: effects of order and seed, families, what is of its family.

    Args:
        rows: of the table `judgements`.
        shaped_by: systems and models that shaped queries or pools.
    """
    models = sorted({row["model"] for row in rows if row["model"]})
    judged = [row for row in rows if row["forward"] and row["reversed"]]
    mining = {name.partition(":")[0] for row in rows for name in row["found_by"]}
    systems = {*shaped_by, *mining}
    return {
        "order": asdict(order_effect(_orders(judged))),
        "seeds": asdict(order_effect(_seeds(judged))),
        "families": sorted({family for model in models for family in families(model)}),
        "circular": [asdict(item) for model in models for item in circular(model, systems)],
        "unknown_families": list(unknown({*models, *systems}) if any(map(has_model, systems)) else ()),
    }


def _orders(rows: Iterable[Row]) -> Iterable[Orders]:
    for row in rows:
        forward, backward = (tuple(map(int, row[form].split())) for form in ("forward", "reversed"))
        yield Orders(row["query-id"], forward, backward, row["reason"] != UNDECIDED[1])


def _seeds(rows: Iterable[Row]) -> Iterable[Orders]:
    for row in rows:
        if row.get("seeded"):  # releases of before have no such column
            forward, again = (tuple(map(int, row[form].split())) for form in ("forward", "seeded"))
            yield Orders(row["query-id"], forward, again, forward == again)


def shapers(stages: Iterable[Row], systems: Iterable[str], task: str) -> tuple[str, ...]:
    """Systems that shaped the pools, and models that shaped queries or reasoning paths; not the judge itself.

    Args:
        stages: name and params of each stage of the build.
        systems: systems that shaped queries or pools.
        task: the task.
    """
    models = {
        model
        for stage in stages
        if not stage["name"].startswith(f"{task}_judge")
        for model in models_in(stage["params"])
    }
    return tuple(sorted({*systems, *models}))


def calibrate_release(
    folder: ReviewFolder, spec: DatasetSpec, task: str, shaped_by: Sequence[str]
) -> Calibrate:
    """What a release is given to measure its judge with: see `curation.release.write.Inputs.calibrate`."""
    return functools.partial(_of_release, folder, spec.review, task_of(task), tuple(shaped_by))


def _of_release(
    folder: ReviewFolder,
    bar: Review,
    task: Task,
    shaped_by: Sequence[str],
    judgements: Sequence[Row],
    sample: Sequence[Row],
) -> dict[str, Any]:
    """The content of provenance/calibration.json, from the rows that are released."""
    known = {(row["query-id"], row["corpus-id"]): row["people"] for row in sample}
    rows = [row for row in folder.calibration() if (row.query_id, row.corpus_id) in known]
    people = {pair: grade for pair, grade in known.items() if grade is not None}
    judges = sorted(
        {(row["model"], row["served_model"], row["prompt_sha256"]) for row in judgements if row["model"]}
    )
    names = ("model", "served_model", "prompt_sha256")
    judge = dict(zip(names, judges[0], strict=True)) if len(judges) == 1 else {}
    made = _measured(folder, rows, people, judge, facts_of(judgements, shaped_by), task, bar)
    judged = sum(bool(row["forward"]) for row in judgements)
    return made | {"mined": len(judgements), "judged": judged}
