"""How much speaks for a sentence as a statement of the final diagnosis: features, and points for each.

Points are whole numbers that `python -m benchmarks.diagnosis_sentences --fit` learned from the development
half of the gold of cases, starting from the order in which a reader trusts such words.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from curation.diagnosis.cue import Cue
from curation.diagnosis.cues import (
    BEFELL,
    DEFINITE,
    DENIED,
    DOUBT,
    ELSEWHERE,
    EVENT,
    EXCLUSION,
    EXPLAINED,
    EXPLICIT,
    FAMILY,
    FINDING,
    FIRM_DOUBT,
    FOLLOW_UP,
    HEDGED,
    HISTORY,
    NEGATED,
    NO_AFTER,
    OPEN,
    PAST,
    STRONG,
    SUSPECTED,
    UNAFFIRMED,
)
from curation.diagnosis.grounded import KINDS, UNGROUNDED, Grounded, Name
from curation.diagnosis.topic import NAMES, NO_TOPIC, Topic, is_disease, names_disease, stem, words_of

_FINITE = re.compile(r"(?:was|were|is|has|have|we|then)\b", re.IGNORECASE)
"""Begins a statement on the patient himself, whatever his history."""
_SIGN = re.compile(r"(?:emia|penia|cytosis|plasia|uria|necrosis|fibrosis|algia|ph[ai]lia)s?$", re.IGNORECASE)
"""Endings of findings that go with many diseases."""
_ALTERNATIVES = re.compile(r"(?:\W+[\w-]+){1,5} or (?!without)", re.IGNORECASE)
"""One disease or another: neither is stated."""
_GERM = re.compile(
    r"\b(?:cultures?|pcr|polymerase|sequenc\w+|swabs?|serolog\w+|antigens?|antibod\w+|smears?|stain\w*|dna|rna|bacilli|spores"
    r"|hyphae|yeasts?|larvae|viral load|titers?|titres?)\b",
    re.IGNORECASE,
)
"""Where germs are looked for, or seen."""
_GROWN = re.compile(
    r"\b(?:positive (?:for|with)|(?:was|were|being|tested) (?:\w+ ){0,2}positive|grew|growth of"
    r"|isolated|cultured|yielded|identif(?:ied|ying)|detected|recovered|detectable|showed|revealed|confirmed|harbou?red)\b",
    re.IGNORECASE,
)
"""How a laboratory says that it found something."""
_CONCLUDING = re.compile(
    r"^(?:therefore|thus|hence|finally|ultimately|eventually|based on|on the basis of|given|considering"
    r"|in (?:the )?light of|taking into account|taken together|according(?:ly| to)|with these|from these"
    r"|together with|after (?:further|detailed))\b",
    re.IGNORECASE,
)
"""How a sentence begins that draws a conclusion."""
_REPORTED = re.compile(
    r"\b(?:report|present|describe|identif(?:y|ied)|encountered|illustrate)(?:s|ed|ing)?\b[^.;]{0,80}?\b(?:cases?|patients?"
    r"|m[ae]n|wom[ae]n|boys?|girls?|males?|females?|child(?:ren)?|infants?|newborns?|neonates?|twins|brothers|sisters|famil(?:y|ies)"
    r"|(?:wo)?man|-?year-?old)\b",
    re.IGNORECASE,
)
"""How a report says whom it is about."""
_LEFT_OPEN = re.compile(r"\b(?:suspect\w*|suspicion|possib\w+|differential|might|could|may)\b", re.IGNORECASE)
"""A conclusion that leaves the disease open."""
_NEAR = 300
"""Characters around a statement that can deny or date it; bounds the work on a sentence without end."""
_LEAD = re.compile(r"^.*(?:[,;]|\band\b)", re.DOTALL)
"""What comes before the last comma or "and"."""
_CUE = 60
"""Characters before the end of a cue that belong to it."""
_OBJECT = 220
"""Characters beside a cue in which what it states is named."""
_CARRIED = "diagnosis carried"
_KNOWN, _NOTHING = "known", "cue"
"""Beside a cue stands only what it comes back to, or no name."""
_STATED_OUTRIGHT = frozenset({"final", "explicit", "confirmed"})
_OUTRIGHT = _STATED_OUTRIGHT | {"pathology", "strong", "strong untitled"}


class Stated(NamedTuple):
    """Where the words stand in which a cue names what it states, those that count, and what is left out."""

    start: int
    end: int
    words: str
    known: tuple[tuple[int, int], ...] = ()


@functools.lru_cache(maxsize=1)
def _scale() -> tuple[Mapping[str, int], int]:
    """Points of every feature, and how many are enough."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return data["points"], data["enough"]


