"""Figures as tasks need them: caption without label, label keys for look-up, panels, third-party flag."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from curation.extract.figure_nouns import VERB
from curation.extract.panel_lists import letters_of
from curation.extract.panels import find_panels
from curation.extract.pointers import PointerText, pointers_in
from schemas.article import Article, ArticleFigure, ArticleTable, Emphasis, Licence
from schemas.extracted import Figure, FigureMention, Panel
from schemas.licences import terms
from schemas.third_party import third_party_statement

_LABEL_TAIL = re.compile(r"\s*[.:|;,)–—-]*\s*")
_GOES_ON = re.compile(r"\w|[.–—-]\d|[–—-][A-Z]\b")
"""What looks like the label is the start of "Figure 12", "Figure 1.2", "Figure 1–3" or "Figure 1-A"."""
_IS_SUBJECT = re.compile(rf",?\s{VERB}")
_LEFT_OVER = re.compile(r"\s*[.:|–—-]\s+")
"""Marks of a label that stands apart, at the start of the caption."""
_NUMBERED_LABEL = re.compile(r"\s*[.:|]\s+|\s*$")


@dataclass(frozen=True, slots=True)
class LabelKey:
    """What a label says: family ("figure", "scheme", …), the numbers it covers, a panel letter of its own."""

    family: str
    numbers: frozenset[str]
    letters: tuple[str, ...] = ()


@dataclass(slots=True)
class FigureIndex:
    """Look-up of an article's figures by xml id, group and label number."""

    figures: Sequence[ArticleFigure]
    keys: Sequence[LabelKey | None]
    by_rid: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_number: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        """Fill the look-ups in document order."""
        for position, figure in enumerate(self.figures):
            if figure.xml_id and not self.by_rid[figure.xml_id]:
                self.by_rid[figure.xml_id].append(position)
            key = self.keys[position]
            for number in sorted(key.numbers) if key else ():
                self.by_number[key.family if key else "", number].append(position)
        for position, figure in enumerate(self.figures):
            group = figure.group
            if group and group != figure.xml_id and not self._is_own_id(group):
                self.by_rid[group].append(position)

    def _is_own_id(self, name: str) -> bool:
        """Whether a group's name is the xml id of a single figure."""
        return any(figure.xml_id == name for figure in self.figures)

    def numbered(self, family: str, number: str, letters: Iterable[str] = ()) -> list[int]:
        """Figures of this label number: the one, or its sub-figures "3a", "3b"; [] if ambiguous."""
        found = self.by_number.get((family, number), [])
        if len(found) < 2:
            return list(found)
        own = [self.keys[position] for position in found]
        lettered = [key.letters for key in own if key and key.letters]
        if len(lettered) != len(found) or len(set(lettered)) != len(lettered):
            return []
        wanted = set(letters)
        named = [at for at, panels in zip(found, lettered, strict=True) if wanted & set(panels)]
        return named if wanted else list(found)

    def main_of(self, at: int) -> str | None:
        """Id of the main figure of a supplement: as the file nests it, else of the number it bears."""
        key = self.keys[at]
        if self.figures[at].parent is not None or key is None:
            return self.figures[at].parent
        whole = {number.partition("-fs")[0] for number in key.numbers if "-fs" in number}
        found = self.numbered(key.family, whole.pop()) if len(whole) == 1 else []
        return self.figures[found[0]].id if len(found) == 1 else None

    def between(self, first: int, last: int) -> list[int]:
        """Figures strictly between two of one label family, in document order; [] for two families."""
        one, two = self.keys[first], self.keys[last]
        if one is None or two is None or series_of(one) != series_of(two):
            return []
        inner = self.keys[first + 1 : last]
        return [first + 1 + at for at, key in enumerate(inner) if key and series_of(key) == series_of(one)]


def series_of(key: LabelKey) -> tuple[str, str]:
    """Family and number prefix: Figure 2, Figure S2, Figure 2—figure supplement 1, Scheme 2 are four."""
    number = min(key.numbers)
    return key.family, re.sub(r"\d+", "", number.partition("-")[0]) + ("-" if "-" in number else "")


