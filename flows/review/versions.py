"""Labels that review found too imprecise leave a dataset only with a new major version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from curation.published.query import fetch
from curation.release.facts import views
from flows.engine.connection import query
from flows.engine.releases import earlier_releases
from flows.engine.workspace import Workspace
from flows.review.store import PRECISION, review_folder
from flows.review.verdicts import measure
from schemas.errors import ReleaseError
from schemas.spec import DatasetSpec


def leaving_rule(workspace: Workspace, spec: DatasetSpec, task: str, before: Sequence[Path]) -> str:
    """A rule that review found too imprecise and that labels pairs of an earlier release; '' when none does.

    Args:
        workspace: the workspace.
        spec: the dataset's spec.
        task: name of the task.
        before: task folders of the earlier release.
    """
    folder = review_folder(workspace, spec.name, task)
    measured = measure(folder, spec.review) if folder.verdicts() else {"precision": []}
    under = sorted(row["rule"] for row in measured["precision"] if row["version_bump"] == "major")
    directory = next((path for path in before if path.name == task), None)
    if not under or directory is None:
        return ""
    listed = ", ".join("'" + rule.replace("'", "''") + "'" for rule in under)
    text = f"SELECT min(rule) AS rule FROM qrels WHERE score > 0 AND rule IN ({listed})"
    return fetch(query(), text, views(directory))[0]["rule"] or ""


def check_leaving(workspace: Workspace, spec: DatasetSpec, task: str, version: str) -> None:
    """A rule that review found too imprecise leaves a dataset only with a new major version.

    Raises:
        ReleaseError: the version is of the last release's major, and that release has labels of the rule.
    """
    earlier = earlier_releases(workspace, spec.name, version)
    if not earlier or int(version.split(".")[0]) > int(earlier[-1][0].split(".")[0]):
        return
    last, folders = earlier[-1]
    rule = leaving_rule(workspace, spec, task, folders)
    if rule:
        raise ReleaseError(
            f"review found the rule {rule} too imprecise; its labels leave the dataset",
            record=task,
            file=str(review_folder(workspace, spec.name, task).path / PRECISION),
            hint=f"release a new major version: {int(last.split('.')[0]) + 1}.0.0",
        )