def is_enough(found: Collection[str]) -> bool:
    """Whether a sentence with these features states the diagnosis."""
    return points(found) >= _scale()[1]


def points(found: Collection[str]) -> int:
    """Points of a sentence with these features."""
    worth, _ = _scale()
    return worth["start"] + sum(worth.get(name, 0) for name in found)


def features(
    sentences: Sequence[str], topic: Topic, grounded: Grounded = UNGROUNDED
) -> list[tuple[set[str], str]]:
    """For every sentence of a case its features and the rule by which it states a diagnosis.

    Args:
        sentences: the sentences of the case, in order.
        topic: what the case is about.
        grounded: names of the vocabulary in them.

    Returns:
        Features as named in sentences.toml; the rule is the name of the first cue that stands.
    """
    read = [_of_sentence(at, sentence, topic, grounded) for at, sentence in enumerate(sentences)]
    made = [found for found, _ in read]
    _mark("first of the concept", (found for found in made if "concept named" in found))
    for at, found in enumerate(made):
        if 5 * at < len(made):
            found.add("early")
    _supersede(sentences, made)
    _mark("first on the topic", (found for found in made if {"topic named", "topic stated"} <= found))
    own = [found for found in made if "elsewhere" not in found]
    _mark("last explicit", (found for found in reversed(own) if found & _STATED_OUTRIGHT))
    _mark("last of pathology", (found for found in reversed(own) if {"pathology", "disease stated"} <= found))
    if not any(
        found & {"final", "explicit"} and found & {"topic stated", "disease stated"} for found in made
    ):
        for found in made:
            if "hedged" in found:
                found.add("only hedged")
    return read


def _supersede(sentences: Sequence[str], made: Sequence[set[str]]) -> None:
    """Note what states a disease before another one is stated that it does not name."""
    later: set[str] = set()
    for sentence, found in zip(reversed(sentences), reversed(made), strict=True):
        if not (found & _OUTRIGHT and "disease stated" in found):
            continue
        named = {stem(word) for word in words_of(affirmed(sentence)) if names_disease(word)}
        if later and not named & later:
            found.add("superseded")
        if not found & {"elsewhere", "history"}:
            later |= named


def _mark(name: str, those: Iterable[set[str]]) -> None:
    """Give a feature to the first of some sentences."""
    first = next(iter(those), None)
    if first is not None:
        first.add(name)


