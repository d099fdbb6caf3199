"""Reports of readers: items that name a person, show the wrong one, lack consent or insult.

A report stands from the moment an answer says so, whatever becomes of that answer, until a maintainer's
recorded decision lifts it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from annotation.layouts.fields import IMAGES, TEXTS
from schemas.review import REPORTS, Lifted, Reported, ReviewAnnotation, ReviewCandidate, source_images


@dataclass(frozen=True, slots=True)
class Report:
    """An item with the answers that report it; those that a decision lifted are not among them."""

    candidate: ReviewCandidate
    annotations: tuple[ReviewAnnotation, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Its reasons, in the order of REPORTS."""
        given = {row.reason for row in self.annotations}
        return tuple(reason for reason in REPORTS if reason in given)


def standing(
    candidates: Iterable[ReviewCandidate], annotations: Iterable[ReviewAnnotation], lifted: Iterable[Lifted]
) -> list[Report]:
    """Reports that no decision has lifted, by candidate.

    Args:
        candidates: what was asked.
        annotations: answers of any state: one that was changed, or whose item is no longer asked, has still
            reported it.
        lifted: the decisions so far.
    """
    done = {name for row in lifted for name in row.annotations}
    found: dict[str, list[ReviewAnnotation]] = defaultdict(list)
    for row in annotations:
        if row.reason in REPORTS and row.role != "judge" and row.id not in done:
            found[row.candidate_id].append(row)
    items = sorted((item for item in candidates if item.id in found), key=lambda item: item.id)
    return [Report(item, tuple(sorted(found[item.id], key=lambda row: row.id))) for item in items]


def reported(reports: Iterable[Report]) -> Iterator[Reported]:
    """Texts and images that reported items show: on which side the fault is, nobody has said."""
    for report in reports:
        reasons = ", ".join(report.reasons)
        for item in report.candidate.shown:
            if item.value and item.name in TEXTS and item.name != "document_title":
                yield Reported(text=item.value, image="", reasons=reasons)
            elif item.value and item.name in IMAGES:
                for image in source_images(item.value):
                    yield Reported(text="", image=image, reasons=reasons)
