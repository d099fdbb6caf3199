"""All patterns by how sure they are. See the package for what that means."""

from __future__ import annotations

import re

from curation.privacy import contacts, days, names, numbers
from curation.privacy.search import Pattern

_OLD = Pattern(
    "an age above 89",
    re.compile(
        r"\b(?:9\d|1[01]\d)[- ](?i:years?[- ]old|yr[- ]old|y/o|jährige[rsn]?|años de edad|anos de idade)"
    ),
)
"""An identifier by the US rule of safe harbour; a reader of one case may see it."""

CERTAIN: tuple[Pattern, ...] = (*numbers.CERTAIN, *days.CERTAIN, *names.CERTAIN, *contacts.CERTAIN)
"""They say themselves that they are a patient's."""
SHOWN_TO_NOBODY: tuple[Pattern, ...] = (
    *CERTAIN,
    *numbers.HINTS,
    *days.HINTS,
    *names.HINTS,
    *contacts.HINTS,
)
"""What a reviewer need not see, whoever's it is."""
HINTS: tuple[Pattern, ...] = (*SHOWN_TO_NOBODY[len(CERTAIN) :], _OLD)
PATTERNS: tuple[Pattern, ...] = (*CERTAIN, *HINTS)
