"""The licence a release as a whole carries, from the licences of its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.licences import combine, terms


@dataclass(frozen=True, slots=True)
class HubLicence:
    """The licence fields of a dataset card on the Hub; `name` and `link` only beside `other`."""

    id: str
    name: str = ""
    link: str = ""


_HUB = {
    "cc0": HubLicence("cc0-1.0"),
    "pd": HubLicence("other", "public-domain", "https://creativecommons.org/publicdomain/mark/1.0/"),
    "by": HubLicence("cc-by-4.0"),
    "by-sa": HubLicence("cc-by-sa-4.0"),
    "by-nc": HubLicence("cc-by-nc-4.0"),
    "by-nc-sa": HubLicence("cc-by-nc-sa-4.0"),
    "terms": HubLicence("other", "vocabulary-terms"),
}

LINKS = {
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-sa-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "cc-by-nc-4.0": "https://creativecommons.org/licenses/by-nc/4.0/",
    "cc-by-nc-sa-4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
}
"""Licence of the Hub -> its address."""
FAMILIES = tuple(_HUB)
"""Every licence family a release can have."""


def combined_family(spdx_ids: Iterable[str]) -> str | None:
    """Licence family under which one work made of all rows may be published, None when none fits.

    An empty release holds nothing to license and counts as cc0.
    """
    families = sorted({terms(spdx_id).family for spdx_id in spdx_ids})
    if not families:
        return "cc0"
    found: str | None = families[0]
    for family in families:
        found = combine(found, family) if found is not None else None
    return found


def hub_licence(family: str) -> HubLicence:
    """Card fields of a licence family that `combined_family` can return."""
    return _HUB[family]


def licence_link(family: str) -> str:
    """Address of the licence of a family that `combined_family` can return."""
    found = hub_licence(family)
    return found.link or LINKS[found.id]
