"""Which figures may ask: those with a usable image, a licence and a caption."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curation.tasks.shared.bars import Bar, first_image, is_clinical, no_image, rights_bar
from schemas.extracted import Figure
from schemas.image import FigureImage
from schemas.label import RecordLabels
from schemas.licences import Profile
from schemas.stages import Reason

Kinds = tuple[Mapping[str, str], Mapping[str, Sequence[str]]]
"""Kind by hash of the image file; modality groups by figure."""


def kinds_of(images: Iterable[FigureImage], records: Iterable[RecordLabels]) -> Kinds:
    """Kind of each image by its hash, and the modality groups that the words on each figure name.

    Args:
        images: images of an article.
        records: what its figures were decided to be.
    """
    return {image.sha256: image.kind for image in images}, {row.id: row.modality_groups for row in records}


def kind_bar(figure: Figure, kinds: Kinds) -> Bar | None:
    """Why a figure is no clinical image: its first usable image is of another kind, or nothing tells."""
    image = first_image(figure)
    kind = kinds[0].get(image.sha256 or "", "") if image else ""
    groups = kinds[1].get(figure.id, ())
    if image is not None and is_clinical(kind, groups):
        return None
    told = ", ".join(dict.fromkeys(groups)) or "silent"
    return Reason.NO_CLINICAL_IMAGE, f"kind {kind or 'undecided'}; caption {told}"


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
