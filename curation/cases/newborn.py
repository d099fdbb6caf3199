"""Reports on the unborn and newborn: whose age opens them, and the sex of the child."""

from __future__ import annotations

import re

from curation.cases.patient import Age, Sex, introduces
from curation.extract.sentences import sentence_spans

_UNBORN = re.compile(r"\b(?:prenatal\w*|antenatal\w*|fo?et(?:al|us|uses)|in utero)\b", re.IGNORECASE)
_FETUS_BESIDE = re.compile(
    r"\bwith (?:an? )?(?:[\w-]+ ){0,3}(?:live|living|viable|surviving|normal|healthy) (?:[\w-]+ ){0,2}"
    r"(?:fo?etus(?:es)?|newborns?|neonates?|infants?|baby|babies)\b|\bfo?etal (?:death|demise|loss)\b",
    re.IGNORECASE,
)
"""A child named only beside what its mother has, or lost."""
_NEWBORN = re.compile(r"\b(?:newborns?|neonat\w+)\b", re.IGNORECASE)
_MOTHER = re.compile(r"\b(?:pregnan\w+|gravida|\w+gravida|\w+para|mother|g\d+\s?p\d+)\b", re.IGNORECASE)
_BORN_TO = re.compile(
    r"\b(?:born|delivered)\b(?:(?!\b(?:who|which|present\w*|admitted|referred|brought)\b)[^.;])*"
    r"\b(?:to|by|of) (?:an?|the|his|her)\s+(?:[\w-]+,?\s+){0,4}$",
    re.IGNORECASE,
)
"""Before the age of a mother: 'was born at term to a healthy'."""
_CHILD_SEX = re.compile(
    r"\b(?P<sex>male|female)\s+(?:\w+\s+)?(?:f(?:o)?etus|newborn|neonate|infant|baby|child|twin)\b"
    r"|\b(?P<noun>boy|girl)\b",
    re.IGNORECASE,
)
_MAX_NEWBORN = 1.0


def is_of_mother(sentence: str, age: Age, title: str) -> bool:
    """Whether the age that opens a report on an unborn or newborn child is that of the mother."""
    is_grown = age.years is not None and age.years >= 12
    if is_grown and _BORN_TO.search(sentence[max(0, age.start - 200) : age.start]):
        return True
    is_child = is_prenatal(title) or bool(_NEWBORN.search(_FETUS_BESIDE.sub("", title)))
    return is_grown and is_child and bool(_MOTHER.search(sentence))


def is_prenatal(title: str) -> bool:
    """Whether a title announces a patient before birth: no age is stated then."""
    return bool(_UNBORN.search(_FETUS_BESIDE.sub("", title)))


def newborn_age(text: str) -> Age | None:
    """The first age of a newborn that introduces a person in the text of a case, None for the unborn."""
    for start, end in sentence_spans(text):
        age = introduces(text[start:end])
        if age is not None and age.years is not None and age.years < _MAX_NEWBORN:
            return age
    return None


def child_sex(text: str) -> Sex:
    """Sex of the child where mother and child are told of together; '' when unstated or contradictory."""
    found = {(match["sex"] or match["noun"]).lower() for match in _CHILD_SEX.finditer(text)}
    sexes: set[Sex] = {"female" if word in {"female", "girl"} else "male" for word in found}
    return sexes.pop() if len(sexes) == 1 else ""
