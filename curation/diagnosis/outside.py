"""What an article says outright of its one patient outside the story: "In our patient, X was diagnosed".

A sentence is on the patient if it points at him, or takes up what was told of him before in the passage
("These findings established a diagnosis of X").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from curation.diagnosis.sentences import explicit_rule
from curation.diagnosis.story import Sentence, statement
from curation.extract.sentences import sentence_spans
from schemas.diagnosis import Statement

_OURS = re.compile(
    r"\b(?:our|this|the present|the index)\s+(?:[\w-]+\s+)?(?:patient|case|infant|child|boy|girl|newborn"
    r"|neonate|baby|woman|man)\b(?!['’]?s?\s+(?:report|series|stud))"
    r"|\b(?:nuestr[oa]|notre|noss[oa]|unser\w*)\s+(?:paciente?|patiente?|patientin|cas[oe]?|fall)\b",
    re.IGNORECASE,
)
_TAKES_UP = re.compile(
    r"(?:these|those|this|thus|therefore|hence|so|accordingly|he|she|his|her|based on (?:these|this))\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\bet al\b|\b(?:reported|described|published|literature|authors|studies|series|previous(?:ly)?)\b|\[\d"
    r"|\bcase(?: report)? (?!was\b|is\b|has\b)\w+s\b",
    re.IGNORECASE,
)
"""In a sentence that may be about other patients, or about what a case teaches."""
_READ = 3000
"""Characters of a passage that are read."""


def statements(text_id: str, text: str) -> Iterator[Statement]:
    """Sentences of one passage that say outright what the patient has.

    Args:
        text_id: id of the passage.
        text: its text.
    """
    if _OURS.search(text) is None:
        return
    is_ours = False
    for start, end in sentence_spans(text[:_READ]):
        sentence = text[start:end]
        if _OTHERS.search(sentence):
            is_ours = False
            continue
        is_on_him = _OURS.search(sentence) is not None
        is_ours |= is_on_him
        if not (is_on_him or (is_ours and _TAKES_UP.match(sentence))):
            continue
        if rule := explicit_rule(sentence):
            yield statement(Sentence(text_id, start, sentence), rule)
