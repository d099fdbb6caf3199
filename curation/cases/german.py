"""Ages in German: "eine 19-jährige Schülerin", "ein 3 Wochen alter Säugling", "im Alter von 45 Jahren".

An adjective of age says it of a person, unless its noun is a stretch of time ("eine 2-jährige Therapie").
The article and the ending tell the sex where they can (https://grammis.ids-mannheim.de).
"""

from __future__ import annotations

import re
from typing import Literal

AGE_OF_PERSON = re.compile(
    r"(?:\b(?P<article>der|die|den|ein|eine|einer|einen)\s+(?:[^\W\d]\w*\s+){0,2}?)?"
    r"(?P<age>\b(?P<n>\d{1,3})[\s-]?(?P<unit>jahr|jähr|monat|woche|wöch|tag|täg)(?:ig|e?n?\s+alt)"
    r"(?P<ending>e[rsnm]?)?\b)",
    re.IGNORECASE,
)
AT_AGE = re.compile(
    r"\bim\s+(?P<age>Alter\s+von\s+(?P<n>\d{1,3})\s+(?P<unit>jahr|monat|woche|tag)(?:e?n)?\b)", re.IGNORECASE
)
_WORDS = r"\s+(?:[a-zäöüß]\w*\s+){0,2}"
_LASTING = re.compile(
    _WORDS + r"\w*(?:verlauf|therapie|behandlung|anamnese|beobachtung|pause|intervall|abstand|dauer"
    r"|zeit(?:raum|spanne)?|phase|periode|aufenthalt|überleben|geschichte|einnahme|karenz|anwendung|gabe"
    r"|kontrolle|remission|reise|untersuchung|follow-up|verletzung|fraktur|narbe|wunde)",
    re.IGNORECASE,
)
_KIN = re.compile(_WORDS + r"(?:mutter|vater|bruder|schwester|sohn|tochter|onkel|tante)\b", re.IGNORECASE)
_EITHER = re.compile(_WORDS + r"(?:säugling|zwilling)", re.IGNORECASE)
"""Nouns of one gender for both sexes."""
_FEMALE = frozenset({("die", "e"), ("der", "en"), ("eine", "e"), ("einer", "en")})
_MALE = frozenset({("der", "e"), ("den", "en"), ("ein", "er"), ("einen", "en")})


def is_of_another(text: str, end: int) -> bool:
    """Whether what is so old is a stretch of time, a wound, or a relative.

    Args:
        text: a sentence.
        end: where the age ends in it.
    """
    return _LASTING.match(text, end) is not None or _KIN.match(text, end) is not None


def sex(match: re.Match[str]) -> Literal["F", "M", ""]:
    """The sex that article and ending tell, '' where they do not: "einem 6-jährigen" may be a girl."""
    if _EITHER.match(match.string, match.end()):
        return ""
    pair = ((match["article"] or "").lower(), (match["ending"] or "").lower())
    return "F" if pair in _FEMALE else "M" if pair in _MALE else ""
