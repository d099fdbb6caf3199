"""Builds small book chapters around the fragment a test is about, and parses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schemas.article import Article, BookPlace, RawArticle, RawMedia
from sources.bits import parse

Reader = Callable[..., Article]
NAMESPACES = (
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML" '
    'xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
)
BOOK_META = (
    '<book-id book-id-type="pmcid">invented</book-id><book-title-group><book-title>Invented Injuries'
    "</book-title></book-title-group><pub-date><year>2012</year></pub-date>"
    "<publisher><publisher-name>{publisher}</publisher-name></publisher>{permissions}"
)


def raw_chapter(**values: Any) -> RawArticle:
    given: dict[str, Any] = {
        "id": "litarch:NBK1/one",
        "source": "litarch",
        "format": "bits",
        "locator": "NBK1/one",
        "path": "litarch/NBK1/one.nxml",
        "sha256": "0" * 64,
        "book": BookPlace(book_id="invented", title="", position=3),
    }
    return RawArticle(**{**given, **values})


def wrapper(
    body: str = "<p>Text.</p>",
    *,
    meta: str = "<title-group><title>One</title></title-group>",
    permissions: str = "",
    publisher: str = "Invented Press",
    after: str = "",
    attributes: str = 'content-type="chapter" xml:lang="en"',
    part: str = 'book-part-type="chapter"',
) -> str:
    book_meta = BOOK_META.format(publisher=publisher, permissions=permissions)
    return (
        f"<book-part-wrapper {NAMESPACES} {attributes}><book-meta>{book_meta}</book-meta><book-part {part}>"
        f"<book-part-meta>{meta}</book-part-meta><body>{body}</body>{after}</book-part></book-part-wrapper>"
    )


@pytest.fixture
def read() -> Reader:
    """`read(body, meta=…, permissions=…, publisher=…, after=…, attributes=…, part=…, media=(names))`."""

    def build(
        body: str = "<p>Text.</p>",
        *,
        media: tuple[str, ...] = (),
        parts: dict[str, bytes] | None = None,
        raw: dict[str, Any] | None = None,
        **shape: str,
    ) -> Article:
        files = tuple(
            RawMedia(name=name, path=f"x/{name}", sha256="1" * 64, size_bytes=9, format="jpeg")
            for name in media
        )
        text = wrapper(body, **shape)
        return parse(text.encode(), raw_chapter(media=files, **(raw or {})), parts or {})

    return build


@pytest.fixture
def read_bytes() -> Callable[[str], Article]:
    """Parse a whole file."""
    return lambda text: parse(text.encode(), raw_chapter())
