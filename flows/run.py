"""The run flow: everything a dataset's spec asks for, from crawl to audited release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from flows.build import build
from flows.crawl import crawl
from flows.extract import extract
from flows.ground import ground
from flows.orchestration import flow
from flows.release import release
from flows.specs import read_spec
from schemas.errors import UsageError


@flow(name="run", validate_parameters=False)
def run(
    spec: str,
    version: str = "1.0.0",
    workspace: str | None = None,
    overrides: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Crawl the spec's sources, extract, ground, build, release and audit; `spec` is a spec.toml path."""
    path = Path(spec)
    wanted = read_spec(path, overrides)
    stages: list[dict[str, Any]] = []
    sources: list[tuple[Literal["pmc", "folder"], Path]] = []
    if wanted.sources.pmc_ids:
        sources.append(("pmc", path.parent / wanted.sources.pmc_ids))
    sources += [("folder", path.parent / name) for name in wanted.sources.folders]
    if not sources:
        raise UsageError("the spec names no source", file=spec, hint="set pmc_ids or folders under [sources]")
    for source, target in sources:
        stages += crawl(source, str(target), workspace, wanted.licence_profile)
    stages += extract(workspace)
    stages += ground(workspace)
    stages += build(sorted(wanted.tasks), workspace, spec, overrides)
    return {"stages": stages, "releases": release(spec, version, workspace, overrides)}
