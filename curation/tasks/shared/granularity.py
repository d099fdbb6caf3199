"""What a document is: one passage, one section or one article, and how the larger two are put together.

Passages stay what labels and evidence rest on; a larger document holds those of a section or article in the
order of the article, with captions of figures and tables where they stand. Every part is told with its place
in the document, what is left out with its reason (`Part`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from pydantic import Field

from curation.extract.floats import NOWHERE
from curation.extract.neutralise import neutralise_caption, restore
from curation.tasks.shared.bars import rights_bar
from curation.tasks.shared.passages import passage_document
from schemas import task
from schemas.benchmark import Document, Part, PartKind, Transform
from schemas.extracted import Figure, Float, Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import section_id, whole_id
from schemas.licences import Profile, is_allowed

Granularity = Literal["passage", "section", "article"]
PassageOrArticle = Literal["passage", "article"]
"""Of a task whose labels come from citations: they name passages or articles, never sections."""
JOINT = "\n"
"""Between the parts of a document, as written and as released."""


class Settings(task.Settings):
    """Settings of a task whose documents may be larger than a passage."""

    granularity: Granularity = Field(
        default="passage",
        description="what a document is: passage, section or article; sections and articles hold captions "
        "and tables in place",
    )


class LeftOut(StrEnum):
    """Why a part of a section or article does not stand in its document."""

    SHOWS_QUERY = "shows_query"
    SELF_MATCH = "self_match"
    LICENCE = "licence_not_allowed"
    NO_TEXT = "no_text"
    NO_PLACE = "no_place"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part before it stands in a document; `key` orders the parts of an article."""

    id: str
    kind: PartKind
    section: int
    key: tuple[int, int]
    source: str
    text: str
    transforms: tuple[Transform, ...] = ()
    is_document: bool = False
    left_out: str = ""


def pieces_of(
    name: str,
    source: Source,
    passages: Sequence[Passage],
    documents: Mapping[str, Document],
    figures: Sequence[Figure],
    floats: Sequence[Float],
    profile: Profile,
) -> list[Piece]:
    """The parts of an article in reading order, those that may not be published marked as left out.

    Args:
        name: the task.
        source: the article.
        passages: its passages in order.
        documents: those that are documents of the task, by id; shorter ones stand in larger documents only.
        figures: its figures.
        floats: where figures and tables stand, and the tables' texts.
        profile: licence profile of the dataset.
    """
    found: list[Piece] = []
    for passage in passages:
        made = documents.get(passage.id) or passage_document(name, source, passage, min_words=1)
        if isinstance(made, Document):
            found.append(
                Piece(
                    id=passage.id,
                    kind="passage",
                    section=passage.section,
                    key=(passage.number, 0),
                    source=passage.text,
                    text=made.text,
                    transforms=made.transforms,
                    is_document=passage.id in documents,
                )
            )
    by_id = {figure.id: figure for figure in figures}
    for item in floats:
        figure = by_id.get(item.id)
        found.append(_of_float(source, item, figure, profile))
    return sorted(found, key=lambda piece: piece.key)


def _of_float(source: Source, item: Float, figure: Figure | None, profile: Profile) -> Piece:
    """A caption, or a table: caption, rows and notes, a line each."""
    if figure is not None:
        written = figure.caption.strip()
        barred = rights_bar(figure, profile) is not None or figure.licence.spdx != source.licence.spdx
    else:
        written = JOINT.join(filter(None, (item.caption, item.rows, item.notes))) if item.rows else ""
        spdx = item.licence.spdx if item.licence else ""
        barred = item.is_third_party or not is_allowed(spdx, profile) or spdx != source.licence.spdx
    text, transforms = _released(written, source.language)
    why = LeftOut.LICENCE if barred else LeftOut.NO_TEXT if not text.strip() else ""
    return Piece(
        id=item.id,
        kind=item.kind,
        section=item.section,
        key=(item.after, item.position),
        source=written,
        text=text,
        transforms=transforms,
        left_out=why or (LeftOut.NO_PLACE if item.after == NOWHERE else ""),
    )


