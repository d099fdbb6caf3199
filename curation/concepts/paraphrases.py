"""Other words for the words of a name: a "deafness" is also written "hearing impairment". English only.

Which words mean the same is counted in the names of vocabularies by `python -m scripts.paraphrases`; some do
so beside a certain word only: a "baby tooth" is a "primary tooth". The index has a key for each way.
"""

from __future__ import annotations

import functools
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from curation.concepts.hashes import form_hash
from curation.concepts.normalise import Word

DATA = Path(__file__).parent / "data" / "paraphrases.toml"
SHORTEST, LONGEST = 2, 7
"""Content words of the names that are said in other words: of a name of one word, nothing would be left."""
_TELLING = 3
MOST = 8
"""Ways of one name; the likeliest are listed first."""


class Paraphrase(NamedTuple):
    """Words of a name, what a text may have instead, and what must stand beside them, if anything must.

    All are keys (:attr:`curation.concepts.normalise.Word.key`).
    """

    said: tuple[str, ...]
    instead: tuple[str, ...]
    beside: str


def ways(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Other ways to say a name, each with some of its words replaced.

    Args:
        words: the content words of an English name.
    """
    if not SHORTEST <= len(words) <= LONGEST:
        return
    keys = [word.key for word in words]
    here = set(keys)
    told = paraphrases()
    needing = _needing()
    found = [number for key in here for needed, number in needing.get(key, ()) if needed <= here]
    made: set[tuple[str, ...]] = {tuple(sorted(keys))}
    for number in sorted(found, key=lambda number: (keys.index(told[number].said[0]), number)):
        one = told[number]
        rest = _without(words, one.said)
        if not any(_is_telling(word.key) for word in rest):
            continue  # "1 mL" is no mucolipidosis 1
        if one.beside and all(word.key != one.beside for word in rest):
            continue
        way = [*rest, *map(_word, one.instead)]
        bag = tuple(sorted(word.key for word in way))
        if bag not in made:
            made.add(bag)
            yield way
            if len(made) > MOST:
                return


def _is_telling(key: str) -> bool:
    """Whether a word says more than a number or letter."""
    return len(key) >= _TELLING and key.isalpha()


def _without(words: Sequence[Word], said: Sequence[str]) -> list[Word]:
    """Words but those of these keys; none where a key is missing."""
    rest = list(words)
    for key in said:
        found = next((word for word in rest if word.key == key), None)
        if found is None:
            return []
        rest.remove(found)
    return rest


@functools.cache
def _word(key: str) -> Word:
    """A word of this key."""
    return Word(key, key, key, key, 0, 0, form_hash("en", key))


@functools.cache
def paraphrases() -> Sequence[Paraphrase]:
    """All of them; of those that replace the same words the likeliest first."""
    rows = tomllib.loads(DATA.read_text("utf-8"))["paraphrases"]
    return [Paraphrase(tuple(said.split()), tuple(instead.split()), beside) for said, instead, beside in rows]


@functools.cache
def _needing() -> Mapping[str, Sequence[tuple[frozenset[str], int]]]:
    """The words that each needs of a name and its number, by the one of them that the fewest need."""
    needed = [frozenset((*one.said, one.beside)) - {""} for one in paraphrases()]
    count = Counter(word for words in needed for word in words)
    found: dict[str, list[tuple[frozenset[str], int]]] = {}
    for number, words in enumerate(needed):
        found.setdefault(min(words, key=lambda word: (count[word], word)), []).append((words, number))
    return found
