"""Which sentences cannot be understood without the one before them. Read for English alone.

A text made of chosen sentences must not hold one whose support was left out: "this has not been reported"
would speak of whatever stands before it now. "He" and "she" may stay: a story has one patient.
"""

from __future__ import annotations

import re

_IS = r"(?! is (?:the|an?)\b)"
"""What follows "this" where it means the article: "this is the first report"."""
_SELF = (
    r"(?! (?:study|studies|case|report|article|paper|work|review|patient|trial|population|cohort|series)\b)"
    r"(?! [\w-]+ (?:study|case|report|review|trial|series|man|woman|boy|girl|child|infant|male|female)\b)"
)
"""Nouns that name the article itself or its patient."""
_POINTER = (
    r"(?:It(?! (?:is|was|has been|(?:can|could|may|might|must|should|will|would) be|seems|appears)"
    r"(?: \w+){0,3} (?:that|to)\b)"
    r"|(?:(?:in|on|at|by|with|for|of|from|to|as|after|before|during|since|until|through|under|despite"
    r"|without|because of|based on|due to|on the basis of) )?"
    rf"(?:this|these|those|that|them|such){_SELF}{_IS}"
    r"|(?:among|(?:some|most|all|both|one|each|none) of) (?:these|those|them)"
    r"|They|Their|Its|Both (?:are|were|have|had)|The (?:former|latter))"
)
_CONNECTIVE = (
    r"(?:Therefore|Thus|Hence|Consequently|However|Nevertheless|Nonetheless|Moreover|Furthermore|Accordingly"
    r"|Instead|Otherwise|As a (?:result|consequence)|Conversely|In contrast|On the (?:contrary|other hand)"
    r"|Similarly|Likewise|Since then|For (?:example|instance))"
)
_NUMBERED = (
    r"(?:(?:[2-9]|1\d)[.)] |\((?:[2-9]|1\d|[b-h]|i[iv]|iii|v|vi{1,3})\)"
    r"|(?:second|third|fourth|fifth)(?:ly)?, )"
)
"""A later item of an enumeration: the first one opens it."""
_COUNTS = re.compile(rf"\W*?{_NUMBERED}", re.IGNORECASE)
_OPENING = re.compile(rf"\W*?(?:(?:{_POINTER}|{_CONNECTIVE})\b|{_NUMBERED})", re.IGNORECASE)
_STARTS_CLAUSE = (
    r"(?:and|but|or|nor|so|yet|that|which|who|whom|whose|when|where|while|because|since|as|if|although|though"
    r"|than|is|are|was|were|be|been|has|have|had|do|does|did|can|could|may|might|must|shall|should|will|would)"
)
_FOLLOWS_PRONOUN = (
    r"(?: (?:is|are|was|were|has|have|had|do|does|did|can|could|may|might|must|shall|should|will|would|cannot"
    r"|not|to|in|on|at|by|with|for|of|from|as)\b|[,;:)]|\.?$)"
)
_POINTS = re.compile(
    rf"\W*?(?:(?!{_STARTS_CLAUSE}\b)[\w’'-]+,? ){{1,6}}?(?:this|these){_IS}{_FOLLOWS_PRONOUN}",
    re.IGNORECASE,
)
"""A pronoun of the first clause: "To our knowledge, this has …", "We attribute this to …". One of a later
clause may mean what the sentence itself has said."""


def leans(text: str) -> bool:
    """Whether an English sentence needs the one before it: it points back, concludes or goes on counting."""
    return bool(_OPENING.match(text) or _POINTS.match(text))


def is_numbered(text: str) -> bool:
    """Whether a sentence is a later item of an enumeration."""
    return bool(_COUNTS.match(text))
