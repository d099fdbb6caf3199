"""Damaged babelon tables and synonym templates: every line is a row, a drop or not for us."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hostile.obo import write
from benchmarks.hostile.structure import LINES
from benchmarks.hostile.structure import mutants as structured
from curation.vocabulary import babelon
from schemas.errors import InputError
from tests.curation.vocabulary.builders import BABELON, SYNONYMS

_SEEDS = (BABELON.encode(), SYNONYMS.encode())


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    return structured(_SEEDS, count, seed, LINES)


def outcome(data: bytes) -> str:
    """`read`, or `quarantined`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.babelon.tsv")
        path.write_bytes(data)
        try:
            babelon.language_of(path)
            rows = list(babelon.read([path], "0" * 64))
        except InputError:
            return "quarantined: not_babelon"
    write(rows)
    return "read"
