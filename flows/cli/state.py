"""The commands `status` and `doctor`: what there is and what runs, and whether the machine can do it."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from flows.cli.common import DEFAULT, FINDING, OK, Common, emit

WATCH_SECONDS = 2.0
_CLEAR = "\x1b[H\x1b[2J"


def status(
    *,
    spec: Annotated[
        tuple[Path, ...],
        Parameter(
            help="A dataset's spec.toml whose schedule to show; by default those of data_cards/ used here.",
        ),
    ] = (),
    watch: Annotated[bool, Parameter(help="Show it again every two seconds, until Ctrl-C.")] = False,
    openlineage: Annotated[
        Path | None,
        Parameter(help="Write the runs as OpenLineage events into this file, one JSON line each, and end."),
    ] = None,
    common: Common = DEFAULT,
) -> int:
    """Show what is fresh, stale, running or failed and why, drops, the disk, and what runs next."""
    from flows.engine.session import read_session
    from flows.engine.workspace import check_outside_releases, write_atomic
    from flows.inspect.openlineage import events
    from flows.inspect.running import datasets_of
    from flows.inspect.status import describe
    from flows.inspect.status import status as read_status
    from flows.schedules import planned, shipped
    from flows.specs import read_dataset

    workspace = read_session(common.workspace).workspace
    if openlineage is not None:
        check_outside_releases(openlineage, "--openlineage")
        lines = [json.dumps(event, ensure_ascii=False) + "\n" for event in events(workspace)]
        write_atomic(openlineage, "".join(lines).encode("utf-8", "surrogateescape"))
        emit(
            common, {"file": str(openlineage), "events": len(lines)}, f"{len(lines):,} events: {openlineage}"
        )
        return OK
    used = datasets_of(workspace)
    datasets = [read_dataset(path) for path in spec] or [item for item in shipped() if item.spec.name in used]
    items = [item for dataset in datasets for item in planned(dataset)]
    while True:
        found = read_status(workspace, items)
        is_screen = watch and sys.stdout.isatty() and not common.json
        emit(common, found, (_CLEAR if is_screen else "") + describe(found))
        if not watch:
            return OK
        time.sleep(WATCH_SECONDS)


def doctor(
    *,
    servers: Annotated[
        bool, Parameter(help="Ask the servers too: Prefect, Label Studio, the Hub, the sources.")
    ] = False,
    files: Annotated[
        bool,
        Parameter(help="Read every stored file and hold it to its hash."),
    ] = False,
    common: Common = DEFAULT,
) -> int:
    """Check that this machine and workspace can do the work, and say how to mend what cannot."""
    from flows.engine.progress import reporter_for
    from flows.engine.settings import load_settings
    from flows.inspect.doctor import describe, examine, is_well
    from flows.release.files import examine_files

    settings = load_settings(workspace=common.workspace)
    results = examine(settings, ask_servers=servers)
    if files:
        results += examine_files(settings, reporter_for())
    emit(common, results, lambda: describe(results))
    return OK if is_well(results) else FINDING
