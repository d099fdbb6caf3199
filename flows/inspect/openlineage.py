"""The runs of a workspace as OpenLineage events, for catalogues that collect them.

A run is a job `medqrels.flow.<flow>`, each stage that it made a job `medqrels.stage.<stage>` with the run as
its parent; tables of stages are datasets of the file system. Read from the records of runs and the manifests
of stages, so that nothing is kept for it. Source: https://openlineage.io/spec/2-0-2/OpenLineage.json
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from flows.engine.runner import shards_of
from flows.engine.runs import COMPLETED, FAILED, LOG, RUNNING, WAITING, runs_of
from flows.engine.workspace import Workspace

_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS = "https://openlineage.io/spec/facets"
_NAMESPACE = "medqrels"
_ENDS = {COMPLETED: "COMPLETE", FAILED: "FAIL"}
"""What is neither was cancelled or killed: ABORT."""
Event = dict[str, Any]


def events(workspace: Workspace) -> Iterator[Event]:
    """START and end of every run and of each of its stages, in the order in which they happened.

    Args:
        workspace: an open workspace; it is only read.
    """
    inputs = functools.cache(functools.partial(_inputs, workspace))
    found: list[Event] = []
    for row in runs_of(workspace):
        run, log = _run_id(str(row["id"])), _log(Path(row["folder"]))
        head = {"run": {"runId": run}, "job": _job("flow", str(row["flow"]))}
        found.append(_event("START", str(row["started"]), **head))
        for number, line in enumerate(one for one in log if one.get("event") == "stage_finished"):
            found += _stage(workspace, run, number, line, inputs(str(line["stage"])), str(row["flow"]))
        if row["state"] in (WAITING, RUNNING):
            continue
        last = str(row["finished"] or (log[-1]["time"] if log else row["started"]))
        why = row.get("why") or {}
        if why.get("message"):
            said = {"message": why["message"], "programmingLanguage": "PYTHON"}
            head["run"]["facets"] = {"errorMessage": _facet("1-0-1/ErrorMessageRunFacet", said)}
        found.append(_event(_ENDS.get(row["state"], "ABORT"), last, **head))
    return iter(sorted(found, key=lambda event: str(event["eventTime"])))


def _stage(
    workspace: Workspace, parent: str, number: int, line: Mapping[str, Any], inputs: Sequence[str], flow: str
) -> Iterator[Event]:
    stage, ended = str(line["stage"]), str(line["time"])
    begun = datetime.fromisoformat(ended) - timedelta(seconds=float(line.get("seconds", 0)))
    told = {"run": {"runId": parent}, "job": _job("flow", flow)}
    run = {
        "runId": str(uuid.uuid5(uuid.UUID(parent), f"{number}:{stage}")),
        "facets": {"parent": _facet("1-2-0/ParentRunFacet", told)},
    }
    read = [_dataset(workspace, table) for table in inputs]
    written = [
        {
            **_dataset(workspace, f"{stage}.{table}"),
            "outputFacets": {
                "outputStatistics": _facet("1-0-2/OutputStatisticsOutputDatasetFacet", {"rowCount": rows})
            },
        }
        for table, rows in dict(line.get("rows") or {}).items()
    ]
    yield _event(
        "START", begun.isoformat(timespec="microseconds"), run=run, job=_job("stage", stage), inputs=read
    )
    yield _event("COMPLETE", ended, run=run, job=_job("stage", stage), inputs=read, outputs=written)


def _inputs(workspace: Workspace, stage: str) -> list[str]:
    """Tables that the shards of a stage were made of."""
    read = {key.rpartition("/")[0] for made in shards_of(workspace, stage).values() for key in made.inputs}
    return sorted(name for name in read if name and not name.startswith("resource:"))


def _log(folder: Path) -> list[dict[str, Any]]:
    """Lines of a run's log; one that was cut by a kill is left out."""
    found = []
    try:
        text = (folder / LOG).read_text("utf-8", "surrogateescape")
    except OSError:
        return []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _event(kind: str, time: str, *, run: Event, job: Event, inputs: Any = (), outputs: Any = ()) -> Event:
    return {
        "eventType": kind,
        "eventTime": time,
        "run": run,
        "job": job,
        "inputs": list(inputs),
        "outputs": list(outputs),
        "producer": _producer(),
        "schemaURL": _SPEC,
    }


def _facet(name: str, values: Mapping[str, Any]) -> Event:
    version, _, kind = name.partition("/")
    schema = f"{_FACETS}/{version}/{kind}.json#/$defs/{kind}"
    return {"_producer": _producer(), "_schemaURL": schema, **values}


@functools.cache
def _producer() -> str:
    return f"urn:medqrels:{importlib.metadata.version('medqrels')}"


def _job(kind: str, name: str) -> Event:
    return {"namespace": _NAMESPACE, "name": f"medqrels.{kind}.{name}"}


def _dataset(workspace: Workspace, table: str) -> Event:
    stage, _, name = table.partition(".")
    return {"namespace": "file", "name": (workspace.stage(stage) / name).as_posix()}


def _run_id(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:medqrels:run:{name}"))
