"""Builds small books around the CNXML a test is about, and reads one of their modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schemas.article import Article, BookPlace, RawArticle, RawMedia
from sources.cnxml import parse
from tests.sources.fakes.openstax import collection, module

Reader = Callable[..., Article]


def raw_module(document: str = "m2", media: tuple[str, ...] = (), **values: Any) -> RawArticle:
    given: dict[str, Any] = {
        "id": f"openstax:invented/{document}",
        "source": "openstax",
        "format": "cnxml",
        "locator": f"invented/{document}",
        "path": "a.xml",
        "sha256": "0" * 64,
        "book": BookPlace(book_id="invented", title="Invented Medicine", chapter="1", position=2),
        "media": tuple(
            RawMedia(name=name, path=f"x/{name}", sha256="1" * 64, size_bytes=9, format="png")
            for name in media
        ),
    }
    return RawArticle(**{**given, **values})


@pytest.fixture
def read() -> Reader:
    """`read(body, after=…, metadata=…, others={id: bytes}, chapters=…, parts=…, language=…, media=…)`.

    The module is m2, in chapter 1 behind m1 (one figure, id `first`) unless `chapters` says otherwise.
    """

    def build(
        body: str = "<para>Text.</para>",
        *,
        after: str = "",
        metadata: str = "",
        root: str = "",
        others: dict[str, bytes] | None = None,
        chapters: dict[str, tuple[str, ...]] | None = None,
        parts: dict[str, bytes] | None = None,
        language: str = "en",
        media: tuple[str, ...] = (),
        document: str = "m2",
    ) -> Article:
        opening = module('<figure id="first"><media/><caption>One.</caption></figure>', title="Introduction")
        known = {"m1": opening} if others is None else others
        files = {
            "collection": collection(chapters or {"The Heart": ("m1", "m2", "m3")}, language=language),
            **{f"module:{name}": data for name, data in known.items()},
            **(parts or {}),
        }
        data = module(body, after=after, metadata=metadata, root=root)
        return parse(data, raw_module(document, media), {name: each for name, each in files.items() if each})

    return build