def label_key(label: str, group_label: str = "") -> LabelKey | None:
    """Parse a label; a bare letter takes its number from the group's label; None without a number."""
    found = pointers_in(label)
    if found:
        return _key(found[0])
    letters = letters_of(label.rstrip(".:"))
    outer = pointers_in(group_label[:60]) if letters and group_label else []
    if outer and outer[0].start == 0:
        whole = _key(outer[0])
        return LabelKey(whole.family, whole.numbers, letters)
    return None


def _key(pointer: PointerText) -> LabelKey:
    numbers: set[str] = set()
    previous = ""
    for item in pointer.items:
        if item.join == "range" and previous.isdigit() and item.number.isdigit():
            numbers |= {str(n) for n in range(int(previous), min(int(item.number), int(previous) + 50) + 1)}
        numbers.add(item.number)
        previous = item.number
    return LabelKey(pointer.family, frozenset(numbers), pointer.items[0].panels)


def split_label(label: str, caption: str) -> tuple[str, str, int]:
    """Label, caption without a label repeated at its start, and how many characters were cut.

    A label that is the subject of the caption's first sentence ("Figure 1 shows") stays there.
    """
    head = next(iter(pointers_in(caption[:60])), None)
    bare = label.strip().rstrip(".:|").casefold()
    end = 0
    if bare and caption[: len(bare)].casefold() == bare and not _GOES_ON.match(caption, len(bare)):
        end = len(bare)
    elif head is not None and head.start == 0 and not head.items[0].panels:
        own = label_key(label)
        if _NUMBERED_LABEL.match(caption, head.end) and (own is None or own == _key(head)):
            end = head.end
    if end and not _IS_SUBJECT.match(caption, end):
        tail = _LABEL_TAIL.match(caption, end)
        cut = tail.end() if tail else end
        return label or caption[:end], caption[cut:], cut
    mark = _LEFT_OVER.match(caption)
    cut = mark.end() if mark and label else 0
    return label, caption[cut:], cut


def panels_of(figure: ArticleFigure, caption: str, cut: int) -> tuple[Panel, ...]:
    """Panels of a figure whose caption lost `cut` characters of label at its start."""
    emphasis = [
        Emphasis(start=part.start - cut, end=part.end - cut, kind=part.kind)
        for part in figure.caption_emphasis
        if part.start >= cut
    ]
    return find_panels(figure.id, caption, emphasis)


def build_figure(
    article: Article,
    source: ArticleFigure,
    label: str,
    caption: str,
    panels: tuple[Panel, ...],
    mentions: Sequence[FigureMention],
    parent: str | None,
) -> Figure:
    """One Figure of an article from its parsed form, its caption without label, its panels and mentions."""
    # OpenStax credits every figure in its caption; its reader has told the credits from the permissions.
    texts = (source.rights,) if article.source == "openstax" else (source.rights, source.caption)
    statement = elsewhere(source, article.licence, texts)
    return Figure(
        id=source.id,
        article_id=article.id,
        number=source.number,
        label=label,
        caption=caption,
        graphics=source.graphics,
        panels=panels,
        mentions=tuple(mentions),
        section=source.section,
        parent=parent,
        is_third_party=bool(statement),
        rights=statement or source.rights,
        licence=source.licence or article.licence,
        translations=source.translations,
    )


def elsewhere(figure: ArticleFigure | ArticleTable, article_licence: Licence, texts: Iterable[str]) -> str:
    """What says that a figure comes from elsewhere, '' if nothing does; a patient's permission is not such.

    Args:
        figure: the figure or table, for its own licence.
        article_licence: the licence it would have otherwise.
        texts: where words that say so may stand.
    """
    stated = next(filter(None, map(third_party_statement, texts)), "")
    if not stated and figure.licence is not None and terms(article_licence.spdx).derivatives:
        own = terms(figure.licence.spdx)
        if not own.redistribute or not own.derivatives:
            return f"own licence {figure.licence.spdx}"
    return stated
