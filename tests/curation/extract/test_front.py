"""Title and keywords of an article, its own first and then those in other languages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from curation.extract.front import FrontText, keywords, own_keywords, title_language, titles
from schemas.article import Article, KeywordGroup, Translated
from schemas.extracted import Source
from tests.curation.builders import BY, article

WRITTEN = replace(
    article(["Un caso."], [], title="Causa rara de ictericia", language="es"),
    translated_titles=(
        Translated(language="en", text="A rare cause of jaundice"),
        Translated(language="pt", text="Causa rara de icterícia"),
    ),
    keywords=(
        KeywordGroup(language="en", type="", terms=("fascioliasis", "jaundice")),
        KeywordGroup(language="es", type="", terms=("fascioliasis", "ictericia")),
        KeywordGroup(language="en", type="mesh", terms=("Humans",)),
    ),
)


def source_of(written: Article, language: str = "es") -> Source:
    return Source(
        id=written.id,
        title=written.title,
        language=language,
        keywords=own_keywords(written, language),
        licence=BY,
        raw_sha256="0" * 64,
    )


def told(found: Iterable[FrontText]) -> list[tuple[str, str, str]]:
    return [(one.id.partition("#")[2], one.language, one.text) for one in found]


def test_the_own_title_keeps_its_id_and_translations_follow() -> None:
    found = [
        (one.id.partition("#")[2], one.language, one.text) for one in titles(source_of(WRITTEN), WRITTEN)
    ]
    assert found == [
        ("title", "es", "Causa rara de ictericia"),
        ("title2", "en", "A rare cause of jaundice"),
        ("title3", "pt", "Causa rara de icterícia"),
    ]


def test_own_keywords_are_numbered_before_those_of_other_languages() -> None:
    found = [
        (one.id.partition("#")[2], one.language, one.text) for one in keywords(source_of(WRITTEN), WRITTEN)
    ]
    assert found == [
        ("keyword1", "es", "fascioliasis"),
        ("keyword2", "es", "ictericia"),
        ("keyword3", "en", "fascioliasis"),
        ("keyword4", "en", "jaundice"),
    ]


@pytest.mark.parametrize("stated", ["", "und"])
def test_a_title_of_no_stated_language_is_in_the_one_the_article_reads_as(stated: str) -> None:
    written = replace(WRITTEN, language=stated)
    assert next(titles(source_of(written), written)).language == "es"


def test_what_pubmed_translated_is_english() -> None:
    written = replace(WRITTEN, flags=("title_translated",), title="A rare cause of jaundice")
    assert title_language(written) == "en"
    assert next(titles(source_of(written), written)).language == "en"
