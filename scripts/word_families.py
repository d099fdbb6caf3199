"""Word families of English medicine, counted in names of HPO, MONDO and MeSH; writes data/mined.toml.

Two names of one concept that differ in one word say that the words mean the same there; two names of two
concepts that differ in those words say that they do not. A pair is kept where the lower Wilson bound of the
first among both is high enough. Words with one stem are judged by their endings ("-al/-us" in 16 pairs,
against none); others each by itself, in contexts that do not all share a word.
`python -m scripts.word_families [--half dev]`: `dev` reads half of the concepts, to measure on the other.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from curation.concepts import normalise
from curation.concepts.normalise import ADJECTIVE, Language, Word
from curation.concepts.scripts import split
from flows.vocabulary.commands import default_readings
from schemas.vocabulary import ConceptName, ConceptType

DESTINATION = Path(normalise.__file__).parent / "data" / "mined.toml"
_KINDS = frozenset({"PT", "SY", "MH", "ET"})
_GROUPS = frozenset({"DISO", "ANAT"})
_LONGEST, _CROWD = 8, 400
"""Content words of the longest name; words in one place between which no pairs are counted: "type _"."""
_STEM, _ENDS = 4, (2, 5)
"""Letters of the shortest stem; of the longest ending of two adjectives or of a bare stem, and of others."""
_SURE, _MOST_SHARED = 0.75, 0.4
"""Least lower bound for words of different stems; most of their contexts that one word may be in."""
_ONE_STEM = 0.5
"""Least lower bound for an adjective that has one stem with another word."""
_ENDING, _FEW = 0.6, 3
"""Least lower bound, and least pairs, of two endings."""
_COMPANY = 2
"""Least words both of a pair carried over stand with in names."""
_TOGETHER = 0.2
"""Most names that have both words, for each context in which they mean the same."""
_OPTIONAL, _AGAINST = 0.05, 3
"""Most names that mean the same without a word; how often more words must agree than differ."""
_GENERAL, _MANY = 0.65, 8
"""The same for endings that are carried over to words no two names have been seen with."""

_ADDED = frozenset({"a", "al", "d", "e", "ed", "ic", "l", "r", "ry"})
"""What one word may have beyond another that is its stem."""

Pair = tuple[str, str]
Bags = Mapping[str, frozenset[tuple[str, ...]]]


def lower(positive: int, total: int) -> float:
    """Lower bound of Wilson's 95 % interval."""
    share, z = positive / total, 1.96
    middle = share + z * z / (2 * total)
    return (middle - z * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)) / (
        1 + z * z / total
    )


def names_of(half: str) -> dict[str, set[str]]:
    """English names by concept: of findings, diseases and parts of the body."""
    names: dict[str, set[str]] = defaultdict(set)
    groups: dict[str, set[str]] = defaultdict(set)
    for reading in default_readings():
        for row in reading.read(""):
            if isinstance(row, ConceptType):
                groups[row.concept].add(row.group)
            elif not isinstance(row, ConceptName) or row.language != "en" or row.term_type not in _KINDS:
                continue
            elif half == "all" or _share(row.concept) < 0.5:
                names[row.concept].add(row.name)
    return {
        concept: own
        for concept, own in sorted(names.items())
        if concept not in groups or groups[concept] & _GROUPS
    }


