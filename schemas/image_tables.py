"""Published tables of rows with several images and of panels, there where a spec asks for them."""

from __future__ import annotations

import pyarrow as pa

from schemas.columns import IMAGE_ORIGIN, flag, number, text
from schemas.published import IMAGE, STRINGS, TRANSFORMS, Column, Published

_ROW = (
    text("id", "query or document id, in queries or corpus"),
    text("side", "query or document", repeats=True),
)
ROW_IMAGES = Published(
    "images",
    "images",
    "All images of each query or document that has several, where the spec asks for them.",
    (
        *_ROW,
        Column(
            "images",
            pa.list_(IMAGE),
            "2 to 6 images in the order of the article, the first that of the row; decode to PIL images",
        ),
        Column(
            "captions",
            STRINGS,
            "caption of each image in the same order; empty where this side may not show captions",
            is_prose=True,
        ),
        text("license", "SPDX id of this row's licence", repeats=True),
        flag(
            "is_synthetic", "made from synthetic input; such a row may not be published", reader="maintainer"
        ),
    ),
    ("side", "id"),
    is_optional=True,
)
ORIGIN_IMAGES = Published(
    "provenance_images",
    "provenance/images",
    "Where each image of the table images came from.",
    (
        *_ROW,
        number("position", "1-based place in the row's images"),
        text("article_id", "article it is of", refers="sources.id"),
        text("figure_id", "figure it is of"),
        number("figure_number", "of that figure in its article, 1-based"),
        number("graphic_number", "of the image in its figure, 1-based"),
        text("license", "SPDX id of the figure's licence", repeats=True),
        text("license_evidence", "where the licence was read", repeats=True),
        text("caption_sha256", "hex SHA-256 of the source caption, '' where it is not shown"),
        Column(
            "caption_transforms",
            TRANSFORMS,
            "changes from source caption to caption; undo last first",
            is_prose=True,
        ),
        *IMAGE_ORIGIN,
    ),
    ("side", "id", "position"),
    reader="auditor",
    is_optional=True,
)
PANELS = Published(
    "panels",
    "provenance/panels",
    "The panel that a query shows, where the spec asks for panels: where it was cut out of its figure.",
    (
        text("query-id", "query id", refers="queries.id"),
        text("panel_id", "panel id: that of its figure, a dot and the letter"),
        text("figure_id", "figure it is a part of"),
        text("letter", "its letter in the caption, upper case", repeats=True),
        number("left", "pixels from the left edge of the figure's upright image"),
        number("top", "pixels from the top edge"),
        number("right", "first column after the panel"),
        number("bottom", "first row after the panel"),
        number("lead_end", "characters of the figure's caption before any panel's, shown with each"),
        number("caption_start", "offset of the panel's own words in the figure's caption"),
        number("caption_end", "offset after them"),
        text("caption_sha256", "hex SHA-256 of the figure's caption without its label"),
    ),
    ("query-id",),
    reader="auditor",
    is_optional=True,
)
"""A query's image is that stretch of the figure's, as a PNG; its text is the caption's lead on a line of its
own, if there is one, and the panel's words."""
