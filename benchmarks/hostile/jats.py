"""Damaged articles of the embedded sample through parse and extract, crowded ones among them."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

from benchmarks.mutations import MUTATIONS
from curation.extract.stage import EXTRACT
from schemas.article import Article, RawArticle
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.record import to_table
from schemas.stages import Drop, Reason
from sources import jats
from sources.sample import bucket_dir

LARGEST = 300_000
"""Bytes a crowd adds at most."""
_SMALL = (
    b'<xref ref-type="fig" rid="F1">1</xref>',
    b'<xref ref-type="bibr" rid="B1">1</xref>, ',
    b'<fig id="F9"><label>Figure 9.</label><caption><p>(A) x. (B) y.</p></caption></fig>',
    b"<p>Figure 1A, Fig. 2B-F and Figs 3-9 show fever.</p>",
    b"<sec><title>x</title></sec>",
    b"<italic>x</italic>",
    b"(",
    b"1, ",
    b"Fig. ",
    b"&#x3b1;",
    b"\xe2\x80\x8b",
)
_DECLARED = (b"<!ENTITY a 'x'>", b"<!ENTITY % p '", b"<!ELEMENT a ANY", b"<!--", b"<!ATTLIST a b CDATA 'x'")


def crowd(data: bytes, rng: random.Random) -> bytes:
    """One small thing thousands of times, in a paragraph: what is quadratic takes minutes."""
    small = rng.choice(_SMALL)
    place = data.find(b"<p>", rng.randrange(len(data)))
    place = place + 3 if place >= 0 else len(data) // 2
    return data[:place] + small * (rng.choice([3_000, 30_000, LARGEST]) // len(small)) + data[place:]


def crowd_declarations(data: bytes, rng: random.Random) -> bytes:
    """Thousands of declarations, whole ones and some that never end."""
    small = rng.choice(_DECLARED)
    inside = small * (rng.choice([3_000, 30_000, LARGEST]) // len(small))
    closing = rng.choice([b"]>", b"]", b""])
    start = max(data.find(b"<article"), 0)
    return data[:start] + b"<!DOCTYPE article [" + inside + closing + data[start:]


DAMAGES = (*MUTATIONS, crowd, crowd_declarations)


@functools.cache
def seeds() -> tuple[bytes, ...]:
    """The articles of the sample."""
    return tuple(path.read_bytes() for path in sorted(bucket_dir().glob("*/*.xml")))


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    rng = random.Random(seed)
    for number in range(count):
        damage, index = DAMAGES[number % len(DAMAGES)], rng.randrange(len(seeds()))
        yield damage.__name__, index, damage(seeds()[index], rng)


def outcome(data: bytes) -> str:
    """`read`, or why it was quarantined; every record made of it can be written."""
    try:
        article = jats.parse(data, _raw(data))
    except InputError as error:
        Drop(unit="article", id="x", article_id="x", reason=Reason(error.reason), detail=error.message)
        return f"quarantined: {Reason(error.reason).value}"
    to_table(Article, [article])
    made: dict[type, list[object]] = {}
    for row in EXTRACT.process(article, **EXTRACT.params):
        made.setdefault(type(row), []).append(row)
    for row_type, rows in made.items():
        to_table(row_type, rows)
    return "read"


def _raw(data: bytes) -> RawArticle:
    return RawArticle(
        id="pmc:PMC1.1", source="pmc", locator="PMC1", version=1, path="x.xml", sha256=sha256_bytes(data)
    )
