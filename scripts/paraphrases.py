"""Which words mean the same, counted in names of HPO, MONDO and MeSH; writes data/paraphrases.toml.

Two names of one concept that share words say that the others, up to three of each, mean the same; two names
of two concepts of one source that differ in just these words say that they do not. Where nearly all names
that speak for a pair share one word, the pair holds beside that word only. A pair is kept where the lower
Wilson bound of the names for it among both is high enough, and where the words that a text would have are
mostly written for nothing else: else "disorder" would stand for "syndrome".
`python -m scripts.paraphrases [--half dev]`: `dev` reads half of the concepts, to measure on the other.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from curation.concepts.names import is_acronym
from curation.concepts.normalise import language_of
from curation.concepts.paraphrases import DATA, Paraphrase
from curation.concepts.scripts import split
from scripts.word_families import Bags, bags, lower, names_of

_LONGEST = 3
"""Words that are replaced, and that they are replaced by."""
_SHORTEST = 3
"""Letters of a word that is replaced or replaces another: not the "ml" of mucolipidosis."""
_CAPITALS = 0.1
"""Share of an everyday word's places in names where it is in capitals, from which it is an acronym, too."""
_FEWEST = 2
"""Concepts that speak for a pair."""
_SHARED = 0.6
"""Share of the names for a pair that have one word in common, above which it must stand beside."""
_SURE = 0.5
"""Least lower bound of the names for a pair among those for and against it."""
_MEANT, _BOTH = 0.05, 0.06
"""Least share of the names with what replaces others for which a pair holds, and least geometric mean of that
and of the share of the names with what is replaced."""

Pair = tuple[tuple[str, ...], tuple[str, ...]]
Bag = tuple[str, ...]


class Counted(NamedTuple):
    """What names say of a pair, all of names with the word `beside` it where that is not ''.

    Attributes:
        beside: what must stand beside it.
        concepts: named both ways.
        names: with the first words that have a name of the same concept with the second ones.
        against: that have one of another concept.
        alone: that have none.
    """

    beside: str
    concepts: int
    names: int
    against: int
    alone: int

    @property
    def share(self) -> float:
        """Of the names with the first words, those that may have the second ones."""
        return self.names / max(self.names + self.against + self.alone, 1)


def ambiguous(names: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Keys of acronyms that are everyday words in small letters: ALL, AIDS."""
    language = language_of("en")
    capitals: dict[str, list[bool]] = defaultdict(list)
    for name in {name for own in names.values() for name in own}:
        for word in split(name)[1::2]:
            capitals[language.key_form(word)].append(is_acronym(word))
    return frozenset(
        key for key, some in capitals.items() if key in language.common and sum(some) >= _CAPITALS * len(some)
    )


def candidates(known: Bags, left_out: Set[str] = frozenset()) -> list[Pair]:
    """Pairs in which names of one concept differ, for enough concepts.

    Args:
        known: content words of every name.
        left_out: words that neither stand for others nor are replaced.
    """
    found: Counter[Pair] = Counter()
    for own in known.values():
        pairs = set()
        for one, two in itertools.permutations(sorted(own), 2):
            first, second = _beyond(one, two), _beyond(two, one)
            if 0 < len(first) <= _LONGEST and 0 < len(second) <= _LONGEST and len(first) < len(one):
                pairs.add((first, second))
        found.update(pairs)
    return sorted(
        pair
        for pair, count in found.items()
        if count >= _FEWEST
        and left_out.isdisjoint((*pair[0], *pair[1]))
        and all(len(word) >= _SHORTEST and word.isalpha() for word in (*pair[0], *pair[1]))
    )


def count(known: Bags, pairs: Sequence[Pair]) -> dict[Pair, Counted]:
    """What the names say of each pair."""
    holders: dict[Bag, set[str]] = defaultdict(set)
    having: dict[str, set[Bag]] = defaultdict(set)
    for concept, own in known.items():
        for bag in own:
            holders[bag].add(concept)
            for word in bag:
                having[word].add(bag)
    return {pair: _counted(pair, holders, having) for pair in pairs}


def _counted(pair: Pair, holders: Mapping[Bag, set[str]], having: Mapping[str, set[Bag]]) -> Counted:
    said, instead = pair
    speaks: list[Bag] = []
    against: list[Bag] = []
    alone: list[Bag] = []
    concepts: set[str] = set()
    for bag in set.intersection(*(having[word] for word in said)):
        rest = _beyond(bag, said)
        if not rest or len(rest) + len(said) != len(bag):
            continue
        mine, others = holders[bag], holders.get(tuple(sorted((*rest, *instead))), set())
        if mine & others:
            speaks.append(rest)
            concepts |= mine & others
        elif _sources(mine) & _sources(others):
            against.append(rest)
        else:
            alone.append(rest)
    shared = Counter(word for rest in speaks for word in set(rest))
    word, most = max(shared.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    if most <= max(_SHARED * len(speaks), 1):
        return Counted("", len(concepts), len(speaks), len(against), len(alone))
    return Counted(
        word, len(concepts), *(sum(word in rest for rest in some) for some in (speaks, against, alone))
    )


def kept(counted: Mapping[Pair, Counted]) -> list[Paraphrase]:
    """The pairs that hold, by what is replaced, the likeliest first."""
    found = []
    for (said, instead), one in counted.items():
        back = counted.get((instead, said))
        if (
            back is not None
            and min(one.concepts, one.names) >= _FEWEST
            and lower(one.names, one.names + one.against) >= _SURE
            and back.share >= _MEANT
            and math.sqrt(one.share * back.share) >= _BOTH
        ):
            found.append((said, -one.share, instead, one.beside))
    return [Paraphrase(said, instead, beside) for said, _, instead, beside in sorted(found)]


def _beyond(some: Iterable[str], others: Iterable[str]) -> Bag:
    """What of some words the others do not have, each as often."""
    left = Counter(others)
    beyond = []
    for word in some:
        if left[word]:
            left[word] -= 1
        else:
            beyond.append(word)
    return tuple(beyond)


def _sources(concepts: Iterable[str]) -> set[str]:
    return {concept.partition(":")[0] for concept in concepts}


def text_of(rows: Iterable[Paraphrase]) -> str:
    """The file."""
    lines = [
        "# Made by scripts/paraphrases.py from names of HPO, MONDO and MeSH; not to be edited by hand.",
        "# Words of a name, what a text may have instead, what must stand beside them; keys, not words.",
        "paraphrases = [",
        *(f'  ["{" ".join(one.said)}", "{" ".join(one.instead)}", "{one.beside}"],' for one in rows),
        "]",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("all", "dev"), default="all")
    half = parser.parse_args().half
    names = names_of(half)
    known = bags(names, language_of("en"), lambda word: word.key)
    found = kept(count(known, candidates(known, ambiguous(names))))
    DATA.write_text(text_of(found), "utf-8")
    print(f"{len(found)} ways, of {len({one.said for one in found})} stretches of words: {DATA}")


if __name__ == "__main__":
    main()
