"""The scope gate: is an article about human medicine? '' | not_medical | not_human, with the evidence for it.

What is no research text (a correction, an obituary) is told before: notice.

A linear score over the words of title, keywords, abstract, a sample of the whole text and the journal's name,
and over who is studied: people, animals, the bench, something else. The weights are learned
(`scripts/scope_weights.py`) and committed as integers. The gate favours precision of what is kept. Studies of
groups stay in, for tasks on figures; whether anybody is told of as a patient the case stage decides.
"""

from __future__ import annotations

import collections
import functools
import heapq
import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.extract.notices import notice
from curation.extract.scope_reading import (
    CLASSES,
    JOURNAL,
    PLACES,
    STEM,
    class_counts,
    classes,
    counted,
    read,
    studied,
)
from schemas.article import Article

NOTICE = "notice"
NOT_MEDICAL = "not_medical"
NOT_HUMAN = "not_human"
OUT = (NOT_HUMAN, NOT_MEDICAL)
"""The two ways to be out, in the order of the columns of weights."""

_PERSON, _ANIMAL = CLASSES.index("person"), CLASSES.index("animal")
_ENDS = frozenset(
    {".", "case", "with", "after", "and", "treated", "using", "by", "following", "report", "reports"}
)
"""What follows an animal that is the head of its phrase, in a title without its stops."""
_BREAKS = (
    " who which that with after by from to for on and bite bites contact exposure exposed owners transmitted "
)
"""What ends the phrase that "in" or "of" began before it comes to the animal."""
_SHOWN, _OF_A_PLACE = 8, 3
"""Words shown of an article, and of one place."""

Stems = Mapping[str, collections.Counter[str]]


@dataclass(frozen=True, slots=True)
class Weights:
    """Hundredths by which a word speaks for each way to be out; below 0 for people and their care."""

    bias: tuple[int, int]
    studied: tuple[tuple[int, int], ...]
    words: dict[str, tuple[int, int]]
    journal: dict[str, tuple[int, int]]


@functools.cache
def weights() -> Weights:
    """The committed weights."""
    data = tomllib.loads(Path(__file__).with_name("scope_weights.toml").read_text("utf-8"))
    return Weights(
        bias=(data["bias"][0], data["bias"][1]),
        studied=tuple((one, other) for one, other in data["studied"].values()),
        words=dict(_rows(data["words"])),
        journal=dict(_rows(data["journal"])),
    )


def _rows(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for line in text.splitlines():
        stem, one, other = line.split()
        yield stem, (int(one), int(other))


def decide(article: Article) -> tuple[str, tuple[str, ...]]:
    """Scope decision and its evidence.

    Args:
        article: the parsed article.

    Returns:
        '' | 'notice' | 'not_medical' | 'not_human', and its evidence: who is studied ('studied: person 41,
        animal 3') and up to eight words that speak for the decision, like 'title: patients', by place,
        heaviest first; of a notice what makes it one.
    """
    if found := notice(article):
        return NOTICE, (found,)
    words = read(article)
    stems = {place: counted(found) for place, found in words.items()}
    counts = class_counts(stems)
    who = [sum(here) for here in zip(*counts.values(), strict=True)] or [0]
    verdict = _verdict(score(stems, counts), who) if any(who[:-1]) else NOT_MEDICAL
    if not verdict and _is_of_an_animal(words, who):
        verdict = NOT_HUMAN
    named = ", ".join(f"{name} {count}" for name, count in zip(CLASSES, who, strict=False) if count)
    spoken = itertools.islice(dict.fromkeys(_spoken(words, stems, verdict)), _SHOWN)
    return verdict, (f"studied: {named or 'nothing'}", *spoken)


def score(stems: Stems, counts: Mapping[str, Sequence[int]]) -> tuple[int, int]:
    """How much speaks for each way to be out, in 1/100,000.

    Args:
        stems: stems of each place with their numbers.
        counts: how many of them stand for people, animals and so on, as `class_counts` says.
    """
    known = weights()
    totals = [1000 * known.bias[0], 1000 * known.bias[1]]
    for (one, other), value in zip(known.studied, studied(counts), strict=True):
        totals[0] += value * one
        totals[1] += value * other
    whole = sum(PLACES[place] for place in counts)
    for place, here in stems.items():
        if not here:
            continue
        table, share, parts = (
            (known.journal, JOURNAL, 1000) if place == "journal" else (known.words, PLACES[place], whole)
        )
        sums = [0, 0]
        for stem in table.keys() & here.keys():
            (one, other), count = table[stem], here[stem]
            sums[0] += one * count
            sums[1] += other * count
        size = parts * sum(here.values())
        for way in (0, 1):
            totals[way] += 1000 * share * sums[way] // size
    return totals[0], totals[1]


def _verdict(scores: tuple[int, int], who: Sequence[int]) -> str:
    """The likelier way to be out; '' needs half as many words for people and care as for any rival."""
    people = 2 * sum(who[:2])
    rivals = {NOT_MEDICAL: sum(who[4:7]), NOT_HUMAN: sum(who[2:4])}
    rival = max(rivals, key=rivals.__getitem__)
    if max(scores) < 0:
        return rival if not people or people < rivals[rival] else ""
    return OUT[scores[0] <= scores[1]]


def _is_of_an_animal(words: Mapping[str, list[str]], who: Sequence[int]) -> bool:
    """Whether an animal is the patient: "in a dog", "of two mixed-breed cats", a veterinary journal.

    Such a report is otherwise told as those of people are, with all the words of their care. Bites and
    carriers stand elsewhere in a title: "after a dog bite".
    """
    if who[_ANIMAL] < who[_PERSON]:
        return False
    title = [*words["title"], "."]
    for at, word in enumerate(title[:-1]):
        if classes().get(word[:STEM]) == _ANIMAL and title[at + 1] in _ENDS:
            opens = next((n for n in range(at - 1, max(-1, at - 5), -1) if title[n] in {"in", "of"}), None)
            if opens is not None and not any(f" {between} " in _BREAKS for between in title[opens:at]):
                return True
    return any(word.startswith("veterin") for word in words["journal"])


def _spoken(words: Mapping[str, list[str]], stems: Stems, verdict: str) -> Iterator[str]:
    """Words that speak for the decision, place by place, heaviest first."""
    known = weights()
    for place in ("title", "keyword", "journal", "abstract", "text"):
        table = known.journal if place == "journal" else known.words
        heavy: list[tuple[int, str]] = []
        for stem in table.keys() & stems[place].keys():
            weight = table[stem][OUT.index(verdict)] if verdict else -max(table[stem])
            if weight > 0:
                heavy.append((-weight * stems[place][stem], stem))
        for _, stem in heapq.nsmallest(_OF_A_PLACE, heavy):
            yield f"{place}: {next(word for word in words[place] if word[:STEM] == stem)}"
