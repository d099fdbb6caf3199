"""The run flow: everything a dataset's spec asks for, from crawl to audited release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curation.release.card import load_prose
from flows.build.extract import extract
from flows.build.ground import ground
from flows.build.tasks import build
from flows.crawl.flow import crawl
from flows.crawl.spec_sources import requests_of
from flows.engine.orchestration import flow
from flows.engine.specs import read_spec
from flows.release.flow import release


@flow(name="run", validate_parameters=False)
def run(
    spec: str,
    version: str | None = None,
    workspace: str | None = None,
    overrides: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Crawl the spec's sources, extract, ground, build, release and audit; `spec` is a spec.toml path.

    Without a version the release's own follows from what changed, see `flows.release.flow.release`.
    """
    path = Path(spec)
    wanted = read_spec(path, overrides)
    load_prose(
        path.parent, sorted(wanted.tasks)
    )  # what people have still to write is told before hours of crawling
    stages: list[dict[str, Any]] = []
    for request in requests_of(wanted, path):
        stages += crawl(request.source, request.target, workspace, request.profile, request.options)
    stages += extract(workspace, spec, overrides)
    stages += ground(workspace, wanted.grounding.backend, wanted.grounding.overlaps)
    stages += build(sorted(wanted.tasks), workspace, spec, overrides)
    return {"stages": stages, "releases": release(spec, version, workspace, overrides)}
