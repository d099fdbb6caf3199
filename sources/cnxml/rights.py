"""What holds for a book and its figures: the strictest licence stated anywhere, and third-party captions.

OpenStax states a licence in the collection, in LICENSE and in the README, and they disagree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from schemas import licences
from schemas.article import Licence
from schemas.third_party import third_party_statement
from sources.cnxml.collection import Collection
from sources.jats.nodes import Element, all_text

LICENCE_PART = "licence"
README_PART = "readme"
_MAX_STATEMENT = 500
# OpenStax credits what it took under an open licence or from the public domain; only other words than these
# ("used with permission", "©") say that a figure is someone else's to give.
_CREDIT = re.compile(
    r"\bcredits?\b(?:\s+[a-z]\b(?:\s*(?:,|and|&)\s*[a-z]\b)*)?\s*(?:“[^”]{0,80}”|\([^)]{0,80}\)|[a-z-]{0,12})?\s*:"
    r"\s*(?:modifi(?:cation|ed)\s+(?:of\s+)?(?:the\s+)?(?:original\s+)?works?\s+(?:of|by|from)\b)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Reading:
    spdx: str
    where: str
    url: str | None
    statement: str


def figure_rights(caption: str) -> str:
    """The statement that makes a figure someone else's, '' where the caption only credits an open source."""
    if not third_party_statement(caption):
        return ""
    without = _CREDIT.sub(
        lambda credit: " " * len(credit.group()), caption
    )  # offsets stay those of the caption
    statement = third_party_statement(without)
    start = without.find(statement)
    return caption[start : start + len(statement)].strip()


def book_licence(collection: Collection, module: Element | None, parts: Mapping[str, bytes]) -> Licence:
    """The strictest of the licences that collection, module, LICENSE and README state.

    Args:
        collection: the book.
        module: the module's `<metadata>`.
        parts: stored files; `licence` and `readme` are looked at.
    """
    readings = [
        reading
        for reading in (
            _read("collection:license", collection.licence_url, collection.licence_text),
            _module_reading(module),
            _file_reading("LICENSE", parts.get(LICENCE_PART)),
            _readme_reading(parts.get(README_PART)),
        )
        if reading is not None
    ]
    if not readings:
        return Licence(spdx=licences.UNKNOWN, evidence="openstax: no licence stated")
    kept = readings[0]
    for reading in readings[1:]:
        kept = kept if licences.stricter(kept.spdx, reading.spdx) == kept.spdx else reading
    families = {licences.terms(reading.spdx).family for reading in readings}
    others = [f"{other.where} says {other.spdx}" for other in readings if other is not kept]
    return Licence(
        spdx=kept.spdx,
        evidence="; ".join([kept.where, *others]),
        url=kept.url,
        statement=kept.statement[:_MAX_STATEMENT],
        is_disputed=len(families) > 1,
    )


def _read(where: str, url: str, text: str) -> _Reading | None:
    """A licence element: its address, else its words; words that name no licence we know allow nothing."""
    if not url and not text:
        return None
    spdx = licences.from_url(url) or licences.from_url(text) or licences.from_text(text)
    return _Reading(spdx or licences.UNKNOWN, where, url or None, text)


def _module_reading(metadata: Element | None) -> _Reading | None:
    licence = metadata.find("license") if metadata is not None else None
    if licence is None:
        return None
    return _read("module:license", (licence.get("url") or "").strip(), all_text(licence))


def _file_reading(where: str, data: bytes | None) -> _Reading | None:
    """The text of a licence begins with its name; Creative Commons leaves its own name out there."""
    lines = [" ".join(line.split()) for line in (data or b"").decode("utf-8", "replace").splitlines()]
    name = next((line for line in lines if line), "")
    if not name:
        return None
    spdx = (
        licences.from_text(name) or licences.from_text(f"Creative Commons {name}") or licences.from_url(name)
    )
    return _Reading(spdx or licences.UNKNOWN, where, None, name)


def _readme_reading(data: bytes | None) -> _Reading | None:
    """A README may say nothing of licences: then it does not count."""
    text = (data or b"").decode("utf-8", "replace")
    named = [spdx for spdx in (licences.from_text(text), licences.from_url(text)) if spdx is not None]
    if not named:
        return None
    spdx = named[0] if len(named) == 1 else licences.stricter(*named)
    return _Reading(spdx, "README", None, "")
