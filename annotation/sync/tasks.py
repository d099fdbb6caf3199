"""A review task as it should be, as the server holds it, and as it was last seen there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.hashing import canonical_json, sendable, sha256_text

META = "medqrels"
"""Key of a task's `meta` under which its candidate and hash stand; the labelling page does not change it."""
Pair = tuple[str, str]
"""Query id, document id."""


@dataclass(frozen=True, slots=True)
class WantedTask:
    """One candidate to be on the server. `pair`: what a newer candidate replaces.

    Its data are made anew each time: those of a whole review, with images inside, fit into no memory.
    """

    candidate_id: str
    pair: Pair
    sha256: str
    make: Callable[[], Mapping[str, Any]] = field(repr=False, compare=False)

    @property
    def data(self) -> Mapping[str, Any]:
        """What the task shows."""
        return self.make()

    def payload(self) -> dict[str, Any]:
        """The task as it is imported."""
        return {
            "data": dict(self.data),
            "meta": {META: {"candidate_id": self.candidate_id, "sha256": self.sha256}},
        }


@dataclass(frozen=True, slots=True)
class HeldTask:
    """One task on the server. `candidate_id` is '' when the task is not of ours."""

    id: int
    candidate_id: str
    sha256: str
    """Hash of the data as it was imported."""
    is_edited: bool
    """Whether its data differ from what was imported."""
    answers: int
    """Annotations, skipped ones included."""
    has_draft: bool

    @property
    def is_untouched(self) -> bool:
        """Whether nobody answered, began an answer, or edited it: it may be replaced or deleted."""
        return not (self.answers or self.has_draft or self.is_edited)


@dataclass(frozen=True, slots=True)
class KnownTask:
    """One task that was seen on the server after it had been sent."""

    task_id: int
    pair: Pair


def data_sha256(data: Mapping[str, Any]) -> str:
    """Hash of a task's data, hex SHA-256."""
    return sha256_text(canonical_json(data))


def wanted_task(candidate_id: str, pair: Pair, data: Mapping[str, Any]) -> WantedTask:
    """A task to be, whose data are at hand, with their hash."""
    return WantedTask(candidate_id, pair, data_sha256(data), lambda: data)


def held_task(row: Mapping[str, Any], *, has_draft: bool = False) -> HeldTask:
    """A task from the server's listing.

    Raises:
        ValueError: the row is not one of a task listing.
    """
    data, meta = row.get("data"), row.get("meta")
    if not isinstance(row.get("id"), int) or not isinstance(data, Mapping):
        raise ValueError("not a task")
    ours = meta.get(META) if isinstance(meta, Mapping) else None
    candidate, noted = ("", "")
    if isinstance(ours, Mapping):
        candidate, noted = sendable(str(ours.get("candidate_id", ""))), str(ours.get("sha256", ""))
    return HeldTask(
        id=row["id"],
        candidate_id=candidate,
        sha256=noted,
        is_edited=data_sha256(data) != noted,
        answers=int(row.get("total_annotations") or 0) + int(row.get("cancelled_annotations") or 0),
        has_draft=has_draft,
    )
