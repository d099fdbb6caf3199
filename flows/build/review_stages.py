"""Review stages of tasks: what people concluded of their items, taken in; nobody is asked."""

from __future__ import annotations

from flows.engine.execution import StageSummary
from flows.engine.session import Session
from flows.pipeline import VERDICTS_VERSION
from flows.review.brought import bring
from flows.review.items import items_of
from flows.review.store import review_folder
from schemas.review import Verdict
from schemas.stages import ReviewStage


def bring_verdicts(session: Session, dataset: str, stage: ReviewStage) -> None:
    """Write the verdicts on a stage's items, as they are now, as a finished shard; none without a review.

    Args:
        session: a session that holds the workspace.
        dataset: whose review it is; '' for nobody's, of a build without a spec.
        stage: the review stage.
    """
    asked = {item.id for item in items_of(session.workspace, stage)}
    found = review_folder(session.workspace, dataset, stage.name).verdicts() if dataset else []
    rows = sorted(
        (row for row in found if row.candidate_id in asked and row.label_status != "judge"),
        key=lambda row: row.candidate_id,
    )
    manifest = bring(session.workspace, stage.verdicts, VERDICTS_VERSION, {"verdicts": (Verdict, rows)})
    summary = StageSummary(stage.verdicts)
    summary.add(manifest, made=False)
    session.reporter.line(summary.line())
