"""What runs by itself, declared once: `medqrels serve`, prefect.yaml and `status` read this table.

When each runs is said in a dataset's spec, under [schedules].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim

from flows.specs import DATA_CARDS, Dataset, read_dataset

FlowName = Literal["sweep", "nightly", "weekly", "review_pull"]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """One flow that runs by itself.

    Attributes:
        name: of the flow, and of its cron line in a spec.
        does: what it does, for people.
        timeout_hours: after which a run is ended.
    """

    name: FlowName
    does: str
    timeout_hours: float


SCHEDULED: tuple[Scheduled, ...] = (
    Scheduled("sweep", "Ask the sources for retractions, concerns, changed licences, vanished articles.", 6),
    Scheduled("nightly", "Crawl what is new or changed, then extract and ground it.", 20),
    Scheduled("weekly", "Build the tasks; release and audit them where something changed.", 24),
    Scheduled("review_pull", "Fetch new answers of annotators into the workspace.", 1),
)
"""In the order in which one night runs them."""

TIMEOUT_SECONDS = {one.name: one.timeout_hours * 3600 for one in SCHEDULED}


@dataclass(frozen=True, slots=True)
class Planned:
    """One flow for one dataset, as it is deployed.

    Attributes:
        scheduled: the flow.
        dataset: name of the dataset.
        spec: its spec.toml.
        cron: when it runs, in `timezone`.
        timezone: an IANA name.
    """

    scheduled: Scheduled
    dataset: str
    spec: Path
    cron: str
    timezone: str

    @property
    def name(self) -> str:
        """FLOW/DEPLOYMENT, as Prefect calls it."""
        return f"{self.scheduled.name}/{self.dataset}"

    @property
    def tags(self) -> list[str]:
        """By which Prefect's pages filter."""
        return ["medqrels", self.dataset, self.scheduled.name]

    def next_run(self, now: datetime) -> datetime:
        """The first time it is due after `now`, which knows its time zone."""
        return next(CronSim(self.cron, now.astimezone(ZoneInfo(self.timezone))))


def shipped() -> list[Dataset]:
    """The datasets of data_cards/, by name.

    Raises:
        UsageError: a spec cannot be read.
    """
    return [read_dataset(path) for path in sorted(DATA_CARDS.glob("*/spec.toml"))]


def planned(dataset: Dataset) -> Iterator[Planned]:
    """What runs by itself for a dataset, in the order of one night."""
    wanted = dataset.spec.schedules
    for one in SCHEDULED if wanted.is_active else ():
        cron = getattr(wanted, one.name)
        if cron:
            yield Planned(one, dataset.spec.name, dataset.path, cron, wanted.timezone)
