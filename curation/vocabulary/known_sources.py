"""What is known of a source that its own files do not say: title, licence and tier, address, citation."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemas.vocabulary import Tier, VocabularySource

_OPEN = re.compile(r"creativecommons\.org/(publicdomain/zero|licenses/by/)|\bCC0\b|\bCC[- ]BY[- ]\d")
ABBREVIATIONS = {"HP": "HPO"}
"""Source abbreviation of a CURIE prefix; others are the same."""
UNKNOWN_LICENCE = "unknown"


@functools.cache
def _known() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "known_sources.toml").read_text("utf-8"))


def abbreviation(prefix: str) -> str:
    """Abbreviation of the source whose ids have this prefix: HPO for HP."""
    return ABBREVIATIONS.get(prefix, prefix)


def tier_of(abbr: str, licence: str = "") -> Tier:
    """Licence tier of a source's strings.

    Args:
        abbr: the source.
        licence: what its file states; a source that is not known and states no open licence is restricted
            until someone says more.
    """
    if abbr in _known():
        tier: Tier = _known()[abbr]["tier"]
        return tier
    return "open" if _OPEN.search(licence) else "restricted"


def left_out(abbr: str) -> str:
    """The term of a source that is left out with all below it, for it names nothing; '' for none."""
    return str(_known().get(abbr, {}).get("left_out", ""))


def is_restricted(prefix: str) -> bool:
    """Whether the ids of this CURIE prefix are of a source known to be restricted."""
    return _known().get(abbreviation(prefix), {}).get("tier") == "restricted"


def describe(
    abbr: str, release: str, sha256: str, *, title: str = "", licence: str = "", of: str = ""
) -> VocabularySource:
    """The record of a source.

    Args:
        abbr: its abbreviation.
        release: as its files state it, '' when they do not.
        sha256: over the files read.
        title: as its files state it.
        licence: as its files state it; the documented one counts where there is one.
        of: the source whose terms hold, when this one is a translation of it.
    """
    facts: Mapping[str, str] = _known().get(of or abbr, {})
    return VocabularySource(
        source=abbr,
        title=title or facts.get("title", abbr),
        release=release,
        licence=facts.get("licence", licence or UNKNOWN_LICENCE),
        tier=tier_of(of or abbr, licence),
        url=facts.get("url", ""),
        citation=facts.get("citation", ""),
        sha256=sha256,
    )
