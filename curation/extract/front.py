"""Title and author keywords of an article in every language that it states them in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.article import Article, KeywordGroup
from schemas.extracted import Source
from schemas.ids import keyword_id, title_id

_AUTHOR_KEYWORDS = frozenset(
    {"", "author", "author-keywords", "author-keyword", "author-generated", "kwd", "keywords"}
)


@dataclass(frozen=True, slots=True)
class FrontText:
    """A title or keyword.

    Attributes:
        id: of the text.
        text: as written.
        language: BCP-47, as stated or, of the article's own, as it reads; 'und' or '' if unknown.
    """

    id: str
    text: str
    language: str


def primary(language: str) -> str:
    """The primary subtag of a language."""
    return language.lower().partition("-")[0]


def title_language(article: Article) -> str:
    """The language of the article's own title, as stated."""
    # PubMed's title is an English translation where the record has the vernacular one beside it.
    return "en" if "title_translated" in article.flags else article.language


def titles(source: Source, article: Article) -> Iterator[FrontText]:
    """The article's own title, then its translations.

    Args:
        source: the article as tasks see it.
        article: as parsed.
    """
    own = title_language(article)
    yield FrontText(title_id(source.id), source.title, source.language if own in ("", "und") else own)
    for number, item in enumerate(article.translated_titles, start=2):
        yield FrontText(title_id(source.id, number), item.text, item.language)


def keywords(source: Source, article: Article) -> Iterator[FrontText]:
    """The author's keywords in the article's language, then those in others.

    Args:
        source: the article as tasks see it.
        article: as parsed.
    """
    for number, text in enumerate(source.keywords, start=1):
        yield FrontText(keyword_id(source.id, number), text, source.language)
    own = _own(article, source.language)
    others = [group for group in _of_authors(article) if group not in own]
    terms = dict.fromkeys((term, group.language) for group in others for term in group.terms)
    for number, (text, language) in enumerate(terms, start=len(source.keywords) + 1):
        yield FrontText(keyword_id(source.id, number), text, language)


def own_keywords(article: Article, language: str) -> tuple[str, ...]:
    """Author keywords in the article's language; those of no stated language where there are none."""
    return tuple(dict.fromkeys(term for group in _own(article, language) for term in group.terms))


def _own(article: Article, language: str) -> list[KeywordGroup]:
    groups = _of_authors(article)
    own = [group for group in groups if group.language.lower()[:2] == language.lower()[:2]]
    return own or [group for group in groups if group.language in {"", "und"}]


def _of_authors(article: Article) -> list[KeywordGroup]:
    return [group for group in article.keywords if group.type.lower() in _AUTHOR_KEYWORDS]
