"""Images of a case: those that are clinical, carry no flag and may be published with the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from curation.tasks.shared.bars import CLINICAL_KINDS, FLAGGED, Bar, file_problem, nearest
from schemas.article import Graphic, Licence
from schemas.case import Case
from schemas.extracted import Figure
from schemas.image import FigureImage
from schemas.licences import Profile, combine, is_allowed, terms
from schemas.stages import Reason


@dataclass(frozen=True, slots=True)
class CaseImage:
    """The image of a case and what comes with it."""

    graphic: Graphic
    figure_id: str
    licence: Licence
    count: int
    """How many images of the case might have been taken."""
    number: int
    """Of the image in its figure, 1-based."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """An image of a case that may not be used, or a figure none of whose images may."""

    reason: StrEnum
    detail: str
    place: str
    """Figure id, with slash and position of the image where it is of one image."""


def choose(
    case: Case,
    figures: Mapping[str, Figure],
    images: Mapping[str, FigureImage],
    licence: Licence,
    profile: Profile,
) -> CaseImage | Bar:
    """The image of a case, or why it has none.

    Args:
        case: the case.
        figures: the article's figures by id.
        images: its images by id (figure id, slash, position of the graphic).
        licence: of the text the image is published with.
        profile: what the release may hold.

    Returns:
        The first image that may be used with the licence of text and image together; or reason and detail.
    """
    found: list[CaseImage] = []
    problems: list[Bar] = []
    for one in each(case, figures, images, licence, profile):
        if isinstance(one, CaseImage):
            found.append(one)
        else:
            problems.append((one.reason, one.detail))
    if found:
        return replace(found[0], count=len(found))
    return nearest(problems, "no figure shows this patient")


def each(
    case: Case,
    figures: Mapping[str, Figure],
    images: Mapping[str, FigureImage],
    licence: Licence,
    profile: Profile,
) -> Iterator[CaseImage | Unusable]:
    """Every image of a case in the article's order; a figure that may not be shown at all counts once.

    Args: those of `choose`.
    """
    for name in case.figures:
        figure = figures.get(name)
        if figure is None:
            continue
        together = _together(licence, figure.licence, profile)
        barred = _figure_bar(figure, together)
        if barred is not None or together is None:
            reason, detail = barred or (Reason.LICENCE_NOT_ALLOWED, name)
            yield Unusable(reason, detail, name)
            continue
        for position, graphic in enumerate(figure.graphics, start=1):
            problem = _image_bar(graphic, images.get(f"{name}/{position}"))
            if problem is None:
                yield CaseImage(graphic, name, together, 0, position)
            else:
                yield Unusable(problem, f"{name}/{position}", f"{name}/{position}")


def _figure_bar(figure: Figure, together: Licence | None) -> Bar | None:
    if figure.is_third_party:
        return Reason.THIRD_PARTY, figure.id
    if together is None:
        return Reason.LICENCE_NOT_ALLOWED, f"{figure.id}: {figure.licence.spdx}"
    return None if figure.graphics else (Reason.NO_GRAPHIC, figure.id)


def _image_bar(graphic: Graphic, image: FigureImage | None) -> Reason | None:
    if problem := file_problem(graphic):
        return problem
    if image is None:
        return Reason.IMAGE_CORRUPT
    if image.kind not in CLINICAL_KINDS:
        return Reason.NO_CLINICAL_IMAGE
    return Reason.FLAGGED_IMAGE if FLAGGED & set(image.flags) else None


def _together(text: Licence, image: Licence, profile: Profile) -> Licence | None:
    """The licence of a row made of both, of one family the text's; None when none fits or is allowed."""
    if not is_allowed(text.spdx, profile) or not is_allowed(image.spdx, profile):
        return None
    family = combine(terms(text.spdx).family, terms(image.spdx).family)
    fitting = [item.spdx for item in (text, image) if terms(item.spdx).family == family]
    if not fitting:
        return None
    evidence = text.evidence
    if image != text:
        evidence = f"text: {text.evidence}; image: {image.evidence}"
    return Licence(spdx=fitting[0], evidence=evidence)
