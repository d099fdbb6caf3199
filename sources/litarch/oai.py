"""Books OAI-PMH (https://www.ncbi.nlm.nih.gov/books/about/openaccess/): single records of Bookshelf as XML.

The route to a chapter or book whose package is not wanted whole; it has no images. One request at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from lxml import etree

from schemas.errors import FetchError, InputError
from schemas.stages import Reason
from sources.jats.nodes import Element, all_text, local
from sources.ledger import Held
from sources.litarch.books import SOURCE, LitarchContext

PREFIX = "nbk_ftext"
"""Metadata prefix of full text; `nbk_meta` is the front matter alone."""
_IDENTIFIER = "oai:books.ncbi.nlm.nih.gov:"
_MAX_PAGES = 10_000
_NUMBER = re.compile(r"^(?:NBK)?(\d{1,9})$", re.IGNORECASE)
_REFUSALS = {"idDoesNotExist": Reason.NOT_FOUND, "cannotDisseminateFormat": Reason.NOT_OPEN_ACCESS}
_DATESTAMP = "x-oai-datestamp"


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a list: accession (`NBK…`) and the date of its last change."""

    accession: str
    datestamp: str


def oai_records(context: LitarchContext, *, set_name: str = "book-open", since: str = "") -> list[Record]:
    """What a set holds, sorted by accession number; deleted records are left out.

    Args:
        context: client and limits.
        set_name: `book-open` or the set of one book.
        since: only what changed on or after this date (YYYY-MM-DD).

    Raises:
        FetchError: the service does not answer, not with a list, or the list does not end.
    """
    query = {"verb": "ListIdentifiers", "metadataPrefix": PREFIX, "set": set_name}
    asked = query | ({"from": since} if since else {})
    found: dict[str, Record] = {}
    tokens: set[str] = set()
    for _ in range(_MAX_PAGES):
        answer = _ask(asked, context)
        code = _error_code(answer)
        if code == "noRecordsMatch":
            break
        if code:
            raise FetchError(f"the OAI service answers {code}", hint="start the list anew")
        found |= {record.accession: record for record in _records(answer)}
        token = next((all_text(element) for element in answer.iter("{*}resumptionToken")), "")
        if not token:
            break
        if token in tokens:
            raise FetchError("the list of the OAI service does not end")
        tokens.add(token)
        asked = {"verb": "ListIdentifiers", "resumptionToken": token}
    return sorted(found.values(), key=lambda record: int(record.accession[3:]))


def oai_record(accession: str, context: LitarchContext, *, datestamp: str = "") -> Held:
    """Have the full text of one record under raw/: the document itself, without the envelope it came in.

    Args:
        accession: `NBK123` or `123`.
        context: client, store and limits.
        datestamp: date of the last change as listed; what is held from another date is fetched again. Without
            it what is held is taken.

    Raises:
        InputError: `not_found`, `not_open_access` (its full text is not given out), `not_an_article`,
            `too_large`.
        FetchError: the service does not answer, or not with a record.
    """
    found = _NUMBER.match(accession.strip())
    if not found:
        what = f"not a Bookshelf accession: {accession.strip()[:60]!r}"
        raise InputError(what, reason=Reason.NOT_FOUND.value)
    number = int(found.group(1))
    key = f"oai:NBK{number}"
    held = context.store.held(SOURCE, key)
    if held is not None and datestamp in ("", held.headers.get(_DATESTAMP, "")):
        return held
    query = {"verb": "GetRecord", "metadataPrefix": PREFIX, "identifier": f"{_IDENTIFIER}{number}"}
    answer = _ask(query, context)
    if code := _error_code(answer):
        if code not in _REFUSALS:
            raise FetchError(f"the OAI service answers {code}", record=key)
        raise InputError(f"NBK{number}: {code}", reason=_REFUSALS[code].value, record=key)
    stamp = next((record.datestamp for record in _records(answer)), "")
    path = f"{SOURCE}/oai/NBK{number}.nxml"
    return context.store.put(SOURCE, key, path, _document(answer, key), headers={_DATESTAMP: stamp})


def _ask(query: dict[str, str], context: LitarchContext) -> Element:
    """One request, never beside another: the service forbids concurrent ones.

    Raises:
        FetchError: no answer, or none of OAI-PMH.
    """
    url = f"{context.oai_endpoint}?{urlencode(query)}"
    with context.memory.oai:
        answer = context.client.get(url, max_bytes=context.max_xml_bytes)
    if answer is None:
        raise FetchError("there is no OAI service", hint="check the litarch OAI endpoint in the settings")
    # Entities in attribute values are always expanded, and a large record needs libxml2's guard off.
    hostile = b"<!ENTITY" in answer.body
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=not hostile)
    try:
        root = etree.fromstring(answer.body, parser)
    except (etree.LxmlError, ValueError):
        raise FetchError("the OAI service's answer is not XML") from None
    if local(root) != "OAI-PMH":
        raise FetchError(f"the OAI service's answer is <{local(root)[:40]}>, not <OAI-PMH>")
    return root


def _error_code(answer: Element) -> str:
    """Code of the first error, '' when there is none: errors come with HTTP 200."""
    error = answer.find("{*}error")
    return "" if error is None else error.get("code") or "an error without a code"


def _records(answer: Element) -> Iterator[Record]:
    for header in answer.iter("{*}header"):
        identifier = header.findtext("{*}identifier") or ""
        found = _NUMBER.match(identifier.rpartition(":")[2].strip())
        if found and header.get("status") != "deleted":
            stamp = (header.findtext("{*}datestamp") or "").strip()
            yield Record(f"NBK{int(found.group(1))}", stamp)


def _document(answer: Element, key: str) -> bytes:
    """The one element inside `<metadata>`: the envelope has the time of the answer in it."""
    inside = [child for metadata in answer.iter("{*}metadata") for child in metadata.iterchildren("*")]
    if len(inside) != 1:
        what = f"the record holds {len(inside)} documents, not one"
        raise InputError(what, reason=Reason.NOT_AN_ARTICLE.value, record=key)
    return bytes(etree.tostring(inside[0], encoding="utf-8", xml_declaration=True, with_tail=False))
