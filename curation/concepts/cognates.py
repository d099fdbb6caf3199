"""Words of Greek and Latin that languages share: one form for "syphilis", "sífilis" and "Syphilis".

What each language writes its own way (ph and f, y and i, k and c, double letters) becomes one spelling, and
an ending one mark for what it makes of the stem: "granulomatosa" is "granulomatous", no "granulomatosis".
Such forms are coarse, to look words up by. Whether two words are one is then asked of what the language does
with English endings and letters: "calcula" is no "calculus", "diante" no "Dianthus".
"""

from __future__ import annotations

import functools
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
_OF_ADJECTIVES = frozenset("356789")
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


def is_adjective(word: str) -> bool:
    """Whether a word has the ending of one: "magnética", "cutanée"."""
    return cognate(word).partition("+")[2] in _OF_ADJECTIVES


def _parted(form: str) -> Iterator[tuple[str, str]]:
    """A spelling without its longest ending, and the mark of that."""
    for length in range(min(_LONGEST, len(form)), 0, -1):
        if (ending := form[-length:]) in _MARKS:
            yield form[:-length], _MARKS[ending]
    yield form, ""


_LETTERS = tuple(
    (re.compile(pattern), written)
    for pattern, written in (
        (r"cao$", "cion"), (r"coes$", "cions"), (r"sao$", "sion"), (r"soes$", "sions"), (r"ph", "f"),
        (r"ch|qu(?=[ei])|ck|k|q", "c"), (r"[ao]e", "e"), (r"y|j", "i"), (r"[zt]ion", "cion"), (r"w", "v"),
        (r"ss$", "so"), (r"(?<=[rt])h", ""), (r"^es(?=[cfklmnpqtv])", "s"), (r"m(?=f)", "n"),
    )
)  # fmt: skip
_LOST = re.compile(r"(?<=[a-z])[cp]t")
_LOSING = frozenset({"it", "pt"})
"""Languages that have lost c and p before t: "attivo", "fator"."""
_INNER_H = re.compile(r"(?<!^)h"), re.compile(r"(?<!^)(?<![ln])h")
"""One that no language keeps, and in Portuguese, where some are half of another letter: "olhando"."""
_DOUBLED = re.compile(r"([^o])\1+")
_MADE_OF = (
    ("itis itides", "itis ites ite iti itide itidi itida itides"),
    ("osis oses", "osis oses ose osi osen"),
    ("oma omas omata ome", "oma omas omata ome omes omi om omen"),
    ("ous ose osus osum", "oso osa osos osas osi ose eux euse euses os es eser ese eses esen"),
    ("ic ical icus icum", "ico ica icos icas ici ice ices isc isce iscer isces iscen ic"),
    ("ics", "ica icas ice ic"),
    ("al", "al ales ais aux ale alen aler ali el ele eles elen eler els"),
    ("ar ari aris", "ar ares are ario aria arios arias aire aires aries ari er ere erer eres eren"),
    ("ive if", "ivo iva ivos ivas if ive ifs ives iv ivi iver iven"),
    ("ate ated at ata", "ate ates ato ata atos atas ado ada ados adas at"),
    ("ia i ies ias", "ia ias ie ies ien i"),
    ("ence ency enci encies ences", "encia encias ence ences encies enza enze enz enzen enci"),
    ("ance anci ancies ances", "ancia ancias ance ances anza anze anz anzen"),
    ("cion cions", "cion ciones cions cione cioni cionen"),
    ("sion sions", "sion siones sions sione sioni sionen"),
    ("ism isms", "ismo isme ismes ismos ismi ismus"),
    ("iti ities", "iti idad idades idade ita"),
    ("a as e", "a as e es en"),
    ("us um i", "o os us um u i"),
    ("is es", "is e es i en"),
    ("on", "o on os one oni ons ones onen"),
    (" s e es", " e es s o os a as en n i"),
)
"""English endings, and those that the other languages have for them."""
_ALSO = {
    "de": (("a as e us um i", ""), ("us", "e")),
    "fr": (("us", ""), ("us um i", "e es"), (" e", "us")),
}


def _english_of(language: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for english, others in (*_MADE_OF, *_ALSO.get(language, ())):
        for ending in others.split(" "):
            found[ending] = found.get(ending, frozenset()) | frozenset(english.split(" "))
    return found


_ENGLISH_OF = {language: _english_of(language) for language in sorted(LANGUAGES)}
_LONGEST_OTHER = max(max(map(len, endings)) for endings in _ENGLISH_OF.values())


_SINGULARS = ("ss", "us", "is", "ics")
"""Ends of English words whose last letter makes no plural."""


@functools.lru_cache(maxsize=1 << 16)
def is_cognate(word: str, english: str, language: str) -> bool:
    """Whether a word can be an English one, by what its language does with letters and endings.

    >>> is_cognate("sífilis", "syphilis", "es"), is_cognate("calcula", "calculus", "es")
    (True, False)

    Args:
        word: as written.
        english: the English word.
        language: one of :data:`LANGUAGES`.
    """
    lowered = word.lower()
    if language in ("es", "pt") and lowered[-1] in "áéíóú":
        return False  # the stress of a verb
    for ending, other in _ACCENTED if language in ("de", "fr", "it") else ():
        if lowered.endswith(ending):
            lowered = lowered[: -len(ending)] + other
            break
    own, its = _spelled(lowered, language), _spelled(english, language, is_english=True)
    forms = (its, its[:-1]) if its.endswith("s") and not its.endswith(_SINGULARS) else (its,)
    return any(_is_made_so(own, form, language) for form in forms)


def _is_made_so(own: str, its: str, language: str) -> bool:
    """Whether two spellings have one stem, and endings that stand for each other."""
    for length in range(min(_LONGEST_OTHER, len(own)) + 1):
        stem, ending = own[: len(own) - length], own[len(own) - length :]
        if len(stem) < _SHORTEST_STEM - 1 or not its.startswith(stem):
            continue
        wanted = its[len(stem) :]
        if its.endswith("ics") and wanted != "ics":
            continue  # "genéticos" are no genetics
        if wanted in _ENGLISH_OF[language].get(ending, ()):
            return True
    return False


def _spelled(word: str, language: str, *, is_english: bool = False) -> str:
    form = fold(word.lower().translate(_UMLAUTS))
    if language in ("es", "pt") and not is_english:
        form = form.replace("ch", "x")  # no Greek one
    for pattern, written in _LETTERS:
        form = pattern.sub(written, form)
    form = _DOUBLED.sub(r"\1", _INNER_H[language == "pt" and not is_english].sub("", form))
    if language in _LOSING:
        form = _LOST.sub("t", form)
    return form.removeprefix("h") if language == "it" else form
