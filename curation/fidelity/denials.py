"""What a text denies, word by word, by the project's context rules (curation.concepts.context)."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from curation.concepts.context import Span, assign
from curation.concepts.context_rules import Lexicon, tables
from curation.extract.sentences import sentence_spans
from curation.fidelity.words import Word, content_words, listed

_SAY_LITTLE = listed(
    """
    case clinic current episod evid examin exam find foot further hospit known medic notabl observ patient
    person present prior recent report result revea reveal review show sign signific symptom test time use
    year age man woman boy girl child infant histori note seen given also evalu study studi laboratori normal
    remark otherwis past notic complain state describ deni neg absent absenc free
    """
)
"""Stems of words that reports are told with: what they are part of may be denied in one place alone."""


@functools.cache
def _lexicon() -> Lexicon:
    return Lexicon(tables()["en"])


def denials(text: str, aside: Sequence[Span] = ()) -> dict[str, set[bool]]:
    """Stem of a content word -> whether it is denied, in each place it stands in.

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
    contexts = assign(text, [(word.start, word.end) for word in said])
    told: dict[str, set[bool]] = {}
    for word, context in zip(said, contexts, strict=True):
        told.setdefault(word.stem, set()).add(context.is_negated)
    return told


def _is_within(word: Word, spans: Sequence[Span]) -> bool:
    return any(start <= word.start and word.end <= end for start, end in spans)
