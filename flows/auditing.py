"""Runs the audit of published directories and writes its report and page beside the data."""

from __future__ import annotations

import json
import os
from pathlib import Path

from curation.release.audit import audit, render_page
from curation.release.manifest import read_manifest
from flows.database import query
from flows.workspace import Workspace, write_atomic
from schemas.audit import AuditReport
from schemas.errors import UsageError
from schemas.record import to_dict


def audit_directory(directory: Path, *, report: Path | None = None, write: bool = True) -> AuditReport:
    """Audit one task directory from its published files alone.

    Args:
        directory: a folder holding release.json and the tables.
        report: where the page goes; beside the data when not given and the folder is writable.
        write: whether to write audit.json and the page.
    """
    result = audit(directory, query())
    if write:
        page = render_page(result, directory)
        if os.access(directory, os.W_OK):
            body = json.dumps(to_dict(result), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
            write_atomic(directory / "audit.json", body.encode("utf-8", "surrogatepass"))
            write_atomic(directory / "audit.html", page.encode("utf-8", "surrogatepass"))
        if report is not None:
            write_atomic(report, page.encode("utf-8", "surrogatepass"))
    return result


def task_directories(release: str, workspace: Workspace | None) -> list[Path]:
    """Task folders of a RELEASE argument: a path to a task or version folder, or NAME@VERSION.

    Raises:
        UsageError: nothing there is a release.
    """
    path = Path(release)
    if not path.exists() and "@" in release and workspace is not None:
        name, _, version = release.partition("@")
        path = workspace.releases / name / version
    if (path / "release.json").is_file():
        return [path]
    found = sorted(item.parent for item in path.glob("*/release.json")) if path.is_dir() else []
    if not found:
        raise UsageError(
            f"no release at {release!r}", file=str(path), hint="give a path to a task folder, or NAME@VERSION"
        )
    for directory in found:
        read_manifest(directory)
    return found


def describe(results: list[AuditReport]) -> str:
    """The verdicts as text for people."""
    lines = []
    for result in results:
        lines.append(f"{result.release} {result.task}: {result.verdict}  ({result.release_hash[:16]})")
        for rule in result.rules:
            if rule.status != "passed":
                lines.append(
                    f"  {rule.status:<8} {rule.severity:<8} {rule.rule}: {rule.found} {rule.note}".rstrip()
                )
                lines += [f"    {finding.message}" for finding in rule.findings[:3]]
        if not result.publishable:
            lines.append("  not publishable: see the declared findings")
    return "\n".join(lines)


def has_errors(results: list[AuditReport]) -> bool:
    """Whether any audit found an error or could not run a rule."""
    return any(result.verdict != "clean" for result in results)
