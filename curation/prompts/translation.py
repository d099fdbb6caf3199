"""Translation: a query in another language, nothing added and nothing left out.

The model is given the names that the vocabulary has in the language; whether the text says the same is
checked by curation.multilingual, not believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curation.prompts.question import QuestionKind
from curation.prompts.texts import HOLDS_A_MARK, NotUsed
from schemas.hashing import sendable
from schemas.prompt import Prompt

TRANSLATION = QuestionKind(
    name="translation",
    version=1,
    role="You translate questions of clinicians and case reports.",
    instructions="""\
Translate the query into the language named, as a clinician who speaks it would write. Keep every fact: each \
finding, what is denied, every number with its unit, left and right. Add no fact, leave none out, and do not \
answer the query. Where the list of names has one for a thing of the query, use it unaltered. Leave short \
forms, genes and names of persons as they are. Give the translation alone in `text`.""",
    properties={"text": {"type": "string"}},
    max_tokens=1024,
)
BACK_TRANSLATION = QuestionKind(
    name="back_translation",
    version=1,
    role="You translate questions of clinicians and case reports.",
    instructions="""\
Translate the query into English, word for word where English allows it. Keep every fact: each finding, what \
is denied, every number with its unit, left and right. Mend nothing that seems wrong, add no fact, leave \
none out, and do not answer the query. Give the translation alone in `text`.""",
    properties={"text": {"type": "string"}},
    max_tokens=1024,
)
NAMED: Mapping[str, str] = {
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "pt": "Portuguese",
    "ru": "Russian",
    "zh": "Chinese, simplified",
}
"""Languages that answers can be checked in, as the prompt names them."""


def ask(subject: str, task: str, text: str, language: str, names: Sequence[tuple[str, str]] = ()) -> Prompt:
    """The prompt about one query.

    Args:
        subject: id of the query.
        task: task name.
        text: in English.
        language: primary BCP-47 subtag.
        names: (English name, name in the language) of concepts of the query.

    Raises:
        KeyError: nothing is known of the language.
    """
    shown = [("language", NAMED[language]), ("query", text)]
    if names:
        shown.append(("names", "\n".join(f"{english} = {name}" for english, name in names)))
    return TRANSLATION.ask(subject, task, shown, form=language)


def ask_back(subject: str, task: str, text: str, language: str) -> Prompt:
    """The prompt for English again of a text in another language; its source is not shown.

    Args:
        subject: id of the text.
        task: task name.
        text: in that language.
        language: primary BCP-47 subtag.

    Raises:
        KeyError: nothing is known of the language.
    """
    shown = [("language", NAMED[language]), ("query", text)]
    return BACK_TRANSLATION.ask(subject, task, shown, form=language)


def text_of(answer: Mapping[str, Any]) -> str | NotUsed:
    """The translation that an answer gives, white space folded, or why it cannot be used."""
    text = " ".join(sendable(str(answer["text"])).split())
    return NotUsed.HOLDS_MARK if HOLDS_A_MARK.search(text.casefold()) else text
