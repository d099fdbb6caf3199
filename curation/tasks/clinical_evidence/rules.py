"""Which exam questions can become open queries at all: pure rules, each with a reason of its own."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Sequence

from curation.extract.sentences import sentence_spans
from curation.fidelity.leaks import needs_image, needs_options
from curation.tasks.shared.questions import answer_of
from curation.tasks.shared.words import word_count
from schemas.question import Question
from schemas.stages import Reason


class RuleReason(enum.StrEnum):
    """Why a question cannot become an open query."""

    NEEDS_OPTIONS = "needs_options"
    ASKS_FOR_EXCEPTION = "asks_for_exception"
    SEVERAL_ANSWERS = "several_answers"
    NO_ANSWER = "no_answer"
    SHORT_VIGNETTE = "short_vignette"
    NO_TARGET = "no_target"
    NAMES_ANSWER = "names_answer"


_EXCEPTION = re.compile(
    r"\b(?:NOT|EXCEPT|LEAST)\b|\bexcept(?: for)?\s*[:.?]|\b(?:all|any) of (?:the|these) [\w ]{0,40}\bexcept\b"
    r"|\b(?:which|what)\b[^?]{0,80}\b(?:is|are|would|should|can|does|do) not\b|\bisn't\b|\bfalse\b"
    r"|\bleast (?:likely|appropriate|useful|common|associated|helpful)\b|\bincorrect\b|\bcontraindicated\b",
)
_WHICH_FITS = re.compile(r"\bwhich of the following\b", re.IGNORECASE)


def why_not(question: Question, targets: Collection[str], min_words: int) -> tuple[enum.StrEnum, str] | None:
    """The first rule a question breaks, and the words that do; None when it may be rewritten.

    'Which of the following is the most likely diagnosis' asks for one thing and can be asked openly; it is
    another question that only its options make one ('which of the following is true').

    Args:
        question: as its collection has it.
        targets: specific concepts of its answer.
        min_words: of the vignette, the closing question apart.
    """
    text = question.text
    if len(question.correct) > 1:
        return RuleReason.SEVERAL_ANSWERS, ", ".join(question.correct)
    if not answer_of(question):
        return RuleReason.NO_ANSWER, ""
    asked = _asked(text)
    if found := _EXCEPTION.search(asked):
        return RuleReason.ASKS_FOR_EXCEPTION, found.group()
    if shown := needs_image(text):
        return Reason.NEEDS_IMAGE, shown
    if _leans_on_options(asked):
        return RuleReason.NEEDS_OPTIONS, asked
    words = word_count(text) - word_count(asked)
    if words < min_words:
        return RuleReason.SHORT_VIGNETTE, f"{words} words before the question"
    return None if targets else (RuleReason.NO_TARGET, answer_of(question))


def _asked(text: str) -> str:
    """The closing question: the last sentence that is one, else the last sentence."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    asked: Sequence[str] = [item for item in sentences if item.rstrip('")').endswith("?")]
    return (asked or sentences or [""])[-1]


_NAMES_WHAT = re.compile(
    r"\b(?:diagnos\w+|(?:cause|disease|disorder|condition|organism|pathogen|mutation|treatment|step|drug"
    r"|medication|agent|test|examination|investigation|procedure|intervention|complication|mechanism|explanation"
    r"|finding|recommendation|measure|syndrome|structure|nerve|muscle|enzyme|receptor|vaccine)s?|stud(?:y|ies)"
    r"|deficienc\w+|therap\w+|management|imaging|pharmacotherapy|approach\w*|arter\w+|veins?|antibod\w+|virus\w*"
    r"|bacteri\w+|abnormalit\w+)\b",
    re.IGNORECASE,
)
_OF_STATEMENTS = re.compile(
    r"\b(?:statements?|true|correct regarding|is correct\b|accurate|applies|matches|best described"
    r"|following (?:(?:are|is) (?:true|correct)|statements?|pairs?|combinations?|sets?|features?"
    r"|characteristics|sequences?))\b",
    re.IGNORECASE,
)


def _leans_on_options(asked: str) -> bool:
    """Whether a question says what it asks for only through its options."""
    if _OF_STATEMENTS.search(asked):
        return True
    if _WHICH_FITS.search(asked):
        return not _NAMES_WHAT.search(asked)
    return bool(needs_options(asked))
