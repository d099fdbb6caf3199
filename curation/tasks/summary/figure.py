"""Which figure a summary query shows: the first that the body cites, one with a usable image if there is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from curation.tasks.shared.bars import Bar, first_image, no_image
from curation.tasks.summary.settings import OwnReason
from schemas.article import Graphic, Licence
from schemas.extracted import Figure
from schemas.licences import Profile, combine, is_allowed, stricter, terms
from schemas.stages import Reason


@dataclass(frozen=True, slots=True)
class Shown:
    """The figure of a query, its image, and the licence of the query made of it and the article's text."""

    figure: Figure
    image: Graphic | None
    licence: Licence
    images: int


def choose(
    figures: Sequence[Figure], text: Licence, body: Collection[str], profile: Profile, *, require_image: bool
) -> Shown | Bar:
    """The figure of an article's query, or why there is none (of the first figure that could not be it).

    Args:
        figures: the article's figures in document order.
        text: licence of the article.
        body: ids of the passages the context may draw on.
        profile: licence profile the query must satisfy.
        require_image: whether a figure without a usable image will not do.
    """
    problems: list[Bar] = []
    fitting: list[tuple[Figure, Graphic | None, Licence]] = []
    for figure in figures:
        licence = together(text, figure.licence, profile)
        image = first_image(figure)
        if figure.is_third_party:
            problems.append((Reason.THIRD_PARTY, figure.id))
        elif licence is None:
            problems.append((Reason.LICENCE_NOT_ALLOWED, f"{figure.id}: {figure.licence.spdx}"))
        elif not any(mention.passage_id in body for mention in figure.mentions):
            problems.append((Reason.NO_CITING_PASSAGE, figure.id))
        elif image is None and require_image:
            problems.append((no_image(figure), figure.id))
        else:
            fitting.append((figure, image, licence))
    if not fitting:
        return problems[0] if problems else (OwnReason.NO_FIGURE, "")
    figure, image, licence = next((item for item in fitting if item[1]), fitting[0])
    return Shown(figure, image, licence, sum(1 for item in fitting if item[1]))


def together(text: Licence, figure: Licence, profile: Profile) -> Licence | None:
    """The licence of a row made of both; None when none fits or the profile does not allow it."""
    if not is_allowed(text.spdx, profile) or not is_allowed(figure.spdx, profile):
        return None
    family = combine(terms(text.spdx).family, terms(figure.spdx).family)
    fitting = [item.spdx for item in (text, figure) if terms(item.spdx).family == family]
    if not fitting:
        return None
    is_one = (text.spdx, text.evidence) == (figure.spdx, figure.evidence)
    evidence = text.evidence if is_one else f"text: {text.evidence}; figure: {figure.evidence}"
    return Licence(spdx=stricter(fitting[0], fitting[-1]), evidence=evidence)
