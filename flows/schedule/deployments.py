"""The scheduled flows of the datasets as Prefect deployments, to serve or for prefect.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from flows.schedules import Planned, planned
from flows.specs import DATA_CARDS, Dataset

POOL = "medqrels"
ENTRYPOINT = "flows/schedule/scheduled.py"
_HEAD = """# Deployments of the scheduled flows; `prefect deploy --all` registers them with a running server.
# One worker serves them, from this checkout: prefect worker start --pool medqrels --type process
# Written by python -m scripts.make_docs from the specs in data_cards/: change their [schedules] instead.
"""


def all_planned(datasets: Iterable[Dataset]) -> list[Planned]:
    """Every scheduled flow of some datasets, by dataset and in the order of a night."""
    return [item for dataset in datasets for item in planned(dataset)]


def described(item: Planned) -> str:
    """One deployment for people, on Prefect's page of it."""
    hours = f"{item.scheduled.timeout_hours:g}"
    return f"{item.scheduled.does} One run at a time; ended after {hours} h."


def prefect_yaml(items: Sequence[Planned]) -> str:
    """prefect.yaml: the deployments for a work pool, whose workers run in the checkout."""
    content = {
        "name": "medqrels",
        "prefect-version": "3.8.8",
        "deployments": [
            {
                "name": item.dataset,
                "description": described(item),
                "entrypoint": f"{ENTRYPOINT}:{item.scheduled.name}",
                "tags": item.tags,
                "parameters": {"spec": _in_checkout(item.spec)},
                "work_pool": {"name": POOL},
                "concurrency_limit": {"limit": 1, "collision_strategy": "ENQUEUE"},
                "schedules": [
                    {
                        "slug": item.scheduled.name,
                        "cron": item.cron,
                        "timezone": item.timezone,
                        "active": True,
                    }
                ],
            }
            for item in items
        ],
    }
    return _HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _in_checkout(spec: Path) -> str:
    return spec.relative_to(DATA_CARDS.parent).as_posix()


def runner_deployments(items: Sequence[Planned], workspace: str | None) -> list[Any]:
    """The deployments as `prefect.serve` takes them: flows by module, so that any folder will do."""
    from prefect.client.schemas.objects import ConcurrencyLimitConfig
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    from flows.schedule import scheduled

    return [
        getattr(scheduled, item.scheduled.name).to_deployment(
            name=item.dataset,
            description=described(item),
            schedules=[Cron(item.cron, timezone=item.timezone, slug=item.scheduled.name)],
            tags=item.tags,
            parameters={"spec": str(item.spec)} | ({"workspace": workspace} if workspace else {}),
            concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy="ENQUEUE"),
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        for item in items
    ]
