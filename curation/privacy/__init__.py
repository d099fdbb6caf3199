"""What could name a patient in a text: one set of patterns for what is shown, released and audited.

Eight languages of the corpora and three beside them. Each pattern says how sure it is. A *certain* one says
itself whose it is (a record number after its label, a date of birth, a patient's name): such a row is
withheld from releases, and the audit calls it an error. A *hint* (a day of one event, a telephone number, a
title with initials) may as well be an author's or published with consent: people look at it. A review shows
neither.
"""

from curation.privacy.burned_in import BURNED_IN
from curation.privacy.patterns import CERTAIN, HINTS, PATTERNS, SHOWN_TO_NOBODY
from curation.privacy.search import Hit, Pattern, gathered, hits, masked, nominated, re2

__all__ = [
    "BURNED_IN",
    "CERTAIN",
    "HINTS",
    "PATTERNS",
    "SHOWN_TO_NOBODY",
    "Hit",
    "Pattern",
    "gathered",
    "hits",
    "masked",
    "nominated",
    "re2",
]
