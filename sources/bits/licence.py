"""The licence of a book's chapter: its own statement, else the book's; where both speak, the stricter.

NCBI Bookshelf, "Copyright and permissions": documents of US government agencies are in the public domain and
carry no statement. Of any other publisher silence allows nothing.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from schemas import licences
from schemas.article import Licence
from sources.jats.licence import MAX_STATEMENT, against_metadata, read_permissions
from sources.jats.nodes import Element
from sources.jats.text import flatten

# Bookshelf writes "(US)" after many names, also after private ones (National Academies Press): names decide.
_AGENCIES = re.compile(
    r"National Institutes? of (?:Health\b(?! and| Research)|Diabetes|Child Health|Mental Health|Neurological"
    r"|Allergy and Infectious|Environmental Health Sciences|Arthritis|General Medical|Biomedical"
    r"|Nursing Research|Dental and Craniofacial)"
    r"|National (?:Cancer|Eye|Human Genome Research) Institute(?:\s*\(US\)|\s*$)"
    r"|National Heart, Lung, and Blood Institute|National Institute on (?:Aging|Drug Abuse|Alcohol|Deafness)"
    r"|National Library of Medicine|National Center for Biotechnology Information"
    r"|National Toxicology Program|Agency for Healthcare Research and Quality|Agency for Health Care Policy"
    r"|Centers for Disease Control|Agency for Toxic Substances|Food and Drug Administration"
    r"|Substance Abuse and Mental Health Services|Health Resources and Services Administration"
    r"|(?:US|U\.S\.|United States) (?:Department of|Preventive Services Task Force|Public Health Service)"
    r"|Department of Health and Human Services|Department of Veterans Affairs"
    r"|Office of the Surgeon General",
    re.IGNORECASE,
)
_NOT_COPYRIGHTED = re.compile(
    r"\bnot (?:copyright(?:ed)?(?: protected)?|protected by copyright|subject to copyright)\b"
    r"|\bno copyright (?:is claimed|restrictions?)\b",
    re.IGNORECASE,
)
_NOT_WHOLLY_PUBLIC = re.compile(
    r"\bnot\b[^.]{0,30}\bpublic domain\b"
    r"|\b(?:portions?|parts?|some|certain|most|much|many)\b[^.]{0,80}\bpublic domain\b"
    r"|\bfor a fee\b|\bnon-?commercial\b",
    re.IGNORECASE,
)
_RIGHTS_NOTES = re.compile(r"rights|copyright|licen[sc]e|permission", re.IGNORECASE)


def chapter_licence(
    meta: Element | None, book_metas: Sequence[Element], *, publisher: str, license_code: str | None
) -> Licence:
    """The licence that holds for a chapter.

    Args:
        meta: `book-part-meta` of the chapter.
        book_metas: `book-meta` elements that speak for it, nearest first; the first with a statement counts.
        publisher: publisher of the book.
        license_code: licence code of the repository's metadata, None when there is none.
    """
    own = _stated(meta, "book-part-meta")
    book = next(filter(None, (_stated(found, "book-meta") for found in book_metas)), None)
    read = _stricter(own, book) if own and book else own or book
    silent = read is None
    return against_metadata(read or _silence(publisher), license_code, is_silent=silent)


def _stated(meta: Element | None, where: str) -> Licence | None:
    found = read_permissions(meta)
    found = _from_notes(meta) if found is None else found
    if found is None:
        return None
    spdx = found.spdx
    evidence = found.evidence.replace("jats:", f"bits:{where}/")
    if spdx == licences.PUBLIC_DOMAIN and _NOT_WHOLLY_PUBLIC.search(found.statement):
        spdx, evidence = licences.UNKNOWN, f"{evidence}; the public domain with conditions"
    elif spdx == licences.UNKNOWN and _NOT_COPYRIGHTED.search(found.statement):
        spdx, evidence = licences.PUBLIC_DOMAIN, f"bits:{where}, stated as not copyrighted"
    return dataclasses.replace(found, spdx=spdx, evidence=evidence)


def _from_notes(meta: Element | None) -> Licence | None:
    """Old books put their rights into `<notes notes-type="rights">`."""
    for notes in meta.iterchildren("notes") if meta is not None else ():
        if _RIGHTS_NOTES.search(notes.get("notes-type") or ""):
            text = flatten(notes)
            spdx = licences.from_url(text) or licences.from_text(text)
            if spdx or _NOT_COPYRIGHTED.search(text):
                statement = text[:MAX_STATEMENT]
                return Licence(spdx=spdx or licences.UNKNOWN, evidence="jats:notes text", statement=statement)
    return None


def _stricter(own: Licence, book: Licence) -> Licence:
    """Of a chapter's licence and its book's; a bare copyright line that repeats the book's adds nothing."""
    if own.spdx == licences.UNKNOWN and own.statement and own.statement in book.statement:
        return book
    agreed = licences.terms(own.spdx).family == licences.terms(book.spdx).family
    held, other = own, book
    if not agreed and licences.stricter(own.spdx, book.spdx) == book.spdx:
        held, other = book, own
    if agreed:
        return held
    evidence = f"{held.evidence}; {other.evidence} says {other.spdx}"
    return dataclasses.replace(held, evidence=evidence, is_disputed=True)


def _silence(publisher: str) -> Licence:
    if _AGENCIES.search(publisher):
        evidence = f"bits:no rights statement; US government publisher {publisher}"
        return Licence(spdx=licences.PUBLIC_DOMAIN, evidence=evidence)
    return Licence(spdx=licences.UNKNOWN, evidence="bits:no rights statement")
