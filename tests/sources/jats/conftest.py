"""Builds small JATS articles around the fragment a test is about, and parses them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from schemas.article import Article, RawArticle, RawMedia
from sources.jats import parse

Reader = Callable[..., Article]


def raw_article(**values: Any) -> RawArticle:
    given: dict[str, Any] = {
        "id": "pmc:PMC123.1",
        "source": "folder",
        "locator": "PMC123",
        "path": "a.xml",
        "sha256": "0" * 64,
    }
    return RawArticle(**{**given, **values})


@pytest.fixture
def read() -> Reader:
    """`read(body, meta=…, journal=…, after=…, attributes=…, media=(names), **columns of RawArticle)`."""

    def build(
        body: str = "<p>Text.</p>",
        *,
        meta: str = "",
        journal: str = "",
        after: str = "",
        attributes: str = 'xml:lang="en"',
        media: tuple[str, ...] = (),
        are_media_synthetic: bool = False,
        **raw: Any,
    ) -> Article:
        text = (
            '<article xmlns:xlink="http://www.w3.org/1999/xlink" '
            'xmlns:mml="http://www.w3.org/1998/Math/MathML" '
            f'xmlns:ali="http://www.niso.org/schemas/ali/1.0/" {attributes}><front><journal-meta>{journal}'
            f"</journal-meta><article-meta>{meta}</article-meta></front><body>{body}</body>{after}</article>"
        )
        files = tuple(
            RawMedia(
                name=name,
                path=f"x/{name}",
                sha256=hashlib.sha256(name.encode()).hexdigest(),
                size_bytes=9,
                format="jpeg",
                is_synthetic=are_media_synthetic,
            )
            for name in media
        )
        return parse(text.encode(), raw_article(media=files, **raw))

    return build


@pytest.fixture
def read_bytes() -> Callable[[bytes], Article]:
    """Parse a whole file."""
    return lambda data: parse(data, raw_article())
