"""What a scheduled run leaves to look at: artifacts in Prefect, and the run's own page in the workspace.

Both are made from the run's record alone, so that the page stays when Prefect's database does not.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefect.artifacts import create_image_artifact, create_markdown_artifact, create_table_artifact
from prefect.context import FlowRunContext

from flows.engine.failures import failure
from flows.engine.runs import Run, last_of, runs_of
from flows.engine.workspace import Workspace, write_atomic
from flows.inspect.run_page import changes, chart, costs, page, releases, retention
from schemas.wording import counted

PAGE = "index.html"
_MARKS = re.compile(r"[!-/:-@\[-`{-~]")
"""ASCII punctuation: a backslash before it makes it text (CommonMark 0.31, 2.4)."""


def report(run: Run, error: BaseException | None = None) -> dict[str, Any]:
    """Write the page and the artifacts of a run; returns its record with what changed since the last one.

    Args:
        run: with everything it did.
        error: that ends it, None for none.
    """
    if run.folder is None:
        return {}
    workspace = Workspace(run.folder.parent.parent)
    before = last_of(runs_of(workspace), run.record["flow"], run.record["dataset"])
    told = {**run.record, "why": failure(error) if error else {}, "changes": changes(run.record, before)}
    write_atomic(run.folder / PAGE, page(told).encode())
    is_waited_for = error is None or isinstance(error, Exception | asyncio.CancelledError)  # not if cancelled
    if is_waited_for and FlowRunContext.get() is not None:
        try:
            _artifacts(told, run.folder / PAGE)
        except Exception as trouble:  # what was done counts, and all of it stands on the page
            run.note("artifacts_not_written", level="warning", message=str(trouble))
    return told


def _artifacts(told: Mapping[str, Any], path: Path) -> None:
    """Tables, the chart, and where the pages are."""
    prefix = f"{told['flow']}-{told['dataset']}".replace("_", "-")
    tables = {
        "retention": (retention(told["stages"]), "What each stage took in, kept and dropped, and why"),
        "cost": (
            costs(told["stages"]),
            "Time, memory and bytes written of each stage, for what was made now",
        ),
        "changes": (told["changes"], "What differs from the last completed run of this flow"),
        "releases": (releases(told["releases"]), "Releases, with the verdict and the page of each audit"),
    }
    for name, (rows, about) in tables.items():
        if rows:
            create_table_artifact(key=f"{prefix}-{name}", table=rows, description=about)
    if told["stages"]:
        drawn = base64.b64encode(chart(told["stages"]).encode()).decode()
        create_image_artifact(
            image_url=f"data:image/svg+xml;base64,{drawn}",
            key=f"{prefix}-chart",
            description="Seconds per stage",
        )
    create_markdown_artifact(_text(told, path), key=f"{prefix}-summary", description="Summary of the run")


def _text(told: Mapping[str, Any], path: Path) -> str:
    """A run in short: what it was told to do, what came of it, what helps, where its page is."""
    lines = [f"**{told['flow']}** of **{told['dataset']}**, run `{told['id']}`", ""]
    if why := told["why"]:
        lines.append(f"Failed: {_plain(why['message'])}")
        lines += [f"- {key}: {_plain(why[key])}" for key in ("record", "file") if why.get(key)]
        lines += [f"- next: {_plain(why['hint'])}"] if why.get("hint") else []
    made = sum(stage["shards"]["made"] for stage in told["stages"])
    used = sum(stage["cpu_seconds"] for stage in told["stages"])
    if told["stages"]:
        lines.append(f"- {len(told['stages'])} stages, {counted(made, 'shard')} made, {used:.1f} CPU seconds")
    lines += [f"- {_plain(note.strip())}" for note in told["notes"]]
    lines += [
        f"- {row['task']} {row['version']}: audit {row['audit']}, "
        f"[page]({Path(row['page']).absolute().as_uri()}) `{row['page']}`"
        for row in releases(told["releases"])
    ]
    if not told["changes"] and not why:
        lines.append("- nothing changed since the last run")
    return "\n".join([*lines, "", f"The run's page: `{path}`"])


def _plain(text: Any) -> str:
    """A text in which Markdown and HTML see no marks: an error may quote what a source sent."""
    return _MARKS.sub(r"\\\g<0>", " ".join(str(text).split()))
