"""What a text denies, by the project's context rules (curation.concepts.context), and how surely.

The scope of a denial runs to the end of its clause, and rules that look at words alone may take the next
clause for a part of it: "takes no drugs and suddenly had chest pain". What stands behind a verb or article of
its own, or behind a comma after "without", is therefore neither denied nor affirmed.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Sequence

from curation.concepts.context import Span, assign
from curation.concepts.context_rules import Lexicon, tables
from curation.extract.sentences import sentence_spans
from curation.fidelity.words import FUNCTION_WORDS, Word, content_words, listed

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
_NEXT = re.compile(r"\s*([^\W\d_]+|\S)?")


@functools.cache
def _lexicon() -> Lexicon:
    return Lexicon(tables()["en"])


def denied(text: str, spans: Sequence[Span]) -> list[bool | None]:
    """Whether each stretch of an English text is denied: True, False, or None where nobody can tell."""
    triggers = sorted(
        (end, start)
        for first, last in sentence_spans(text)
        for start, end, phrase in _lexicon().hits(text.lower(), first, last)
        if any(flag == "negated" for flag, _ in phrase.sets)
    )
    found: list[bool | None] = []
    for (start, end), context in zip(spans, assign(text, spans), strict=True):
        before = bisect_left(triggers, (start + 1, 0)) - 1
        between = text[triggers[before][0] : end] if before >= 0 else ""
        is_listed = "," in between and _WITHOUT.search(text, 0, triggers[before][0])
        is_sure = not context.is_negated or not (is_listed or _OWN_CLAUSE.search(between))
        found.append(context.is_negated if is_sure else None)
    return found


def denials(text: str, aside: Sequence[Span] = ()) -> dict[str, set[bool | None]]:
    """Stem of a content word -> whether it is denied, in each place it stands in.

    Of a name of several words only the last is denied: "no muscle atrophy" says nothing of muscles.

    Args:
        text: an English text.
        aside: stretches whose words do not count.
    """
    words = [word for word in content_words(text) if word.stem not in _SAY_LITTLE]
    triggers = [
        (start, end)
        for first, last in sentence_spans(text)
        for start, end, phrase in _lexicon().hits(text.lower(), first, last)
        if phrase.sets or phrase.stops or phrase.is_verb
    ]
    said = [word for word in words if not _is_within(word, [*triggers, *aside])]
    told: dict[str, set[bool | None]] = {}
    for word, flag in zip(said, denied(text, [(word.start, word.end) for word in said]), strict=True):
        told.setdefault(word.stem, set()).add(flag if not flag or _is_head(text, word) else None)
    return told


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
