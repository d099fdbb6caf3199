"""The title of a document in its own language, where an article states one."""

from __future__ import annotations

from curation.extract.front import primary, title_language
from schemas.article import Article
from schemas.extracted import Source


def title_in(language: str, source: Source, article: Article) -> str:
    """The article's title in a language, its own where there is none in that one.

    Args:
        language: BCP-47 of the document; 'und' takes the article's own title.
        source: the article as tasks see it.
        article: as parsed, for its translated titles.
    """
    wanted = primary(language)
    if wanted in ("", "und", primary(title_language(article))):
        return source.title
    return next(
        (item.text for item in article.translated_titles if primary(item.language) == wanted), source.title
    )
