"""Damaged wikitext and damaged dumps: each page is read or quarantined, in bounded time."""

from __future__ import annotations

import bz2
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.mutations import add_controls, drop_span, entity_bomb, flip_bits, repeat_span, truncate
from schemas.article import Article, RawArticle
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.record import to_table
from schemas.stages import Reason
from sources import wiki
from sources.wikimedia.dump import DumpLimits, Page, read_dump

Damage = Callable[[bytes, random.Random], bytes]

_TEXT = """{{Infobox medical condition
| name = Made fever
| image = Made fever.jpg
| caption = A [[forearm|''forearm'']] with a '''rash'''<ref name="a">{{cite|https://x.example}}</ref>
}}
'''Made fever''' ({{IPA|x}}) is a [[disease|condition]] of {{convert|3|day}} at 39&nbsp;°C<ref name="a" />.

== Signs ==
[[File:Rash one.png|thumb|left|upright=1.2|alt=x|The [[rash|eruption]] on day 2, {{nowrap|5 mm}} wide]]
Fever<!-- note --> comes first.
* chills
* a [https://x.example rash]
{| class="wikitable"
! a || b
|-
| c || d
|}
<gallery>
File:Two.jpg|Second ''day''
Three.svg
</gallery>
=== Course ===
<blockquote>It ends by itself; H<sub>2</sub>O helps.<br/>Always.</blockquote>
== References ==
{{reflist}}
[[Category:Made diseases]]
"""
_PAGE = b'{"title": "Made fever", "language": "en", "base": "https://en.wikipedia.org/wiki/M"}'
_OPENINGS = (
    "{{",
    "[[",
    "[",
    "{|\n",
    "<b>",
    "<ref>",
    "<ref name=a",
    "'''''",
    "<!--",
    "<gallery>",
    "[http://a ",
    "{{a|",
    "[[File:a.jpg|thumb|",
    "<nowiki>",
    "{{{",
    "==",
    "<div>",
    "&#x",
    "<math>",
    "\n* ",
    "\n|-\n",
    "-{",
    "''a'''b",
)
_CLOSINGS = {"{{": "}}", "[[": "]]", "{{{": "}}}", "<b>": "</b>", "{{a|": "}}", "[[File:a.jpg|thumb|": "]]"}


def seeds() -> list[bytes]:
    """Wikitext and a dump with it, written by us."""
    text = _TEXT.encode()
    escaped = _TEXT.replace("&", "&amp;").replace("<", "&lt;")
    pages = "".join(
        f"<page><title>P{number}</title><ns>0</ns><id>{number}</id><revision><id>{number}</id>"
        f'<text xml:space="preserve">{escaped}</text></revision></page>\n'
        for number in range(1, 6)
    )
    head = '<mediawiki xml:lang="en"><siteinfo><dbname>enwiki</dbname></siteinfo>\n'
    return [text, text * 20, f"{head}{pages}</mediawiki>".encode()]


def open_many(data: bytes, rng: random.Random) -> bytes:
    """A construct opened tens to tens of thousands of times, closed or not."""
    opening = rng.choice(_OPENINGS)
    count = rng.choice([20, 95, 150, 2_000, 30_000])
    closing = _CLOSINGS.get(opening, "") * rng.choice([0, count])
    place = rng.randrange(len(data))
    return data[:place] + (opening * count + "x" + closing).encode() + data[place:]


def swap_marks(data: bytes, rng: random.Random) -> bytes:
    """Marks of markup exchanged for others."""
    marks = [
        b"{{",
        b"}}",
        b"[[",
        b"]]",
        b"|",
        b"''",
        b"<ref>",
        b"</ref>",
        b"{|",
        b"|}",
        b"==",
        b"\n",
        b"&",
        b"<",
    ]
    for _ in range(rng.randint(1, 6)):
        data = data.replace(rng.choice(marks), rng.choice(marks), rng.randint(1, 4))
    return data


MUTATIONS: Sequence[Damage] = (
    flip_bits,
    truncate,
    drop_span,
    repeat_span,
    add_controls,
    entity_bomb,
    open_many,
    swap_marks,
)


def mutants(files: Sequence[bytes], count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    rng = random.Random(seed)
    for number in range(count):
        damage, index = MUTATIONS[number % len(MUTATIONS)], rng.randrange(len(files))
        damaged = damage(files[index], rng)
        if b"<mediawiki" in files[index] and rng.random() < 0.5:
            damaged = rng.choice((flip_bits, truncate, bytes_of))(bz2.compress(damaged), rng)
        yield damage.__name__, index, damaged


def bytes_of(data: bytes, rng: random.Random) -> bytes:
    """No further damage."""
    return data


def outcome(data: bytes) -> str:
    """What became of a page or a dump: `read`, `read: N pages, M quarantined` or `quarantined: <reason>`."""
    try:
        if data[:3] == b"BZh" or b"<mediawiki" in data[:2000] or b"<page>" in data:
            return _dump(data)
        _read(data)
    except InputError as error:
        return f"quarantined: {Reason(error.reason).value}"
    return "read"


def _read(data: bytes) -> None:
    raw = RawArticle(
        id="wikimedia:enwiki/1",
        source="wikimedia",
        format="wiki",
        locator="enwiki/1",
        version=1,
        path="text.wiki",
        sha256=sha256_bytes(data),
    )
    article = wiki.parse(data, raw, {wiki.PAGE: _PAGE})
    to_table(Article, [article])


def _dump(data: bytes) -> str:
    read = dropped = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "enwiki-20250101-pages-articles.xml.bz2")
        path.write_bytes(data)
        for item in read_dump(path, DumpLimits(page_bytes=1024 * 1024, file_bytes=64 * 1024 * 1024)):
            is_read = isinstance(item, Page)
            read, dropped = read + is_read, dropped + (not is_read)
            if isinstance(item, Page):
                try:
                    _read(item.text.encode("utf-8", "replace"))
                except InputError as error:
                    Reason(error.reason)
    return f"read: {read} pages, {dropped} quarantined"
