"""The command `serve`: the scheduled flows of the datasets, in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from flows.cli.common import DEFAULT, OK, Common, DryRun, emit


def serve(
    *,
    spec: Annotated[
        tuple[Path, ...], Parameter(help="A dataset's spec.toml; by default all of data_cards/.")
    ] = (),
    port: Annotated[
        int, Parameter(help="Port on loopback of the Prefect server, where no PREFECT_API_URL is set.")
    ] = 4200,
    limit: Annotated[int, Parameter(help="Runs at the same time; those of one workspace take turns.")] = 4,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Run the datasets' scheduled flows: sweep, nightly crawl, weekly release, review pull; until Ctrl-C."""
    from datetime import UTC, datetime

    from flows.schedules import planned, shipped
    from flows.specs import read_dataset
    from schemas.errors import UsageError

    datasets = [read_dataset(path) for path in spec] or shipped()
    items = [item for dataset in datasets for item in planned(dataset)]
    now = datetime.now(UTC)
    plan = [
        {
            "name": item.name,
            "spec": str(item.spec),
            "cron": item.cron,
            "timezone": item.timezone,
            "next": item.next_run(now).isoformat(timespec="minutes"),
        }
        for item in items
    ]
    if not items:
        raise UsageError(
            "nothing is scheduled",
            hint="say when in a spec's [schedules], with is_active = true (docs/operations.md)",
        )
    lines = [f"{row['next']}  {row['name']}  ({row['cron']} {row['timezone']})" for row in plan]
    emit(common, plan, "\n".join(sorted(lines)))
    if dry_run:
        return OK
    from flows.schedule.serve import serve as run_server

    # The flows' processes read settings from the folder they start in: the workspace is handed on whole.
    root = None if common.workspace is None else str(common.workspace.absolute())
    run_server(items, root, port, limit)
    return OK
