"""What tells a diagnosis though no name of it is said: the germ it is due to, the growth it is made of.

Read off its names: "Infections, Borrelia" says the germ, "lipomatosis" the lipoma, and a name like "pelvic
mass" says no more than that something grows there, which any word for a growth beside the place says too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from curation.concepts.english import fold_english
from curation.concepts.normalise import language_of


def _words(listed: str) -> frozenset[str]:
    return frozenset(map(fold_english, listed.split()))


GROWTH = "(growth)"
"""Stands in the words of a name for any word of a growth."""
_GROWTHS = _words("tumor mass lesion neoplasm neoplasia nodule incidentaloma")
_KINDS = re.compile(r"\b(?:malignan\w+|benign|cancer\w*|primary|secondary|metasta\w+)\b", re.IGNORECASE)
"""Words of a name that say which growth: whoever says only that there is one does not say them."""
_ILLS = ("disease", "disorder", "dysfunction", "syndrome")
_BEING_ILL = re.compile(rf"(?<=\w )(?P<ill>{'|'.join(_ILLS)})s?$", re.IGNORECASE)
_INFECTION = re.compile(
    r"^(?:infections?(?:,| with| by| due to| caused by) (?P<behind>[A-Z][a-z]+)\b"
    r"|(?P<before>[A-Z][a-z]+)(?: [a-z]+)? (?:infections?|infectious disease)\b)",
    re.IGNORECASE,
)
_OF_GENUS = re.compile(
    r"(?:bacter|bacterium|bacteria|coccus|myces|plasma|monas|virus|spira|ella|soma|ium|ia|illus)$",
    re.IGNORECASE,
)
"""How names of genera end; "bone" and "wound" do not."""
_LEAST = 7
_STAINED = {"mycobacteria": ("acid-fast", "Acid-fast", "acid fast", "AFB")}
"""Germ, as folded -> what it is called under the microscope."""


def germs(names: Iterable[str]) -> Iterator[str]:
    """Genera of the germs that some names call an infection by, folded.

    Args:
        names: English names of a diagnosis and of what lies near above it.
    """
    english = language_of("en")
    found: set[str] = set()
    for name in names:
        if match := _INFECTION.match(name):
            genus = (match["behind"] or match["before"]).lower()
            is_plain = english.is_common(english.word(genus))
            if len(genus) >= _LEAST and _OF_GENUS.search(genus) and not is_plain:
                found.add(fold_english(genus))
    yield from sorted(found)


def stained(genera: Iterable[str]) -> Iterator[str]:
    """What germs are called by how they stain."""
    for genus in genera:
        yield from _STAINED.get(genus, ())


def renamed(name: str) -> Iterator[str]:
    """A name that ends in a word for being ill, with the others of them: a disorder is a dysfunction too."""
    found = _BEING_ILL.search(name)
    if found:
        yield from (name[: found.start()] + other for other in _ILLS if other != found["ill"].lower())


def grown(word: str) -> str:
    """The growth that a disease of many is named after: lipoma of lipomatosis; '' of any other word."""
    return word.removesuffix("tosis") if word.endswith("omatosis") else ""


def is_growth(word: str) -> bool:
    """Whether a folded word says that something grows, not what."""
    return word in _GROWTHS


def places(name: str, words: Iterable[str]) -> tuple[str, ...]:
    """Words of a name that says only where something grows, :data:`GROWTH` for what; () of another name.

    Args:
        name: the name as written.
        words: its folded words.
    """
    told = list(words)
    others = [word for word in told if not is_growth(word)]
    if len(others) == len(told) or not others or _KINDS.search(name):
        return ()
    return (*others, GROWTH)
