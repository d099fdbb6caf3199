"""What the text of a summary query may not hold: words of the abstract and of the title, the study's name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from curation.similarity.text.edited import Sentence, copyable
from curation.tasks.shared.study_names import REGISTERED, Names, names_of
from curation.tasks.shared.words import GRAM, tokens_of

MIN_STEM = 5
"""Tokens from which a title's part before its colon counts as a title of its own."""
_SUBTITLE = re.compile(r"\s*[:：–—?]\s*")

Grams = Mapping[int, frozenset[tuple[str, ...]]]
Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Grams and sentences that keep a sentence out, and names that are taken out of one."""

    grams: Grams
    sentences: tuple[Sentence, ...]
    names: Names


def bars_of(abstracts: Sequence[str], titles: Sequence[str], texts: Iterable[str]) -> Bars:
    """All that an article's query may not hold.

    Args:
        abstracts: every abstract of the article in every language, as written and as released.
        titles: its title and translated titles.
        texts: its passages and captions, which show how its names are used.
    """
    names = names_of(titles, abstracts, texts)
    return Bars(barred_grams(abstracts, titles), copyable([*abstracts, *titles]), names)


def barred_grams(abstracts: Iterable[str], titles: Iterable[str]) -> Grams:
    """What no query may hold, by length: 13-grams of abstracts, registration numbers, and titles.

    Args:
        abstracts: every abstract of the article in every language, as written and as released.
        titles: its title and translated titles (13-grams of longer ones); a long enough part before the
            subtitle counts as well.
    """
    found: dict[int, set[Tokens]] = {}
    for text in abstracts:
        tokens = tokens_of(text)
        _add(found, tokens, GRAM)
        for token in filter(REGISTERED.fullmatch, tokens):
            _add(found, [token], 1)
    for title in titles:
        stem = tokens_of(_SUBTITLE.split(title, maxsplit=1)[0])
        for tokens in (tokens_of(title), stem if len(stem) >= MIN_STEM else []):
            _add(found, tokens, min(GRAM, len(tokens)))
    return {size: frozenset(grams) for size, grams in sorted(found.items())}


def _add(found: dict[int, set[Tokens]], tokens: Sequence[str], size: int) -> None:
    if size:
        grams = (tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1))
        found.setdefault(size, set()).update(grams)
