"""Resolves the figure pointers of a passage: links first, label numbers second, ranges last.

A link is `<xref rid>`; a number decides only where nothing links and one figure of the article bears it.
Where link and number name two figures of one series, neither is believed. Figures of other works ("Fig. 2 of
ref. [5]") and supplements that are no figure resolve to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from curation.extract.figures import FigureIndex, series_of
from curation.extract.label_words import Heads
from curation.extract.panel_lists import letters_of
from curation.extract.pointers import Item, PointerText, items_at, pointers_in
from curation.extract.sentences import Span, sentence_at, sentence_spans
from schemas.article import ArticlePassage, Xref
from schemas.extracted import FigureMention, Pointer

Rule = Literal["xref", "range", "text"]
_RANK: dict[Rule, int] = {"xref": 0, "range": 1, "text": 2}

MAX_LINKS = 300
"""Links to figures, or to other floats, read of a passage: those that run into one pointer are compared."""
_RANGE_GAP = re.compile(r"\s*[–—‐‑−-]\s*")
_JOINING_GAP = re.compile(r"[\s,;&/–—‐‑−()-]*(?:\band\b)?[\s,;&/–—‐‑−()-]*")
_LETTER_GAP = re.compile(r"\s?(?:,|and|&|,\s?and|[–—‐‑−/-])?\s?")
_WORD_BEFORE = re.compile(
    r"(?<![A-Za-z])(?:[Ff]ig(?:s|ures?|uras?)?|FIG(?:S|URES?)?|Abb(?:ildung(?:en)?)?|Schemes?|[Рр]ис|图"
    r"|図)\.?\s?$"
)
_FOREIGN_AFTER = re.compile(
    r"[)\s]{0,2},?\s?(?:of|in|from|by|de|do|von)\s(?:the\s)?(?:(?:study|paper|work|article|report)\s(?:of"
    r"|by)\s)?"
    r"(?:[Rr]efs?\.?\s?[\[(\d]|[Rr]eferences?\s[\[(\d]|\[\d|(?:[A-Z][\w’'-]+(?:,?\s(?:and"
    r"|&)\s[A-Z][\w’'-]+)?,?\s(?:et al|\(?(?:19|20)\d\d))"
    r"|(?:original|previous|cited|accompanying|companion|their)\s(?:paper|study|work|article|publication"
    r"|report))"
)
_IN_SUPPLEMENT = re.compile(
    r",?\s(?:(?:of|in)\s(?:the\s)?)?(?:E?SI|(?<=\sthe\s)(?:[Oo]nline\s)?(?:[Ss]upp(?:lement|orting)\w*|[Aa]ppendix))\b"
)
_FOREIGN_BEFORE = re.compile(
    r"(?:\b(?:in|of|from|see)\s(?:[Rr]ef(?:erence|s|\.)?s?\.?\s?)?\[\d[\d,–\s-]*\],?\s?|\[\d[\d,–\s-]*,\s?"
    r"|\b[Rr]ef(?:s|erences?)?\.?\s?\[?\d+\]?,\s?|\bet al\.?,?\s?(?:\(?(?:19"
    r"|20)\d\d[a-z]?\)?)?[,:;]\s?(?:\d+[–-]?\d*,\s?)?"
    r"|[A-Z][\w’'-]+,?\s\(?(?:19|20)\d\d[a-z]?\)?[:,]\s?(?:\d+[–-]?\d*,\s?)?)$"
)
_FLOATS = frozenset({"table", "supplementary-material", "boxed-text", "app", "media"})
_NAMED_FLOAT = re.compile(
    r"(?:[^\W\d_]+[\s-]){1,5}[A-Z]?\d{1,2}(?:[\s,&–-]+(?:and\s)?[A-Z]?\d{1,2})*"
    r"|S\d{1,2}(?:\s[A-Z]\w+){1,4}|(?:[A-Z]\w+\s)?Table"
)
"""What such a link says: words and a number, or of the only table nothing but that it is one."""
_CAPITAL_BEFORE = re.compile(r"(?<!\w)[A-Z][a-z]+\s$")
_ANY_WORD = re.compile(r"\w+")
_EQUALS = re.compile(r"\s?[=<>≤≥]")
_LETTER_AT_END = re.compile(r"[\s,;]+[A-Za-z]$")
_FOREIGN_HINTS = ("[", "ef", "et al", "19", "20")
"""One of these is in everything that `_FOREIGN_BEFORE` matches."""


@dataclass(slots=True)
class _Cluster:
    """One pointer with the links inside it."""

    start: int
    end: int
    family: str
    items: tuple[Item, ...]
    links: list[Xref] = field(default_factory=list)
    found: dict[int, tuple[Rule, set[str]]] = field(default_factory=dict)

    def add(self, figure: int, rule: Rule, panels: Iterable[str] = ()) -> None:
        """Note a figure; the stronger rule stays, panels add up."""
        before, letters = self.found.get(figure, (rule, set()))
        self.found[figure] = (min(before, rule, key=_RANK.__getitem__), letters | set(panels))


def resolve(
    passage: ArticlePassage, index: FigureIndex, letters: Collection[str], heads: Heads | None = None
) -> tuple[tuple[Pointer, ...], list[tuple[int, FigureMention]]]:
    """Pointers of one passage, and its mentions as (position of the figure in the article, mention).

    Args:
        passage: the parsed passage.
        index: look-ups of the article's figures.
        letters: panel letters known from the article's captions.
        heads: label words this passage can hold, see `label_words.heads_in`; looked for when None.
    """
    if heads == () and not passage.xrefs:
        return (), []
    known = index.by_rid.keys()
    linking = [xref for xref in passage.xrefs if xref.document is None and not known.isdisjoint(xref.rids)]
    del linking[MAX_LINKS:]
    links = [_without_statistic(passage.text, xref) for xref in linking]
    spans = [(xref.start, xref.end) for xref in links]
    texts = pointers_in(passage.text, links=spans, letters=letters, heads=heads) if heads != () else []
    others = [
        xref
        for xref in passage.xrefs
        if xref not in linking and xref.ref_type != "fig" and xref.end > xref.start
    ]
    clusters = _clusters(passage.text, texts, links, letters, index)
    clusters = _with_other_floats(passage.text, clusters, others)
    for cluster in clusters:
        if not _FOREIGN_AFTER.match(passage.text, cluster.end):
            _resolve_links(cluster, index)
            _resolve_numbers(cluster, index, passage.text, others)
            _fill_ranges(cluster, index, passage.text)
    pointers = tuple(
        Pointer(start=one.start, end=one.end, figures=tuple(index.figures[at].id for at in sorted(one.found)))
        for one in clusters
        if one.end > one.start
    )
    return pointers, _mentions(passage, clusters)


def _without_statistic(text: str, xref: Xref) -> Xref:
    """A link without the letter of a statistic that it runs into: "(Figure 1A, P" linked, "=0.01)" not."""
    if not _EQUALS.match(text, xref.end):
        return xref
    letter = _LETTER_AT_END.search(text, xref.start, xref.end)
    return replace(xref, end=letter.start()) if letter else xref


def _targets(xref: Xref, index: FigureIndex) -> list[int]:
    if xref.document is not None:
        return []
    return [at for rid in xref.rids for at in index.by_rid.get(rid, ())]


def _clusters(
    text: str,
    texts: Sequence[PointerText],
    links: Sequence[Xref],
    letters: Collection[str],
    index: FigureIndex,
) -> list[_Cluster]:
    clusters = [_Cluster(found.start, found.end, found.family, found.items) for found in texts]
    bare: list[Xref] = []
    for xref in links:
        holder = next((one for one in clusters if _touches(one, xref)), None)
        if holder is None:
            bare.append(xref)
        else:
            holder.links.append(xref)
            holder.start, holder.end = min(holder.start, xref.start), max(holder.end, xref.end)
    for xref in bare:
        _place_bare(text, xref, clusters, letters, index)
    clusters.sort(key=lambda one: (one.start, one.end))
    return _without_overlap(clusters)


def _touches(cluster: _Cluster, xref: Xref) -> bool:
    if xref.start == xref.end:
        return cluster.start <= xref.start <= cluster.end
    return xref.start < cluster.end and xref.end > cluster.start


def _place_bare(
    text: str, xref: Xref, clusters: list[_Cluster], letters: Collection[str], index: FigureIndex
) -> None:
    """A link without a label word (a letter, a lone number, nothing) joins its neighbour or stands alone."""
    inner = text[xref.start : xref.end]
    own_letters = letters_of(inner)
    before = max((one for one in clusters if one.end <= xref.start), key=lambda one: one.end, default=None)
    if before is not None and before.links:
        gap = text[before.end : xref.start]
        is_same = own_letters and set(_targets(xref, index)) & set(_targets(before.links[-1], index))
        is_letter = bool(is_same) and _LETTER_GAP.fullmatch(gap) is not None
        is_number = not own_letters and "(" not in gap and len(gap) < 9 and _JOINING_GAP.fullmatch(gap)
        if is_letter or is_number:
            before.links.append(xref)
            before.items += _bare_items(text, xref, letters)
            before.end = max([before.end, xref.end, *(item.end for item in before.items)])
            return
    items = _bare_items(text, xref, letters)
    word = _WORD_BEFORE.search(text, max(0, xref.start - 16), xref.start)
    start = word.start() if word else xref.start
    end = max([xref.end, *(item.end for item in items)])
    clusters.append(_Cluster(start, end, "figure", items, [xref]))


def _bare_items(text: str, xref: Xref, letters: Collection[str]) -> tuple[Item, ...]:
    """Items of a link's own text; a letter alone is an item without a number."""
    own = letters_of(text[xref.start : xref.end])
    if own:
        return (Item(xref.start, xref.end, "", own, "list"),)
    number = re.compile(r"[A-Z]?\d").search(text, xref.start, xref.end)
    if number is None:
        return ()
    return items_at(text, number.start(), links=[(xref.start, xref.end)], letters=letters)


