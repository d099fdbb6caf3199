"""Whether an adjective of a finding is said of a person: "a hypotonic infant", "she was hypotonic at birth".

Only then does it name the finding: a solution may be hypotonic too, and diabetic retinopathy is no diabetes.
English only.
"""

from __future__ import annotations

import re

_PERSON = (
    r"(?:patients?|child(?:ren)?|infants?|newborns?|neonates?|bab(?:y|ies)|boys?|girls?|m[ae]n|wom[ae]n|"
    r"(?:fe)?males?|adults?|adolescents?|teenagers?|individuals?|persons?|people|subjects?|cases?|probands?|"
    r"siblings?|brothers?|sisters?|sons?|daughters?|mothers?|fathers?|parents?|relatives?|twins?|"
    r"f(?:o?e)tus(?:es)?|famil(?:y|ies)|carriers?|survivors?)"
)
_DEGREE = r"(?:(?:\w+ly|very|also|not|more|most|quite|rather|somewhat|often|still|then|never|no longer)\s+)*"
_IS_PERSON = re.compile(_PERSON, re.IGNORECASE)
_BESIDE = re.compile(rf"[ ]{_PERSON}\b", re.IGNORECASE)
_SAID = re.compile(
    rf"\b(?:(?:{_PERSON}|he|she|they|who)\b(?:[ ][\w-]+){{0,4}}?|"
    r"(?:both|all|one|two|three|four)(?: of (?:them|these|whom))?)[ ]"
    r"(?:is|are|was|were|be|been|bec[ao]mes?|remain(?:s|ed)?|appear(?:s|ed)?|seem(?:s|ed)?)"
    rf"(?: found| noted)?[ ]{_DEGREE}"
    rf"(?:[\w-]+(?:[ ]\([^()]{{1,40}}\))?(?:,|,? and|,? or|,? but)[ ]{_DEGREE}){{0,3}}\Z",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?:\Z|[.,;:)]|[ ](?:\(|(?:and|or|but|with|at|since|from|in|on|for|after|during|by|when|while|as|"
    r"because|although|until|before|throughout)\b))"
)
_REACH = 120


def is_person(word: str) -> bool:
    """Whether a word is a noun for persons."""
    return _IS_PERSON.fullmatch(word) is not None


def is_said_of_person(text: str, start: int, end: int) -> bool:
    """Whether the adjective between two offsets stands before a person's noun, or is said of one.

    >>> text = "The girl was severely hypotonic at birth."
    >>> is_said_of_person(text, text.index("hypotonic"), text.index(" at"))
    True
    """
    if _BESIDE.match(text, end):
        return True
    return bool(_END.match(text, end)) and _SAID.search(text[max(start - _REACH, 0) : start]) is not None
