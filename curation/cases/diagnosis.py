"""Sentences that state a case's final diagnosis: in its title, its keywords and its own text.

Explicit statements that agree with the title come first, with the findings that name what it names; then
explicit ones the title does not confirm. Negated, differential, earlier and family diagnoses never count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from curation.cases.diagnosis_cues import (
    DEFINITE,
    DENIED,
    DOUBT,
    EVENT,
    EXCLUSION,
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
    TISSUE,
    UNAFFIRMED,
    Cue,
)
from curation.cases.diagnosis_topic import Topic, is_disease, names_disease, stem, topic_of, words_of
from schemas.case import Statement

__all__ = ["Topic", "in_keywords", "in_title", "select", "topic_of"]

_TITLE_CUT = re.compile(
    r"\b(?:mimick\w+|masquerad\w+|simulating|misdiagnosed as|mistaken|resembling|imitating|rather than)\b.*",
    re.I,
)
_TITLE_GENERIC = re.compile(
    r"^(?:a |an )?(?:case reports?|report of .{0,30}cases?|case series|literature review"
    r"|review of (?:the )?literature)\W*$",
    re.IGNORECASE,
)
_KEYWORD_GENERIC = re.compile(r"\b(?:case|report|review|literature|series|caso|relato)\b", re.IGNORECASE)
_CONFIRMED = re.compile(r"\bconfirm(?:ed|s|ing) (?:the|our|this|a)\b", re.IGNORECASE)
_FINITE = re.compile(r"(?:was|were|is|has|have|we|then)\b", re.IGNORECASE)
"""Begins a statement on the patient himself, whatever his history."""
_SIGN = re.compile(r"(?:emia|penia|cytosis|plasia|uria|necrosis|fibrosis|algia|ph[ai]lia)s?$", re.IGNORECASE)
"""Endings of findings that go with many diseases."""
_ALTERNATIVES = re.compile(r"(?:\W+[\w-]+){1,5} or (?!without)", re.IGNORECASE)
"""One disease or another: neither is stated."""
_EARLY = 2
"""Findings that name the disease before it is stated as diagnosis; later ones only add to it."""
_NEAR = 300
"""Characters around a statement that can deny or date it; bounds the work on a sentence without end."""
_LEAD = re.compile(r"^.*(?:[,;]|\band\b)", re.DOTALL)
"""What comes before the last comma or "and"."""
_CUE = 60
"""Characters before the end of a cue that belong to it."""
_OBJECT = 220
"""Characters beside a cue in which what it states is named."""


Ruled = Mapping[int, tuple[str, str]]
"""By position in a case: the rule by which a sentence states a diagnosis, and the words that name it."""


def in_title(title: str) -> Iterator[Statement]:
    """The title of a report: it names what the report is about, up to what the disease only looked like."""
    cut = _TITLE_CUT.search(title)
    end = len((title[: cut.start()] if cut else title).rstrip(" -–—:,"))
    if end > 3 and not _TITLE_GENERIC.match(title[:end]):
        yield Statement(place="title", start=0, end=end, text=title[:end], rule="case title")


def in_keywords(keywords: Sequence[str], others: Iterable[Statement]) -> Iterator[Statement]:
    """Keywords that name the disease of the title, or a disease whose words stand in one statement."""
    stated = list(others)
    topics = [topic_of(statement.text) for statement in stated if statement.place == "title"]
    texts = [set(map(stem, words_of(statement.text))) for statement in stated if statement.place != "title"]
    acronyms = {word for statement in stated for word in words_of(statement.text) if word.isupper()}
    for keyword in dict.fromkeys(keywords):
        stems = set(map(stem, words_of(keyword)))
        if not stems or _KEYWORD_GENERIC.search(keyword) or not is_disease(keyword):
            continue
        least = 1 if len(stems) > 1 and _names_one(keyword) else 2
        initials = "".join(word[0] for word in keyword.split()).upper()
        titled = any(topic.agreement(keyword) >= least for topic in topics)
        if titled or any(stems <= text for text in texts) or initials in acronyms:
            yield Statement(place="keyword", start=0, end=len(keyword), text=keyword, rule="keyword restated")


def select(sentences: Sequence[str], topic: Topic) -> list[tuple[int, str]]:
    """Positions and rules of the sentences of one case that state its final diagnosis.

    Args:
        sentences: the sentences of the case, in order.
        topic: what the report's title is about.
    """
    return _select(sentences, topic, 1)


def _select(sentences: Sequence[str], topic: Topic, least: int) -> list[tuple[int, str]]:
    """As `select`; explicit statements count that agree with the topic at least so well."""
    explicit = _ruled(sentences, EXPLICIT)
    levels = {at: topic.agreement(named) for at, (_, named) in explicit.items()}
    least = max(least, max(levels.values(), default=0))  # another disease of the same organ is not the one
    agreeing = [at for at, level in levels.items() if level >= least]
    basis = agreeing or _told(explicit, topic)[-1:]
    topics = [topic.widened(explicit[at][1] for at in basis)]
    if not topic.diseases:
        topics += [topic_of(explicit[at][1][:_OBJECT]) for at in basis]
    found = {at: rule for at, (rule, _) in _ruled(sentences, FINDING, topics).items() if at not in basis}
    first = min(agreeing, default=len(sentences))
    early = [at for at, rule in found.items() if rule not in STRONG and at < first][:_EARLY]
    kept = {at: rule for at, rule in found.items() if rule in STRONG or at in early}
    if kept or agreeing:
        kept |= {at: explicit[at][0] for at in (*basis, *_final(explicit))}
        is_firm = bool(agreeing) or not STRONG.isdisjoint(kept.values())
        return sorted((kept if is_firm else kept | _examined(sentences)).items())
    if topic.whole is not None:
        return _select(sentences, topic.whole, 2)
    return _unnamed(sentences, topic, explicit)


def _told(explicit: Ruled, topic: Topic) -> list[int]:
    """Positions of diagnoses made, not only confirmed or brought along; of diseases, if the title is."""
    weak = {"confirmed", "diagnosis carried"}
    return [
        at
        for at, (rule, named) in explicit.items()
        if rule not in weak and (_names_one(named) or not topic.diseases)
    ]


def _final(explicit: Ruled) -> list[int]:
    return [at for at, (rule, named) in explicit.items() if rule == "final diagnosis" and _names_one(named)]


def _unnamed(sentences: Sequence[str], topic: Topic, explicit: Ruled) -> list[tuple[int, str]]:
    """The statement of a case that never names its title's disease as found, if there is any.

    A final diagnosis in other words first, or one confirmed; then the title's disease as likely, then as what
    befell the patient, then what else was diagnosed. The pathology of a tissue adds to it.
    """
    is_named = bool(topic.diseases or topic.kinds)
    hedged = [
        at
        for at, text in enumerate(sentences)
        if HEDGED.search(text) and not FIRM_DOUBT.search(text) and topic.agreement(_affirmed(text)) > 1
    ]
    befell = sorted(_ruled(sentences, (EVENT,), (topic,))) if is_named else []
    final = [at for at, (rule, _) in explicit.items() if rule == "final diagnosis"]
    confirmed = [at for at in explicit if _CONFIRMED.search(sentences[at])]
    examined = _examined(sentences)
    order = (
        [(at, "final diagnosis") for at in final[-1:]],
        [(at, "confirmed") for at in confirmed[-1:] if not topic.diseases],
        [(at, "hedged") for at in hedged[-1:]],
        [(at, EVENT.name) for at in befell[:1]],
        [(at, explicit[at][0]) for at in ([] if is_named else _told(explicit, topic))[-1:]],
        list(examined.items()),
    )
    first = next(filter(None, order), [])
    if not first or first[0][1] == EVENT.name:
        return first
    return sorted((dict(first) | examined).items())


def _examined(sentences: Sequence[str]) -> dict[int, str]:
    """The last sentence in which the pathology of a tissue names any disease, as the last word on it."""
    named = [at for at, (_, words) in _ruled(sentences, (TISSUE,)).items() if _names_one(words)]
    return {at: TISSUE.name for at in named[-1:]}


def _names_one(text: str) -> bool:
    return any(names_disease(word) and not _SIGN.search(word) for word in words_of(text))


def _ruled(
    sentences: Sequence[str], cues: Sequence[Cue], topics: Sequence[Topic] = ()
) -> dict[int, tuple[str, str]]:
    """By position: the first cue by which a sentence states a disease, of a topic if given, and where."""
    return {at: ruled for at, text in enumerate(sentences) if (ruled := _rule(text, cues, topics))}


def _rule(sentence: str, cues: Sequence[Cue], topics: Sequence[Topic]) -> tuple[str, str] | None:
    """Name of the cue by which a sentence states a diagnosis as established, and the words that name it."""
    for cue in cues:
        for found in cue.pattern.finditer(sentence):
            if not _stands(sentence, cue, found):
                continue
            named = _affirmed(_named(sentence, cue, found))
            if cue.side == "after" and _ALTERNATIVES.match(named):
                continue
            if topics and cue.name not in STRONG and cue is not EVENT:
                named = "" if FOLLOW_UP.search(sentence) else DEFINITE.sub(_unless_disease, named)
            is_known = cue.name == "confirmed"
            if not topics or any(topic.is_named(named, sentence, is_known=is_known) for topic in topics):
                return cue.name, named
    return None


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


def _named(sentence: str, cue: Cue, found: re.Match[str]) -> str:
    """The words in which what a cue states is named."""
    if cue.side == "clause":
        return sentence
    first, last = _bounds(sentence, found.start(), found.end())
    if cue.side == "from":
        return sentence[found.start() : last]
    if cue.side == "after":
        return sentence[found.end() : min(last, found.end() + _OBJECT)]
    return sentence[max(first, found.start() - _OBJECT) : found.start()]


def _unless_disease(found: re.Match[str]) -> str:
    return " " if is_disease(found.group()) else found.group()


def _affirmed(text: str) -> str:
    """A text without the stretches that name a disease only to deny, fear, treat or recall it."""
    return UNAFFIRMED.sub(" ", text)


def _clause(sentence: str, start: int, end: int) -> str:
    first, last = _bounds(sentence, start, end)
    return sentence[first:last]


def _bounds(sentence: str, start: int, end: int) -> tuple[int, int]:
    """Where the part of a sentence between semicolons, "but" and relative clauses that holds a match lies."""
    first, last = max(0, start - _NEAR), min(len(sentence), end + _NEAR)
    marks = ((mark, sentence.rfind(mark, first, start)) for mark in ("; ", " but ", " however "))
    left = max((at + len(mark) for mark, at in marks if at >= 0), default=first)
    ends = (sentence.find(mark, end, last) for mark in ("; ", " but ", ", which ", ", although "))
    return left, min((at for at in ends if at >= 0), default=last)
