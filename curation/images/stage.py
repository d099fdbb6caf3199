"""The stage `images`: every usable graphic of a figure becomes one FigureImage, decoded once.

Faces and text are looked for only when asked (`faces`, `ocr`): what is installed must not change the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from PIL import Image

from curation.extract.panels import words_of
from curation.images.decode import MAX_BYTES, MAX_FRAMES, MAX_PIXELS, Decoded, open_image
from curation.images.faces import count_faces
from curation.images.features import measure
from curation.images.fingerprint import perceptual_hash, thumbnail
from curation.images.flags import flags_of
from curation.images.kinds import decide
from curation.images.ocr import read_text
from curation.images.panels import find_panels
from schemas.article import Graphic
from schemas.errors import InputError
from schemas.extracted import Figure, Panel
from schemas.image import FigureImage, PanelBox
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table
from schemas.stored import check_stored

Check = Literal["off", "on"]
_PROBLEMS = frozenset({Reason.IMAGE_MISSING, Reason.IMAGE_CORRUPT, Reason.IMAGE_TOO_LARGE})


def look(
    figure: Figure,
    *,
    raw: Path,
    max_pixels: int,
    max_bytes: int,
    max_frames: int,
    faces: Check,
    ocr: Check,
    ocr_languages: str,
) -> Iterator[FigureImage | Drop]:
    """One FigureImage or Drop for each graphic of a figure.

    Args:
        figure: as extracted.
        raw: the workspace's raw/ folder.
        max_pixels: larger images are dropped.
        max_bytes: larger files are dropped.
        max_frames: files of more frames are dropped.
        faces: `on` looks for faces (extra `faces`), `off` flags every image as unchecked.
        ocr: `on` reads burned-in text (extra `ocr`), `off` flags every image as unchecked.
        ocr_languages: Tesseract language codes joined by '+'.

    Raises:
        UsageError: an extra is asked for and not installed.
        WorkspaceError: a stored file is not the one that was fetched.
    """
    for name, graphic in zip(_image_ids(figure), figure.graphics, strict=True):
        try:
            image = _opened(graphic, name, raw, max_pixels, max_bytes, max_frames)
        except InputError as error:
            yield Drop(
                unit="image",
                id=name,
                article_id=figure.article_id,
                reason=Reason(error.reason or Reason.IMAGE_CORRUPT),
                detail=error.message,
            )
            continue
        seen = count_faces(image.image) if faces == "on" else None
        text = read_text(image.image, ocr_languages) if ocr == "on" else None
        yield _described(figure, graphic, name, image, seen, text)


def _opened(
    graphic: Graphic, name: str, raw: Path, max_pixels: int, max_bytes: int, max_frames: int
) -> Decoded:
    if graphic.path is None:
        raise InputError(f"no stored file for {graphic.href}"[:200], reason=Reason.IMAGE_MISSING)
    if graphic.problem:
        reason = graphic.problem if graphic.problem in _PROBLEMS else Reason.IMAGE_CORRUPT
        raise InputError(f"found by parse in {graphic.name or graphic.path}"[:200], reason=reason)
    if graphic.sha256 is not None:
        check_stored(raw, graphic.path, graphic.sha256, record=name)
    return open_image(raw / graphic.path, max_pixels=max_pixels, max_bytes=max_bytes, max_frames=max_frames)


def _described(
    figure: Figure, graphic: Graphic, name: str, image: Decoded, faces: int | None, text: str | None
) -> FigureImage:
    captions = tuple(figure.caption[panel.start : panel.end] for panel in figure.panels)
    kind, evidence = decide(measure(image.image), figure.caption, captions)
    return FigureImage(
        id=name,
        article_id=figure.article_id,
        figure_id=figure.id,
        sha256=image.sha256,
        path=str(graphic.path),
        format=image.format,
        mode=image.mode,
        width=image.width,
        height=image.height,
        orientation=image.orientation,
        frames=image.frames,
        is_fitting=image.is_fitting,
        phash=perceptual_hash(image.image),
        thumbnail=thumbnail(image.image),
        kind=kind,
        kind_evidence=evidence,
        panels=_panels(figure, image),
        flags=flags_of(figure.caption, kind, private=image.private, faces=faces, text=text),
        text=text or "",
    )


def _panels(figure: Figure, image: Decoded) -> tuple[PanelBox, ...]:
    """The caption's panels in an image that holds them all; a figure of several images is not looked at."""
    if len(figure.graphics) != 1:
        return ()
    panels = {panel.letter: panel for panel in figure.panels}
    found = find_panels(image.image, list(panels))
    boxes = ((box.left, box.top, box.right, box.bottom) for box in found)
    return tuple(
        PanelBox(
            panel_id=panels[box.letter].id,
            letter=box.letter,
            left=box.left,
            top=box.top,
            right=box.right,
            bottom=box.bottom,
            kind=_kind_of(image.image.crop(place), figure, panels[box.letter]),
        )
        for box, place in zip(found, boxes, strict=True)
    )


def _kind_of(cut: Image.Image, figure: Figure, panel: Panel) -> str:
    """What one panel shows, by its own pixels and words."""
    return decide(measure(cut), "\n".join(words_of(figure.caption, figure.panels, panel)).strip())[0]


# Named function, not a lambda: stages travel to worker processes.
def _image_ids(figure: Figure) -> list[str]:
    return [f"{figure.id}/{number}" for number, _ in enumerate(figure.graphics, start=1)]


IMAGES = RecordStage(
    name="images",
    version=5,
    inputs=(Input("extract.figures", Figure, by="id"),),
    outputs=(Table("images", FigureImage, ("id",)),),
    process=look,
    accounts=(Account("image", _image_ids, "images", "id"),),
    params={
        "max_pixels": MAX_PIXELS,
        "max_bytes": MAX_BYTES,
        "max_frames": MAX_FRAMES,
        "faces": "off",
        "ocr": "off",
        "ocr_languages": "eng",
    },
    resources=("raw",),
)
