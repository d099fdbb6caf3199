"""What states the final diagnosis of a case: its title, keywords and sentences of its own text.

A sentence is chosen by points for its words, for what they name and where it stands (sentences).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from curation.diagnosis import sentences as said
from curation.diagnosis.cues import EVENT
from curation.diagnosis.grounded import UNGROUNDED, Grounded
from curation.diagnosis.sentences import names_one
from curation.diagnosis.story import FINAL
from curation.diagnosis.topic import (
    NO_TOPIC,
    Topic,
    is_disease,
    stem,
    topic_of,
    without_looks,
    words_of,
)
from curation.extract.front import FrontText
from schemas.diagnosis import Statement

_TITLE_GENERIC = re.compile(
    r"^(?:a |an )?(?:case reports?|report of .{0,30}cases?|case series|literature review"
    r"|review of (?:the )?literature)\W*$",
    re.IGNORECASE,
)
_KEYWORD_GENERIC = re.compile(r"\b(?:case|report|review|literature|series|caso|relato)\b", re.IGNORECASE)


def in_title(title: FrontText) -> Iterator[Statement]:
    """The title of a report: it names what the report is about, up to what the disease only looked like."""
    text = title.text
    end = len(without_looks(text).rstrip(" -–—:,"))
    if end > 3 and not _TITLE_GENERIC.match(text[:end]):
        yield Statement(
            place="title", passage_id=title.id, start=0, end=end, text=text[:end], rule="case title"
        )


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
        least = 1 if len(stems) > 1 and names_one(keyword) else 2
        initials = "".join(word[0] for word in keyword.split()).upper()
        titled = any(topic.agreement(keyword) >= least for topic in topics)
        if titled or any(stems <= text for text in texts) or initials in acronyms:
            yield Statement(place="keyword", start=0, end=len(keyword), text=keyword, rule="keyword restated")


_LOOSE = {"turned out to be", "case of"}
"""Cues that say as often what something is as what a patient has."""
_ONLY_LIKELY = {"hedged", EVENT.name}
_OUTRIGHT = {"final", "explicit", "confirmed", "pathology", "strong"}


def _without_topic(sentences: Sequence[str]) -> list[tuple[int, str]]:
    """What states a disease as the diagnosis, whatever the title is about: it may name a mere symptom.

    Where nothing does in so many words, the one finding that says most of a disease.
    """
    read = said.features(sentences, NO_TOPIC)
    found = [(at, rule) for at, (features, rule) in enumerate(read) if said.is_enough(features)]
    if found:
        return found
    likely = [
        (said.points(features), at, rule)
        for at, (features, rule) in enumerate(read)
        if features & _OUTRIGHT and "history" not in features and rule not in _LOOSE
    ]
    return [(at, rule) for _, at, rule in [max(likely)]] if likely else []


def select(
    sentences: Sequence[str],
    topic: Topic,
    headed: Sequence[bool] = (),
    grounded: Grounded = UNGROUNDED,
) -> list[tuple[int, str]]:
    """Positions and rules of the sentences of one case that state its final diagnosis.

    Args:
        sentences: the sentences of the case, in order.
        topic: what the case is about.
        headed: for each whether it stands under a title like "Final diagnosis": one of them states it,
            whatever its words, and nothing that is only likely does. None stands so if empty.
        grounded: names of the vocabulary in the sentences.
    """
    found = dict(_by_words(sentences, topic, grounded))
    under = [at for at, is_under in enumerate(headed) if is_under]
    stating = [at for at in under if at in found] or [
        at for at in under if is_disease(said.affirmed(sentences[at]))
    ]
    if stating:
        found = {at: rule for at, rule in found.items() if rule not in _ONLY_LIKELY}
        found[stating[0]] = FINAL
    return sorted(found.items())


def _by_words(sentences: Sequence[str], topic: Topic, grounded: Grounded) -> list[tuple[int, str]]:
    """Sentences that state a diagnosis by their words.

    Where the head of the title finds none, its whole is tried; then what states the topic outright though
    another disease was stated later, what is only likely, or what befell the patient.
    """
    read = said.features(sentences, topic, grounded)
    found = [(at, rule) for at, (features, rule) in enumerate(read) if said.is_enough(features)]
    if not found and topic.whole is not None:
        found = _by_words(sentences, topic.whole, grounded)
    if not found:
        likely = [(at, rule) for at, (_, rule) in enumerate(read) if rule == "hedged"]
        befell = [(at, rule) for at, (_, rule) in enumerate(read) if rule == EVENT.name]
        outright = [
            (said.points(features), at, rule)
            for at, (features, rule) in enumerate(read)
            if "topic stated" in features
            and features & _OUTRIGHT
            and not features & {"history", "elsewhere", "follow-up"}
        ]
        found = (
            [(at, rule) for _, at, rule in [max(outright)]]
            if outright
            else likely[-1:] or _without_topic(sentences) or befell[:1]
        )
    return found