def _with_other_floats(text: str, clusters: list[_Cluster], others: Iterable[Xref]) -> list[_Cluster]:
    """Links to what is no figure and whose words no label word begins: "Textbox 1", "Data Sheet 2"."""
    for xref in [other for other in others if other.ref_type in _FLOATS][:MAX_LINKS]:
        if any(_touches(one, xref) for one in clusters):
            continue
        word = _CAPITAL_BEFORE.search(text, max(0, xref.start - 16), xref.start)
        start = word.start() if word and text[xref.start].isdigit() else xref.start
        if _NAMED_FLOAT.fullmatch(text, start, xref.end):
            clusters.append(_Cluster(start, xref.end, "", ()))
    return _without_overlap(sorted(clusters, key=lambda one: (one.start, one.end)))


def _without_overlap(clusters: Sequence[_Cluster]) -> list[_Cluster]:
    kept: list[_Cluster] = []
    for one in clusters:
        if kept and one.start < kept[-1].end:
            last = kept[-1]
            last.end = max(last.end, one.end)
            last.items += tuple(item for item in one.items if item not in last.items)
            last.links += [xref for xref in one.links if xref not in last.links]
        else:
            kept.append(one)
    return kept


def _resolve_links(cluster: _Cluster, index: FigureIndex) -> None:
    for xref in cluster.links:
        targets = _targets(xref, index)
        items = [item for item in cluster.items if item.start < xref.end and item.end > xref.start]
        for place, target in enumerate(targets):
            key = index.keys[target]
            if len(targets) == 1 and _is_contradicted(target, items, cluster.family, index):
                continue
            mine = [item for item in items if key and item.number in key.numbers]
            if not mine and len(targets) == 1:
                mine = items if len({item.number for item in items}) == 1 else []
            elif not mine and len(items) == len(targets):
                mine = [items[place]]
            panels = {letter for item in mine for letter in item.panels}
            cluster.add(target, "xref", panels - set(key.letters if key else ()))


