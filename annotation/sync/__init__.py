"""What has to change on the review server, and what came back from it: pure, no network, no files."""

from annotation.sync.answers import (
    ForeignAnswer,
    Lent,
    Pulled,
    Quarantined,
    TaskAnswers,
    merge,
    wrong_overlaps,
)
from annotation.sync.diff import Conflict, Plan, diff
from annotation.sync.tasks import HeldTask, KnownTask, WantedTask, data_sha256, wanted_task

__all__ = [
    "Conflict",
    "ForeignAnswer",
    "HeldTask",
    "KnownTask",
    "Lent",
    "Plan",
    "Pulled",
    "Quarantined",
    "TaskAnswers",
    "WantedTask",
    "data_sha256",
    "diff",
    "merge",
    "wanted_task",
    "wrong_overlaps",
]
