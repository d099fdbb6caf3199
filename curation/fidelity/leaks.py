"""What an open question may not say: its answer, or options that only a choice among them has."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Sequence

from curation.extract.sentences import sentence_spans
from curation.fidelity.compare import Found
from curation.fidelity.meanings import Meanings
from curation.fidelity.words import content_words
from schemas.concept import Mention
from schemas.hashing import normalise_text

_THING = r"(?:figure|fig|image|photo(?:graph)?|picture|exhibit|panel|tracing|slide|video|audio|table)"
_PLACE = r"(?:below|above|here|at right|at left)"
_IMAGE = re.compile(
    rf"\b(?:{_THING}s? (?:\d+ |[A-H] )?(?:(?:is|are|was|were) )?"
    r"(?:shown|below|above|attached|provided|displayed|on the (?:left|right))"
    rf"|(?:shown|depicted|seen|illustrated|displayed|pictured|given) "
    rf"(?:{_PLACE}|(?:in|on) (?:the |this |an? )?(?:\w+ ){{0,2}}{_THING})(?!\w)"
    rf"|{_THING}s? of [\w ]{{1,40}} (?:is|are) (?:shown|attached|provided)"
    r"|(?:is|are) shown(?=\s*[.;)])"
    rf"|see (?:the )?(?:{_THING}|below)"
    rf"|the (?:{_THING}|ecg|x-ray|radiograph|ct|mri|smear|biopsy) (?:above|below|(?:is )?shown))",
    re.IGNORECASE,
)


class Leak(enum.StrEnum):
    """What is left of a choice."""

    ANSWER_LEFT = "answer_left"
    OPTION_LEFT = "option_left"


_CHOICE = re.compile(
    r"\bwhich (?:one )?of (?:the|these)\b|\bthe following (?:options?|choices?|answers?)\b"
    r"|\b(?:of|from|among|between) the (?:following|options|choices)\b(?! (?:day|morning|week|month|year)s?)"
    r"|\b(?:options?|choices?|answers?) \(?[A-H]\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?<!\w)\(?([A-H])\)")
_LETTERS = 2
"""Different letters with a bracket that make a list of options."""
_INITIALS = 3
"""Letters from which the first letters of a name are looked for as its short form."""


def leaks(
    text: str,
    answer: str,
    options: Iterable[str],
    stem: str,
    told: Sequence[Mention],
    named: Sequence[Mention],
    meanings: Meanings,
) -> Iterator[Found]:
    """What an open question still says of its answer and its options.

    Args:
        text: the question.
        answer: the correct option, or the answer in words.
        options: the other options.
        stem: the question as it was, without options: words of its own may stay.
        told: concepts named in the text.
        named: concepts named in the answer.
        meanings: of the vocabulary they are of.
    """
    for words in says(text, answer, told, named, meanings):
        yield Found(Leak.ANSWER_LEFT, words)
    for option in options:
        if _holds(text, option) and not _holds(stem, option):
            yield Found(Leak.OPTION_LEFT, option)
    if words := needs_options(text):
        yield Found(Leak.OPTION_LEFT, words)


def needs_image(text: str) -> str:
    """The words by which a question shows something beside it, '' when it can stand alone."""
    found = _IMAGE.search(text)
    return found.group() if found else ""


def needs_options(text: str) -> str:
    """The words by which a question asks for a choice among options, '' when it can stand without them."""
    found = _CHOICE.search(text)
    if found is not None:
        return found.group()
    letters = sorted(set(_LETTER.findall(text)))
    return ", ".join(letters) if len(letters) >= _LETTERS else ""


def says(
    text: str, answer: str, told: Sequence[Mention], named: Sequence[Mention], meanings: Meanings
) -> Iterator[str]:
    """Words by which a text says an answer: its own, another name of it, its initials, or its words apart."""
    if _holds(text, answer):
        yield answer
    whole = {item.concept for item in named if _is_whole(item, answer)}
    for mention in told:
        if mention.concept in whole or (
            meanings.tells(mention.concept) and meanings.any_same(mention.concept, whole)
        ):
            yield mention.text
    yield from _short_form(text, answer)
    stems = {word.stem for word in content_words(answer)}
    if len(stems) > 1:
        for start, end in sentence_spans(text):
            if stems <= {word.stem for word in content_words(text[start:end])}:
                yield text[start:end]


def _short_form(text: str, answer: str) -> Iterator[str]:
    words = re.findall(r"[^\W\d_]+", answer)
    initials = "".join(word[0] for word in words if len(word) > 2).upper()
    if len(initials) >= _INITIALS and re.search(rf"(?<!\w){initials}s?(?!\w)", text):
        yield initials


def _is_whole(mention: Mention, answer: str) -> bool:
    """Whether a concept is what an answer names, and not a part of it."""
    words = {word.stem for word in content_words(mention.text)}
    return {word.stem for word in content_words(answer)} <= words


def _holds(text: str, words: str) -> bool:
    """Whether words stand in a text, spacing and case folded."""
    wanted = normalise_text(words)
    return bool(wanted) and f" {wanted} " in f" {normalise_text(text)} "
