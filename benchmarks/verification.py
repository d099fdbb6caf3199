"""What holding stored files to their SHA-256 costs, beside reading, and beside parsing and extracting them.

CPU seconds of one core over the same real articles, in turn. Run: `python -m benchmarks.verification`
"""

from __future__ import annotations

import contextlib
import functools
import statistics
from pathlib import Path

from benchmarks.jats_speed import raw_of
from benchmarks.measure import SHARED, read_result, rounds, save
from curation.extract.stage import EXTRACT
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from sources import jats

NAME = "verification"
FILES, ROUNDS = 200, 5


def _read(files: list[Path]) -> None:
    for path in files:
        path.read_bytes()


def _verified(files: list[Path]) -> None:
    for path in files:
        sha256_bytes(path.read_bytes())


def _extracted(files: list[Path]) -> None:
    for path in files:
        data = path.read_bytes()
        raw = raw_of(path, data)
        with contextlib.suppress(InputError):  # quarantined
            for _ in EXTRACT.process(jats.parse(data, raw), **EXTRACT.params):
                pass


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    found = read_result(NAME)
    seconds = found["cpu_seconds"]
    cost = seconds["read and verified"] - seconds["read"]
    share = cost / seconds["parsed and extracted"]
    return [
        "## What it costs to verify stored bytes",
        "",
        f"{found['files']} real articles ({found['bytes'] / 1e6:.1f} MB of XML), CPU seconds, median of "
        f"{found['rounds']}: read {seconds['read']:.3f}, read and held to SHA-256 "
        f"{seconds['read and verified']:.3f}, parsed and extracted {seconds['parsed and extracted']:.2f}. "
        f"Verification is {share:.2%} of the work that follows. `python -m benchmarks.verification`",
        "",
    ]


def main() -> None:
    """Measure and save."""
    files = sorted(SHARED.glob("pmc-bucket/**/*.xml"))[:FILES]
    work = {"read": _read, "read and verified": _verified, "parsed and extracted": _extracted}
    taken = rounds({name: functools.partial(do, files) for name, do in work.items()}, ROUNDS)
    medians = {name: round(statistics.median(values), 4) for name, values in taken.items()}
    size = sum(path.stat().st_size for path in files)
    print(save(NAME, {"files": len(files), "bytes": size, "rounds": ROUNDS, "cpu_seconds": medians}), medians)


if __name__ == "__main__":
    main()
