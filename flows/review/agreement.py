"""The agreement report of a review: agreement.json and one page, from the answers in the workspace."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotation.agreement.coefficients import Coefficient
from annotation.agreement.intervals import CONFIDENCE
from annotation.agreement.planner import SECONDS_PER_ITEM, nearest, plan
from annotation.report.render import render
from annotation.report.summary import summarise
from annotation.report.words import COEFFICIENTS, figure, opening, percent
from flows.engine.workspace import Workspace, write_atomic
from flows.review.calibration import about_judge, judge_of
from flows.review.store import ReviewFolder, review_folders
from flows.review.tasks import offered
from schemas.errors import UsageError, WorkspaceError
from schemas.review import ReviewCandidate
from schemas.wording import counted

PAGE = "agreement.html"
PUSH = "medqrels review push RELEASE/TASK"
PRIORS = {"proportion": 0.95}
PRIOR = 0.7
_GRADES = 4
"""Of a review that is not known yet."""


def scale_of(candidates: Sequence[ReviewCandidate]) -> list[int]:
    """Every grade that the task's layout offers, ascending; of a choice, 0 and the options' numbers."""
    first = candidates[0]
    given = list(offered(first))
    if first.kind != "confusion":
        return given
    shown = (item.value for row in candidates for item in row.shown if item.name == "options")
    return given[: max(len(json.loads(value)) for value in shown) + 1]


def summary_of(folder: ReviewFolder) -> dict[str, Any]:
    """All figures of one review, see `annotation.report.summary.summarise`."""
    candidates = folder.candidates()
    if not candidates:
        raise WorkspaceError("the review holds no candidates", file=str(folder.path), hint=PUSH)
    made = summarise(candidates, folder.annotations(), scale_of(candidates))
    return made | {"judge": judge_of(folder)}


def report(folder: ReviewFolder, page: Path | None = None) -> tuple[dict[str, Any], Path]:
    """Write the page of a review and its figures as JSON beside it.

    Args:
        folder: the review.
        page: where the HTML goes, the JSON beside it with the ending .json; None for agreement.html in the
            review's folder.

    Returns:
        The figures and where the page is.

    Raises:
        MedqrelsError: a file of the review cannot be read.
        InputError: an answer cannot be used.
    """
    summary, target = summary_of(folder), page or folder.path / PAGE
    body = json.dumps(summary, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_atomic(target.with_suffix(".json"), (body + "\n").encode())
    write_atomic(target, render(summary, target.with_suffix(".json").name).encode())
    return summary, target


def report_all(
    workspace: Workspace, name: str = "", page: Path | None = None
) -> list[tuple[dict[str, Any], Path]]:
    """The report of every review of a workspace, of a DATASET's, or of one DATASET/TASK.

    Raises:
        UsageError: there is none of that name, or several and one page.
    """
    found = [folder for _, _, folder in review_folders(workspace, name)]
    if page is not None and len(found) > 1:
        raise UsageError(
            f"--out names one page, but there are {len(found)} reviews", hint="name one: DATASET/TASK"
        )
    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise UsageError("the page's name must end in .html", file=str(page))
    return [report(folder, page) for folder in found]


def describe(summary: dict[str, Any], page: Path) -> str:
    """A report for the terminal: its sentences and where the page is."""
    judge = [about_judge(summary["judge"])] if summary["judge"] else []
    return "\n".join([f"{summary['dataset']}/{summary['task']}", *opening(summary), *judge, f"page: {page}"])


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What a plan rests on; None and () are taken from a review's answers, or else from the defaults."""

    measure: str
    prior: float | None = None
    prevalence: tuple[float, ...] = ()
    seconds_per_item: float | None = None
    per_item: int = 2
    annotators: int | None = None
    gold_share: float = 0.05
    pool: int | None = None
    confidence: float = CONFIDENCE


