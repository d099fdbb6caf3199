"""Wikitext of one encyclopedia page read into an :class:`Article`; what the dump says of it is a part.

Figures are images that stand apart with a caption. Wikis do not number them: nothing in the text cites one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from schemas import licences
from schemas.article import Article, ArticleFigure, Graphic, Licence, RawArticle
from schemas.errors import InputError
from schemas.hashing import foreign_json
from schemas.ids import figure_id
from schemas.stages import Reason
from sources.wiki.body import BodyReader, PlacedImage
from sources.wiki.images import WikiImage
from sources.wiki.load import load

__all__ = ["IMAGES", "LICENCE", "PAGE", "image_names", "parse"]

PAGE: Final = "page"
"""Part with what the dump says of the page: title, page, revision, timestamp, wiki, language, base, …"""
IMAGES: Final = "images"
"""Part with what Commons says of each image: licence, artist, page, or the problem with it."""
LICENCE: Final = "CC-BY-SA-4.0"
"""https://foundation.wikimedia.org/wiki/Policy:Terms_of_Use , section 7."""
EVIDENCE: Final = "wikimedia:terms of use, section 7"
AUTHORS: Final = ("Wikipedia contributors",)
ARTICLE_TYPE: Final = "encyclopedia-article"
_YEAR = re.compile(r"(\d{4})-")
_MAX_STATEMENT: Final = 500


def parse(data: bytes, raw: RawArticle, parts: Mapping[str, bytes]) -> Article:
    """Read one page.

    Args:
        data: wikitext of the revision.
        raw: what the crawl stored of it; its media resolve the figures' images.
        parts: `page` and, when images were asked for, `images` (JSON objects).

    Returns:
        The page as an article of type `encyclopedia-article`; its subjects are the categories, its figures
        carry the licence Commons states. Flags: `inline_image_left_out`, `table_left_out`,
        `formula_left_out`.

    Raises:
        InputError: `record_invalid` (no UTF-8, markup that never closes, no `page`), `too_large`, `no_body`.
    """
    try:
        return _article(data, raw, parts)
    except InputError as error:
        raise InputError(
            error.message, reason=error.reason, record=raw.id, file=raw.path, hint=error.hint
        ) from error


def _object(parts: Mapping[str, bytes], name: str) -> dict[str, Any]:
    try:
        value = foreign_json(parts.get(name, b"{}"))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InputError(f"the part {name!r} is no JSON object", reason=Reason.RECORD_INVALID.value)
    return value


def _article(data: bytes, raw: RawArticle, parts: Mapping[str, bytes]) -> Article:
    page, images = _object(parts, PAGE), _object(parts, IMAGES)
    title = _string(page, "title")
    if not title:
        raise InputError("stored without its title", reason=Reason.RECORD_INVALID.value)
    body = _body(data, raw.id, page)
    if not body.passages and not body.images:
        raise InputError("no text and no figure", reason=Reason.NO_BODY.value)
    year = _YEAR.match(_string(page, "timestamp"))
    return Article(
        id=raw.id,
        source=raw.source,
        version=raw.version,
        article_type=ARTICLE_TYPE,
        language=_string(page, "language") or "und",
        title=title,
        authors=AUTHORS,
        journal=_string(page, "site"),
        publisher="Wikimedia Foundation",
        year=int(year.group(1)) if year else None,
        subjects=tuple(dict.fromkeys(body.categories)),
        licence=_licence(page, title, raw),
        sections=tuple(body.sections),
        passages=tuple(body.passages),
        figures=_figures(body.images, raw, images),
        flags=tuple(sorted(body.flags)),
        is_synthetic=raw.is_synthetic,
        raw_sha256=raw.sha256,
    )


def _body(data: bytes, article_id: str, page: Mapping[str, Any]) -> BodyReader:
    def prefixes(key: str) -> frozenset[str]:
        names = page.get(key)
        return frozenset(str(name).casefold() for name in names) if isinstance(names, list) else frozenset()

    body = BodyReader(article_id, prefixes("file_names"), prefixes("category_names"))
    try:
        body.read(load(data))
    except RecursionError:
        raise InputError("markup nested too deeply", reason=Reason.RECORD_INVALID.value) from None
    return body


def image_names(data: bytes, page: Mapping[str, Any]) -> list[str]:
    """Names of the image files a page shows as figures, sorted.

    Raises:
        InputError: as :func:`parse`.
    """
    return sorted({placed.image.name for placed in _body(data, "", page).images})


def _string(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _licence(page: Mapping[str, Any], title: str, raw: RawArticle) -> Licence:
    """The text's licence with the attribution it asks for: who, title, and the address of the revision."""
    parts = urlsplit(_string(page, "base"))
    address = ""
    if parts.netloc:
        name = quote(title.replace(" ", "_"), safe="/:(),.-_~")
        address = f"{parts.scheme}://{parts.netloc}/w/index.php?title={name}&oldid={raw.version}"
    statement = f"{AUTHORS[0]}, {title!r}, revision {raw.version}, {address}"
    return Licence(
        spdx=LICENCE, evidence=EVIDENCE, url=licences.url(LICENCE), statement=statement[:_MAX_STATEMENT]
    )


def _figures(
    placed: list[PlacedImage], raw: RawArticle, images: Mapping[str, Any]
) -> tuple[ArticleFigure, ...]:
    figures: list[ArticleFigure] = []
    taken: set[str] = set()
    for number, each in enumerate(placed, 1):
        own = figure_id(raw.id, None, number, taken)
        taken.add(own)
        stated = images.get(each.image.name)
        facts = stated if isinstance(stated, dict) else {}
        figures.append(
            ArticleFigure(
                id=own,
                number=number,
                type=each.image.type,
                caption=each.caption,
                graphics=(_graphic(each.image, raw, facts),),
                section=each.section,
                part="body",
                after=each.after,
                licence=_image_licence(facts),
            )
        )
    return tuple(figures)


def _graphic(image: WikiImage, raw: RawArticle, facts: Mapping[str, Any]) -> Graphic:
    name = image.name
    media = next((each for each in raw.media if each.name == name), None)
    if media is None:
        told = next((each.reason for each in raw.media_problems if each.name == name), "")
        return Graphic(
            href=name, alt=image.alt, problem=told or _string(facts, "problem") or Reason.IMAGE_MISSING.value
        )
    return Graphic(
        href=name,
        alt=image.alt,
        name=name,
        path=media.path,
        sha256=media.sha256,
        format=media.format,
        is_synthetic=media.is_synthetic,
    )


def _image_licence(facts: Mapping[str, Any]) -> Licence:
    """What Commons states; an image it says nothing of is under no known licence, not under the page's."""
    if not _string(facts, "spdx"):
        return Licence(spdx=licences.UNKNOWN, evidence="commons:not stated")
    said = [_string(facts, key) for key in ("artist", "short_name", "page")]
    return Licence(
        spdx=_string(facts, "spdx"),
        evidence="commons:extmetadata",
        url=_string(facts, "licence_url") or None,
        statement=", ".join(filter(None, said))[:_MAX_STATEMENT],
    )
