"""Queries and documents with several images: the setting, the rows, what of them is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import Field

from curation.extract.neutralise import neutralise_caption
from curation.tasks.shared.study_names import NO_NAMES, Names, unnamed
from schemas import task
from schemas.article import Graphic
from schemas.benchmark import RowImage
from schemas.extracted import Figure
from schemas.hashing import sha256_text
from schemas.stages import Drop, Reason, Sql

MOST = 6
"""Images of one query or document."""
KEY = ("side", "id", "source_id", "position")


class Settings(task.Settings):
    """Settings of a task whose queries or documents may have several images."""

    max_images: int = Field(
        default=1,
        ge=1,
        le=MOST,
        description="most images of one query or document; above 1, rows with several have all in `images`",
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """One image of a figure; `number` is its 1-based place in the figure."""

    figure: Figure
    graphic: Graphic
    number: int

    @property
    def place(self) -> str:
        """FIGURE_ID/NUMBER."""
        return f"{self.figure.id}/{self.number}"


@dataclass(frozen=True, slots=True)
class Row:
    """A query or document that images are listed of."""

    id: str
    side: task.Side
    source_id: str
    article_id: str
    language: str
    names: Names = NO_NAMES
    """of its article's study, which its captions do not give away"""


def listed(row: Row, shown: Iterable[Shown], most: int, *, with_captions: bool) -> Iterator[RowImage | Drop]:
    """The images of a row, and a drop for each that is left out; nothing where fewer than two are left.

    Args:
        row: the query or document.
        shown: its images in the order of the article; the first is that of the row itself.
        most: how many are listed.
        with_captions: whether this side may show captions.

    Yields:
        RowImages, or no RowImage; a Drop for a second copy of an image and for those beyond `most`.
    """
    kept: dict[str, Shown] = {}
    for one in shown:
        digest = one.graphic.sha256 or ""
        if digest in kept:
            yield left_out(row, one.place, Reason.DUPLICATE_IMAGE, "the same file as an image before it")
        elif len(kept) == most:
            yield left_out(row, one.place, Reason.TOO_MANY_IMAGES, f"{most} stand before it")
        else:
            kept[digest] = one
    if len(kept) < 2:
        return
    for position, one in enumerate(kept.values(), start=1):
        source = one.figure.caption if with_captions else ""
        caption, transforms = unnamed(*neutralise_caption(source, row.language), row.names)
        yield RowImage(
            id=row.id,
            side=row.side,
            source_id=row.source_id,
            position=position,
            figure_id=one.figure.id,
            figure_number=one.figure.number,
            graphic_number=one.number,
            image=one.graphic,
            caption=caption,
            caption_sha256=sha256_text(source) if with_captions else "",
            caption_transforms=transforms,
            article_id=row.article_id,
            license=one.figure.licence.spdx,
            license_evidence=one.figure.licence.evidence,
        )


def left_out(row: Row, place: str, reason: Reason, detail: str) -> Drop:
    """The drop of an image that a row might have listed; `place` is its figure, or FIGURE/NUMBER."""
    return Drop(
        unit="row_image",
        id=f"{row.id} {place}",
        article_id=row.article_id,
        reason=reason,
        detail=detail,
    )


def of_kept(sides: Iterable[task.Side]) -> Sql:
    """Images of the queries and documents that the merge of all shards kept."""
    kept = {"query": "SELECT id, source_id FROM queries", "document": "SELECT id, id FROM documents"}
    chosen = " UNION ALL ".join(
        f"SELECT i.* FROM all_images AS i WHERE side = '{side}' AND (id, source_id) IN ({kept[side]})"
        for side in sides
    )
    return Sql(chosen, RowImage, KEY)