def plan_review(half_width: float, given: Assumptions, folder: ReviewFolder | None = None) -> dict[str, Any]:
    """Plan a review of one group of items.

    Args:
        half_width: wanted half of the interval's width.
        given: what is assumed.
        folder: a review whose answers so far say what was not given.

    Returns:
        The plan's fields, and `assumed` with where each value comes from: given, answers or default.

    Raises:
        UsageError: an argument out of range, or a value that the model of annotators cannot have.
    """
    seen = _seen(folder, given.measure) if folder is not None else {}
    assumed = {
        "prior": _chosen(given.prior, seen.get("prior"), PRIORS.get(given.measure, PRIOR)),
        "prevalence": _chosen(
            given.prevalence or None, seen.get("prevalence"), _usual(seen.get("grades", _GRADES))
        ),
        "seconds_per_item": _chosen(given.seconds_per_item, seen.get("seconds_per_item"), SECONDS_PER_ITEM),
    }
    if assumed["prior"]["from"] == "answers" and given.measure != "proportion":
        prior, shares = assumed["prior"], assumed["prevalence"]["value"]
        near = nearest(Coefficient(given.measure), prior["value"], shares, given.per_item)
        assumed["prior"] = {**prior, "value": near} | (
            {"seen": prior["value"]} if near != prior["value"] else {}
        )
    made = plan(
        half_width,
        prior=assumed["prior"]["value"],
        measure="proportion" if given.measure == "proportion" else Coefficient(given.measure),
        prevalence=assumed["prevalence"]["value"],
        per_item=given.per_item,
        annotators=given.annotators or max(2, given.per_item),
        seconds_per_item=assumed["seconds_per_item"]["value"],
        gold_share=given.gold_share,
        pool=given.pool,
        confidence=given.confidence,
    )
    if given.measure == "proportion":
        del assumed["prevalence"]
    people = {"per_item": given.per_item, "annotators": given.annotators or max(2, given.per_item)}
    return {**asdict(made), **people, "gold_share": given.gold_share, "pool": given.pool, "assumed": assumed}


def _usual(grades: int) -> tuple[float, ...]:
    """Shares of grades that nobody gave yet: two fifths have grade 0, the others alike."""
    return (0.4, *[round(0.6 / (grades - 1), 9)] * (grades - 1))


def _chosen(given: Any, seen: Any, default: Any) -> dict[str, Any]:
    for value, origin in ((given, "given"), (seen, "answers")):
        if value is not None:
            return {"value": value, "from": origin}
    return {"value": default, "from": "default"}


def _seen(folder: ReviewFolder, measure: str) -> dict[str, Any]:
    """What a review's answers say: the measure's value, shares of grades, median seconds."""
    summary = summary_of(folder)
    found = figure(summary, measure)
    totals = [sum(row["grades"][str(grade)] for row in summary["annotators"]) for grade in summary["scale"]]
    times = [row["seconds"]["median"] for row in summary["annotators"] if row["seconds"]["known"]]
    whole = sum(totals)
    return {
        "prior": None if found is None or found["value"] is None else round(found["value"], 3),
        "grades": len(summary["scale"]),
        "prevalence": tuple(count / whole for count in totals) if whole > max(totals) else None,
        "seconds_per_item": round(statistics.median(times), 1) if times else None,
    }


def describe_plan(made: dict[str, Any]) -> str:
    """A plan in words, with everything it assumes."""
    name = {"proportion": "a share", **COEFFICIENTS}[made["measure"]]
    level = round(100 * made["confidence"])
    known = f", {percent(made['gold_share'])} of them gold items" if made["gold_share"] else ""
    origins = {"given": "given", "answers": "from the answers so far", "default": "default"}
    items, give = counted(made["items"], "item"), "gives" if made["items"] == 1 else "give"
    each = "One annotator" if made["annotators"] == 1 else f"Each of {made['annotators']} annotators"
    lines = [
        f"{items} with {counted(made['per_item'], 'annotator')} each {give} a {level} % "
        f"interval of ±{made['half_width']:g} around {made['prior']:g} ({name}).",
        f"{each} reads {counted(made['items_per_annotator'], 'item')}{known}, in "
        f"{made['hours_per_annotator']:.1f} hours; together {made['hours']:.1f} hours.",
        "Assumed:",
    ]
    for key, title in _ASSUMED.items():
        if key in made["assumed"]:
            value, origin = made["assumed"][key]["value"], made["assumed"][key]["from"]
            text = " ".join(f"{item:.2f}" for item in value) if isinstance(value, tuple) else f"{value:g}"
            seen = made["assumed"][key].get("seen")
            near = "" if seen is None else f", which say {seen:g}: the nearest that can be planned on"
            lines.append(f"  {title}: {text} ({origins[origin]}{near})")
    pool = f"a sample of {counted(made['pool'], 'item')}" if made["pool"] else "a small part of all items"
    lines.append(f"  the sample: {pool}, reported as one group; each group reported alone needs as many")
    return "\n".join(lines)


_ASSUMED = {
    "prior": "value of the figure",
    "prevalence": "shares of the grades, from 0 up",
    "seconds_per_item": "seconds per item",
}
