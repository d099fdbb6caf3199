"""Whether an everyday word is a noun where it stands: "a burn of the hand", "burn patients", not "to burn".

Told by the words beside it; asked only of words that are verbs or adjectives as often. English only.
"""

from __future__ import annotations

import re

from curation.concepts.persons import is_person

_BEFORE_NOUN = re.compile(
    r"(?:\b(?:an?|the|our|their|this|these|each|every|any|no|of|in|for|with|without|from|by|after|following|"
    r"due to|related to|severe|major|minor|deep|large|extensive|\w+(?:al|ic|ous))"
    r"|[ ‐‑-]degree|[ ‐‑-]thickness)\s+\Z",
    re.IGNORECASE,
)
_BEFORE_VERB = re.compile(
    r"\b(?:to|will|would|can|could|may|might|must|shall|should|not|do|does|did|I|you|we|they|who|which|that|it)\s+\Z",
    re.IGNORECASE,
)
_NEXT = re.compile(r"[ -]([A-Za-z]+)")
_HARM = re.compile(r"(?:injur|wound|trauma|scar|victim|unit|cent(?:er|re)s?\Z)", re.IGNORECASE)
"""How words begin for what is hurt, or where it is treated."""


def is_noun(text: str, start: int, end: int) -> bool:
    """Whether the word between two offsets is a noun.

    >>> text = "Burn patients burn energy."
    >>> is_noun(text, 0, 4), is_noun(text, 14, 18)
    (True, False)
    """
    before = text[max(start - 30, 0) : start]
    if _BEFORE_VERB.search(before) and not before.lower().endswith(("due to ", "related to ")):
        return False
    if _BEFORE_NOUN.search(before):
        return True
    following = _NEXT.match(text, end)
    return following is not None and (is_person(following[1]) or _HARM.match(following[1]) is not None)
