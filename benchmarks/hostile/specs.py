"""Damaged specs: a dataset, or a UsageError that names the file; never a step beyond reading."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hostile.structure import PLAIN, cells, crowd
from benchmarks.hostile.structure import mutants as structured
from flows.specs import DATA_CARDS, read_dataset
from schemas.errors import UsageError

_VALUES = (
    b"-1", b"1e999", b"nan", b"true", b'""', b'"../../x"', b'"\\u0000"', b"[]", b"{}", b"[[1]]",
    b"2026-01-01", b"9223372036854775808", b'"a"', b'["a", "a"]', b"{a = 1}",
    b'"' + b"x" * 3_000 + b'"', b"[" * 3_000,
)  # fmt: skip
_MORE = (
    b"\n[tasks.reference_qa]\n", b"\n[tasks.concept_discrimination]\nsets = 3\n", b"\n[images]\nocr = 'on'\n",
    b"\n[prompts]\nstages = ['hyde']\n", b"\n[partition]\nseed = 'x'\n", b"\n[sources]\nfolders = ['/']\n",
    b"\n[a." + b"b." * 3_000 + b"c]\n",
)  # fmt: skip


def other_values(data: bytes, rng: random.Random) -> bytes:
    """Other values for some keys, further tables, tables twice."""
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 4)):
        places = [number for number, line in enumerate(lines) if b" = " in line]
        number = rng.choice(places)
        lines[number] = lines[number].partition(b" = ")[0] + b" = " + rng.choice(_VALUES)
    return b"\n".join(lines) + (rng.choice(_MORE) if rng.random() < 0.3 else b"")


def words(data: bytes, rng: random.Random) -> bytes:
    """Cells between blanks."""
    return cells(data, rng, b" ")


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    files = [path.read_bytes() for path in sorted(DATA_CARDS.glob("*/spec.toml"))]
    return structured(files, count, seed, (other_values, other_values, words, cells, crowd, *PLAIN))


def outcome(data: bytes) -> str:
    """`read`, or `quarantined` for a refusal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "spec.toml")
        path.write_bytes(data)
        try:
            read_dataset(path)
        except UsageError as error:
            if not error.attrs().get("file"):
                raise AssertionError(f"a refusal that names no file: {error.message[:100]}") from None
            return "quarantined: usage"
    return "read"