def _is_contradicted(target: int, items: Sequence[Item], family: str, index: FigureIndex) -> bool:
    """Whether the number printed in a link is that of another figure than the link's target."""
    key = index.keys[target]
    numbers = {item.number for item in items if item.number}
    if key is None or not numbers or not key.numbers.isdisjoint(numbers):
        return False
    named = [index.keys[at] for item in items for at in index.numbered(family, item.number, item.panels)]
    return any(other is not None and series_of(other) == series_of(key) for other in named)


def _resolve_numbers(cluster: _Cluster, index: FigureIndex, text: str, others: Sequence[Xref]) -> None:
    if not cluster.links and _is_elsewhere(text, cluster):
        return
    for item in cluster.items:
        if not item.number or any(xref.start <= item.start < xref.end for xref in others):
            continue
        linked = [xref for xref in cluster.links if xref.start < item.end and xref.end > item.start]
        if (
            linked
            and (item.join != "range" or len(_targets(linked[0], index)) > 1)
            and not _spare(linked, cluster)
        ):
            continue
        if any((key := index.keys[at]) and item.number in key.numbers for at in cluster.found):
            continue
        rule: Rule = "range" if linked and item.join == "range" else "text"
        for at in index.numbered(cluster.family, item.number, item.panels):
            key = index.keys[at]
            cluster.add(at, rule, set(item.panels) - set(key.letters if key else ()))


