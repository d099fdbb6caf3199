"""How much a mention says of what an article is about, by where it stands.

A title names the subject, a method section names what was excluded or used. Weights are in quarters: sums are
exact.
"""

from __future__ import annotations

import re

TITLE, KEYWORD, CAPTION, ELSEWHERE = 3.0, 3.0, 1.5, 1.0
_SECTIONS = (
    (
        0.25,
        r"acknowledg\w+|funding|references?|abbreviations?|ethic\w*|consent|author\w*|data availability|"
        r"interests?",
    ),
    (
        0.5,
        r"introduc\w+|background|method\w*|materials?|statistic\w*|protocol|limitations?|future|related work|"
        r"antecedentes|m[eé]tod\w+|m[eé]thodes|einleitung|methoden",
    ),
    (
        1.5,
        r"case|patients?|presentation|clinical|findings?|results?|conclu\w+|summary|diagnos\w+|"
        r"learning points?|caso|resultados?|cas cliniques?|r[eé]sultats|fall\w*|ergebnisse|"
        r"schlussfolgerung\w*",
    ),
)
_COMPILED = tuple(
    (weight, re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)) for weight, words in _SECTIONS
)


def section_weight(title: str) -> float:
    """Weight of a mention in a top section of this title; the first rule that fits, 1 when none does.

    >>> section_weight("2. Case presentation"), section_weight("Methods"), section_weight("Discussion")
    (1.5, 0.5, 1.0)
    """
    return next((weight for weight, pattern in _COMPILED if pattern.search(title)), ELSEWHERE)
