"""Small articles built by hand: `[F2|2A]` in a text links to F2 by "2A"; `[T1/table|…]` has a type."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas.article import (
    Article,
    ArticleFigure,
    ArticlePassage,
    Emphasis,
    Graphic,
    Licence,
    Section,
    Xref,
)
from schemas.hashing import sha256_text

_LINK = re.compile(r"\[(?P<rids>[A-Za-z][\w ]*?)(?:/(?P<type>[a-z-]+))?\|(?P<text>[^\]]*)\]")
BY = Licence(spdx="CC-BY-4.0", evidence="jats:license/@href")
ID = "pmc:PMC1.1"


def passage(number: int, marked: str, *, article: str = ID, section: int = 1) -> ArticlePassage:
    """A passage from marked-up text."""
    text, xrefs, position = "", [], 0
    for found in _LINK.finditer(marked):
        text += marked[position : found.start()]
        start = len(text)
        text += found.group("text")
        kind = found.group("type") or "fig"
        rids = tuple(found.group("rids").split())
        xrefs.append(Xref(start=start, end=len(text), ref_type=kind, rids=rids))
        position = found.end()
    text += marked[position:]
    return ArticlePassage(
        id=f"{article}#p{number}",
        section=section,
        text=text,
        text_sha256=sha256_text(text),
        xrefs=tuple(xrefs),
    )


def figure(
    number: int,
    label: str,
    caption: str = "Axial computed tomography of the chest showing a nodule.",
    *,
    article: str = ID,
    xml_id: str | None = None,
    graphics: tuple[Graphic, ...] | None = None,
    section: int = 1,
    rights: str = "",
    licence: Licence | None = None,
    emphasis: tuple[Emphasis, ...] = (),
    group: str | None = None,
    group_caption: str = "",
    parent: str | None = None,
) -> ArticleFigure:
    """A figure F<number> with one stored image."""
    name = xml_id or f"F{number}"
    image = Graphic(
        href=f"{name}.jpg", name=f"{name}.jpg", path=f"m/{name}.jpg", sha256=sha256_text(article + name)
    )
    return ArticleFigure(
        id=f"{article}#{name}",
        number=number,
        xml_id=name,
        label=label,
        caption=caption,
        caption_emphasis=emphasis,
        graphics=(image,) if graphics is None else graphics,
        section=section,
        part="body",
        rights=rights,
        licence=licence,
        group=group,
        group_caption=group_caption,
        parent=parent,
    )


def article(
    texts: Sequence[str | ArticlePassage],
    figures: Sequence[ArticleFigure],
    *,
    id: str = ID,
    title: str = "Pulmonary nodule in a patient with lung cancer: a case report",
    journal: str = "Case Reports in Medicine",
    source: str = "pmc",
    licence: Licence = BY,
    language: str = "en",
    is_retracted: bool = False,
    sections: tuple[Section, ...] = (Section(number=1, parent=0, title="Case", part="body"),),
) -> Article:
    """An in-scope article around the given passages and figures."""
    passages = tuple(
        item if isinstance(item, ArticlePassage) else passage(at, item, article=id)
        for at, item in enumerate(texts, start=1)
    )
    return Article(
        id=id,
        source=source,
        language=language,
        title=title,
        journal=journal,
        article_type="case-report",
        licence=licence,
        is_retracted=is_retracted,
        sections=sections,
        passages=passages,
        figures=tuple(figures),
        raw_sha256="0" * 64,
    )
