"""PubMed's yearly baseline and daily update files: single records out of `pubmed26n0001.xml.gz`, as stream.

A file holds 30,000 records. Each record is cut out byte for byte, so one damaged record costs itself alone.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from lxml import etree

from schemas.errors import InputError
from schemas.stages import Reason
from sources.jats.nodes import Element, all_text
from sources.medline_xml.languages import from_medline

MIB: Final = 1024 * 1024
FILE_NAME = re.compile(r"pubmed\d{2}n\d{4}\.xml\.gz")

_BLOCK: Final = MIB
_OPEN: Final = re.compile(rb"<(PubmedArticle|PubmedBookArticle|DeleteCitation)(?=[\s>])")
_LONGEST_TAG: Final = 20
_OWN_PMID: Final = re.compile(rb"<PMID(?:\s+Version=\"(\d{1,3})\")?\s*>\s*([1-9]\d{0,9})\s*</PMID>")
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Caps in bytes: one record, and what a whole file unpacks to (a real one stays below 400 MiB)."""

    record_bytes: int = 16 * MIB
    file_bytes: int = 4096 * MIB


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file; `data` are its exact bytes."""

    pmid: str
    version: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Deletion:
    """A record that an update file withdraws."""

    pmid: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Bytes where a record should be: what is wrong, and at which byte of the unpacked file."""

    offset: int
    detail: str


Item = Record | Deletion | Unreadable
Stream = gzip.GzipFile | IO[bytes]


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which records of a file to keep; each empty field keeps all.

    Attributes:
        pmids: these only; None for all.
        has_abstract: only records with an abstract of their own.
        languages: BCP-47 codes; the article is in one of them or has an abstract in one.
        publication_types: names as PubMed writes them, e.g. `Case Reports`; one suffices.
    """

    pmids: frozenset[str] | None = None
    has_abstract: bool = False
    languages: frozenset[str] = frozenset()
    publication_types: frozenset[str] = frozenset()

    def keeps(self, record: Record) -> bool:
        """Whether a record is wanted; one that is no XML is, so that the reader gives its reason."""
        if self.pmids is not None and record.pmid not in self.pmids:
            return False
        if not (self.has_abstract or self.languages or self.publication_types):
            return True
        try:
            element = etree.fromstring(record.data, _parser())
        except (etree.XMLSyntaxError, ValueError):
            return True
        return (
            (not self.has_abstract or element.find(".//Abstract/AbstractText") is not None)
            and (not self.languages or not self.languages.isdisjoint(_languages(element)))
            and (not self.publication_types or not self.publication_types.isdisjoint(_types(element)))
        )


def _parser() -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)


def _languages(element: Element) -> set[str]:
    stated = [all_text(language) for language in element.iter("Language")]
    stated += [abstract.get("Language") or "" for abstract in element.iter("OtherAbstract")]
    return {from_medline(code) for code in stated}


def _types(element: Element) -> set[str]:
    return {all_text(kind) for kind in element.iter("PublicationType")}


def read_file(path: Path, limits: FileLimits | None = None) -> Iterator[Item]:
    """Yield what a file holds, in order, one record in memory at a time.

    Args:
        path: `.xml.gz`, or the same unpacked.
        limits: caps.

    Raises:
        InputError: `archive_invalid` (damaged gzip, or the file ends inside a record), `too_large`,
            `record_invalid` (no PubMed record in it), `not_found`.
    """
    try:
        with path.open("rb") as packed:
            is_gzip = packed.peek(2)[:2] == _GZIP
            stream = gzip.GzipFile(fileobj=packed) if is_gzip else packed
            yield from read_records(stream, path.name, limits)
    except FileNotFoundError:
        raise _error(Reason.NOT_FOUND, "no such file", path.name) from None


def read_records(stream: Stream, name: str, limits: FileLimits | None = None) -> Iterator[Item]:
    """Yield what an unpacked stream holds; `name` is for messages. Raises: as :func:`read_file`."""
    found = 0
    for element, offset, data in _elements(stream, name, limits or FileLimits()):
        found += 1
        if element == "DeleteCitation":
            yield from (Deletion(match.group(2).decode()) for match in _OWN_PMID.finditer(data))
            continue
        own = _OWN_PMID.search(data)
        if own is None:
            yield Unreadable(offset, "a record without a PMID" if element else "a record that does not end")
        else:
            yield Record(own.group(2).decode(), int(own.group(1) or 1), data)
    if not found:
        raise _error(Reason.RECORD_INVALID, "it holds no PubMed record", name)


def _elements(stream: Stream, file: str, limits: FileLimits) -> Iterator[tuple[str, int, bytes]]:
    """Name, offset and bytes of each top element ('' for one that never ends); the rest is passed over."""
    held, offset, searched = b"", 0, 0
    while block := _read(stream, file):
        held += block
        if offset + len(held) > limits.file_bytes:
            raise _error(Reason.TOO_LARGE, f"it unpacks to more than {limits.file_bytes} bytes", file)
        at = 0
        while start := _OPEN.search(held, at):
            at, name = start.start(), start.group(1)
            closing = b"</" + name + b">"
            end = held.find(closing, max(at, searched - len(closing)))
            following = _OPEN.search(
                held, max(start.end(), searched - _LONGEST_TAG), max(end, 0) or len(held)
            )
            if following is not None:
                yield "", offset + at, b""
                at, searched = following.start(), 0
                continue
            searched = len(held) - at if end < 0 else 0
            if searched > limits.record_bytes:
                raise _error(Reason.TOO_LARGE, f"a record larger than {limits.record_bytes} bytes", file)
            if end < 0:
                break
            yield name.decode(), offset + at, held[at : end + len(closing)]
            at = end + len(closing)
        else:
            at, searched = max(at, len(held) - _LONGEST_TAG), 0
        held, offset = held[at:], offset + at
    if _OPEN.search(held):
        raise _error(Reason.ARCHIVE_INVALID, "it ends inside a record", file)


def _read(stream: Stream, file: str) -> bytes:
    try:
        return stream.read(_BLOCK)
    except (OSError, EOFError, zlib.error) as error:
        what = f"the file is damaged ({type(error).__name__})"
        raise _error(Reason.ARCHIVE_INVALID, what, file) from error


def _error(reason: Reason, what: str, file: str) -> InputError:
    return InputError(what, reason=reason.value, file=file, hint="fetch the file again")
