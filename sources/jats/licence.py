"""The licence of an article or figure from `<permissions>`, weighed against the repository's metadata.

Order of trust inside the XML: `license_ref`, the licence's own href, a linked or written address, prose, the
copyright statement, a licence type that names one. Of addresses or metadata that disagree the stricter holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schemas import licences
from schemas.article import Licence
from sources.jats.nodes import Element, href_of, local, squeeze
from sources.jats.text import flatten

MAX_STATEMENT = 500
_ADDRESS = 2  # readings up to this trust are licence addresses, not words
# Works of United States government staff; the articles carry no permissions at all.
_US_GOVERNMENT_JOURNALS = re.compile(
    r"^(?:emerging infectious diseases|emerg infect dis|preventing chronic disease|prev chronic dis"
    r"|mmwr\b.*|morbidity and mortality weekly report.*)$",
    re.IGNORECASE,
)
_US_GOVERNMENT_PUBLISHER = re.compile(r"centers for disease control", re.IGNORECASE)
_DATA_WAIVER = re.compile(r"appl(?:y|ies|ied) to the data|data made available", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One licence read at one place; `trust` 0 is best."""

    spdx: str
    evidence: str
    trust: int
    url: str | None = None


def _permissions(meta: Element | None) -> list[Element]:
    """`<permissions>`, and article-meta itself where old NLM files put licence and copyright statement."""
    if meta is None:
        return []
    found = list(meta.iterchildren("permissions"))
    bare = any(local(child) in {"license", "copyright-statement"} for child in meta)
    return [*found, meta] if bare else found


def _addresses(licence: Element) -> Iterator[_Reading]:
    for element in licence.iter():
        name = local(element)
        if name == "license_ref":
            spdx = licences.from_url(element.text or "") or licences.from_code_type(
                element.get("content-type")
            )
            if spdx:
                yield _Reading(spdx, "jats:license_ref", 0, squeeze(element.text) or None)
        elif element is licence:
            href = href_of(element)
            if spdx := licences.from_url(href):
                yield _Reading(spdx, "jats:license/@href", 1, href)
        elif (href := href_of(element)) and (spdx := licences.from_url(href)):
            yield _Reading(spdx, "jats:license-p link", 2, href)


def _of_licence(licence: Element, prose: str) -> Iterator[_Reading]:
    """The readings of one `<license>` element, most trusted first; words are not read after an address."""
    found = list(_addresses(licence))
    yield from found
    if not all(map(_is_cc0, found)):  # `_choose` would take the address (a CC0 may give way to words)
        return
    if not found and (spdx := licences.from_url(prose)):
        yield _Reading(spdx, "jats:license-p address", 2)
    if spdx := licences.from_text(prose):
        yield _Reading(spdx, "jats:license-p text", 3)
    for attribute in ("license-type", "specific-use"):
        if spdx := licences.from_code_type(licence.get(attribute)):
            yield _Reading(spdx, f"jats:license/@{attribute}", 5)


def _is_cc0(reading: _Reading) -> bool:
    return licences.terms(reading.spdx).family == "cc0"


def _choose(readings: list[_Reading], statement: str) -> tuple[_Reading | None, bool]:
    """The reading that holds and whether equally good ones disagree.

    CC0 beside another licence is a waiver for the data, and so is a lone CC0 whose sentence says so.
    """
    readings = sorted(readings, key=lambda reading: reading.trust)
    others = [reading for reading in readings if not _is_cc0(reading)]
    pool = others or ([] if _DATA_WAIVER.search(statement) else readings)
    if not pool:
        return None, False
    addresses = [reading for reading in pool if reading.trust <= _ADDRESS] or pool[:1]
    kept = addresses[0]
    for reading in addresses[1:]:
        kept = kept if licences.stricter(kept.spdx, reading.spdx) == kept.spdx else reading
    return kept, len({licences.terms(reading.spdx).family for reading in addresses}) > 1


