"""Damaged OBO ontologies: rows and drops that can be written, or one InputError that names the file."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.hostile.structure import PLAIN, cells, crowd
from benchmarks.hostile.structure import mutants as structured
from curation.vocabulary import obo
from schemas.errors import InputError
from schemas.record import to_table
from tests.curation.vocabulary.builders import MONDO_OBO, OBO

_SEEDS = (OBO.encode(), MONDO_OBO.encode())


def words(data: bytes, rng: random.Random) -> bytes:
    """Cells between blanks."""
    return cells(data, rng, b" ")


def loops(data: bytes, rng: random.Random) -> bytes:
    """Terms that stand above themselves, in chains of up to thousands."""
    count = rng.choice([1, 5, 3_000])
    terms = (
        f"\n[Term]\nid: TOY:1{n:06d}\nname: n{n}\nis_a: TOY:1{(n + 1) % count:06d}\n".encode()
        for n in range(count)
    )
    return data + b"".join(terms)


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    return structured(_SEEDS, count, seed, (words, words, cells, loops, crowd, *PLAIN))


def outcome(data: bytes) -> str:
    """`read`, or `quarantined`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.obo")
        path.write_bytes(data)
        try:
            obo.prefix_of(path)
            rows = list(obo.read(path, "0" * 64, root="TOY:0000001"))
        except InputError:
            try:
                rows = list(obo.read(path, "0" * 64))
            except InputError:
                return "quarantined: not_obo"
    write(rows)
    return "read"


def write(rows: Sequence[object]) -> None:
    """Rows of several types as their tables, to see that they can be written."""
    made: dict[type, list[object]] = {}
    for row in rows:
        made.setdefault(type(row), []).append(row)
    for row_type, of_type in made.items():
        to_table(row_type, of_type)
