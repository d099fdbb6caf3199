"""Damaged book chapters through parse and extract: each is read or quarantined with a reason."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

from benchmarks.mutations import MUTATIONS
from curation.extract.stage import EXTRACT
from schemas.article import BookPlace, RawArticle
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.stages import Reason
from sources import bits
from sources.sample.bookshelf import BOOK_DIR

Damage = Callable[[bytes, random.Random], bytes]
_DECLARATION = re.compile(rb"\A\s*<\?xml[^>]*\?>\s*")
_PART = re.compile(rb"<book-part[ >].*</book-part>", re.S)
_KIND = re.compile(rb'(content-type|book-part-type)="[a-z]*"')


def seeds() -> list[bytes]:
    """The files of the sample book, with and without XML declaration."""
    files = [path.read_bytes() for path in sorted(BOOK_DIR.glob("*.nxml"))]
    return [*files, *(_DECLARATION.sub(b"", data) for data in files)]


def other_kind(data: bytes, rng: random.Random) -> bytes:
    """Say that it is another kind of part: contents, an index, a section, nothing known."""
    kind = rng.choice([b"toc", b"index", b"section", b"part", b"", b"\xc3\xa9"])
    return _KIND.sub(rb'\1="' + kind + b'"', data, count=rng.randint(1, 2))


def nest_parts(data: bytes, rng: random.Random) -> bytes:
    """Put the chapter into itself, beside itself, or many times into one another."""
    found = _PART.search(data)
    if not found:
        return data + data
    part = found.group()
    if rng.random() < 0.4:
        return data.replace(part, part * rng.randint(2, 5))
    for _ in range(rng.choice([1, 3, 60])):
        part = b"<book-part><book-part-meta/><body>" + part + b"</body></book-part>"
    return data[: found.start()] + part + data[found.end() :]


def other_envelope(data: bytes, rng: random.Random) -> bytes:
    """Deliver it inside something else: an OAI answer, a whole book, an error page, an article."""
    bare = re.sub(rb"<!DOCTYPE[^>]*>", b"", _DECLARATION.sub(b"", data))
    head = rng.choice([b"OAI-PMH", b"book", b"html", b"article", b"pmc-articleset"])
    space = rng.choice([b"", b' xmlns="http://www.openarchives.org/OAI/2.0/"'])
    return b"<" + head + space + b">" + bare * rng.choice([1, 1, 2]) + b"</" + head + b">"


DAMAGES: Sequence[Damage] = (*MUTATIONS, other_kind, nest_parts, other_envelope)


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the seed file, damaged bytes), every kind equally often."""
    rng = random.Random(seed)
    files = seeds()
    for number in range(count):
        damage = DAMAGES[number % len(DAMAGES)]
        index = rng.randrange(len(files))
        yield getattr(damage, "__name__", ""), index, damage(files[index], rng)


def outcome(data: bytes) -> str:
    """What became of one chapter: `read`, `read, recovered` or `quarantined: <reason>`.

    Raises:
        Exception: any other ending is the defect looked for.
    """
    raw = RawArticle(
        id="litarch:NBK1/mutant",
        source="litarch",
        format="bits",
        locator="NBK1/mutant",
        path="litarch/NBK1/mutant.nxml",
        sha256=sha256_bytes(data),
        book=BookPlace(book_id="mutants", title="", position=1),
    )
    try:
        article = bits.parse(data, raw, {bits.CONTENTS: data})
    except InputError as error:
        return f"quarantined: {Reason(error.reason).value}"
    for _ in EXTRACT.process(article, **EXTRACT.params):
        pass
    return "read, recovered" if "xml_recovered" in article.flags else "read"
