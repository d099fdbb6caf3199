"""Reasoning path: how a specialist gets from a vignette to its answer, each step tied to its words.

It shapes which passages are found and how they are graded, so its model and family are recorded; it is
never shown to a system that is evaluated, and it is no evidence.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from curation.prompts.material import read_block
from curation.prompts.question import QuestionKind
from curation.prompts.quotes import locate
from curation.prompts.texts import HOLDS_A_MARK
from schemas.hashing import normalise_text, sendable
from schemas.prompt import Prompt

LEAST: Final = 80
"""Characters, punctuation and spacing folded, below which a path has no steps."""


class NotAPath(enum.StrEnum):
    """Why a reasoning path is not kept."""

    TOO_SHORT = "too_short"
    HOLDS_MARK = "holds_mark"
    NO_QUOTE = "no_quote"
    QUOTE_MISSING = "quote_missing"
    REPEATS_QUERY = "repeats_query"


@dataclass(frozen=True, slots=True)
class Path:
    """A reasoning path and the places of the vignette that it rests on, as offsets."""

    text: str
    quotes: tuple[tuple[int, int], ...]


REASONING_PATH = QuestionKind(
    name="reasoning_path",
    version=1,
    role="You are a specialist who explains a clinical decision to colleagues.",
    instructions="""\
The answer to the vignette is given and is correct. Explain in three to six steps how it follows: which \
findings matter, what they mean, what they speak against, and what general medical knowledge links them to \
the answer. Write the steps as one text in `path`, 60 to 200 words. In `quotes`, copy word for word the \
stretches of the vignette that the steps rest on, at least two, each of three words or more.""",
    properties={"path": {"type": "string"}, "quotes": {"type": "array", "items": {"type": "string"}}},
    max_tokens=1024,
)


def ask(subject: str, task: str, vignette: str, answer: str, explanation: str) -> Prompt:
    """The prompt about one vignette."""
    shown = [("vignette", vignette), ("answer", answer), ("explanation", explanation or "none")]
    return REASONING_PATH.ask(subject, task, shown)


def read(prompt: Prompt, answer: Mapping[str, Any]) -> Path | NotAPath:
    """The path and where its quotes stand; one quote that does not stand there makes it invalid."""
    text = " ".join(sendable(str(answer["path"])).split())
    vignette = read_block(prompt, "vignette")
    if HOLDS_A_MARK.search(text.casefold()):
        return NotAPath.HOLDS_MARK
    if len(normalise_text(text)) < LEAST:
        return NotAPath.TOO_SHORT
    if normalise_text(text) in normalise_text(vignette):
        return NotAPath.REPEATS_QUERY
    places = [locate(quote, vignette) for quote in answer["quotes"]]
    if not places:
        return NotAPath.NO_QUOTE
    found = [place for place in places if place is not None]
    return Path(text, tuple(found)) if len(found) == len(places) else NotAPath.QUOTE_MISSING
