"""Licence table, reading of licence statements, profiles and the compatibility of combined works.

Facts: creativecommons.org licence deeds and the CC compatibility chart
(https://wiki.creativecommons.org/wiki/Wiki/cc_license_compatibility). SPDX ids: https://spdx.org/licenses/.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Profile = Literal["open", "noncommercial"]

UNKNOWN = "LicenseRef-unknown"
PUBLIC_DOMAIN = "LicenseRef-public-domain"
RESTRICTED = "LicenseRef-all-rights-reserved"
TDM = "LicenseRef-text-mining-only"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a licence lets a benchmark do."""

    family: str
    redistribute: bool
    derivatives: bool
    commercial: bool
    share_alike: bool
    url: str = ""

    @property
    def strictness(self) -> tuple[bool, bool, bool, bool, bool]:
        """Sorts looser before stricter; the last place is whether attribution is owed."""
        owes = self.family not in {"cc0", "pd"}
        return (not self.redistribute, not self.derivatives, not self.commercial, self.share_alike, owes)


_FAMILIES: dict[str, Terms] = {
    "cc0": Terms("cc0", True, True, True, False),
    "pd": Terms("pd", True, True, True, False),
    "by": Terms("by", True, True, True, False),
    "by-sa": Terms("by-sa", True, True, True, True),
    "by-nc": Terms("by-nc", True, True, False, False),
    "by-nc-sa": Terms("by-nc-sa", True, True, False, True),
    "by-nd": Terms("by-nd", True, False, True, False),
    "by-nc-nd": Terms("by-nc-nd", True, False, False, False),
    "terms": Terms("terms", True, False, True, False),
    "none": Terms("none", False, False, False, False),
}
TERMS = "LicenseRef-terms-"
"""Before the abbreviation of a vocabulary whose strings may be passed on unaltered, under terms of its own
(licence tier `terms`): they are quoted and credited, never changed."""
PROFILES: dict[Profile, frozenset[str]] = {
    "open": frozenset({"cc0", "pd", "by", "by-sa", "terms"}),
    "noncommercial": frozenset({"cc0", "pd", "by", "by-sa", "by-nc", "by-nc-sa", "terms"}),
}
"""ND and unknown are in no profile: benchmarks are derived works."""

_URL = re.compile(
    r"creativecommons\.org/+(?P<kind>licen[sc]es?|publicdomain)/+(?P<name>[a-z][a-z+-]*[a-z0-9])(?:/+(?P<version>\d(?:\.\d)?))?",
    re.IGNORECASE,
)
_URL_NAMES = {
    "cc-by": "by",
    "byncnd": "by-nc-nd",
    "by-ncnd": "by-nc-nd",
    "bync-nd": "by-nc-nd",
    "by-nd-nc": "by-nc-nd",
    "by-nc-bd": "by-nc-nd",
    "bync": "by-nc",
    "by-n": "by-nc",
    "nc": "by-nc",
    "byncsa": "by-nc-sa",
    "by-ncsa": "by-nc-sa",
    "by-sa-nc": "by-nc-sa",
    "bysa": "by-sa",
    "bynd": "by-nd",
    "zero": "cc0",
    "mark": "pd",
    "publicdomain": "pd",
}
_CODES = {
    "cc0": "cc0",
    "cc by": "by",
    "cc by-sa": "by-sa",
    "cc by-nd": "by-nd",
    "cc by-nc": "by-nc",
    "cc by-nc-sa": "by-nc-sa",
    "cc by-nc-nd": "by-nc-nd",
}
_TEXT_NAME = re.compile(
    r"creative\s+commons\s+(?:public\s+domain\s+dedication|zero|CC0)|\bCC0\b"
    r"|creative\s+commons?[,\s]+(?:by\s+|the\s+)?(?:attribution|atribución|atribuição)"
    r"(?P<long>(?:[\s,–—-]*(?:and\s+|\d\.\d\s+)?(?:non[\s-]*commercial|n(?:o|ão)[\s-]*comercial"
    r"|(?:no[\s-]*deriv|sin[\s-]*deriv|sem[\s-]*deriv)[a-z]*(?:\s+works?)?"
    r"|share[\s-]*alike|compart[a-z]*[\s-]*igual))*)"
    r"|\bCC[\s-]*BY(?P<short>(?:[\s-]*(?:NC|ND|SA)\b)*)",
    re.IGNORECASE,
)
_TYPE_WORDS = (
    ("creativecommons", "cc"),
    ("license", ""),
    ("licence", ""),
    ("attribution", "by"),
    ("noncommercial", "nc"),
    ("noderivatives", "nd"),
    ("noderivs", "nd"),
    ("sharealike", "sa"),
)
_TYPE = re.compile(r"^cc(by(?:nc)?(?:nd|sa)?)(?:[1-4]0)?(?:international|unported)?$")
_TEXT_VERSION = re.compile(r"\b([1-4]\.[05])\b")
_PUBLIC_DOMAIN_TEXT = re.compile(
    r"\bpublic domain\b(?!\s+dedication)|work of the (?:U\.?S\.?|United States) government", re.IGNORECASE
)
_RESTRICTED_TEXT = re.compile(
    r"all rights reserved|no reuse allowed|not certified by peer review.*no reuse", re.I | re.S
)


def spdx(family: str, version: str | None) -> str:
    """SPDX id of a licence family; a version that was not stated is shown as such, never guessed."""
    if family == "cc0":
        return "CC0-1.0"
    if family == "pd":
        return PUBLIC_DOMAIN
    if family == "none":
        return UNKNOWN
    number = version if version is None or "." in version else f"{version}.0"
    return f"CC-{family.upper()}-{number}" if number else f"LicenseRef-CC-{family.upper()}"


