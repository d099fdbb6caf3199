"""Which figures may ask: those with a usable image, a licence and a caption."""

from __future__ import annotations

from curation.tasks.shared.bars import Bar, first_image, no_image, rights_bar
from schemas.extracted import Figure
from schemas.licences import Profile
from schemas.stages import Reason


def bar(figure: Figure, profile: Profile, *, require_image: bool) -> Bar | None:
    """Why a figure may not become a query, with a detail; None if it may.

    Args:
        figure: the figure.
        profile: licence profile that the figure must satisfy.
        require_image: whether a figure without a usable image is barred.
    """
    if barred := rights_bar(figure, profile):
        return barred
    if require_image and first_image(figure) is None:
        return no_image(figure), figure.graphics[0].href if figure.graphics else ""
    return None if figure.caption.strip() else (Reason.NO_CAPTION, "")
