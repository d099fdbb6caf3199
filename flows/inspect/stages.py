"""Which stages a workspace holds."""

from __future__ import annotations

from flows.crawl.selection import STAGE as SELECTION
from flows.engine.workspace import Workspace
from flows.pipeline import in_order

_NOT_STAGES = frozenset({SELECTION, "vocabulary"})


def stages_in(workspace: Workspace) -> list[str]:
    """Names of the stages with a folder, in the order of the pipeline."""
    if not workspace.work.is_dir():
        return []
    found = [path.name for path in workspace.work.iterdir() if path.is_dir()]
    return in_order([name for name in found if name not in _NOT_STAGES])
