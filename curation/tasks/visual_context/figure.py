"""Which figures may ask: those with a usable image, a licence and a caption."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from curation.tasks.shared.bars import CLINICAL_KINDS, Bar, first_image, no_image, rights_bar
from schemas.extracted import Figure
from schemas.image import FigureImage
from schemas.licences import Profile
from schemas.stages import Reason

Kinds = Mapping[str, str]
"""Kind of an image (schemas.image) by the hash of its file."""


def kinds_of(images: Iterable[FigureImage]) -> Kinds:
    """What the images of an article show, by pixels and caption."""
    return {image.sha256: image.kind for image in images}


def kind_bar(figure: Figure, kinds: Kinds) -> Bar | None:
    """Why a figure is no clinical image: its first usable image is of another kind, or undecided."""
    image = first_image(figure)
    kind = kinds.get(image.sha256 or "", "") if image else ""
    return None if kind in CLINICAL_KINDS else (Reason.NO_CLINICAL_IMAGE, f"kind {kind or 'undecided'}")


def bar(figure: Figure, profile: Profile, *, require_image: bool, kinds: Kinds | None = None) -> Bar | None:
    """Why a figure may not become a query, with a detail; None if it may.

    Args:
        figure: the figure.
        profile: licence profile that the figure must satisfy.
        require_image: whether a figure without a usable image is barred.
        kinds: what the images show, where one that is not clinical is barred; None where none is.
    """
    if barred := rights_bar(figure, profile):
        return barred
    if require_image and first_image(figure) is None:
        return no_image(figure), figure.graphics[0].href if figure.graphics else ""
    if not figure.caption.strip():
        return Reason.NO_CAPTION, ""
    return None if kinds is None else kind_bar(figure, kinds)
