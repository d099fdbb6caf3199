"""The verbs `review agreement`, `review plan` and `review adjudicate`: what a review's answers say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from flows.cli.common import DEFAULT, OK, Common, DryRun, Spec, emit

Measure = Literal[
    "percent_agreement",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
    "gwet_ac1",
    "gwet_ac2_linear",
    "gwet_ac2_quadratic",
    "proportion",
]
Name = Annotated[str, Parameter(help="DATASET/TASK, or a DATASET; every review when none is named.")]


def agreement(
    review: Name = "",
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="The page, NAME.html; the figures go into NAME.json beside it.")
    ] = None,
    common: Common = DEFAULT,
) -> int:
    """Report how far annotators agree, with intervals, as a page and as JSON."""
    from flows.engine.settings import load_settings
    from flows.engine.workspace import open_workspace
    from flows.review.agreement import describe, report_all

    workspace = open_workspace(load_settings(workspace=common.workspace).workspace)
    made = report_all(workspace, review, out)
    emit(
        common,
        [{"page": str(page), **summary} for summary, page in made],
        lambda: "\n\n".join(describe(summary, page) for summary, page in made),
    )
    return OK


def plan(
    review: Annotated[
        str,
        Parameter(help="DATASET/TASK under review; what is not given is estimated from its answers so far."),
    ] = "",
    /,
    *,
    half_width: Annotated[float, Parameter(help="Desired half width of the interval.")] = 0.05,
    measure: Annotated[
        Measure,
        Parameter(help="The figure to estimate; proportion is a share, such as a rule's precision."),
    ] = "krippendorff_alpha_ordinal",
    prior: Annotated[
        float | None,
        Parameter(help="Expected value of the figure; by default 0.7, for a proportion 0.95."),
    ] = None,
    prevalence: Annotated[
        tuple[float, ...],
        Parameter(help="Expected shares of the grades from 0 up, as many as there are grades."),
    ] = (),
    per_item: Annotated[int, Parameter(help="Annotators per item.")] = 2,
    annotators: Annotated[int | None, Parameter(help="Annotators who share the work.")] = None,
    seconds_per_item: Annotated[float | None, Parameter(help="Seconds per answer; by default 45.")] = None,
    gold_share: Annotated[float, Parameter(help="Share of gold items.")] = 0.05,
    pool: Annotated[
        int | None, Parameter(help="Number of items, if a large part of them may be graded.")
    ] = None,
    confidence: Annotated[float, Parameter(help="Confidence level of the interval.")] = 0.95,
    common: Common = DEFAULT,
) -> int:
    """Compute how many items to review for an interval of a given width, and how long that takes."""
    from flows.engine.settings import load_settings
    from flows.engine.workspace import open_workspace
    from flows.review.agreement import Assumptions, describe_plan, plan_review
    from flows.review.store import review_folders
    from schemas.errors import UsageError

    folder = None
    if review:
        workspace = open_workspace(load_settings(workspace=common.workspace).workspace)
        found = [item for _, _, item in review_folders(workspace, review)]
        if len(found) > 1:
            raise UsageError(
                f"{len(found)} tasks of {review} are under review", hint="name one: DATASET/TASK"
            )
        folder = found[0]
    given = Assumptions(
        measure, prior, prevalence, seconds_per_item, per_item, annotators, gold_share, pool, confidence
    )
    made = plan_review(half_width, given, folder)
    emit(common, made, lambda: describe_plan(made))
    return OK


def adjudicate(
    review: Name = "",
    /,
    *,
    annotators: Annotated[
        Path | None,
        Parameter(help="TOML of annotators, as for push; by default whoever adjudicated before, or ADJ1."),
    ] = None,
    spec: Spec = None,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Give disputed items to an adjudicator; write verdicts and the log they replay from."""
    from flows.engine.settings import load_settings
    from flows.engine.workspace import open_workspace
    from flows.review.adjudication import adjudicate_all, describe

    workspace = open_workspace(load_settings(workspace=common.workspace).workspace)
    made = adjudicate_all(workspace, review, annotators, spec, dry_run=dry_run)
    emit(common, made, lambda: "\n\n".join(map(describe, made)))
    return OK
