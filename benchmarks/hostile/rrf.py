"""Damaged files of a Metathesaurus: every line of a file is staged, or is a drop with its number."""

from __future__ import annotations

import contextlib
import functools
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.hostile.structure import PLAIN, cells, crowd
from benchmarks.hostile.structure import mutants as structured
from flows.vocabulary.connection import opened
from flows.vocabulary.umls_files import stage_file
from schemas.errors import InputError
from schemas.record import to_table
from schemas.stages import Drop
from tests.curation.vocabulary.builders import metathesaurus

_OPEN = contextlib.ExitStack()


def bars(data: bytes, rng: random.Random) -> bytes:
    """Cells between bars; the first line, which names the file, stays."""
    name, _, rows = data.partition(b"\n")
    return name + b"\n" + cells(rows, rng, b"|")


def crowds(data: bytes, rng: random.Random) -> bytes:
    """One line thousands of times."""
    name, _, rows = data.partition(b"\n")
    return name + b"\n" + crowd(rows, rng)


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes); the first line names the file."""
    files = [
        f"{name.removesuffix('.RRF')}\n{text}".encode() for name, text in sorted(metathesaurus().items())
    ]
    return structured(files, count, seed, (bars, bars, bars, crowds, *PLAIN))


@functools.cache
def _connection() -> Any:
    return _OPEN.enter_context(opened("500MB"))


def outcome(data: bytes) -> str:
    """`read` with every line accounted for, or `quarantined`."""
    first, _, rows = data.partition(b"\n")
    known = {name.removesuffix(".RRF") for name in metathesaurus()}
    name = first.decode("ascii", "replace")
    name = name if name in known else "MRSTY"
    with tempfile.TemporaryDirectory() as folder:
        path, target = Path(folder, f"{name}.RRF"), Path(folder, "staged.parquet")
        path.write_bytes(rows)
        try:
            drops = stage_file(_connection(), name, [path], target)
        except InputError:
            return "quarantined: not_rrf"
        staged = pq.read_table(target, columns=["ok"])["ok"].to_pylist().count(True)
    to_table(Drop, drops)
    lines = sum(1 for line in rows.replace(b"\r", b"\n").split(b"\n") if line)
    if staged + len(drops) < lines and b"\r" not in rows:
        raise AssertionError(f"{staged} staged and {len(drops)} dropped of {lines} lines")
    return "read"
