"""What is about the publication, not its subject: interests, funding, ethics, data, contributions.

Told by a section's type or its whole title, whatever the order of its words, in the languages of the crawl;
of a paragraph under no such title by the title it begins with, or because every sentence of it says so.
This is the one place that knows: `extract` writes it into each passage, tasks read it there.
"""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz.distance import Levenshtein

from curation.extract.formalities import hints, is_formal
from curation.extract.sentences import sentence_spans
from schemas.article import Section

_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAD = re.compile(r"([^\W\d_][^.:–—]{1,70}?)\s?(?::|\.|\s[–—]\s|[–—])\s*(?=\S)")
"""A title that runs into its paragraph: "Ethics approval: …"."""
_LONG = 10
"""Letters of a title's word from which one may be misspelt."""
_MARKS = re.compile("[\u0300-\u036f]")
_QUOTED, _OPENING, _LONGEST = 60, 160, 1000
"""Characters shown as evidence, of an opening, which must be formal itself, of the longest such paragraph."""


@dataclass(frozen=True, slots=True)
class _Words:
    alone: frozenset[str]
    together: tuple[tuple[frozenset[str], frozenset[str]], ...]
    listed: frozenset[str]
    whole: frozenset[str]
    types: frozenset[str]


@functools.cache
def _words() -> _Words:
    data = tomllib.loads(Path(__file__).with_name("boilerplate.toml").read_text("utf-8"))
    alone = frozenset(data["alone"].split())
    together = tuple((frozenset(one.split()), frozenset(other.split())) for one, other in data["together"])
    pairs = frozenset[str]().union(*(one | other for one, other in together))
    return _Words(
        alone=alone,
        together=together,
        listed=alone | pairs | frozenset(data["beside"].split()),
        whole=frozenset(data["whole"].split()),
        types=frozenset(data["types"].split()),
    )


@functools.lru_cache(maxsize=4096)
def is_title(title: str) -> bool:
    """Whether a title announces what is about the publication: every word of it is one of those that do.

    Args:
        title: as written, without its number.
    """
    known = _words()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", title)).lower()
    found = frozenset(_WORD.findall(plain))
    if not found:
        return False
    if unknown := found - known.listed:
        meant = _meant(unknown, known) if len(found) > 1 else None
        if meant is None:
            return title.strip(" .:") in known.whole
        found = (found & known.listed) | meant
    return not found.isdisjoint(known.alone) or any(
        not found.isdisjoint(one) and not found.isdisjoint(other) for one, other in known.together
    )


def _meant(unknown: frozenset[str], known: _Words) -> frozenset[str] | None:
    """The listed words that misspelt ones are, one letter off in a long word; None if any is not."""
    meant = {
        next((one for one in sorted(known.listed) if len(one) >= _LONG and _is_near(word, one)), None)
        for word in unknown
    }
    return None if None in meant else frozenset(word for word in meant if word)


def _is_near(word: str, other: str) -> bool:
    return Levenshtein.distance(word, other, score_cutoff=1) <= 1


def boilerplate_sections(sections: Iterable[Section]) -> Mapping[int, str]:
    """Sections about the publication, with those inside them: number -> the title or type that says so.

    Args:
        sections: in document order, a parent before its children.
    """
    found: dict[int, str] = {}
    for section in sections:
        kind = " ".join(re.split(r"[\W_]+", section.type))
        if section.parent in found:
            found[section.number] = found[section.parent]
        elif section.title and is_title(section.title):
            found[section.number] = section.title
        elif kind and (kind.lower() in _words().types or is_title(kind)):
            found[section.number] = f"section type {section.type}"
    return found


def boilerplate_paragraph(text: str) -> str:
    """What makes a paragraph boilerplate under any title, '' if nothing does.

    Args:
        text: of the paragraph.

    Returns:
        The title it begins with, or its first words where every sentence is a formality.
    """
    lead = _LEAD.match(text)
    if lead is not None and is_title(lead.group(1)):
        return lead.group(1)
    opening = text[:_OPENING]
    if len(text) > _LONGEST or not hints(opening) or not is_formal(opening):
        return ""
    return text[:_QUOTED] if all(is_formal(text[a:b]) for a, b in sentence_spans(text)) else ""
