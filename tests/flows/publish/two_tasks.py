"""A publishable release of two tasks, and the next version of it."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

from curation.audit import audit
from curation.audit.rules import integrity, rights
from curation.audit.verify import to_bytes
from curation.published.manifest import AUDIT_JSON, read_manifest
from tests.curation.audit.small import rule_of
from tests.curation.release.known import make_world, run_sql
from tests.releases import seal

TASKS = ("summary", "visual_context")
RULES = (rule_of(integrity.RULES, "dangling_ids"), rule_of(rights.RULES, "synthetic"))


def sealed(folder: Path, **changes: Any) -> None:
    """Seal a task folder anew, with its audit."""
    seal(folder, dataclasses.replace(read_manifest(folder), **changes))
    (folder / AUDIT_JSON).write_bytes(to_bytes(audit(folder, run_sql, rules=RULES)))


def first(root: Path) -> Path:
    """Folder of version 1.0.0."""
    made = make_world(root).release()
    shutil.copytree(made, made.parent / "summary")
    for task, other in (TASKS, TASKS[::-1]):
        sealed(made.parent / task, task=task, siblings=(other,))
    return made.parent


def newer(version: Path, root: Path) -> Path:
    """The next version, with another card and a file less."""
    copy = Path(shutil.copytree(version, root / "1.0.1"))
    for task in TASKS:
        (copy / task / "README.md").open("a").write("\nMore.\n")
        (copy / task / "ATTRIBUTION.md").unlink()
        sealed(copy / task, version="1.0.1")
    return copy
