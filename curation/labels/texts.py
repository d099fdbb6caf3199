"""The texts of an article by place: what the rules read."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.article import Article
from schemas.extracted import Figure

_OPENING = 1500
_ABSTRACT = 3000
_CAPTION = 200
_HEADINGS = 40
_GRAPHICAL = frozenset({"graphical", "toc", "teaser", "executive-summary", "editor"})


@dataclass(frozen=True, slots=True)
class Texts:
    """What an article says of itself, by place."""

    types: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    abstract: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    is_book: bool = False


def texts_of(article: Article, figures: Sequence[Figure] = ()) -> Texts:
    """The texts of an article; translations count beside the original, the opening where no abstract is."""
    abstract = tuple(
        item.text[:_ABSTRACT]
        for item in article.abstracts
        if item.text and item.type.lower() not in _GRAPHICAL
    )
    opening = ""
    for passage in article.passages if not abstract else ():
        if len(opening) < _OPENING:
            opening = f"{opening}\n{passage.text}"
    book = article.book
    return Texts(
        types=(article.article_type.replace("-", " "),),
        journal=_both(book.title if book else article.journal),
        subjects=tuple(dict.fromkeys(part for path in article.subjects for part in path.split(" > "))),
        titles=(
            *((book.chapter_title,) if book else ()),
            article.title,
            *(title.text for title in article.translated_titles),
        ),
        keywords=tuple(dict.fromkeys(term for group in article.keywords for term in group.terms)),
        abstract=abstract,
        opening=(opening[:_OPENING],) if opening else (),
        headings=tuple(item.title for item in article.sections if item.part == "body" and item.title)[
            :_HEADINGS
        ],
        captions=tuple(figure.caption[:_CAPTION] for figure in figures),
        is_book=book is not None or article.article_type == "book-chapter",
    )


def _both(name: str) -> tuple[str, ...]:
    """A name as written and, if it has any accents, without them: "Ortopédica" is of "Ortopedia"."""
    letters = unicodedata.normalize("NFD", name)
    return tuple(dict.fromkeys((name, "".join(one for one in letters if not unicodedata.combining(one)))))
