"""Damages XML files as disks, networks, converters and attackers do; a seed gives the same damage."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

_TAG = re.compile(rb"</?[A-Za-z][\w:.-]*")
_ENTITY_BOMB = (
    b'<!DOCTYPE article [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">'
    b'<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;">]>'
)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>", re.S)

Mutation = Callable[[bytes, random.Random], bytes]


def flip_bits(data: bytes, rng: random.Random) -> bytes:
    """Flip 1 to 64 single bits."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 64)):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def truncate(data: bytes, rng: random.Random) -> bytes:
    """Cut the file anywhere."""
    return data[: rng.randrange(len(data))]


def swap_tags(data: bytes, rng: random.Random) -> bytes:
    """Exchange the names of some tags, opening or closing."""
    tags = list(_TAG.finditer(data))
    for _ in range(rng.randint(1, 8)):
        one, two = sorted(rng.sample(tags, 2), key=lambda found: found.start())
        data = (
            data[: one.start()]
            + two.group()
            + data[one.end() : two.start()]
            + one.group()
            + data[two.end() :]
        )
        tags = list(_TAG.finditer(data))
    return data


def drop_span(data: bytes, rng: random.Random) -> bytes:
    """Lose a block, as a bad sector would."""
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randint(1, 4096) :]


def repeat_span(data: bytes, rng: random.Random) -> bytes:
    """Write a block twice."""
    start = rng.randrange(len(data))
    end = start + rng.randint(1, 4096)
    return data[:end] + data[start:end] + data[end:]


def entity_bomb(data: bytes, rng: random.Random) -> bytes:
    """Nested entities whose expansion would be a million times the file, used in a paragraph."""
    bare = _DOCTYPE.sub(b"", data, count=1)
    start = bare.find(b"<article")
    used = bare.replace(b"<p>", b"<p>&" + rng.choice([b"d", b"e", b"f"]) + b";", rng.randint(1, 3))
    return used[:start] + _ENTITY_BOMB + used[start:] if start >= 0 else _ENTITY_BOMB + used


def external_entity(data: bytes, rng: random.Random) -> bytes:
    """An entity that asks for a local file or an address."""
    target = rng.choice([b"file:///etc/hostname", b"http://127.0.0.1:9/x", b"/dev/zero"])
    head = b'<!DOCTYPE article [<!ENTITY x SYSTEM "' + target + b'">]>'
    bare = _DOCTYPE.sub(b"", data, count=1).replace(b"<p>", b"<p>&x;", 2)
    start = max(bare.find(b"<article"), 0)
    return bare[:start] + head + bare[start:]


def nest_deeply(data: bytes, rng: random.Random) -> bytes:
    """Sections or inline elements inside one another, thousands deep."""
    tag = rng.choice([b"sec", b"italic", b"list", b"fig-group", b"p", b"boxed-text"])
    depth = rng.choice([50, 95, 300, 3_000, 100_000])
    place = data.find(b"<p>")
    place = place if place >= 0 else len(data) // 2
    closing = b"</" + tag + b">" if rng.random() < 0.7 else b""
    return data[:place] + (b"<" + tag + b">") * depth + closing * depth + data[place:]


def change_encoding(data: bytes, rng: random.Random) -> bytes:
    """Declare or use another encoding than the bytes have."""
    text = data.decode("utf-8", "replace")
    kind = rng.choice(["utf-16", "latin-1", "lie", "bom"])
    if kind == "utf-16":
        return re.sub(r"<\?xml[^>]*\?>", "", text).encode("utf-16")
    if kind == "latin-1":
        return b'<?xml version="1.0" encoding="UTF-8"?>' + text.encode("latin-1", "replace")
    if kind == "lie":
        return b'<?xml version="1.0" encoding="utf-16"?>' + data
    return b"\xef\xbb\xbf" + data


def add_controls(data: bytes, rng: random.Random) -> bytes:
    """Put NUL and other control bytes between the rest."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 20)):
        damaged.insert(rng.randrange(len(damaged)), rng.choice([0, 1, 8, 11, 27, 255]))
    return bytes(damaged)


MUTATIONS: Sequence[Mutation] = (
    flip_bits,
    truncate,
    swap_tags,
    drop_span,
    repeat_span,
    entity_bomb,
    external_entity,
    nest_deeply,
    change_encoding,
    add_controls,
)


def mutants(files: Sequence[bytes], count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    rng = random.Random(seed)
    for number in range(count):
        mutation = MUTATIONS[number % len(MUTATIONS)]
        index = rng.randrange(len(files))
        yield mutation.__name__, index, mutation(files[index], rng)
