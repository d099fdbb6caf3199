"""The parse stage: raw bytes of one article version to a faithful Article, with its images looked at."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from schemas.article import Article, ArticleFigure, Format, Graphic, RawArticle
from schemas.errors import InputError
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table
from schemas.stored import check_stored, read_stored
from sources import images, jats

READERS: Mapping[Format, str] = {
    "bits": "sources.bits",
    "cnxml": "sources.cnxml",
    "medline": "sources.medline_xml",
    "wiki": "sources.wiki",
}
"""Modules that read the formats beside JATS, imported when a file of the format is met."""
CRAWL, CRAWL_VERSION = "crawl", 1
"""The stage that fetches what is parsed here; it keeps its rows itself, as it waits for servers."""
MAX_PIXELS = 100_000_000
MAX_IMAGE_BYTES = 64 * 1024 * 1024


class Reader(Protocol):
    """A module that reads one format."""

    def parse(self, data: bytes, raw: RawArticle, parts: Mapping[str, bytes]) -> Article:
        """Read one document; `parts` are the other files it needs, by name.

        Raises:
            InputError: it cannot be used, with the reason.
        """


def parse(
    raw_article: RawArticle, *, raw: Path, max_pixels: int, max_image_bytes: int
) -> Iterator[Article | Drop]:
    """Read one article; input that cannot be used becomes a Drop with its reason.

    Args:
        raw_article: where its bytes lie.
        raw: the workspace's raw/ folder.
        max_pixels: larger images are not decoded.
        max_image_bytes: larger image files are not opened.

    Raises:
        WorkspaceError: a stored file is missing, or not the one that was fetched.
    """
    if raw_article.format == "questions":  # a stage of its own reads these
        return
    try:
        article = _read(raw_article, raw)
    except InputError as error:
        reason = Reason(error.reason or Reason.XML_INVALID)
        yield Drop(
            unit="article", id=raw_article.id, article_id=raw_article.id, reason=reason, detail=error.message
        )
        return
    for media in raw_article.media:
        check_stored(raw, media.path, media.sha256, record=raw_article.id)
    figures = tuple(_with_images(figure, raw, max_pixels, max_image_bytes) for figure in article.figures)
    yield dataclasses.replace(article, figures=figures)


def _read(raw_article: RawArticle, raw: Path) -> Article:
    """The article, by the reader of its format.

    Raises:
        InputError: the bytes cannot be used, with the reason.
    """
    key = raw_article.id
    data = read_stored(raw, raw_article.path, raw_article.sha256, record=key)
    if raw_article.format == "jats":
        return jats.parse(data, raw_article)
    parts = {part.name: read_stored(raw, part.path, part.sha256, record=key) for part in raw_article.parts}
    reader: Reader = importlib.import_module(READERS[raw_article.format])
    return reader.parse(data, raw_article, parts)


def _with_images(figure: ArticleFigure, raw: Path, max_pixels: int, max_bytes: int) -> ArticleFigure:
    graphics = tuple(_inspected(graphic, raw, max_pixels, max_bytes) for graphic in figure.graphics)
    return figure if graphics == figure.graphics else dataclasses.replace(figure, graphics=graphics)


def _inspected(graphic: Graphic, raw: Path, max_pixels: int, max_bytes: int) -> Graphic:
    if graphic.path is None:
        return graphic
    facts = images.inspect(raw / graphic.path, max_pixels=max_pixels, max_bytes=max_bytes)
    return dataclasses.replace(
        graphic, format=facts.format, width=facts.width, height=facts.height, problem=facts.problem
    )


def _article_ids(raw_article: RawArticle) -> list[str]:
    return [] if raw_article.format == "questions" else [raw_article.id]


PARSE = RecordStage(
    name="parse",
    version=12,
    inputs=(Input(f"{CRAWL}.raw", RawArticle, by="id"),),
    outputs=(Table("articles", Article, ("id",)),),
    process=parse,
    accounts=(Account("article", _article_ids, "articles", "id"),),
    params={"max_pixels": MAX_PIXELS, "max_image_bytes": MAX_IMAGE_BYTES},
    resources=("raw",),
)
