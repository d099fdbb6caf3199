"""Damaged PubMed records and files: each is read or quarantined, and a file loses no record in silence."""

from __future__ import annotations

import gzip
import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mutations import drop_span, flip_bits, repeat_span, truncate
from benchmarks.mutations import mutants as xml_mutants
from schemas.article import RawArticle
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.stages import Reason
from sources import medline_xml
from sources.medline_xml.files import Record, read_file
from tests.sources.fakes.medline import BOOK, FULL, set_of, simple

_OPENINGS = re.compile(rb"<Pubmed(?:Book)?Article[\s>]")


def seeds() -> list[bytes]:
    """Files of records written by us, unpacked: one with every element, one of an update, one of books."""
    small = [
        simple(number, f"Title {number}", abstract="Fever &amp; cough. " * 20) for number in range(1, 30)
    ]
    return [set_of(FULL, *small), set_of(*small, deleted=(7, 8)), set_of(BOOK, FULL)]


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the seed file, damaged bytes): three of four XML, one its gzip."""
    files = seeds()
    rng = random.Random(seed)
    plain = xml_mutants(files, count, seed)
    for number in range(count):
        if number % 4:
            yield next(plain)
            continue
        index = rng.randrange(len(files))
        damage = rng.choice((flip_bits, truncate, drop_span, repeat_span))
        yield f"gzip_{damage.__name__}", index, damage(gzip.compress(files[index], mtime=0), rng)


def outcome(data: bytes) -> str:
    """What became of one file: `read: N articles, M quarantined` or `quarantined: <reason>`.

    Raises:
        AssertionError: a whole file gave fewer items than it has opening tags of records.
    """
    read = dropped = items = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pubmed26n0001.xml.gz")
        path.write_bytes(data)
        try:
            for item in read_file(path):
                if isinstance(item, Record):
                    is_read = _is_read(item)
                    read, dropped = read + is_read, dropped + (not is_read)
                items += 1
        except InputError as error:
            return f"quarantined: {Reason(error.reason).value}"
    if data[:2] != b"\x1f\x8b" and items < len(_OPENINGS.findall(data)):
        raise AssertionError(f"{items} items of {len(_OPENINGS.findall(data))} records")
    return f"read: {read} articles, {items - read} quarantined"


def _is_read(record: Record) -> bool:
    raw = RawArticle(
        id=f"medline:{record.pmid}",
        source="medline",
        format="medline",
        locator=record.pmid,
        path="record.xml",
        sha256=sha256_bytes(record.data),
    )
    try:
        return bool(medline_xml.parse(record.data, raw).id)
    except InputError as error:
        Reason(error.reason)
        return False