def read_permissions(meta: Element | None) -> Licence | None:
    """The licence that `<permissions>` inside this element state.

    Args:
        meta: `article-meta`, `fig` or any element with permissions.

    Returns:
        The licence; `LicenseRef-unknown` for a statement that names none; None without any statement.
    """
    readings: list[_Reading] = []
    statements: list[str] = []
    rights: list[str] = []
    for permissions in _permissions(meta):
        for licence in permissions.iterchildren("license"):
            prose = flatten(licence)
            statements.append(prose)
            readings.extend(_of_licence(licence, prose))
        for child in permissions:
            if local(child) == "license_ref" and (spdx := licences.from_url(child.text or "")):
                readings.append(_Reading(spdx, "jats:license_ref", 0, squeeze(child.text)))
        rights.extend(flatten(child) for child in permissions.iterchildren("copyright-statement"))
    statement = " ".join(filter(None, statements)) or " ".join(filter(None, rights))
    if not readings:
        written = " ".join(rights)
        if spdx := licences.from_url(written) or licences.from_text(written):
            readings.append(_Reading(spdx, "jats:copyright-statement text", 4))
    kept, disputed = _choose(readings, statement)
    if kept is None:
        if not statement and not readings:
            return None
        kept = _Reading(licences.UNKNOWN, "jats:permissions name no licence", 9)
    return Licence(
        spdx=kept.spdx,
        evidence=kept.evidence,
        url=kept.url,
        statement=statement[:MAX_STATEMENT],
        is_disputed=disputed,
    )


def rights_text(element: Element) -> str:
    """Copyright statement and licence prose of an element's own permissions, '' when it has none."""
    parts = [
        flatten(child)
        for permissions in element.iterchildren("permissions")
        for child in permissions
        if local(child) in {"copyright-statement", "copyright-holder", "license"}
    ]
    return " ".join(filter(None, parts))[:MAX_STATEMENT]


def _without_statement(journal: str, publisher: str) -> Licence:
    """An article without any rights statement: public domain for the US government's own journals only."""
    if _US_GOVERNMENT_JOURNALS.match(journal) or _US_GOVERNMENT_PUBLISHER.search(publisher):
        where = f"journal {journal}" if _US_GOVERNMENT_JOURNALS.match(journal) else f"publisher {publisher}"
        return Licence(spdx=licences.PUBLIC_DOMAIN, evidence=f"jats:no permissions; US government {where}")
    return Licence(spdx=licences.UNKNOWN, evidence="jats:no permissions")


def article_licence(
    meta: Element | None, *, journal: str, publisher: str, license_code: str | None
) -> Licence:
    """The licence of an article: its XML against the repository's metadata, the stricter of the two.

    Args:
        meta: `article-meta`.
        journal: journal title, evidence for US government works.
        publisher: publisher name, likewise.
        license_code: `license_code` of the metadata, None when there is no metadata.
    """
    own = read_permissions(meta)
    read = own or _without_statement(journal, publisher)
    return against_metadata(read, license_code, is_silent=own is None)


def against_metadata(read: Licence, license_code: str | None, *, is_silent: bool) -> Licence:
    """A licence read in the XML against the repository's metadata: the stricter of the two.

    Args:
        read: the licence read.
        license_code: `license_code` of the metadata, None when there is no metadata.
        is_silent: the XML makes no rights statement.
    """
    stated = licences.from_code(license_code)
    if stated is None:
        return read
    if is_silent and read.spdx == licences.UNKNOWN:  # silence does not disagree with the metadata
        return Licence(spdx=stated, evidence=f"metadata:license_code {license_code}; {read.evidence}")
    agreed = licences.terms(stated).family == licences.terms(read.spdx).family
    held = licences.stricter(read.spdx, stated)
    note = f"metadata:license_code {license_code}" + ("" if agreed else " disagrees")
    evidence = (
        f"{read.evidence}; {note}" if held == read.spdx else f"{note}; {read.evidence} says {read.spdx}"
    )
    return Licence(
        spdx=held,
        evidence=evidence,
        url=read.url,
        statement=read.statement,
        is_disputed=read.is_disputed or not agreed,
    )