def _of_sentence(at: int, sentence: str, topic: Topic, grounded: Grounded) -> tuple[set[str], str]:
    """Features of one sentence by itself, and the first cue that stands in it."""
    found: set[str] = set()
    rules: list[str] = []
    names, unless_known = grounded.affirmed(at, sentence), NO_TOPIC if grounded.is_known else topic
    kinds: dict[str, set[str]] = {"explicit": set(), "strong": set(), "weak": set()}
    for cue in EXPLICIT:
        stated = _stated(sentence, cue)
        if stated is None:
            continue
        rules.append(cue.name)
        kind = _kind(stated, names, unless_known)
        kinds["explicit"].add(kind)
        _see_object(found, stated.words, topic, kind)
        if cue.name != _CARRIED:
            found.add({"final diagnosis": "final", "confirmed": "confirmed"}.get(cue.name, "explicit"))
    for cue in FINDING:
        stated = _stated(sentence, cue)
        if stated is None or (cue.name == EXPLAINED and topic is NO_TOPIC):
            continue
        strength = "strong" if cue.name in STRONG else "weak"
        if strength == "weak":
            stated = _anew(sentence, stated)
        named = stated.words
        kind = _kind(stated, names, unless_known)
        kinds[strength].add(kind)
        agreement = _see_object(found, named, topic, kind)
        is_pathology = cue.name.startswith("pathology")
        is_named = names_one(named) if is_pathology else topic is NO_TOPIC and is_disease(named)
        if agreement > 1 or is_named:
            rules.append(cue.name)
            found.add("pathology" if is_pathology else strength)
        elif strength == "strong" and names_one(named):
            found.add("strong untitled")
    for strength, beside in kinds.items():
        first = next((kind for kind in (*KINDS, _KNOWN, _NOTHING) if kind in beside), None)
        found |= {f"{strength}: {first}"} if first else set()
    is_concept = any(name.kind == "concept" for name in names)
    is_named = topic.agreement(affirmed(sentence)) > 1
    if is_concept or (is_named and not grounded.is_known):
        found.add("concept named")
    if is_named or is_concept:
        found.add("topic named")
        if HEDGED.search(sentence) and not FIRM_DOUBT.search(sentence):
            found.add("hedged")
            rules.append("hedged")
        if _stated(sentence, EVENT) is not None and not FOLLOW_UP.search(sentence):
            found.add("event")
            rules.append(EVENT.name)
        befell = _stated(sentence, BEFELL)
        if befell and _see_object(set(), befell.words, topic, _kind(befell, names, unless_known)) > 1:
            found.add("developed")
    _see_words(found, sentence, topic)
    if FOLLOW_UP.search(sentence):
        found.add("follow-up")
    if ELSEWHERE.search(sentence):
        found.add("elsewhere")
    if PAST.search(sentence) or HISTORY.search(sentence) or FAMILY.search(sentence):
        found.add("history")
    return found, (rules or ["named"])[0]


def _kind(stated: Stated, names: Sequence[Name], topic: Topic) -> str:
    """What a cue states: the kind of name beside it that says most; words of the topic are the concept."""
    if topic.agreement(stated.words) > 1:
        return "concept"
    beside = {
        name.kind
        for name in names
        if stated.start <= name.start
        and name.end <= stated.end
        and not any(start < name.end and name.start < end for start, end in stated.known)
    }
    return next((kind for kind in KINDS if kind in beside), _KNOWN if stated.known else _NOTHING)


def _see_words(found: set[str], sentence: str, topic: Topic) -> None:
    """Note a germ, a conclusion, and whom the report is about."""
    said = affirmed(sentence)
    if topic.is_infection and _GERM.search(said) and _GROWN.search(said):
        found.add("germ found")
    if "topic named" in found:
        is_drawn = _CONCLUDING.search(sentence) and not _LEFT_OPEN.search(sentence)
        found |= {"concluding"} if is_drawn else set()
        found |= {"reported"} if _REPORTED.search(sentence) else set()


def _see_object(found: set[str], named: str, topic: Topic, kind: str) -> int:
    """Note what the words beside a cue name, and return how well they name the topic."""
    agreement = NAMES if kind == "concept" else topic.agreement(named)
    if agreement:
        found.add("topic stated" if agreement > 1 else "topic touched")
    if "topic stated" in found:
        found.discard("topic touched")
    if names_one(named):
        found.add("disease stated")
    if len({stem(word) for word in words_of(named)} & topic.stems) > 1:
        found.add("topic in several words")
    return agreement


def _stated(sentence: str, cue: Cue) -> Stated | None:
    """What a cue that stands states; None where it does not stand."""
    for found in cue.pattern.finditer(sentence):
        if _stands(sentence, cue, found):
            start, end = _object(sentence, cue, found)
            named = sentence[start:end]
            named = affirmed(SUSPECTED.sub("", named) if cue.side == "after" else named)
            if cue.side == "after" and _ALTERNATIVES.match(named):
                continue
            return Stated(start, end, named)
    return None


def _anew(sentence: str, stated: Stated) -> Stated:
    """What a cue states without diseases that it only comes back to: "showed that the tumour had grown"."""
    known = [
        found.span()
        for found in DEFINITE.finditer(sentence, stated.start, stated.end)
        if is_disease(found.group())
    ]
    return Stated(stated.start, stated.end, DEFINITE.sub(_unless_disease, stated.words), tuple(known))


