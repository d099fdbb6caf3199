"""What a text denies, by the project's context rules (curation.concepts.context), and how surely.

The scope of a denial runs to the end of its clause, and rules that look at words alone may take the next
clause for a part of it: "takes no drugs and suddenly had chest pain". What stands behind a verb or article
of its own, or behind a comma after "without", is therefore neither denied nor affirmed. Nor is what stands
outside the scope of a denial in its clause: what is denied is said of it ("is not allergic to penicillin").
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from curation.concepts.context import Span, assign
from curation.concepts.context_rules import lexicon
from curation.extract.sentences import sentence_spans
from curation.fidelity.quantities import quantities
from curation.fidelity.words import FUNCTION_WORDS, Word, also_said, content_words, listed, stem

_SAY_LITTLE = listed(
    """
    case clinic current episod evid examin exam find foot further hospit known medic notabl observ patient
    person present prior recent report result revea reveal review show sign signific symptom test time use
    year age man woman boy girl child infant histori note seen given also evalu study studi laboratori normal
    remark otherwis past notic complain state describ deni neg absent absenc free
    """
)
"""Stems of words that reports are told with: what they are part of may be denied in one place alone."""
_OWN_CLAUSE = re.compile(
    r"[;:]|\b(?:who|whom|which|that|but|had|has|have|is|are|was|were|began|suddenly|shows?|showed|reports?|takes?"
    r"|suffers?|develops?|presents?|comes?|and \w+ed\b)|,(?: and)? an? \w+",
    re.IGNORECASE,
)
_WITHOUT = re.compile(r"without$", re.IGNORECASE)
_NOT_ANY = re.compile(
    r"\b(?:not|never|n[o']t)\s+(?:\w+\s+){0,2}any(?:\s+\w+)?\s+\Z|\bnot\s+(?:from|with|of|on)\s+\Z",
    re.IGNORECASE,
)
"""'Is not taking any drugs', 'but not from fever': 'any' stands in what is denied alone."""
_IN_CLAUSE = re.compile(
    r"\b(?:no|not|none|never|nor|neither|without|cannot|unable|absen\w+|lack\w*|los[st]\w*|lose\w?|free of"
    r"|miss\w*|refus\w+|fail\w*|den(?:y|ies|ied|ying)|stop\w*|ceas\w+|remov\w+|negative|hardly|barely"
    r"|yet to|non\w+|gone|exclud\w+|ruled out)\b|n[o']t\b",
    re.IGNORECASE,
)
"""Words that deny what their clause tells, some of them by what they mean (Karttunen 1971)."""
_NO_OTHER = re.compile(
    r"\b(?:no|not|without|any)\s+(?:any\s+)?(?:other|further|additional)\s+(?:\w+\s+){0,2}\Z", re.IGNORECASE
)
"""'Takes no other drugs' denies no drugs: there are some."""
_CLAUSE_ENDS = re.compile(r"[;:,.]|\b(?:but|and|while|whereas|although|who|whose|which)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.?!]\s")
_PLACE = re.compile(
    r"(?P<noun>[^\W\d_]+) (?:in|on|of|at|from|to|over|under|around|between|against|with) (?:[^\W\d_]+ ){0,3}$"
)
_NEXT = re.compile(r"\s*([^\W\d_]+|\S)?")


def denied(text: str, spans: Sequence[Span]) -> list[bool | None]:
    """Whether each stretch of an English text is denied: True, False, or None where nobody can tell."""
    triggers = sorted(
        (end, start)
        for first, last in sentence_spans(text)
        for start, end, phrase in lexicon("en").hits(text.lower(), first, last)
        if any(flag == "negated" for flag, _ in phrase.sets)
    )
    found: list[bool | None] = []
    for (start, end), context in zip(spans, assign(text, spans), strict=True):
        if _NO_OTHER.search(text, 0, start):
            found.append(None)
        elif not (context.is_negated or _NOT_ANY.search(text, 0, start)):
            found.append(None if _IN_CLAUSE.search(_clause(text, start, end)) else False)
        else:
            is_sure = not context.is_negated or _is_reached(text, (start, end), triggers)
            found.append(True if is_sure else None)
    return found


def _is_reached(text: str, span: Span, triggers: Sequence[Span]) -> bool:
    """Whether no clause begins between a stretch and its trigger; triggers are (end, start), in order."""
    start, end = span
    before = bisect_left(triggers, (start + 1, 0)) - 1
    between = text[triggers[before][0] : end] if before >= 0 else ""
    if (before < 0 or _SENTENCE.search(between)) and before + 1 < len(triggers):
        return not _CLAUSE_ENDS.search(
            text, end, triggers[before + 1][1]
        )  # lies high, and a reflex is absent
    is_listed = "," in between and _WITHOUT.search(text, 0, triggers[before][0])
    return not (is_listed or _OWN_CLAUSE.search(between))


def _clause(text: str, start: int, end: int) -> str:
    """The words around a stretch, to the ends of its clause."""
    before = [match.end() for match in _CLAUSE_ENDS.finditer(text, 0, start)]
    after = _CLAUSE_ENDS.search(text, end)
    return text[before[-1] if before else 0 : after.start() if after else len(text)]


def names_kin(text: str, at: int) -> bool:
    """Whether the sentence at a place names a relative, wherever the scope of that word ends."""
    return any(
        flag == "family"
        for first, last in sentence_spans(text)
        if first <= at < last
        for _, _, phrase in lexicon("en").hits(text.lower(), first, last)
        for flag, _ in phrase.sets
    )


def denials(text: str, aside: Sequence[Span] = ()) -> dict[str, set[bool | None]]:
    """Stem of a content word -> whether it is denied, in each place it stands in.

    Of a name of several words only the last is denied, and not where it is: "no muscle atrophy" and "no blood
    in the stool" say nothing of muscles and stool.

    Args:
        text: an English text.
        aside: stretches whose words do not count.
    """
    words = [word for word in content_words(text) if word.stem not in _SAY_LITTLE]
    triggers = [
        (start, end)
        for first, last in sentence_spans(text)
        for start, end, phrase in lexicon("en").hits(text.lower(), first, last)
        if phrase.sets or phrase.stops or phrase.is_verb
    ]
    numbers = [(item.start, item.end) for item in quantities(text)]
    said = [word for word in words if not _is_within(word, [*triggers, *aside, *numbers])]
    told: dict[str, set[bool | None]] = {}
    for word, flag in zip(said, denied(text, [(word.start, word.end) for word in said]), strict=True):
        is_meant = not flag or (_is_head(text, word) and not _is_place(text, word))
        told.setdefault(word.stem, set()).add(flag if is_meant else None)
    for word, is_lacking in also_said(text):
        (flag,) = (True,) if is_lacking else denied(text, [(word.start, word.end)])
        told.setdefault(word.stem, set()).add(flag)
    return told


def same_denied(denying: str, affirming: str, word: str) -> bool:
    """Whether what one text denies of a word is what a clause of the other affirms, with all its words.

    "Has not lost weight" does not deny that "her weight is unchanged": nothing there is lost.

    Args:
        denying: the text that denies the word wherever it has it.
        affirming: the text that affirms it.
        word: its stem.
    """
    triggers = [
        (end, start)
        for first, last in sentence_spans(denying)
        for start, end, phrase in lexicon("en").hits(denying.lower(), first, last)
        if any(flag == "negated" for flag, _ in phrase.sets)
    ]
    affirmed = [
        {one.stem for one in content_words(_clause(affirming, place.start, place.end))}
        for place in content_words(affirming)
        if place.stem == word
    ]
    for place in content_words(denying):
        if place.stem != word:
            continue
        before = max((end for end, _ in triggers if end <= place.start), default=place.start)
        meant = {one.stem for one in content_words(denying[before : place.end])} - _SAY_LITTLE
        if any(meant <= clause for clause in affirmed):
            return True
    return not affirmed


def _is_place(text: str, word: Word) -> bool:
    """Whether a word says where or of what something is: in the stool; but not: history of trauma."""
    found = _PLACE.search(text, 0, word.start)
    return found is not None and stem(found["noun"]) not in _SAY_LITTLE


def _is_head(text: str, word: Word) -> bool:
    """Whether no content word follows at once."""
    following = _NEXT.match(text, word.end)
    after = following[1] if following else None
    return not after or not after[0].isalpha() or after.lower() in FUNCTION_WORDS


def _is_within(word: Word, spans: Sequence[Span]) -> bool:
    return any(start <= word.start and word.end <= end for start, end in spans)


def are_opposite(one: set[bool | None], other: set[bool | None]) -> bool:
    """Whether one text always denies what the other always affirms."""
    return (one, other) in (({True}, {False}), ({False}, {True}))
