"""Damage that knows the structure: values of JSON, cells of lines."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.mutations import add_controls, drop_span, flip_bits, repeat_span, truncate

Damage = Callable[[bytes, random.Random], bytes]

ODD: Sequence[Any] = (
    None, True, False, 0, -1, 1.5, 1e308, float("nan"), float("inf"), 10**18, 10**400, "", " ", "\0",
    "\ud800", "\u202e", "a" * 5_000, "../../x", "/etc/hostname", "=1+1", "<b>&x;</b>", "\x1b[2J", "\r\n", [],
    {}, [[]], [None], {"": ""}, ["\udfff"], {"id": {"id": {}}},
)  # fmt: skip
"""Values no field expects: other types, numbers out of bounds, lone surrogates, paths, markup."""
_TEXTS = (
    "", " ", "\0", "NA", "-1", "9" * 400, "1e999", "NaN", '"', '""', '"x', "'", "\\", "|", "\t", "a" * 70_000,
    "é", "\u202e", "\ud800", "../../x", "=1+1", "<b>", "C0000000", "http://127.0.0.1:9/x",
)  # fmt: skip
_CELLS = (*(text.encode("utf-8", "surrogatepass") for text in _TEXTS), b"\xff\xfe", b"\xc3", b"\x80")
_DEPTHS = (10, 900, 20_000, 100_000)


def values(data: bytes, rng: random.Random) -> bytes:
    """JSON: other values, lost and added keys, keys given twice, in one to six places."""
    tree: Any = json.loads(data)
    for _ in range(rng.randint(1, 6)):
        tree = _changed(tree, rng)
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.1 and '": ' in text:
        text = text.replace('": ', f'": 1, "{rng.choice(["id", "x", ""])}": ', 1)
    return text.encode("utf-8", "surrogatepass")


def deep(data: bytes, rng: random.Random) -> bytes:
    """JSON: brackets inside one another in the place of a value, closed or not."""
    depth = rng.choice(_DEPTHS)
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}")])
    places = [place for place, byte in enumerate(data) if byte in b":[,"] or [0]
    place = rng.choice(places) + 1
    return data[:place] + opening * depth + b"1" + closing * rng.choice([0, depth]) + b"," + data[place:]


_LONGEST_LINE = 16 << 20


def cells(data: bytes, rng: random.Random, separator: bytes = b"\t") -> bytes:
    """Lines: other cells, too few, too many, lines exchanged, joined or repeated, other line ends."""
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 6)):
        number = rng.randrange(len(lines))
        row = lines[number].split(separator)
        place = rng.randrange(len(row))
        kind = rng.randrange(7)
        if kind < 3:
            row[place] = rng.choice(_CELLS)
        elif kind == 3:
            del row[place]
        elif kind == 4:
            row[place:place] = [rng.choice(_CELLS)] * rng.choice([1, 3, 300])
        elif kind == 5:
            other = rng.randrange(len(lines))
            lines[number], lines[other] = lines[other], lines[number]
            continue
        else:
            row = row * rng.choice([2, 50])
        lines[number] = separator.join(row)[:_LONGEST_LINE]  # repeated six times it would be gigabytes
    end = rng.choice([b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n"])
    return end.join(lines)


def crowd(data: bytes, rng: random.Random) -> bytes:
    """Lines: one of them thousands of times, up to 300 kB."""
    lines = data.split(b"\n")
    number = rng.randrange(len(lines))
    count = min(rng.choice([100, 3_000, 20_000]), 300_000 // (len(lines[number]) + 1))
    return b"\n".join([*lines[:number], *[lines[number]] * count, *lines[number:]])


PLAIN: Sequence[Damage] = (flip_bits, truncate, drop_span, repeat_span, add_controls)
JSON: Sequence[Damage] = (values, values, values, deep, *PLAIN)
LINES: Sequence[Damage] = (cells, cells, cells, crowd, *PLAIN)


def mutants(
    files: Sequence[bytes], count: int, seed: int, damages: Sequence[Damage]
) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    rng = random.Random(seed)
    for number in range(count):
        damage, index = damages[number % len(damages)], rng.randrange(len(files))
        yield damage.__name__, index, damage(files[index], rng)


def _changed(tree: Any, rng: random.Random) -> Any:
    """The tree with one node changed; the root itself now and then."""
    places = list(_places(tree))
    if not places or rng.random() < 0.02:
        return copy.deepcopy(rng.choice(ODD))
    parent, key = rng.choice(places)
    kind = rng.randrange(6)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[rng.choice(["", "id", "x" * 300, "\ud800"])] = parent[key]
    elif kind == 1:
        parent.extend([parent[key]] * rng.choice([1, 50, 2_000]))
    elif kind == 2:
        other_parent, other = rng.choice(places)
        parent[key] = json.loads(json.dumps(other_parent[other]))
    else:
        parent[key] = copy.deepcopy(rng.choice(ODD))
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every value below the root."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            yield node, key
            waiting.append(node[key])
