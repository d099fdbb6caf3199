"""The sample book: two invented chapters as NLM LitArch would deliver them, packed when asked for.

Marked synthetic like the sample articles; README.md in its folder says what each chapter exercises.
"""

from __future__ import annotations

import csv
import gzip
import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BOOK = "NBK990000"
"""Accession of the sample book."""
BOOK_DIR = Path(__file__).resolve().parent / "bookshelf" / "inventox_NBK990000"
_HEADER = (
    "File",
    "Title",
    "Publisher",
    "Publication Year",
    "Accession ID",
    "Last Updated (YYYY-MM-DD HH:MM:SS)",
)


@dataclass(frozen=True, slots=True)
class Package:
    """One package and its row in the file list. `path` lies below the endpoint, `archive` is the tar.gz."""

    path: str
    title: str
    publisher: str
    year: str
    accession: str
    updated: str
    archive: bytes


@dataclass(frozen=True, slots=True)
class OaiRecord:
    """One record of the Books OAI-PMH service; one without open access has no full text to give."""

    accession: str
    datestamp: str
    document: bytes
    sets: tuple[str, ...] = ("book-open",)
    is_open: bool = True
    is_deleted: bool = False


def pack(files: Mapping[str, bytes]) -> bytes:
    """A tar.gz of files by member name; the same files give the same bytes on one machine."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(files[name]), 0o644
            archive.addfile(member, io.BytesIO(files[name]))
    return gzip.compress(plain.getvalue(), compresslevel=6, mtime=0)


def build_archive(book: Path = BOOK_DIR) -> bytes:
    """The package of a book kept as loose files in one folder."""
    return pack({f"{book.name}/{path.name}": path.read_bytes() for path in book.iterdir() if path.is_file()})


def sample_packages() -> tuple[Package, ...]:
    """What the sample's file list holds."""
    return (
        Package(
            path="99/0a/inventox_NBK990000.tar.gz",
            title="InvenTox &ndash; Liver Injury by Invented Drugs",
            publisher="Medqrels Sample Press",
            year="2023",
            accession=BOOK,
            updated="2025-03-11 02:41:04",
            archive=build_archive(),
        ),
    )


def sample_records() -> tuple[OaiRecord, ...]:
    """What the sample's OAI service holds: the chapter with an accession of its own."""
    document = (BOOK_DIR / "PhenotypeAutoimmune.nxml").read_bytes()
    return (OaiRecord("NBK990001", "2025-03-11", document, sets=("book-open", "inventox")),)


def file_list_csv(packages: Sequence[Package]) -> bytes:
    """The file list as LitArch writes it: Windows-1252."""
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(_HEADER)
    for item in packages:
        rows.writerow([item.path, item.title, item.publisher, item.year, item.accession, item.updated])
    return text.getvalue().encode("cp1252", "xmlcharrefreplace")