def terms(spdx_id: str) -> Terms:
    """Terms of an SPDX id of ours; anything not recognised allows nothing."""
    if spdx_id == "CC0-1.0":
        return _FAMILIES["cc0"]
    if spdx_id == PUBLIC_DOMAIN:
        return _FAMILIES["pd"]
    if spdx_id.startswith(TERMS):
        return _FAMILIES["terms"]
    found = re.match(r"^(?:LicenseRef-)?CC-(BY(?:-(?:NC|ND|SA))*)(?:-\d\.\d)?$", spdx_id)
    return _FAMILIES.get(found.group(1).lower(), _FAMILIES["none"]) if found else _FAMILIES["none"]


def url(spdx_id: str) -> str:
    """Canonical licence URL, '' when there is none (version not stated: the latest deed is not implied)."""
    family = terms(spdx_id).family
    if family == "cc0":
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    found = re.search(r"-(\d\.\d)$", spdx_id)
    if family.startswith("by") and found:
        return f"https://creativecommons.org/licenses/{family}/{found.group(1)}/"
    return ""


def from_url(text: str) -> str | None:
    """SPDX id of the first Creative Commons address in `text`, tolerating the misspellings seen in JATS."""
    for found in _URL.finditer(text.replace("%20", "")):
        name = found.group("name").lower().strip("-+")
        if found.group("kind").lower() == "publicdomain":
            return spdx("pd" if name == "mark" else "cc0", None)
        family = _URL_NAMES.get(name, name)
        if family in _FAMILIES and family != "none":
            return spdx(family, found.group("version"))
    return None


def from_code(code: str | None) -> str | None:
    """SPDX id of a PMC `license_code`: never carries a version. TDM and unknown codes allow nothing."""
    if code is None:
        return None
    key = " ".join(code.replace("_", " ").lower().split())
    if key == "tdm":
        return TDM
    family = _CODES.get(key)
    return spdx(family, None) if family else UNKNOWN


def from_code_type(value: str | None) -> str | None:
    """SPDX id told by a type attribute (`ccbyncndlicense`, `creativeCommonsBy-nc-nd`, `CC BY`), or None."""
    key = re.sub(r"[^a-z0-9]", "", (value or "").lower())
    for word, short in _TYPE_WORDS:
        key = key.replace(word, short)
    if key in {"cc0", "cc010", "cczero"}:
        return spdx("cc0", None)
    if key == "publicdomain":
        return PUBLIC_DOMAIN
    found = _TYPE.match(key)
    return spdx("-".join(re.findall("..", found.group(1))), None) if found else None


def _named(found: re.Match[str], text: str) -> str:
    long, short = found.group("long"), found.group("short")
    if long is None and short is None:
        return spdx("cc0", None)
    words = re.sub(r"[^a-zã]", "", (long or short or "").lower())
    family = "by"
    if "comercial" in words or "commercial" in words or (long is None and "nc" in words):
        family += "-nc"
    if "deriv" in words or (long is None and "nd" in words):
        family += "-nd"
    elif "alike" in words or "igual" in words or (long is None and "sa" in words):
        family += "-sa"
    version = _TEXT_VERSION.search(text, found.start(), found.end() + 80)
    return spdx(family, version.group(1) if version else None)


def from_text(text: str) -> str | None:
    """SPDX id told by prose alone ('Creative Commons Attribution License'), or None.

    Of several names the strictest holds ('Creative Commons Attribution (CC BY-NC)'), CC0 only when it stands
    alone: beside another licence it is a waiver for the data. A version is taken only where it is written.
    """
    named = [_named(found, text) for found in _TEXT_NAME.finditer(text)]
    if not named:
        if _RESTRICTED_TEXT.search(text):
            return RESTRICTED
        return PUBLIC_DOMAIN if _PUBLIC_DOMAIN_TEXT.search(text) else None
    pool = [name for name in named if terms(name).family != "cc0"] or named
    kept = pool[0]
    for name in pool[1:]:
        kept = stricter(kept, name)
    return kept


def stricter(first: str, second: str) -> str:
    """The stricter of two SPDX ids; of one family, the one that states a version."""
    one, two = terms(first), terms(second)
    if one.family == two.family:
        return first if url(first) or not url(second) else second
    return first if one.strictness > two.strictness else second


def is_allowed(spdx_id: str, profile: Profile) -> bool:
    """Whether a record under this licence may enter a release of this profile."""
    return terms(spdx_id).family in PROFILES[profile]


_COMPATIBLE: dict[frozenset[str], str | None] = {
    frozenset({"by", "by-sa"}): "by-sa",
    frozenset({"by", "by-nc"}): "by-nc",
    frozenset({"by", "by-nc-sa"}): "by-nc-sa",
    frozenset({"by-nc", "by-nc-sa"}): "by-nc-sa",
    frozenset({"by-sa", "by-nc"}): None,
    frozenset({"by-sa", "by-nc-sa"}): None,
}


def combine(first: str, second: str) -> str | None:
    """Family under which one derived work made of both may be published, None when no licence fits.

    SA and NC do not form an order: BY-SA with any NC licence fits nothing. ND never enters a derived work.
    Families: cc0, pd, by, by-sa, by-nc, by-nc-sa, terms. What is quoted under terms of its own
    stays under them, beside the licence of the rest.
    """
    pair = {first, second}
    if pair - PROFILES["noncommercial"]:
        return None
    pair -= {"cc0", "pd"} if len(pair) > 1 else set()
    pair -= {"terms"} if len(pair) > 1 else set()
    if not pair:
        return "cc0"
    if len(pair) == 1:
        return next(iter(pair))
    return _COMPATIBLE[frozenset(pair)]
