"""The run flow: everything a dataset's spec asks for, from crawl to audited release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curation.release.card import load_prose
from flows.build.extract import extract
from flows.build.ground import ground
from flows.build.tasks import build
from flows.cluster.hired import hired_once, reach
from flows.crawl.flow import crawl
from flows.engine.orchestration import flow
from flows.engine.session import chosen_settings, current_reporter
from flows.engine.workspace import Workspace
from flows.release.flow import release
from flows.specs import Dataset, read_dataset
from flows.vocabulary.languages import without_names


@flow(name="run", validate_parameters=False)
def run(
    spec: str | Dataset,
    version: str | None = None,
    workspace: str | None = None,
    overrides: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Crawl the spec's sources, extract, ground, build, release and audit.

    Args:
        spec: the dataset as read, or a spec.toml path (a deployment has no other values), read here.
        version: of the release; when not given it follows from what changed, see `flows.release.flow`.
        workspace: folder of the workspace.
        overrides: `--set` changes to the spec of a path.
    """
    dataset = spec if isinstance(spec, Dataset) else read_dataset(Path(spec), overrides)
    wanted = dataset.spec
    # What people have still to write or to start is told before hours of crawling.
    load_prose(dataset.cards, sorted(wanted.tasks))
    settings = chosen_settings(workspace)
    reach(settings)
    if lacking := without_names(Workspace(settings.workspace), wanted, wanted.tasks):
        current_reporter().line(lacking)
    stages: list[dict[str, Any]] = []
    for request in dataset.requests():
        stages += crawl(request, workspace)
    with hired_once():
        stages += extract(workspace, wanted)
        stages += ground(workspace, wanted.grounding)
        stages += build(sorted(wanted.tasks), workspace, wanted)
    return {"stages": stages, "releases": release(dataset, version, workspace)}