def _is_elsewhere(text: str, cluster: _Cluster) -> bool:
    """Whether an unlinked pointer means another work ("in [12], Fig. 3") or a supplement ("Fig. 3, SI")."""
    if _IN_SUPPLEMENT.match(text, cluster.end):
        return True
    window = text[max(0, cluster.start - 60) : cluster.start]
    if not any(map(window.__contains__, _FOREIGN_HINTS)):
        return False
    return _FOREIGN_BEFORE.search(text, max(0, cluster.start - 60), cluster.start) is not None


def _spare(linked: Sequence[Xref], cluster: _Cluster) -> bool:
    """Whether a link covers more numbers than it has targets ("Figs 2 and 4" linked to 2 only)."""
    xref = linked[0]
    covered = [
        item for item in cluster.items if item.number and item.start < xref.end and item.end > xref.start
    ]
    return len(covered) > max(1, len(xref.rids))


def _fill_ranges(cluster: _Cluster, index: FigureIndex, text: str) -> None:
    """Add the figures between the ends of "2–4", written as one link, as two links, or without any."""
    for one, two in zip(cluster.links, cluster.links[1:], strict=False):
        if one.rids != two.rids and _RANGE_GAP.fullmatch(text, one.end, two.start):
            _expand(cluster, index, _targets(one, index)[-1], _targets(two, index)[0], "range")
    for before, item in zip(cluster.items, cluster.items[1:], strict=False):
        if item.join == "range" and item.number and before.number:
            ends = [_figure_of(cluster, index, each) for each in (before, item)]
            if ends[0] is not None and ends[1] is not None:
                linked = any(xref.start < item.end and xref.end > item.start for xref in cluster.links)
                _expand(cluster, index, ends[0], ends[1], "range" if linked else "text")


def _expand(cluster: _Cluster, index: FigureIndex, first: int, last: int, rule: Rule) -> None:
    if first < last:
        for between in index.between(first, last):
            cluster.add(between, rule)


def _figure_of(cluster: _Cluster, index: FigureIndex, item: Item) -> int | None:
    found = [at for at in cluster.found if (key := index.keys[at]) and item.number in key.numbers]
    return found[0] if len(found) == 1 else None


def _sentence(text: str, sentences: list[Span], cluster: _Cluster) -> Span:
    """The sentence that speaks of what is pointed at.

    It is the one before where the pointer's own says nothing ("See Figure 1."), and where a bracket behind a
    full stop holds it ("… after 3 months. (Figure 1) The next").
    """
    start, _ = sentence_at(sentences, cluster.start)
    _, end = sentence_at(sentences, max(cluster.start, cluster.end - 1))
    if start == sentences[0][0]:
        return start, end
    before, _ = sentence_at(sentences, start - 1)
    around = f"{text[start : cluster.start]} {text[cluster.end : end]}"
    if len(_ANY_WORD.findall(around)) <= 1:
        return before, end
    if (
        cluster.start == start + 1
        and text[start] in "(["
        and text[cluster.end : cluster.end + 1] in (")", "]")
    ):
        return before, cluster.end + 1
    return start, end


def _mentions(passage: ArticlePassage, clusters: Sequence[_Cluster]) -> list[tuple[int, FigureMention]]:
    if not any(cluster.found for cluster in clusters):
        return []
    sentences = sentence_spans(passage.text)
    mentions: list[tuple[int, FigureMention]] = []
    for cluster in clusters:
        if not cluster.found:
            continue
        start, end = _sentence(passage.text, sentences, cluster)
        for at, (rule, panels) in sorted(cluster.found.items()):
            mention = FigureMention(
                passage_id=passage.id,
                start=cluster.start,
                end=cluster.end,
                text=passage.text[cluster.start : cluster.end],
                sentence_start=min(start, cluster.start),
                sentence_end=max(end, cluster.end),
                panels=tuple(sorted(panels)),
                rule=rule,
            )
            mentions.append((at, mention))
    return mentions
