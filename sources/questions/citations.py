"""What a question's answer cites, as PMID, PMCID, DOI or URL where the collection's own form tells one.

Link forms: pubmed.ncbi.nlm.nih.gov, pmc.ncbi.nlm.nih.gov, europepmc.org and doi.org addresses, old and new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from schemas.errors import InputError
from schemas.ids import normalise_doi, normalise_pmcid
from schemas.question import Citation
from schemas.stages import Reason

KEYS: Final = ("pmid", "pmcid", "doi", "url", "text")
"""Keys of a citation object, the most precise first."""
MAX_CITATIONS: Final = 1000

_PMID = re.compile(r"0*([1-9]\d{0,9})", re.ASCII)
_LABELLED_PMID = re.compile(r"(?:pmid|pubmed(?:\s+id)?)\s*:?\s*0*([1-9]\d{0,9})", re.IGNORECASE | re.ASCII)
_LABELLED_PMCID = re.compile(r"(?:pmcid\s*:?\s*)?(pmc\d{1,12})(?:\.\d{1,3})?", re.IGNORECASE | re.ASCII)
_PUBMED_PATH = re.compile(r"/(?:pubmed/)?(\d{1,10})/?", re.ASCII)
_PMC_PATH = re.compile(
    r"/(?:pmc/)?(?:articles/)?(pmc\d{1,12})(?:\.\d{1,3})?(?:/.*)?", re.IGNORECASE | re.ASCII
)
_EUROPEPMC_PATH = re.compile(
    r"/(?:article|abstract)/(med|pmc)/(?:pmc)?(\d{1,12})/?", re.IGNORECASE | re.ASCII
)
_NCBI: Final = frozenset({"www.ncbi.nlm.nih.gov", "ncbi.nlm.nih.gov", "m.ncbi.nlm.nih.gov"})


def read_citations(value: Any) -> tuple[Citation, ...]:
    """Citations in order, each once.

    Args:
        value: a list of objects with keys of `KEYS` or of strings; one of these alone; None.

    Raises:
        InputError: not of that form, or an identifier that is none (`record_invalid`).
    """
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    if len(items) > MAX_CITATIONS:
        raise _invalid(f"more than {MAX_CITATIONS} citations")
    read = [_citation(item, place) for place, item in enumerate(items, 1)]
    return tuple({(each.kind, each.target): each for each in read}.values())


def _invalid(what: str) -> InputError:
    return InputError(what, reason=Reason.RECORD_INVALID.value)


def _citation(item: Any, place: int) -> Citation:
    if isinstance(item, str) and item.strip():
        return from_text(item)
    if not isinstance(item, Mapping):
        raise _invalid(f"citation {place}: neither an object nor a text")
    unknown = sorted(set(item) - set(KEYS))
    if unknown:
        raise _invalid(f"citation {place}: unknown key {unknown[0][:40]!r}; known: {', '.join(KEYS)}")
    for key in KEYS:
        if item.get(key) not in (None, ""):
            return _of_key(key, item[key], place)
    raise _invalid(f"citation {place}: empty")


def _of_key(key: str, value: Any, place: int) -> Citation:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _invalid(f"citation {place}: {key} is no text")
    text = str(value).strip()
    read = from_text(text)
    if key == "pmid":
        found = _PMID.fullmatch(text)
        if found:
            return Citation(kind="pmid", target=found.group(1))
    elif key == "pmcid" and _PMID.fullmatch(text):
        return Citation(kind="pmcid", target=normalise_pmcid(text))
    elif key == "text" or (key == "url" and read.kind != "text"):
        return read
    if read.kind != key:
        raise _invalid(f"citation {place}: not a {key.upper()}: {text[:60]!r}")
    return read


def from_text(text: str) -> Citation:
    """One citation written as a text: an address, a labelled or unmistakable identifier, else a reference.

    Digits alone are a reference text: what they count is not said.
    """
    clean = " ".join(text.split())
    if clean.lower().startswith(("http://", "https://")):
        return _of_url(clean)
    for pattern, kind in ((_LABELLED_PMID, "pmid"), (_LABELLED_PMCID, "pmcid")):
        found = pattern.fullmatch(clean)
        if found:
            return _identified(kind, found.group(1))
    doi = normalise_doi(clean)
    return Citation(kind="doi", target=doi) if doi else Citation(kind="text", target=clean)


def _identified(kind: str, value: str) -> Citation:
    if kind == "pmcid":
        return Citation(kind="pmcid", target=normalise_pmcid(value))
    return Citation(kind="pmid", target=str(int(value)))


def _of_url(address: str) -> Citation:
    """What an address names: the article where the host is known to name articles so, else itself."""
    plain = Citation(kind="url", target=address)
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
    except ValueError:
        return Citation(kind="text", target=address)
    if not host:
        return Citation(kind="text", target=address)
    path = unquote(parts.path)
    if host in ("doi.org", "dx.doi.org", "www.doi.org"):
        doi = normalise_doi(path.lstrip("/"))
        return Citation(kind="doi", target=doi) if doi else plain
    if host == "pubmed.ncbi.nlm.nih.gov" or (host in _NCBI and path.startswith("/pubmed/")):
        found = _PUBMED_PATH.fullmatch(path)
        return _identified("pmid", found.group(1)) if found and int(found.group(1)) else plain
    if host == "pmc.ncbi.nlm.nih.gov" or (host in _NCBI and path.startswith("/pmc/")):
        found = _PMC_PATH.fullmatch(path)
        return _identified("pmcid", found.group(1)) if found else plain
    if host in ("europepmc.org", "www.europepmc.org"):
        found = _EUROPEPMC_PATH.fullmatch(path)
        if found and int(found.group(2)):
            return _identified("pmid" if found.group(1).lower() == "med" else "pmcid", found.group(2))
    return plain
