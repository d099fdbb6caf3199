"""Finds what names an article or a study by an identifier: DOI, PMID, PMCID, a number in a trial registry.

Whoever has the identifier needs no retrieval. Registries are the primary ones of the WHO's network
(https://www.who.int/tools/clinical-trials-registry-platform/network/primary-registries), ClinicalTrials.gov,
EudraCT and PROSPERO; DOIs are read as Crossref advises
(https://www.crossref.org/blog/dois-and-matching-regular-expressions/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

REGISTERED = (
    r"(?:NCT ?\d{8}|ISRCTN[ :,]{0,2}\d{6,8}|ACTRN[ :,]{0,2}\d{14}|ChiCTR[-A-Za-z]{0,6} ?\d{6,12}"
    r"|CTRI/\d{4}/\d{1,3}/\d{4,7}"
    r"|DRKS ?\d{8}|(?:EudraCT[^\w()\[\]]{0,3}(?:number|no\.?|nr\.?)?[^\w()\[\]]{0,3})?\b20\d\d-\d{6}-\d\d\b"
    r"|IRCT ?\d{6,20}(?:N\d+)?"
    r"|JPRN-\w{4,20}|jRCTs?\d{9,12}|UMIN ?\d{6,9}|KCT ?\d{7}|NTR(?: ID)?[ :]{0,2}\d{3,5}|PACTR ?\d{12,18}"
    r"|RBR-?\w{5,8}"
    r"|SLCTR/\d{4}/\d{2,4}|TCTR ?\d{8,14}|RPCEC ?\d{8}|LBCTR ?\d{8,12}|NL ?\d{4,5}(?:\.\d{3}\.\d{2})?"
    r"|U1111-\d{4}-\d{4}|researchregistry ?\d{1,6}|CRD ?42\d{6,10}|INPLASY ?\d{6,12})"
)
"""A number in a registry, as RE2 and Python read it."""
_REGISTRIES = (
    r"(?:clinicaltrials\.gov|isrctn\.(?:com|org)|controlled-trials\.com|anzctr\.org\.au|chictr\.org\.cn|ctri\.nic\.in"
    r"|drks\.de|clinicaltrialsregister\.eu|irct\.(?:ir|behdasht\.gov\.ir)|umin\.ac\.jp|jrct\.(?:niph|mhlw)\.go\.jp"
    r"|cris\.nih\.go\.kr|trialregister\.nl|onderzoekmetmensen\.nl|pactr\.\w+\.org|ensaiosclinicos\.gov\.br"
    r"|thaiclinicaltrials\.org|rpcec\.sld\.cu|crd\.york\.ac\.uk|trialsearch\.who\.int)"
)
"""Where registries are found: an address there with a path is that of one study."""
DOI = r"10\.(?:13039/\d{6,14}|\d{4,9}/[^\s<>\"“”«»]+)"
"""A funder's (10.13039, Crossref) is all digits: its name often stands right behind."""
_PUBMED = r"(?:PMC ?\d{5,9}|(?:PMID|PubMed ID|PMCID)\W{0,3}(?:PMC)?\d{5,9})"
ANY = rf"(?:{DOI}|\b{_PUBMED}\b|\b{REGISTERED})"
"""Any of them, as RE2 and Python read it."""
_ENDS = r"(?!(?!https?://|www\.)\w)"
"""No word goes on here, but an address may begin without a space."""
_FIND = re.compile(
    rf"(?:(?:\b[Dd][Oo][Ii]s?\b\s?[:.]?\s?)?(?:(?:https?://|www\.|dx\.|doi\.org)[^\s<>()\[\]]{{0,99}}?)?"
    rf"(?:\b[A-Z]{{2}}\d-)?(?P<doi>(?<![\d.]){DOI})"
    rf"|(?P<address>(?:https?://|www\.)[\w.-]*{_REGISTRIES}/[^\s<>\"“”«»\d]*\d[^\s<>\"“”«»]*)"
    rf"|(?<!\w)(?P<pubmed>{_PUBMED}){_ENDS}"
    rf"|(?:(?<!\w)|(?<=[a-z])(?=NCT))(?P<registered>{REGISTERED}){_ENDS})"
)
_HINT = re.compile(r"\d{4}|://|www|RBR")
_CLOSING = {")": "(", "]": "[", "}": "{"}
_OPENING = frozenset(_CLOSING.values())


class Identifier(NamedTuple):
    """Where one stands, its label ("DOI:") and address included; `kind` is doi, pubmed or registered."""

    start: int
    end: int
    kind: str


def identifiers_in(text: str) -> Iterator[Identifier]:
    """All identifiers of a text, in order, not overlapping."""
    if not _HINT.search(text):
        return
    end = 0
    while found := _FIND.search(text, end):
        kind, end = str(found.lastgroup), found.end()
        if kind in ("doi", "address"):  # right behind the bracket it ends before, another can begin
            end = _trimmed(text, found.start(kind), end)
        yield Identifier(found.start(), end, "registered" if kind == "address" else kind)


def _trimmed(text: str, start: int, end: int) -> int:
    """The end of a DOI without the marks that close the sentence or the bracket around it."""
    opened: list[str] = []
    for at in range(start, end):
        if text[at] in _OPENING:
            opened.append(text[at])
        elif (opening := _CLOSING.get(text[at])) in opened:
            opened.remove(str(opening))
        elif opening is not None:
            end = at
            break
    while end > start and text[end - 1] in ".,;:'’”\"*([{":
        end -= 1
    return end
