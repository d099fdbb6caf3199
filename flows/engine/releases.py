"""Releases on disk: the folders a RELEASE argument means, and those that came before a version."""

from __future__ import annotations

import re
from pathlib import Path

from curation.published.manifest import NAME, read_manifest
from flows.engine.workspace import Workspace, is_workspace
from schemas.errors import UsageError

_SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9a-z.]+)?")


def task_directories(release: str, workspace: Workspace | None) -> list[Path]:
    """Folders a RELEASE argument means: a task or version folder, NAME@VERSION[/TASK], or another dataset's.

    Raises:
        UsageError: there is no such folder.
    """
    path = Path(release)
    if not path.exists() and "@" in release and workspace is not None:
        name, _, version = release.partition("@")
        path = workspace.releases / name / version  # a task may follow: NAME@VERSION/TASK
    if not path.exists():
        raise UsageError(
            f"no release at {release!r}", file=str(path), hint="give a path to a task folder, or NAME@VERSION"
        )
    found = sorted(item.parent for item in path.glob(f"*/{NAME}")) if path.is_dir() else []
    if (path / NAME).is_file() or not found:
        _refuse_several(path)
        return [path]
    for directory in found:
        read_manifest(directory)
    return found


def _refuse_several(path: Path) -> None:
    """A workspace, or the folder of a dataset, is no dataset of somebody else."""
    base = path / "releases" if is_workspace(path) else path
    found = (item for depth in ("*/*", "*/*/*") for item in base.glob(f"{depth}/{NAME}"))
    versions = sorted({item.parents[1] for item in found})
    if versions or base != path:
        raise UsageError(
            "this holds releases and is none itself",
            file=str(path),
            hint=f"name one: {', '.join(map(str, versions[:5]))}" if versions else "medqrels release DATASET",
        )


def check_version(version: str | None, workspace: Workspace, dataset: str) -> None:
    """Find out that no release can have a version before the work that it is to name.

    Raises:
        UsageError: it is none, or a new one that comes before the newest release: versions go on.
    """
    if version is None:
        return
    order = version_order(version)
    if order is None:
        raise UsageError(f"not a version: {version!r}", hint="use MAJOR.MINOR.PATCH, e.g. 1.0.0")
    stand = [name for name, _ in earlier_releases(workspace, dataset, None)]
    if stand and version not in stand and order < (version_order(stand[-1]) or order):
        raise UsageError(
            f"version {version} comes before {stand[-1]}, the newest release of {dataset}",
            hint="leave --version out: it follows from what changed since the newest",
        )


def earlier_releases(workspace: Workspace, dataset: str, version: str | None) -> list[tuple[str, list[Path]]]:
    """(version, task folders) of a dataset's releases below `version`, oldest first."""
    base = workspace.releases / dataset
    limit = version_order(version) if version else None
    found = []
    for folder in sorted(base.iterdir()) if base.is_dir() else ():
        order = version_order(folder.name)
        if order is None or (limit is not None and order >= limit):
            continue
        tasks = sorted(path.parent for path in folder.glob(f"*/{NAME}"))
        if tasks:
            found.append((order, folder.name, tasks))
    return [(name, tasks) for _, name, tasks in sorted(found)]


def version_order(version: str) -> tuple[int, int, int, bool, str] | None:
    """Sort key of a version; a pre-release comes before its release. None for another text."""
    match = _SEMVER.fullmatch(version)
    if match is None:
        return None
    major, minor, patch, pre = match.groups()
    return int(major), int(minor), int(patch), pre is None, pre or ""