def _share(concept: str) -> float:
    digest = hashlib.sha256(f"half {concept}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def bags(names: Mapping[str, Iterable[str]], language: Language, form: Callable[[Word], str]) -> Bags:
    """Content words of every name, sorted."""
    found = {}
    for concept, own in names.items():
        cut = ([form(word) for word in language.words(split(name)[1::2]) if word.key] for name in own)
        found[concept] = frozenset(tuple(sorted(words)) for words in cut if 0 < len(words) <= _LONGEST)
    return found


def count(
    known: Bags, may: Callable[[str, str], bool]
) -> tuple[dict[Pair, list[tuple[str, ...]]], Counter[Pair]]:
    """Contexts in which two words name one concept, and how often they tell two of one source apart."""
    holders: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for concept, own in known.items():
        for bag in own:
            holders[bag].add(concept)
    holes: dict[tuple[str, ...], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for bag, concepts in holders.items():
        for place, word in enumerate(bag):
            if len(word) > 2 and word.isalpha():
                holes[bag[:place] + bag[place + 1 :]][word] |= concepts
    same: dict[Pair, list[tuple[str, ...]]] = defaultdict(list)
    other: Counter[Pair] = Counter()
    for hole, words in holes.items():
        if not 1 < len(words) <= _CROWD:
            continue
        for one, two in itertools.combinations(sorted(words), 2):
            if not may(one, two):
                continue
            if words[one] & words[two]:
                same[one, two].append(hole)
            elif _sources(words[one]) & _sources(words[two]):
                other[one, two] += 1
    return same, other


def _sources(concepts: Iterable[str]) -> set[str]:
    return {concept.partition(":")[0] for concept in concepts}


def endings(pair: Pair) -> Pair:
    """What two words have after the stem they share."""
    stem = 0
    while stem < min(map(len, pair)) and pair[0][stem] == pair[1][stem]:
        stem += 1
    return pair[0][stem:], pair[1][stem:]


def share_stem(one: str, two: str) -> bool:
    """Whether all but the ends of two words are the same."""
    first, second = endings((one, two))
    stem = len(one) - len(first)
    if not first and second not in _ADDED:
        return False
    longest = _ENDS[0] if not (first and second) or all(map(ADJECTIVE.search, (one, two))) else _ENDS[1]
    return (
        stem >= _STEM
        and max(len(first), len(second)) <= min(stem, longest)
        and not (one.endswith("ly") or two.endswith("ly"))
    )


def _is_usual(ends: Pair) -> bool:
    """Whether two endings are short, as those of a noun and its adjective mostly are; "-oid" means "like"."""
    return max(map(len, ends)) <= _FEW and "oid" not in ends


def is_adjective(word: str, other: str) -> bool:
    """Whether a word is an adjective, by its ending; "choroid" is none beside "choroidal"."""
    return ADJECTIVE.search(word) is not None and not (word.endswith("oid") and other == word + "al")


def _is_adjective(pair: Pair) -> bool:
    """Whether one of two words is an adjective."""
    return is_adjective(*pair) or is_adjective(*pair[::-1])


def derived(known: Bags, language: Language) -> list[Pair]:
    """Pairs of words with one stem that mean the same."""

    def may(one: str, two: str) -> bool:
        return share_stem(one, two) and language.key_form(one) != language.key_form(two)

    around = _around(known)

    def company(pair: Pair) -> bool:
        return len(around[pair[0]] & around[pair[1]]) >= _COMPANY

    same, other = count(known, may)
    good: dict[Pair, set[Pair]] = defaultdict(set)
    bad: Counter[Pair] = Counter()
    for pair in same.keys() | other.keys():
        if other[pair]:
            bad[endings(pair)] += 1
        else:
            good[endings(pair)].add(pair)
    kept = {
        pair
        for pair, holes in same.items()
        if _is_adjective(pair) and lower(len(holes), len(holes) + other[pair]) >= _ONE_STEM
    }
    general = set()
    for ends, pairs in good.items():
        bound = lower(len(pairs), len(pairs) + bad[ends])
        is_regular = len(pairs) >= _FEW and not bad[ends]
        kept |= {
            pair
            for pair in pairs
            if bound >= _ENDING
            or (is_regular and _is_adjective(pair))
            or (is_adjective(*pair) != is_adjective(*pair[::-1]) and _is_usual(ends) and company(pair))
        }
        if bound >= _GENERAL and len(pairs) >= _MANY and all(map(len, ends)):
            general.add(ends)
    for first, second in general:
        for word in [word for word in around if word.endswith(first)]:
            stem = word[: len(word) - len(first)]
            pair = (min(word, stem + second), max(word, stem + second))
            if stem + second in around and may(*pair) and not other[pair] and company(pair):
                kept.add(pair)
    return sorted(kept)


def _around(known: Bags) -> dict[str, set[str]]:
    """Words that stand in one name with a word, but those that stand with very many."""
    around: dict[str, set[str]] = defaultdict(set)
    for own in known.values():
        for bag in own:
            for word in bag:
                around[word].update(bag)
    common = {word for word, company in around.items() if len(company) > _CROWD}
    return {word: company - common - {word} for word, company in around.items()}


def optional(known: Bags) -> dict[str, float]:
    """Share of the names with a word whose concept has the same name without it."""
    total: Counter[str] = Counter()
    without: Counter[str] = Counter()
    for own in known.values():
        for bag in own:
            for place, word in enumerate(bag):
                total[word] += 1
                without[word] += bag[:place] + bag[place + 1 :] in own
    return {word: without[word] / count for word, count in total.items()}


def alike(known: Bags) -> list[list[str]]:
    """Groups of words of different stems that mean the same; such words do not stand in one name together."""
    same, other = count(known, lambda one, two: True)
    free = optional(known)
    kept = []
    beside: Counter[Pair] = Counter()
    for bag in {bag for own in known.values() for bag in own}:
        beside.update(pair for pair in itertools.combinations(sorted(set(bag)), 2) if pair in same)
    for pair, holes in same.items():
        shared = Counter(word for hole in holes for word in set(hole))
        bound = lower(len(holes), len(holes) + other[pair])
        if (
            bound >= _SURE
            and max(shared.values(), default=0) <= _MOST_SHARED * len(holes)
            and beside[pair] <= _TOGETHER * len(holes)
            and max(free[pair[0]], free[pair[1]]) <= _OPTIONAL
        ):
            kept.append((-bound, pair))
    apart = normalise.heads()
    return _clusters([pair for _, pair in sorted(kept)], same, other, apart)


def _clusters(
    pairs: Iterable[Pair],
    same: Mapping[Pair, Sequence[object]],
    other: Mapping[Pair, int],
    apart: frozenset[str],
) -> list[list[str]]:
    """Pairs joined, surest first, where no two words of the groups tell concepts apart."""
    clusters: dict[str, set[str]] = {}
    for one, two in pairs:
        first, second = clusters.get(one, {one}), clusters.get(two, {two})
        crossing = [(min(a, b), max(a, b)) for a in first for b in second if a != b]
        if len(apart & (first | second)) > 1:
            continue  # families.toml tells them apart
        if all(max(_AGAINST * other.get(pair, 0), 1) <= len(same.get(pair, ())) for pair in crossing):
            joined = first | second
            clusters.update(dict.fromkeys(joined, joined))
    return sorted(sorted(group) for group in {id(group): group for group in clusters.values()}.values())


def _chains(pairs: Iterable[Pair]) -> list[list[str]]:
    """Words joined by pairs, directly or through others."""
    found: dict[str, set[str]] = {}
    for one, two in pairs:
        joined = found.get(one, {one}) | found.get(two, {two})
        found.update(dict.fromkeys(joined, joined))
    return sorted(sorted(group) for group in {id(group): group for group in found.values()}.values())


def _tables(names: Mapping[str, Iterable[str]]) -> dict[str, dict[str, list[str]]]:
    """Words by head: nouns spelt otherwise, adjectives of nouns, words that mean nearly the same."""
    language = normalise.language_of("en")
    known = bags(names, language, lambda word: word.inflection)
    counts = Counter(word for own in known.values() for bag in own for word in bag)
    pairs = derived(known, language)
    alikes = [pair for pair in pairs if is_adjective(*pair) == is_adjective(*pair[::-1])]
    spelling = _heads(_chains(alikes), counts)
    head_of = {word: head for head, words in spelling.items() for word in words}
    noun_of: dict[str, str] = {}
    for pair in pairs:
        one, two = (head_of.get(word, word) for word in pair)
        if is_adjective(*pair) != is_adjective(*pair[::-1]) and one != two:
            noun, adjective = (two, one) if is_adjective(*pair) else (one, two)
            if adjective not in noun_of or (-counts[noun], noun) < (
                -counts[noun_of[adjective]],
                noun_of[adjective],
            ):
                noun_of[adjective] = noun
    nouns: dict[str, list[str]] = defaultdict(list)
    for adjective, noun in noun_of.items():
        nouns[noun].append(adjective)
    return {"spellings": spelling, "nouns": nouns}


def _heads(groups: Iterable[Sequence[str]], counts: Mapping[str, int]) -> dict[str, list[str]]:
    """Groups by their commonest word."""
    found = {}
    for group in groups:
        head = min(group, key=lambda word: (-counts[word], word))
        found[head] = [word for word in group if word != head]
    return found


def text_of(tables: Mapping[str, Mapping[str, Iterable[str]]]) -> str:
    """The file."""
    lines = [
        "# Made by scripts/word_families.py from names of HPO, MONDO and MeSH; not to be edited by hand.",
        "# spellings: other forms of a word; nouns: their adjectives; near: words that mean nearly the same.",
    ]
    for title, table in tables.items():
        lines += ["", f"[{title}]"]
        lines += [
            f'{head} = "{" ".join(sorted(set(words)))}"' for head, words in sorted(table.items()) if words
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("all", "dev"), default="all")
    half = parser.parse_args().half
    DESTINATION.write_text(text_of({"spellings": {}, "nouns": {}, "near": {}}), "utf-8")
    normalise.forget()
    names = names_of(half)
    tables = _tables(names)
    DESTINATION.write_text(text_of({**tables, "near": {}}), "utf-8")
    normalise.forget()
    known = bags(names, normalise.language_of("en"), lambda word: word.key)
    counts = Counter(word for own in known.values() for bag in own for word in bag)
    DESTINATION.write_text(text_of({**tables, "near": _heads(alike(known), counts)}), "utf-8")


if __name__ == "__main__":
    main()
