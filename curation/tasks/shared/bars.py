"""Why an article, a figure or an image may not enter a task."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from curation.images.flags import FACE, SENSITIVE
from schemas.article import Graphic
from schemas.extracted import Figure, Source
from schemas.licences import Profile, is_allowed
from schemas.stages import Reason

Bar = tuple[StrEnum, str]
"""Reason and detail of a drop."""

CLINICAL_KINDS = frozenset({"radiology", "pathology", "endoscopy", "ophthalmology", "photograph", "signal"})
"""Kinds of schemas.image that show a patient; of compound and undecided ones that is not known."""
FLAGGED = frozenset({FACE, SENSITIVE})
_PROBLEMS = frozenset({Reason.IMAGE_MISSING, Reason.IMAGE_CORRUPT, Reason.IMAGE_TOO_LARGE})
_NEARNESS = (
    Reason.NO_GRAPHIC,
    Reason.IMAGE_MISSING,
    Reason.IMAGE_TOO_LARGE,
    Reason.IMAGE_CORRUPT,
    Reason.THIRD_PARTY,
    Reason.LICENCE_NOT_ALLOWED,
    Reason.NO_CLINICAL_IMAGE,
    Reason.FLAGGED_IMAGE,
)


def article_bar(source: Source, profile: Profile, *, judges_books: bool = True) -> Bar | None:
    """Why nothing of an article may enter, or None.

    Args:
        source: the article.
        profile: licence profile it must satisfy.
        judges_books: whether the scope of a book counts; cases of a book are judged by their own text.
    """
    if source.is_retracted:
        return Reason.RETRACTED, ""
    if source.scope and (judges_books or not source.is_book):
        return Reason(source.scope), "; ".join(source.scope_evidence[:3])
    if not is_allowed(source.licence.spdx, profile):
        return Reason.LICENCE_NOT_ALLOWED, source.licence.spdx
    return None


def rights_bar(figure: Figure, profile: Profile) -> Bar | None:
    """Why a figure may not be published, or None."""
    if figure.is_third_party:
        return Reason.THIRD_PARTY, figure.rights[:200]
    if not is_allowed(figure.licence.spdx, profile):
        return Reason.LICENCE_NOT_ALLOWED, figure.licence.spdx
    return None


def file_problem(graphic: Graphic) -> Reason | None:
    """Why an image cannot be used by its file, or None."""
    if not graphic.problem and graphic.path is not None:
        return None
    return Reason(graphic.problem) if graphic.problem in _PROBLEMS else Reason.IMAGE_MISSING


def first_image(figure: Figure) -> Graphic | None:
    """The first graphic of a figure that is stored and whole."""
    return next((item for item in figure.graphics if file_problem(item) is None), None)


def no_image(figure: Figure) -> Reason:
    """Why a figure has no usable image: what is wrong with its first."""
    return (file_problem(figure.graphics[0]) if figure.graphics else None) or Reason.NO_GRAPHIC


def nearest(bars: Iterable[Bar], none: str = "") -> Bar:
    """Of several images that may not be used, the reason of the one that came nearest.

    Args:
        bars: one per image, in order; a reason of the task's own is nearer than any other.
        none: detail where there is no image.
    """
    return max(bars, key=lambda bar: _rank(bar[0]), default=(Reason.NO_GRAPHIC, none))


def _rank(reason: StrEnum) -> int:
    return next((at for at, item in enumerate(_NEARNESS) if item == reason), len(_NEARNESS))
