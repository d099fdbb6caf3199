"""What is seen of a figure's image file: fingerprints, kind, panels, flags.

Pixels are those of the upright image.
"""

from __future__ import annotations

from schemas.record import column, record


@record
class PanelBox:
    """One panel of a compound image, linked to the panel of the caption with the same letter."""

    panel_id: str = column("panel id, e.g. pmc:PMC123.1#F1.B")
    letter: str = column("the caption panel's letter")
    left: int = column("pixels from the left edge")
    top: int = column("pixels from the top edge")
    right: int = column("first column after the panel")
    bottom: int = column("first row after the panel")
    kind: str = column("kind of that stretch of the image, '' when undecided", default="")


@record
class FigureImage:
    """One image file of one figure."""

    id: str = column("<figure id>/<position of the graphic in the figure, from 1>")
    article_id: str = column("article id")
    figure_id: str = column("figure id")
    sha256: str = column("hex SHA-256 of the stored file")
    path: str = column("path under raw/")
    format: str = column("format told by magic bytes")
    mode: str = column("pixel mode as stored, e.g. RGB, L, P, CMYK, I;16")
    width: int = column("pixels, upright")
    height: int = column("pixels, upright")
    orientation: int = column("EXIF orientation 1 to 8; 1 is upright", default=1)
    frames: int = column("frames or pages in the file", default=1)
    is_fitting: bool = column("releasable byte for byte: an upright 8-bit grey or RGB JPEG or PNG")
    phash: str = column("64-bit perceptual hash of the upright image, 16 hex digits")
    thumbnail: str = column("base64 JPEG of at most 256 pixels a side, for pages and review; never released")
    kind: str = column("radiology, pathology, endoscopy, photograph, chart, diagram, …; '' when undecided")
    kind_evidence: tuple[str, ...] = column("features and caption words the kind rests on", default=())
    panels: tuple[PanelBox, ...] = column("panels, when image and caption agree; reading order", default=())
    flags: tuple[str, ...] = column("face, sensitive, text, … sorted", default=())
    text: str = column("text burned into the image, when it was read (extra ocr)", default="")
