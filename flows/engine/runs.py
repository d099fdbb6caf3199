"""Records of runs in the workspace: what ran when, what came of it, and its log, one JSON line an event.

`<workspace>/runs/<id>/` holds `run.json`, `log.jsonl`, and a lock that the system lets go when the process
ends, so that a killed run is told from a running one. Prefect's database is not needed to know any of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import os
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from flows.engine.failures import failure
from flows.engine.manifest import peak_mib, read_run
from flows.engine.workspace import Workspace, is_held, write_atomic

RUNS = "runs"
RECORD = "run.json"
LOG = "log.jsonl"
KEPT = 200
"""Newest runs whose folders stay."""
KEPT_OF_A_FLOW = 30
"""Newest runs of each flow that stay beside them: an hourly flow does not push out a weekly one."""
WAITING, RUNNING, COMPLETED, FAILED, CANCELLED, KILLED = (
    "waiting", "running", "completed", "failed", "cancelled", "killed",
)  # fmt: skip
"""States of a run; `killed` is never written: it is what a record says whose process is gone."""
_LOCK = ".lock"
_CURRENT: contextvars.ContextVar[Run | None] = contextvars.ContextVar("medqrels_run", default=None)
_THREADS = threading.Lock()


@dataclass(slots=True)
class Run:
    """One run while it goes on.

    Attributes:
        folder: of its record and log; None for work that is not recorded.
        record: what run.json says, see `docs/operations.md`.
    """

    folder: Path | None
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """How others are told of it."""
        if self.folder is None:
            return f"process {os.getpid()} on {os.uname().nodename}"
        named = self.record["flow"] + (f" of {self.record['dataset']}" if self.record["dataset"] else "")
        return f"{named}, run {self.record['id']}, process {os.getpid()} on {os.uname().nodename}"

    def note(self, event: str, *, level: str = "info", **fields: Any) -> None:
        """Add a line to the log; fields such as `stage`, `shard`, `record`, `message`."""
        if self.folder is None:
            return
        head = {"time": now(), "level": level, "run": self.record["id"], "flow": self.record["flow"]}
        line = json.dumps({**head, "event": event, **fields}, ensure_ascii=False, default=str)
        with _THREADS, (self.folder / LOG).open("a", encoding="utf-8", errors="surrogateescape") as handle:
            handle.write(line + "\n")

    def set(self, **fields: Any) -> None:
        """Change the record on disk."""
        if self.folder is None:
            return
        self.record.update(fields)
        body = json.dumps(self.record, indent=1, ensure_ascii=False, default=str) + "\n"
        write_atomic(self.folder / RECORD, body.encode("utf-8", "surrogateescape"))

    def waits_for(self, holder: str) -> None:
        """It cannot begin yet."""
        self.set(state=WAITING, waits_for=holder)
        self.note("waiting", message=f"waits for {holder}")

    def begins(self) -> None:
        """It holds the workspace; what a nested piece of work says again changes nothing."""
        if self.record.get("state") == WAITING:
            self.set(state=RUNNING, waits_for="")

    def stage(self, summary: Mapping[str, Any], spent: Mapping[str, float]) -> None:
        """What a stage did: its summary, and time, memory and bytes of the shards made now."""
        if self.folder is None:
            return
        row = {**summary, **spent}
        self.set(stages=[*self.record["stages"], row])
        self.note("stage_finished", **row)


NOT_RECORDED = Run(None)


def current_run() -> Run:
    """The run that this code is part of; one that records nothing outside of any."""
    return _CURRENT.get() or NOT_RECORDED


@contextlib.contextmanager
def recorded(
    workspace: Workspace, flow: str, *, dataset: str = "", parameters: Mapping[str, Any] | None = None
) -> Iterator[Run]:
    """Record what happens inside as a run; inside another run, or without a name, as part of what is around.

    Args:
        workspace: which keeps the record.
        flow: name of the flow or command, '' for work not worth a record.
        dataset: it is done for, '' for none.
        parameters: plain values it was started with.
    """
    if not flow or _CURRENT.get() is not None:
        yield current_run()
        return
    run, lock = _new(workspace, flow, dataset, parameters or {})
    token = _CURRENT.set(run)
    try:
        run.note("run_started", parameters=run.record["parameters"], dataset=dataset)
        yield run
        _end(run, COMPLETED, {})
    except BaseException as error:
        is_failure = isinstance(error, Exception | asyncio.CancelledError)
        _end(run, FAILED if is_failure else CANCELLED, failure(error))
        raise
    finally:
        _CURRENT.reset(token)
        lock.release()


def spent(folders: Iterable[Path], seconds: float) -> dict[str, float]:
    """What it cost to make some shards now.

    Args:
        folders: of the shards.
        seconds: that the stage took by the clock.
    """
    costs = [read_run(folder) for folder in folders]
    return {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(sum(cost.get("cpu_seconds", 0.0) for cost in costs), 3),
        "peak_mib": max((cost.get("peak_mib", 0) for cost in costs), default=0),
        "bytes": sum(cost.get("bytes", 0) for cost in costs),
    }


@contextlib.contextmanager
def measured() -> Iterator[dict[str, float]]:
    """What the work inside cost, in the form of :func:`spent`, filled in at its end."""
    cost: dict[str, float] = {}
    clock, before = time.monotonic(), os.times()
    yield cost
    after = os.times()
    used = sum(after[:4]) - sum(before[:4])
    seconds = round(time.monotonic() - clock, 3)
    cost.update(seconds=seconds, cpu_seconds=round(used, 3), peak_mib=peak_mib(), bytes=0)


def _end(run: Run, state: str, why: Mapping[str, str]) -> None:
    run.set(state=state, finished=now(), waits_for="", why=dict(why))
    level = {COMPLETED: "info", CANCELLED: "warning"}.get(state, "error")
    run.note(f"run_{state}", level=level, **why)


def _new(
    workspace: Workspace, flow: str, dataset: str, parameters: Mapping[str, Any]
) -> tuple[Run, FileLock]:
    base = workspace.root / RUNS
    base.mkdir(exist_ok=True)
    _forget_old(base)
    started = now()
    id = f"{started[:19].replace('-', '').replace(':', '')}Z-{flow}-{secrets.token_hex(3)}"
    folder = base / id
    folder.mkdir()
    lock = FileLock(folder / _LOCK)
    lock.acquire()
    run = Run(folder)
    run.set(
        id=id,
        flow=flow,
        dataset=dataset,
        parameters=dict(parameters),
        state=WAITING,
        waits_for="",
        started=started,
        finished="",
        process=os.getpid(),
        host=os.uname().nodename,
        why={},
        stages=[],
        releases=[],
        notes=[],
    )
    return run, lock


def _forget_old(base: Path) -> None:
    """Remove records beyond the newest, and what killed runs left of theirs half-written."""
    for left in base.glob(f"*/.{RECORD}.tmp"):
        if not _is_held(left.parent):
            left.unlink(missing_ok=True)
    folders = sorted((path for path in base.iterdir() if path.is_dir()), reverse=True)
    of_flow: Counter[str] = Counter()
    for number, folder in enumerate(folders):
        flow = folder.name.partition("-")[2].rpartition("-")[0]
        of_flow[flow] += 1
        if number >= KEPT - 1 and of_flow[flow] > KEPT_OF_A_FLOW and not _is_held(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    """Whether the process of a run lives."""
    return is_held(folder / _LOCK)


def runs_of(workspace: Workspace) -> list[dict[str, Any]]:
    """Records of the runs of a workspace, oldest first; a damaged record is left out."""
    base = workspace.root / RUNS
    found = []
    for path in sorted(base.glob(f"*/{RECORD}")) if base.is_dir() else []:
        row = _read(path)
        if row is not None and _is_unfinished(row) and not _is_held(path.parent):
            row = _read(path)  # again: it may have ended since it was read
            if row is not None and _is_unfinished(row):
                why = {"message": "its process was killed", "hint": "run it again: it goes on from here"}
                row |= {"state": KILLED, "why": why}
        if row is not None:
            found.append(row)
    return sorted(found, key=lambda row: (str(row["started"]), str(row["id"])))  # ids tell seconds only


def _read(path: Path) -> dict[str, Any] | None:
    """A record and the folder it lies in, None where it is damaged or gone."""
    try:
        row = json.loads(path.read_text("utf-8", "surrogateescape"))
        _ = row["state"], row["started"], row["id"]
        return {**row, "folder": str(path.parent)}
    except (ValueError, KeyError, TypeError, OSError):
        return None


def _is_unfinished(row: Mapping[str, Any]) -> bool:
    return row["state"] in (WAITING, RUNNING) and bool(row["started"] and row["id"])


def last_of(rows: Sequence[Mapping[str, Any]], flow: str, dataset: str) -> Mapping[str, Any] | None:
    """The newest completed run of a flow for a dataset, None when there is none."""
    mine = [row for row in rows if (row["flow"], row["dataset"], row["state"]) == (flow, dataset, COMPLETED)]
    return mine[-1] if mine else None


def now() -> str:
    """The time as UTC in ISO 8601, to the microsecond: runs are listed by it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