def _released(written: str, language: str) -> tuple[str, tuple[Transform, ...]]:
    """Pointers and identifiers neutralised line by line, so that rows stay rows."""
    lines, transforms, at = [], [], 0
    for line in written.split(JOINT):
        text, changes = neutralise_caption(line, language)
        transforms += moved(changes, at)
        lines.append(text)
        at += len(text) + len(JOINT)
    return JOINT.join(lines), tuple(transforms)


def moved(transforms: Sequence[Transform], by: int) -> list[Transform]:
    """Transforms of a text that now begins further back."""
    return [replace(one, start=one.start + by, end=one.end + by) for one in transforms]


def without(piece: Piece, spans: Sequence[tuple[int, int]], rule: str) -> Piece:
    """The part without some stretches of its text; each is a transform that puts it back.

    Args:
        piece: the part.
        spans: start and end of each stretch, in order, not overlapping.
        rule: why they go.
    """
    text, transforms = piece.text, list(piece.transforms)
    for start, end in reversed(spans):
        while end < len(text) and text[end] == " ":
            end += 1
        across = [one for one in transforms if one.start < end and one.end > start]
        start = min([start, *(one.start for one in across)])
        end = max([end, *(one.end for one in across)])
        inside = [one for one in transforms if start <= one.start and one.end <= end]
        whole = restore(text[start:end], moved(inside, -start))
        behind = moved([one for one in transforms if one.start >= end and one not in inside], start - end)
        transforms = [one for one in transforms if one.end <= start and one not in inside]
        transforms += [Transform(start=start, end=start, original=whole, rule=rule), *behind]
        text = text[:start] + text[end:]
    return replace(piece, text=text, transforms=tuple(transforms))


def larger(
    source: Source, pieces: Sequence[Piece], documents: Mapping[str, Document], granularity: Granularity
) -> Iterator[Document | Part]:
    """The sections of an article, or the article, as documents with their parts.

    A section is the passages that stand in it directly, those of no section are one. One without a passage
    that is a document of the task is none, whatever tables stand there.

    Args:
        source: the article.
        pieces: its parts in reading order.
        documents: passages that are documents of the task, by id.
        granularity: section or article.

    Yields:
        Documents, and every piece as a Part of one; of a section that gives none its parts alone.
    """
    units: dict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        is_whole = granularity == "article"
        units[whole_id(source.id) if is_whole else section_id(source.id, piece.section)].append(piece)
    for name, members in units.items():
        shown = [piece for piece in members if not piece.left_out]
        first = next((documents[piece.id] for piece in shown if piece.is_document), None)
        if first is None:
            yield from _parts(name, members)
            continue
        changes: list[Transform] = []
        at = 0
        for piece in shown:
            changes += moved(piece.transforms, at)
            at += len(piece.text) + len(JOINT)
        yield replace(
            first,
            id=name,
            text=JOINT.join(piece.text for piece in shown),
            language=source.language if granularity == "article" else first.language,
            text_sha256=sha256_text(JOINT.join(piece.source for piece in shown)),
            transforms=tuple(changes),
        )
        yield from _parts(name, members)


def _parts(document: str, members: Sequence[Piece]) -> Iterator[Part]:
    at = of_source = 0
    for position, piece in enumerate(members, start=1):
        is_shown = not piece.left_out
        long, long_source = (len(piece.text), len(piece.source)) if is_shown else (0, 0)
        yield Part(
            corpus_id=document,
            position=position,
            kind=piece.kind,
            part_id=piece.id,
            start=at,
            end=at + long,
            source_start=of_source,
            source_end=of_source + long_source,
            left_out=piece.left_out,
        )
        at += long + len(JOINT) * is_shown
        of_source += long_source + len(JOINT) * is_shown
