"""Feature boxes that tell one story over several modules of a chapter: Part 1, Part 2, …, Resolution.

Their last lines link them ("Jump to the next Clinical Focus box"); where a book has no such lines, the titles
of boxes of one class tell. The lines themselves are no part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sources.cnxml.library import Library, classes
from sources.jats.nodes import Element, all_text
from sources.jats.text import title_text

_MAX_NAVIGATION = 160
_PART = re.compile(r"\b(?:Part|Część|Parte|Partie|Teil)\s+(\d{1,2})\b", re.IGNORECASE)
_LAST = re.compile(
    r"(?:^|[:.–—-]\s*)(?:Resolution|Conclusion|Rozwiązanie|Resolución|Resolução|Résolution|Auflösung)\W*$",
    re.IGNORECASE,
)

Key = tuple[str, str]
"""Module id and id of a box."""


@dataclass(slots=True)
class Story:
    """One box on its way through a chapter; `before` and `after` are the boxes it hangs together with."""

    key: Key
    kind: frozenset[str]
    title: str
    links: tuple[Key, ...]
    order: int
    before: Key | None = None
    after: Key | None = None
    starts_elsewhere: bool = False


def is_navigation(para: Element) -> bool:
    """Whether a paragraph of a note only leads to other boxes: one short emphasis with links."""
    parent = para.getparent()
    if parent is None or parent.tag not in {"note", "boxed-text"} or len(para) != 1:
        return False
    only = para[0]
    outside = f"{para.text or ''}{only.tail or ''}".strip(" \t\r\n.")
    if outside or only.tag not in {"emphasis", "italic", "bold"}:
        return False
    links = [*only.iter("link", "xref")]
    into_book = all(link.get("target-id") and all_text(link) for link in links)
    return bool(links) and into_book and len(all_text(only)) <= _MAX_NAVIGATION


def stories(document: str, library: Library) -> dict[Key, Story]:
    """The boxes of a module's chapter, each with the one before and after it in its story."""
    chapter = library.collection.chapter_of(document) or (document,)
    found: dict[Key, Story] = {}
    gaps: list[int] = []
    for name in chapter:
        root = library.root(name)
        if root is None:
            gaps.append(len(found))
            continue
        for note in root.iter("note"):
            if note.get("id"):
                story = _story(note, name, len(found))
                found.setdefault(story.key, story)
    _follow_links(found)
    _follow_titles(found, gaps)
    return found


def _story(note: Element, document: str, order: int) -> Story:
    links = tuple(
        (link.get("document") or document, link.get("target-id") or "")
        for para in note.iterchildren("para")
        if is_navigation(para)
        for link in para.iter("link")
    )
    return Story(
        (document, note.get("id") or ""), classes(note), title_text(note.find("title")), links, order
    )


def _join(one: Story, two: Story) -> None:
    if one.after is None and two.before is None and one.order < two.order:
        one.after, two.before = two.key, one.key


def _follow_links(found: dict[Key, Story]) -> None:
    for story in found.values():
        for key in story.links:
            other = found.get(key)
            if other is not None and other.kind == story.kind:
                first, second = sorted((story, other), key=lambda each: each.order)
                _join(first, second)


def _follow_titles(found: dict[Key, Story], gaps: list[int]) -> None:
    """Boxes without links: part n goes on from part n-1, a resolution from the last part, of one class."""
    last: dict[frozenset[str], Story] = {}
    for story in found.values():
        number, is_last = _PART.search(story.title), bool(_LAST.search(story.title))
        previous = last.get(story.kind)
        is_later = is_last or (number is not None and int(number.group(1)) > 1)
        if is_later and story.before is None:
            if story.links or previous is None or _is_cut(previous, story, gaps):
                story.starts_elsewhere = True
            elif not previous.links and _fits(previous, number):
                _join(previous, story)
        if number is not None or is_last:
            last[story.kind] = story


def _is_cut(one: Story, two: Story, gaps: list[int]) -> bool:
    """Whether a module that is not at hand lies between two boxes."""
    return any(one.order < gap <= two.order for gap in gaps)


def _fits(previous: Story, number: re.Match[str] | None) -> bool:
    before = _PART.search(previous.title)
    if before is None:
        return False
    return number is None or int(number.group(1)) == int(before.group(1)) + 1


def beginning(story: Story, found: dict[Key, Story]) -> Story:
    """The first box of a story, as far as the modules are at hand."""
    while story.before is not None:
        story = found[story.before]
    return story


def sequel(story: Story, found: dict[Key, Story]) -> Iterator[Story]:
    """The later boxes of a story in reading order."""
    while story.after is not None:
        story = found[story.after]
        yield story
