"""Translations published inside the article (SciELO): titles, abstracts, keywords and parallel captions.

A figure of a translation is the main article's again: matched by image file, id or label number, never added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from schemas.article import Abstract, ArticleFigure, KeywordGroup, Translated
from sources.jats.abstracts import abstracts, keywords
from sources.jats.front import titles
from sources.jats.nodes import UNDETERMINED, Element, first, href_of, language_of
from sources.jats.text import caption_text, flatten

_NUMBER = re.compile(r"\d+")
_EXTENSION = re.compile(r"\.(?:jpe?g|png|gif|tiff?|webp|eps)$")


@dataclass(slots=True)
class Translations:
    """What the translations of one article add to it."""

    titles: list[Translated] = field(default_factory=list)
    abstracts: list[Abstract] = field(default_factory=list)
    keywords: list[KeywordGroup] = field(default_factory=list)
    unmatched_figures: int = 0


def _sub_articles(article: Element) -> Iterator[tuple[Element, str]]:
    for sub in article.iterchildren("sub-article"):
        if sub.get("article-type") == "translation":
            yield sub, language_of(sub) or UNDETERMINED


def _file_key(href: str) -> str:
    return _EXTENSION.sub("", href.rsplit("/", 1)[-1].lower())


def _label_key(label: str) -> str:
    found = _NUMBER.search(label)
    return f"label:{found.group()}" if found else ""


def _keys(figure: ArticleFigure) -> Iterator[str]:
    yield from (f"file:{_file_key(graphic.href)}" for graphic in figure.graphics if graphic.href)
    if figure.xml_id:
        yield f"id:{figure.xml_id}"
    if key := _label_key(figure.label):
        yield key


def _element_keys(element: Element) -> Iterator[str]:
    yield from (
        f"file:{_file_key(href)}" for graphic in element.iter("graphic") if (href := href_of(graphic))
    )
    if identifier := element.get("id"):
        yield f"id:{identifier}"
    if key := _label_key(flatten(element.find("label"))):
        yield key


def _index(figures: list[ArticleFigure]) -> dict[str, int]:
    """Position of each figure by its keys; a key that two figures share decides nothing."""
    seen: dict[str, set[int]] = {}
    for position, figure in enumerate(figures):
        for key in _keys(figure):
            seen.setdefault(key, set()).add(position)
    return {key: next(iter(positions)) for key, positions in seen.items() if len(positions) == 1}


def _caption(element: Element) -> str:
    return caption_text(child for child in element.iterchildren("caption", "p", "attrib", "legend")).text


def fold_translations(article: Element, figures: list[ArticleFigure]) -> Translations:
    """Collect translated front matter and add translated captions to `figures` in place.

    Args:
        article: the article element.
        figures: figures of the main article, in order.
    """
    found = Translations()
    index: dict[str, int] | None = None
    for sub, language in _sub_articles(article):
        stub = first(sub, "front-stub")
        stub = stub if stub is not None else sub.find("front/article-meta")
        title, others = titles(stub)
        found.titles.extend([Translated(language=language, text=title)] if title else [])
        found.titles.extend(others)
        found.abstracts.extend(abstracts(stub, language))
        found.keywords.extend(
            group if group.language != UNDETERMINED else replace(group, language=language)
            for group in keywords(stub)
        )
        for element in sub.iter("fig"):
            index = _index(figures) if index is None else index
            position = next((index[key] for key in _element_keys(element) if key in index), None)
            caption = _caption(element)
            if position is None:
                found.unmatched_figures += 1
            elif caption:
                figure = figures[position]
                added = Translated(language=language, text=caption)
                if added not in figure.translations:
                    figures[position] = replace(figure, translations=(*figure.translations, added))
    return found
