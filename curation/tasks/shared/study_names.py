"""Takes the name an article gives its own study out of a query.

A trial's coined name stands in the title, the caption and the abstract: whoever has it needs no retrieval.
The names of other studies stay: without them, what they found would read as what this one found. Each change
can be undone, as those of figure pointers can.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from curation.extract.sentences import sentence_spans
from curation.tasks.shared.words import tokens_of
from schemas.benchmark import Transform

NAME_RULE = "study_name"
PLACEHOLDER = "[study name]"
REGISTERED = re.compile(r"[a-z]{2,}\d{5,}")
"""A number in a registry of trials: NCT, ISRCTN, ACTRN and the like, as a token."""
_NOUN = r"(?:stud(?:y|ies)|trials?|protocols?|cohorts?|projects?|program(?:me)?s?|registr(?:y|ies))"
_IS_STUDY = re.compile(rf"\b{_NOUN}\b", re.IGNORECASE)
_COINED = re.compile(r"(?<![\w-])(?=(?:[\w-]*[A-Z]){2})[A-Z][\w-]{3,}")
"""Two capitals or more: ACCoRd, PIX301, HA-SIB-WBRT."""
_PROPER = re.compile(rf"((?<![\w-])[A-Z][\w-]*(?: [A-Z][\w-]*)*)[)\]]* {_NOUN}\b")
"""Capitalised words before an uncapitalised noun: titles that write the noun large write all words large."""
_CLOSED = r"[\"'”’)\]]*"
_OWN = re.compile(
    rf"\b(?i:this|our|the present|the current) (?:[\w-]+ )?({_COINED.pattern}){_CLOSED} (?i:{_NOUN})\b"
)
"""How authors speak of their own study where its title does not name it."""
_MIN_BEFORE_NOUN = 2
"""Times a name must stand before "study" or the like, and at every second of its places at least: then it is
the study's name and not the short form of a disease or of a method."""
_PHASE = re.compile(r"(?:[IVX]+[ab]?|Phase)", re.IGNORECASE)
"""'A phase II trial' is of a phase, not of a name."""
_BEGINS = re.compile(r"(?:^|\n|[.!?:]\s)[\"“(\[]?\Z")
"""Before the first word of a sentence, which takes the name's capital over."""
_FIRST = re.compile(r"^(?:A|An|The|This|Our)\b ?")
_LAST = re.compile(rf"(?:^| )(?i:{_NOUN})$")
_PLAIN = re.compile(r"[A-Z][a-z]*(?:[ -](?:[A-Z][a-z]*|[IVX]+))*")
"""Written as any words of a title are."""


def study_names(title: str) -> frozenset[str]:
    """Names a title may give its study: coined words if it names a study at all, proper ones before the noun.

    An abbreviation of something else does little harm: only what stands before "study" or "trial" goes.
    """
    if not _IS_STUDY.search(title):
        return frozenset()
    proper = {_FIRST.sub("", found) for found in _PROPER.findall(title)}
    names = {_LAST.sub("", name) for name in (*_COINED.findall(title), *proper)}
    return frozenset(name for name in names if len(name) > 1 and not _PHASE.fullmatch(name))


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a study: those that go where they stand before "study" or the like; those that go anywhere."""

    before_noun: frozenset[str] = frozenset()
    anywhere: frozenset[str] = frozenset()


NO_NAMES = Names()


def names_of(titles: Iterable[str], abstracts: Iterable[str], texts: Iterable[str]) -> Names:
    """Names an article gives its own study: those of its title, those of its abstract that it calls its own.

    Args:
        titles: its titles.
        abstracts: its abstracts, if they are what must not be given away.
        texts: its passages and captions: they show whether a word is a name, and whose.
    """
    titles, abstracts = tuple(titles), tuple(abstracts)
    every = (*titles, *abstracts, *texts)
    titled = {name for title in titles for name in study_names(title) if not _is_plain(name, every)}
    coined = {name for title in titles for name in _COINED.findall(title)}
    coined |= {name for text in abstracts for name in _COINED.findall(text)} & _own(abstracts, every)
    always = {name for name in _always(titled | coined, every) if not _PHASE.fullmatch(name)}
    return Names(frozenset(titled | always), frozenset(always))


def _own(abstracts: Iterable[str], texts: Iterable[str]) -> set[str]:
    """Coined words that authors call their own study, or name beside a registry's number in an abstract."""
    found = {name for text in texts for name in _OWN.findall(text)}
    for text in abstracts:
        for start, end in sentence_spans(text):
            if any(map(REGISTERED.fullmatch, tokens_of(text[start:end]))):
                found.update(_COINED.findall(text, start, end))
    return found


def _is_plain(name: str, texts: Iterable[str]) -> bool:
    """Whether a name is made of ordinary words, which its article also writes small: 'Case-Control Study'."""
    if not _PLAIN.fullmatch(name):
        return False
    small = re.compile(rf"(?<![\w-]){re.escape(name[0].lower())}(?i:{re.escape(name[1:])})(?![\w-])")
    return any(map(small.search, texts))


def _always(names: set[str], texts: Iterable[str]) -> set[str]:
    """Those of the names that stand before "study" or the like so often that they name nothing else."""
    if not names:
        return set()
    found = re.compile(rf"(?<![\w-])({_alternatives(names)})(?![\w-])({_CLOSED} (?i:{_NOUN})\b)?")
    places = Counter[str]()
    before_noun = Counter[str]()
    for text in texts:
        for name, noun in found.findall(text):
            places[name] += 1
            before_noun[name] += bool(noun)
    return {
        name for name, count in before_noun.items() if count >= _MIN_BEFORE_NOUN and places[name] <= 2 * count
    }


def unnamed(text: str, transforms: Sequence[Transform], names: Names) -> tuple[str, tuple[Transform, ...]]:
    """`text` without the names: gone before "study", "trial" and the like, else `[study name]`.

    Args:
        text: released text.
        transforms: the changes that led to it, in order, not overlapping.
        names: of `names_of`.

    Returns:
        The text and all changes that lead to it from the source, in order.
    """
    if not names.before_noun:
        return text, tuple(transforms)
    pattern = rf"(?<![\w-])(?i:{_alternatives(names.before_noun)}) (?=(?i:{_NOUN})\b)"
    if names.anywhere:
        pattern += rf"|(?<![\w-])(?:{_alternatives(names.anywhere)})(?!\w)"
    made = list(transforms)
    for found in reversed(list(re.compile(pattern).finditer(text))):
        start, end = found.span()
        put = "" if found.group().endswith(" ") else PLACEHOLDER
        if not put and text[end].islower() and _BEGINS.search(text, max(start - 4, 0), start):
            put, end = text[end].upper(), end + 1
        # A neighbouring change at the same offset would leave the order of undoing open.
        if any(item.start <= end and item.end >= start for item in made):
            continue
        original, text = text[start:end], text[:start] + put + text[end:]
        moved = len(put) + start - end
        before = [item for item in made if item.end < start]
        after = [
            replace(item, start=item.start + moved, end=item.end + moved) for item in made if item.start > end
        ]
        change = Transform(start=start, end=start + len(put), original=original, rule=NAME_RULE)
        made = [*before, change, *after]
    return text, tuple(made)


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
