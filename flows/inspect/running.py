"""What runs on a workspace: runs going on, the last one of each flow, what is due next, and the room left."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flows.engine.runs import COMPLETED, RUNNING, WAITING, runs_of
from flows.engine.workspace import Workspace
from flows.schedules import Planned
from sources.ledger import summary


def runs(workspace: Workspace) -> dict[str, list[dict[str, Any]]]:
    """Runs going on, and the last finished run of each flow and dataset, newest first."""
    rows = [_told(row) for row in runs_of(workspace)]
    going = [row for row in rows if row["state"] in (WAITING, RUNNING)]
    last = {(row["flow"], row["dataset"]): row for row in rows if row["state"] not in (WAITING, RUNNING)}
    return {"running": going, "last": sorted(last.values(), key=lambda row: row["started"], reverse=True)}


def datasets_of(workspace: Workspace) -> set[str]:
    """Names of the datasets that a workspace has runs or releases of."""
    released = {path.parts[-4] for path in workspace.releases.glob("*/*/*/release.json")}
    return released | {row["dataset"] for row in runs_of(workspace) if row["dataset"]}


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a run; its stages stand on its page."""
    names = ("id", "flow", "dataset", "state", "started", "finished", "waits_for", "process", "why", "folder")
    stages = row["stages"]
    return {name: row[name] for name in names} | {
        "as_of": row["parameters"].get("as_of", ""),
        "stage": stages[-1]["stage"] if stages else "",
        "cpu_seconds": round(sum(stage["cpu_seconds"] for stage in stages), 1),
        "peak_mib": max((stage["peak_mib"] for stage in stages), default=0),
    }


def due(
    workspace: Workspace, planned: Iterable[Planned], now: datetime | None = None
) -> list[dict[str, Any]]:
    """Each scheduled flow with its last completed run and when it runs next, the earliest first.

    A flow that ran before is late where two of its dates have passed since it was last completed, or first
    begun: nobody serves it, or it fails.
    """
    now = now or datetime.now(UTC)
    done: dict[tuple[str, str], str] = {}
    begun: dict[tuple[str, str], str] = {}
    for row in runs_of(workspace):
        begun.setdefault((row["flow"], row["dataset"]), str(row["started"]))
        if row["state"] == COMPLETED:
            done[row["flow"], row["dataset"]] = str(row["finished"])
    found = []
    for item in planned:
        key = item.scheduled.name, item.dataset
        last = done.get(key, "")
        since = last or begun.get(key, "")
        found.append(
            {
                "flow": item.scheduled.name,
                "dataset": item.dataset,
                "next": item.next_run(now).isoformat(timespec="minutes"),
                "last_completed": last,
                "is_late": bool(since) and item.next_run(item.next_run(datetime.fromisoformat(since))) < now,
            }
        )
    return sorted(found, key=lambda row: datetime.fromisoformat(row["next"]))


def disk(workspace: Workspace) -> dict[str, int]:
    """Bytes of what was fetched (as the ledger counts them), of each other folder, and free."""
    found = {"raw": sum(row.size_bytes for row in summary(workspace.ledger))}
    for folder in sorted(path for path in workspace.root.iterdir() if path.is_dir()):
        if folder != workspace.raw:
            found[folder.name] = _size(folder)
    return found | {"free": shutil.disk_usage(workspace.root).free}


def _size(folder: Path) -> int:
    """Bytes of the files below a folder; those that go away meanwhile do not count."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(base, name)).st_size
            except OSError:
                continue
    return total


def run_lines(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Runs for people: those going on, then how the last of each flow ended."""
    lines = []
    for row in found["running"]:
        does = (
            f"waits for {row['waits_for']}" if row["waits_for"] else f"after stage {row['stage'] or 'none'}"
        )
        lines.append(f"{row['state']}: {_name(row)} since {_minute(row['started'])}, {does}")
    for row in found["last"]:
        lines.append(f"{row['state']}: {_name(row)}, {_minute(row['finished'] or row['started'])}")
        if row["state"] != COMPLETED:
            lines += [f"  {row['why'].get('message', '')}"]
            lines += [f"  {key}: {row['why'][key]}" for key in ("record", "file") if row["why"].get(key)]
            lines += [f"  next: {row['why']['hint']}"] if row["why"].get("hint") else []
    return ["runs", *(f"  {line}" for line in lines)] if lines else []


def due_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """What runs next, for people."""
    lines = []
    for row in found:
        last = (
            f"last completed {_minute(row['last_completed'])}" if row["last_completed"] else "never completed"
        )
        late = "; late: is `medqrels serve` running?" if row["is_late"] else ""
        lines.append(f"  {_minute(row['next'])}  {row['flow']} of {row['dataset']} ({last}{late})")
    return ["scheduled next", *lines] if lines else []


def disk_line(found: Mapping[str, int]) -> str:
    """Room used and left, for people."""
    used = ", ".join(f"{name} {_bytes(size)}" for name, size in found.items() if name != "free" and size)
    return f"disk: {used or 'nothing yet'}; {_bytes(found['free'])} free"


def _bytes(size: int) -> str:
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"


def _name(row: Mapping[str, Any]) -> str:
    named = f"{row['flow']} of {row['dataset']}" if row["dataset"] else str(row["flow"])
    return named + (f" as of {row['as_of']}" if row["as_of"] else "")


def _minute(time: str) -> str:
    """A time to the minute, with its time zone."""
    return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M %Z") if time else ""
