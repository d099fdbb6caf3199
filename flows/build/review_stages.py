"""Review stages of tasks: what people concluded of their items, taken in; nobody is asked."""

from __future__ import annotations

from flows.engine.execution import StageSummary
from flows.engine.runner import read_rows, table_files
from flows.engine.session import Session
from flows.engine.workspace import Workspace
from flows.pipeline import VERDICTS_VERSION
from flows.review.brought import bring
from flows.review.items import items_of
from flows.review.store import review_folder
from schemas.errors import WorkspaceError
from schemas.review import Verdict
from schemas.stages import ReviewStage


def bring_verdicts(session: Session, dataset: str, stage: ReviewStage) -> None:
    """Write the verdicts on a stage's items, as they are now, as a finished shard; none without a review.

    Args:
        session: a session that holds the workspace.
        dataset: whose review it is; '' for nobody's, of a build without a spec.
        stage: the review stage.
    """
    rows = _standing(session.workspace, dataset, stage)
    manifest = bring(session.workspace, stage.verdicts, VERDICTS_VERSION, {"verdicts": (Verdict, rows)})
    summary = StageSummary(stage.verdicts)
    summary.add(manifest, made=False)
    session.reporter.line(summary.line())


def check_taken(workspace: Workspace, dataset: str, stage: ReviewStage, hint: str) -> None:
    """Check that a task was built with the verdicts that stand.

    Raises:
        WorkspaceError: people have concluded something since, or it was built for another dataset.
    """
    taken = read_rows(Verdict, table_files(workspace, f"{stage.verdicts}.verdicts"))
    if taken != _standing(workspace, dataset, stage):
        raise WorkspaceError(
            f"task {stage.task!r} was built with other verdicts of people than stand in its review now",
            file=str(review_folder(workspace, dataset, stage.name).path),
            hint=hint,
        )


def _standing(workspace: Workspace, dataset: str, stage: ReviewStage) -> list[Verdict]:
    """Verdicts of people on what the stage asks now, by candidate."""
    asked = {item.id for item in items_of(workspace, stage)}
    found = review_folder(workspace, dataset, stage.name).verdicts() if dataset else []
    return sorted(
        (row for row in found if row.candidate_id in asked and row.label_status != "judge"),
        key=lambda row: row.candidate_id,
    )
