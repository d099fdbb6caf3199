"""Labels that review found too imprecise leave a dataset only with a new major version."""

from __future__ import annotations

from curation.release.facts import views
from curation.release.query import fetch
from flows.asking import query
from flows.partitioning import earlier_releases
from flows.review.store import PRECISION, review_folder
from flows.review.verdicts import measure
from flows.workspace import Workspace
from schemas.errors import ReleaseError
from schemas.spec import DatasetSpec


def check_version(workspace: Workspace, spec: DatasetSpec, task: str, version: str) -> None:
    """A rule that review found too imprecise leaves a dataset only with a new major version.

    Raises:
        ReleaseError: the version is of the last release's major, and that release has labels of the rule.
    """
    folder = review_folder(workspace, spec.name, task)
    measured = measure(folder, spec.review) if folder.verdicts() else {"precision": []}
    under = sorted(row["rule"] for row in measured["precision"] if row["version_bump"] == "major")
    earlier = earlier_releases(workspace, spec.name, version)
    if not under or not earlier:
        return
    last, folders = earlier[-1]
    directory = next((path for path in folders if path.name == task), None)
    if directory is None or int(version.split(".")[0]) > int(last.split(".")[0]):
        return
    listed = ", ".join("'" + rule.replace("'", "''") + "'" for rule in under)
    text = f"SELECT DISTINCT rule FROM qrels WHERE score > 0 AND rule IN ({listed}) ORDER BY rule"
    for row in fetch(query(), text, views(directory)):
        raise ReleaseError(
            f"review found the rule {row['rule']} too imprecise; its labels leave the dataset",
            record=task,
            file=str(folder.path / PRECISION),
            hint=f"release a new major version: {int(last.split('.')[0]) + 1}.0.0",
        )
