"""What was withdrawn: each article, image, patient or row that no release may hold again, and why."""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

WithdrawnUnit = Literal["article", "figure", "image", "passage", "patient", "query", "document"]
WithdrawalReason = Literal[
    "retracted", "concern", "licence_changed", "vanished", "requested", "privacy", "licence", "court"
]
REASONS: dict[WithdrawalReason, str] = {
    "retracted": "the article was retracted",
    "concern": "its journal published an expression of concern",
    "licence_changed": "its licence is another one now",
    "vanished": "its repository took it back",
    "requested": "somebody with a right to ask for it did",
    "privacy": "it tells of a person who can be recognised",
    "licence": "it was never free to be published here",
    "court": "a court ordered it",
}
"""Closed codes with what they mean."""


@record
class Withdrawn:
    """One thing that was withdrawn, or that went with it."""

    id: str = column("article, figure, passage, patient, query or document id; of an image its SHA-256")
    unit: WithdrawnUnit = column("what the id names")
    reason: WithdrawalReason = column("closed reason code")
    notice: str = column("what was said of it, one line", default="")
    parent: str = column("id whose withdrawal took this one along, '' for what was named", default="")
    source: str = column("repository of an article, '' for anything else", default="")
    locator: str = column("key of an article in its repository, '' for anything else", default="")
