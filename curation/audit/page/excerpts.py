"""Findings as the page shows them: each side's words in their surroundings, the shared ones marked.

Rows are looked up in the published files; memory is bounded by the few rows that are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pds

from curation.audit.page.thumbs import thumbnail_of
from curation.audit.rule import MAX_QUOTE
from schemas.audit import AuditReport, Finding, RuleResult, Side
from schemas.errors import MedqrelsError

SHOWN = 5
"""Findings of a rule shown with their texts; the further ones of the report are listed by their ids."""
MAX_THUMBNAILS = 60
_CONTEXT = 90
_LONGEST_MESSAGE = 500
_BROKEN = (OSError, pa.ArrowException, KeyError, TypeError, ValueError)

Views = Mapping[str, Sequence[Path]]
Place = tuple[str, str, str]
"""Dataset ('' for the audited one), table, row id."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a side; `is_shared` when they are what the finding is about."""

    text: str
    is_shared: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """One side of a finding."""

    dataset: str
    table: str
    id: str
    at: str
    pieces: tuple[Piece, ...]
    image: str


@dataclass(frozen=True, slots=True)
class Example:
    """One finding with its sides."""

    message: str
    sides: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of one rule the report holds: the first with their texts, the rest by id."""

    result: RuleResult
    examples: tuple[Example, ...]
    more: tuple[Finding, ...]

    @property
    def uncounted(self) -> int:
        """Findings that were counted but are not in the report."""
        return max(0, self.result.found - len(self.result.findings))


def findings(report: AuditReport, inputs: Mapping[str, Views]) -> dict[str, Findings]:
    """Rule -> what the page shows of its findings.

    Args:
        report: the report.
        inputs: name of an input ('' for the audited one) -> its views; a side in any other input shows its
            quote alone.
    """
    shown = [(result, result.findings[:SHOWN]) for result in report.rules]
    sides = [side for _, kept in shown for finding in kept for side in finding.sides]
    texts = _texts(sides, inputs)
    images = _images(sides, inputs)
    return {
        result.rule: Findings(
            result=result,
            examples=tuple(
                Example(
                    finding.message[:_LONGEST_MESSAGE],
                    tuple(_side(side, texts, images) for side in finding.sides),
                )
                for finding in kept
            ),
            more=result.findings[len(kept) :],
        )
        for result, kept in shown
    }


def _place(side: Side) -> Place:
    return side.dataset, side.table, side.id


def _side(side: Side, texts: Mapping[Place, str], images: Mapping[Place, str]) -> Shown:
    cut = "…" if len(side.quote) == MAX_QUOTE else ""
    pieces, at = [Piece(side.quote + cut, False)], ""
    if side.start is not None and side.end is not None:
        text = texts.get(_place(side), "")
        span = text[side.start : side.end]
        is_there = bool(side.quote) and span[: len(side.quote)] == side.quote
        before = text[max(0, side.start - _CONTEXT) : side.start] if is_there else ""
        after = text[side.end : side.end + _CONTEXT] if is_there else ""
        left = "…" if is_there and side.start > _CONTEXT else ""
        right = "…" if is_there and side.end + _CONTEXT < len(text) else ""
        omitted = " […] " if is_there and len(span) > len(side.quote) else ""
        pieces = [Piece(left + before, False), Piece(side.quote, True), Piece(omitted + after + right, False)]
        at = f"characters {side.start:,}–{side.end:,}"
    return Shown(
        dataset=side.dataset,
        table=side.table,
        id=side.id,
        at=at,
        pieces=tuple(piece for piece in pieces if piece.text),
        image=images.get(_place(side), ""),
    )


def _texts(sides: Sequence[Side], inputs: Mapping[str, Views]) -> dict[Place, str]:
    """Full texts of the rows whose words are located."""
    wanted: dict[tuple[str, str], set[str]] = {}
    for side in sides:
        if side.start is not None:
            wanted.setdefault((side.dataset, side.table), set()).add(side.id)
    texts: dict[Place, str] = {}
    for (dataset, table), ids in sorted(wanted.items()):
        for path in inputs.get(dataset, {}).get(table, ()):
            try:
                chosen = pds.field("id").isin(sorted(ids))
                rows = pds.dataset(path, format="parquet").to_table(columns=["id", "text"], filter=chosen)
                texts.update({(dataset, table, row["id"]): row["text"] or "" for row in rows.to_pylist()})
            except _BROKEN:
                continue
    return texts


def _images(sides: Sequence[Side], inputs: Mapping[str, Views]) -> dict[Place, str]:
    """Thumbnails of the first rows that have an image, as data addresses."""
    found: dict[Place, str] = {}
    seen: set[Place] = set()
    for side in sides:
        place = _place(side)
        if len(found) >= MAX_THUMBNAILS:
            break
        if place in seen or side.table not in ("queries", "corpus"):
            continue
        seen.add(place)
        try:
            address = thumbnail_of(list(inputs.get(side.dataset, {}).get(side.table, ())), side.id)
        except (*_BROKEN, MedqrelsError):
            continue
        if address:
            found[place] = address
    return found