def objects(sentence: str) -> Iterator[tuple[str, str]]:
    """What every cue that stands in a sentence names: the side of the cue it stands on, and its words."""
    for cue in (*EXPLICIT, *FINDING):
        stated = _stated(sentence, cue)
        if stated and stated.words:
            yield cue.side, stated.words


def explicit_rule(sentence: str) -> str:
    """The first cue by which a sentence says in so many words what was diagnosed, '' if none stands.

    What was diagnosed elsewhere, before or in a relative does not count.
    """
    if ELSEWHERE.search(sentence) or PAST.search(sentence) or FAMILY.search(sentence):
        return ""
    rules = (cue.name for cue in EXPLICIT if cue.name != _CARRIED and _stated(sentence, cue) is not None)
    return next(rules, "")


def names_one(text: str) -> bool:
    """Whether a text names a disease that is more than a sign of many."""
    return any(names_disease(word) and not _SIGN.search(word) for word in words_of(text))


def _stands(sentence: str, cue: Cue, found: re.Match[str]) -> bool:
    """Whether nothing around a cue denies it, doubts it, or dates it back."""
    clause = EXCLUSION.sub(" ", _clause(sentence, found.start(), found.end()))
    before = sentence[max(0, found.start() - _NEAR) : found.start()]
    doubt = DOUBT if cue.doubtable else FIRM_DOUBT
    if doubt.search(EXCLUSION.sub(" ", _zone(sentence, cue, found))):
        return False
    if any(pattern.search(clause) for pattern in (OPEN, PAST, FAMILY)):
        return False
    if DENIED.search(found.group()[-_CUE:]) or NO_AFTER.match(sentence[found.end() : found.end() + 30]):
        return False
    is_history = HISTORY.search(before) and not _FINITE.match(found.group())
    return not NEGATED.search(before) and not is_history


def _zone(sentence: str, cue: Cue, found: re.Match[str]) -> str:
    """The words close to a cue in which doubt is doubt on what it states, not on why one looked for it."""
    first, last = _bounds(sentence, found.start(), found.end())
    start = max(first, found.start() - _CUE)
    if cue.side == "after":
        start = max(start, found.end() - _CUE)
    if cue.side == "before":
        start = max(first, found.start() - _OBJECT // 2)
    lead = _LEAD.sub("", sentence[start : found.start()])
    return lead + sentence[max(start, found.start()) : min(last, found.end() + _OBJECT // 2)]


def _object(sentence: str, cue: Cue, found: re.Match[str]) -> tuple[int, int]:
    """Where the words stand in which what a cue states is named."""
    if cue.side == "clause":
        return 0, len(sentence)
    first, last = _bounds(sentence, found.start(), found.end())
    if cue.side == "from":
        return found.start(), last
    if cue.side == "after":
        return found.end(), max(found.end(), min(last, found.end() + _OBJECT))
    return max(first, found.start() - _OBJECT), found.start()


def affirmed(text: str) -> str:
    """A text without the stretches that name a disease only to deny, fear, treat or recall it."""
    return UNAFFIRMED.sub(" ", text)


def _clause(sentence: str, start: int, end: int) -> str:
    first, last = _bounds(sentence, start, end)
    return sentence[first:last]


def _unless_disease(found: re.Match[str]) -> str:
    return " " if is_disease(found.group()) else found.group()


def _bounds(sentence: str, start: int, end: int) -> tuple[int, int]:
    """Where the part of a sentence between semicolons, "but" and relative clauses that holds a match lies."""
    first, last = max(0, start - _NEAR), min(len(sentence), end + _NEAR)
    marks = ((mark, sentence.rfind(mark, first, start)) for mark in ("; ", " but ", " however "))
    left = max((at + len(mark) for mark, at in marks if at >= 0), default=first)
    ends = (sentence.find(mark, end, last) for mark in ("; ", " but ", ", which ", ", although "))
    return left, min((at for at in ends if at >= 0), default=last)
