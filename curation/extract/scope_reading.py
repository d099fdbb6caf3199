"""What the scope gate reads of an article: words by place, and who or what is studied.

The weights are learned by `scripts/scope_weights.py` from what is computed here, so nothing can differ.
"""

from __future__ import annotations

import collections
import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from schemas.article import Article

STEM = 7
"""Letters of a word that count: one form for singular and plural, and for cognates of five languages."""
PLACES = {"title": 6, "keyword": 4, "abstract": 10, "text": 10}
"""Share of each place; places an article lacks leave their share to the others."""
JOURNAL = 150
"""Share of the journal's name, in thousandths: it says where an article stands, not what it is about."""
CLASSES = ("person", "care", "animal", "bench", "nature", "matter", "society")

_WORD = re.compile("[a-zß-öø-ɏ]{2,}")
ABSTRACT, _TEXT, _LEAST = 2500, 5000, 50
"""Characters read of the abstracts, of all text and, at least, of each of its paragraphs and captions."""
_HERE = Path(__file__).parent
_GROUPS = ((("title", "keyword"), 1, (60, 250)), (("abstract", "text"), 2, (12, 50)))
"""Places counted together: words taken for granted in a ratio, and how many of a thousand words are many."""

Words = Mapping[str, Sequence[str]]


def words_of(text: str) -> list[str]:
    """Words of a text in Latin letters, in lower case, without figures."""
    return _WORD.findall(text.lower())


def read(article: Article) -> dict[str, list[str]]:
    """Words by place: title, keyword, abstract, text (a piece of every paragraph and caption), journal."""
    pieces = [passage.text for passage in article.passages]
    pieces += [figure.caption for figure in article.figures]
    length = max(_LEAST, _TEXT // max(len(pieces), 1))
    terms = [term for group in article.keywords for term in group.terms]
    return {
        "title": words_of(article.title),
        "keyword": words_of(" ".join(terms)),
        "abstract": words_of(" ".join(abstract.text for abstract in article.abstracts)[:ABSTRACT]),
        "text": words_of(" ".join([piece[:length] for piece in pieces])),
        "journal": [] if article.book else words_of(article.journal),  # a book's title is no journal's
    }


@functools.cache
def word_lists() -> dict[str, dict[str, list[str]]]:
    """Words by class and language; class `small` holds those that say nothing."""
    data = tomllib.loads((_HERE / "scope_words.toml").read_text("utf-8"))
    return {name: {code: text.split() for code, text in of.items()} for name, of in data.items()}


@functools.cache
def classes() -> dict[str, int]:
    """Stem -> number of its class; the first class that lists it."""
    found: dict[str, int] = {}
    for number, name in enumerate(CLASSES):
        for word in (word for words in word_lists()[name].values() for word in words):
            found.setdefault(word[:STEM], number)
    return found


def counted(words: Iterable[str]) -> collections.Counter[str]:
    """Stems and how often they occur."""
    return collections.Counter([word[:STEM] for word in words])


def class_counts(stems: Mapping[str, collections.Counter[str]]) -> dict[str, list[int]]:
    """Words of each class in each place, then words in all; an empty place is left out."""
    of = classes()
    found: dict[str, list[int]] = {}
    for place in PLACES:
        if here := stems.get(place):
            found[place] = counts = [0] * (len(CLASSES) + 1)
            for stem in of.keys() & here.keys():
                counts[of[stem]] += here[stem]
            counts[-1] = sum(here.values())
    return found


def studied(counts: Mapping[str, Sequence[int]]) -> list[int]:
    """Who or what is studied, from `class_counts`, as numbers of 0 to 1000 (`STUDIED` names them).

    For titles with keywords and for running text apart: how dense the words of each class are (a little, a
    lot), how they compare with words for people, and what share of all such words is for people.
    """
    made: list[int] = []
    for places, spare, knots in _GROUPS:
        here = [counts[place] for place in places if place in counts]
        *named, total = map(sum, zip(*here, strict=True)) if here else [0] * (len(CLASSES) + 1)
        for count in named:
            density = 1000 * count // total if total else 0
            made += [1000 * min(density, many) // many for many in knots]
        made += [1000 * count // (named[0] + count + spare) for count in named[2:]]
        made += [1000 * named[0] // (sum(named) + spare), 1000 if total else 0]
    return made


STUDIED = tuple(
    f"{group} {name}"
    for group in ("title", "text")
    for name in (
        *(f"{name} {amount}" for name in CLASSES for amount in ("some", "many")),
        *(f"{name} or person" for name in CLASSES[2:]),
        "person of all",
        "present",
    )
)
"""Names of the numbers that `studied` gives, in order."""
