"""One `<fig>` as a record: label, caption, graphics, rights.

Of the copies inside one `<alternatives>` the best web image is taken; separate graphics are all kept.
Thumbnails and print-only copies are left out unless nothing else is there. `<media>` (video) is no graphic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from schemas.article import ArticleFigure, Graphic, RawMedia, Translated
from schemas.stages import Reason
from schemas.third_party import third_party_statement
from sources.images import resolve_href
from sources.jats.licence import read_permissions, rights_text
from sources.jats.nodes import UNDETERMINED, Element, href_of, language_of, local
from sources.jats.text import Flow, caption_text, flatten

Part = Literal["body", "back", "floats"]
Kind = Literal["paragraph", "list", "quote", "boxed", "note"]
_IN_CAPTION = frozenset(
    {"p", "attrib", "legend", "list", "def-list", "disp-quote", "trans-caption", "verse-group"}
)
_WEB_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif")


class Place(NamedTuple):
    """Where in the article a block stands."""

    part: Part
    section: int = 0
    kind: Kind = "paragraph"
    passage: str | None = None
    group: str | None = None
    group_caption: str = ""
    figure_type: str = ""
    box: int = 0


@dataclass(slots=True)
class Media:
    """The stored media files of one article, looked up by href."""

    files: Sequence[RawMedia]
    names: tuple[str, ...] = ()
    by_name: dict[str, RawMedia] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_name = {media.name: media for media in self.files}
        self.names = tuple(self.by_name)

    def graphic(self, element: Element) -> Graphic:
        """One graphic element, resolved to its stored file or marked `image_missing`."""
        href = href_of(element)
        use = element.get("specific-use") or element.get("content-type") or ""
        alt = _alternative_text(element)
        name = resolve_href(href, self.names) if self.names and href else None
        if name is None:
            return Graphic(href=href, use=use, alt=alt, problem=Reason.IMAGE_MISSING.value)
        media = self.by_name[name]
        return Graphic(
            href=href,
            use=use,
            alt=alt,
            name=name,
            path=media.path,
            sha256=media.sha256,
            is_synthetic=media.is_synthetic,
        )


def _alternative_text(element: Element) -> str:
    """`alt-text` of a graphic, else of the figure around it."""
    found = element.find("alt-text")
    if found is None:
        parent = element.getparent()
        found = parent.find("alt-text") if parent is not None else None
    return flatten(found) if found is not None else ""


def _is_copy(graphic: Graphic) -> bool:
    """Whether the XML marks a graphic as a thumbnail or a print-only copy."""
    use = graphic.use.lower()
    return "thumb" in use or ("print" in use and "web" not in use and "online" not in use)


def _best(copies: list[Graphic]) -> list[Graphic]:
    """Which of several equivalent files to show: web before print, stored before missing, web formats."""
    if not copies:
        return []

    def rank(graphic: Graphic) -> tuple[bool, bool, bool, bool]:
        use, name = graphic.use.lower(), (graphic.name or graphic.href).lower()
        is_web = "web" in use or "online" in use
        return _is_copy(graphic), graphic.name is None, not is_web, not name.endswith(_WEB_SUFFIXES)

    return [min(copies, key=rank)]


def graphics_in(element: Element, media: Media) -> list[Graphic]:
    """Graphics of a figure or group in order, those of nested figures, tables and formulas left out."""
    found: list[Graphic] = []
    for child in element:
        name = local(child)
        if name == "graphic":
            found.append(media.graphic(child))
        elif name == "alternatives":
            found.extend(_best([media.graphic(copy) for copy in child.iterchildren("graphic")]))
        elif name == "p":
            found.extend(graphics_in(child, media))
    kept = [graphic for graphic in found if not _is_copy(graphic)] or found
    return list(dict.fromkeys(kept))


def _caption_parts(element: Element, language: str) -> tuple[list[Element], list[Element]]:
    """Parts of the caption in order, and captions in other languages than the article's."""
    captions = list(element.iterchildren("caption"))
    foreign = [
        caption
        for caption in captions
        if (language_of(caption) or language) != language and len(captions) > 1
    ]
    if len(foreign) == len(captions):
        foreign = foreign[1:]
    parts = [
        child
        for child in element
        if (child.tag == "caption" and child not in foreign) or child.tag in _IN_CAPTION - {"trans-caption"}
    ]
    return parts, [*foreign, *element.iterchildren("trans-caption")]


def _translations(captions: list[Element]) -> tuple[Translated, ...]:
    return tuple(
        Translated(language=language_of(caption) or UNDETERMINED, text=text)
        for caption in captions
        if (text := flatten(caption))
    )


def read_figure(
    element: Element, *, figure_id: str, number: int, place: Place, after: int, media: Media, language: str
) -> ArticleFigure:
    """Read one `<fig>`; nested figures are not part of it.

    Args:
        element: the `fig` element, or a `fig-group` without any.
        figure_id: its id.
        number: 1-based position in document order.
        place: where it stands.
        after: passages that stand before it.
        media: stored files of the article.
        language: language of the article.
    """
    parts, foreign = _caption_parts(element, language)
    flow: Flow = caption_text(parts)
    caption = flow.text
    return ArticleFigure(
        id=figure_id,
        number=number,
        xml_id=element.get("id"),
        type=element.get("fig-type") or element.get("specific-use") or place.figure_type,
        label=flatten(element.find("label")),
        caption=caption,
        caption_emphasis=flow.emphasis(),
        caption_xrefs=flow.xrefs(),
        graphics=tuple(graphics_in(element, media)),
        group=place.group,
        group_caption=place.group_caption,
        section=place.section,
        part=place.part,
        passage=place.passage,
        after=after,
        rights=rights_text(element) or third_party_statement(caption),
        licence=read_permissions(element) if element.find("permissions") is not None else None,
        translations=_translations(foreign),
    )


def language_pairs(figures: list[tuple[ArticleFigure, str | None]], language: str) -> list[ArticleFigure]:
    """Figures of one group: siblings that differ in language are one figure with parallel captions.

    Args:
        figures: each figure of the group with the language its element states.
        language: language of the article.
    """
    stated = [tongue for _, tongue in figures]
    if len(figures) < 2 or None in stated or len(set(stated)) < len(figures):
        return [figure for figure, _ in figures]
    ordered = sorted(figures, key=lambda pair: (pair[1] != language, not pair[0].graphics))
    main, _ = ordered[0]
    others = [
        Translated(language=tongue or UNDETERMINED, text=figure.caption) for figure, tongue in ordered[1:]
    ]
    graphics = next((figure.graphics for figure, _ in ordered if figure.graphics), ())
    return [
        replace(
            main,
            number=min(figure.number for figure, _ in figures),
            graphics=graphics,
            translations=(*main.translations, *(other for other in others if other.text)),
        )
    ]
