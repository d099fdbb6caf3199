"""Words of Greek and Latin that languages share: one form for "syphilis", "sífilis" and "Syphilis".

What each language writes its own way (ph and f, y and i, k and c, double letters) becomes one spelling, and
an ending one mark for what it makes of the stem: "granulomatosa" is "granulomatous", no "granulomatosis".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from curation.concepts.normalise import fold

LANGUAGES = frozenset({"de", "es", "fr", "it", "pt"})
"""Those whose spellings and endings are known, beside English."""
SHORTEST = 5
"""Letters of the shortest word that is read so."""
_SHORTEST_STEM, _LONG_STEM = 3, 5
_OF_DISEASES = frozenset("124")
"""Marks of -itis, -osis and -oma."""
_ACCENTED = (("ité", "ity"), ("ités", "ity"), ("ità", "ity"), ("ität", "ity"), ("itäten", "ity"), ("é", "at"),
             ("ée", "at"), ("és", "at"), ("ées", "at"))  # fmt: skip
"""Endings that are others without their accents."""
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe"})
_SPELLINGS = tuple(
    (re.compile(pattern), written)
    for pattern, written in (
        (r"ph", "f"), (r"ch|qu(?=[ei])|ck|k|q", "c"), (r"h", ""), (r"[ao]e", "e"), (r"y|j", "i"),
        (r"zion", "cion"), (r"w", "v"), (r"(?<=[a-z])[cp]t", "t"), (r"ss$", "so"), (r"(.)\1+", r"\1"),
        (r"^es(?=[cfklmnpqtv])", "s"), (r"tion", "cion"), (r"cao$|coes$", "cion"), (r"sao$|soes$", "sion"),
        (r"m(?=f)", "n"),
    )
)  # fmt: skip
_ENDINGS = {
    "1": "itis ites ite itide itidi itida itides",
    "2": "osis oses ose osi osen",
    "3": "ous osus osum oso osa osos osas eux euse euses",
    "4": "oma omas omata ome omes omi om",
    "5": "ic ics ica ico icos icas ice ique iques icum icus ici ical isc isce iscer isces iscen",
    "6": "al als ale ales ais aux el els ele eles elen eler",
    "7": "ar ari are ares aris ari ario arios aria arias aire aires aries ari",
    "8": "iv ive ivo iva ivos ivas ives ivi if ifs",
    "9": "at ate ates ated ato ata atos atas ado ada ados adas",
    "a": "ia ias ie ies i ien",
    "b": "enci encia encias ence ences encies enza enze enz enzen",
    "c": "anci ancia ancias ance ances anza anze anz anzen",
    "d": "cion ciones cions cione cioni cionen",
    "e": "sion siones sions sione sioni sionen",
    "f": "ism isms isme ismes ismo ismos ismi ismus",
    "g": "iti ities idad idades idade ity",
    "": "us um is os as es o a e s u",
}
_MARKS = {ending: mark for mark, endings in _ENDINGS.items() for ending in endings.split()}
_LONGEST = max(map(len, _MARKS))


def cognate(word: str) -> str:
    """A form that the same word has in every such language; '' for one too short to be told by it.

    >>> cognate("syphilis") == cognate("sífilis") == cognate("Syphilis")
    True
    >>> cognate("granulomatosa") == cognate("granulomatous") != cognate("granulomatosis")
    True

    Args:
        word: as written.
    """
    if len(word) < SHORTEST or not word.isalpha():
        return ""
    lowered = word.lower()
    for ending, other in _ACCENTED:
        if lowered.endswith(ending):
            lowered = lowered[: -len(ending)] + other
            break
    form = fold(lowered.translate(_UMLAUTS))
    for pattern, written in _SPELLINGS:
        form = pattern.sub(written, form)
    stem, mark = next(_parted(form))
    return f"{stem}+{mark}" if len(stem) >= _SHORTEST_STEM - (mark in _OF_DISEASES) else ""


def is_telling(form: str) -> bool:
    """Whether a form of :func:`cognate` is enough to know a word by, without others beside it.

    "Muchos" is no mucus; a short stem tells only with the ending of a disease.
    """
    stem, _, mark = form.partition("+")
    return mark in _OF_DISEASES or len(stem) >= _LONG_STEM


def _parted(form: str) -> Iterator[tuple[str, str]]:
    """A spelling without its longest ending, and the mark of that."""
    for length in range(min(_LONGEST, len(form)), 0, -1):
        if (ending := form[-length:]) in _MARKS:
            yield form[:-length], _MARKS[ending]
    yield form, ""
