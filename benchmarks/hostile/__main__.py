"""10,000 hostile files of each kind: each is read or refused with a reason, and nothing else happens.

`python -m benchmarks.hostile [--count N] [--seed S] [KIND…]`. Every file is a seeded, structured change of a
small one written by us, read in a process of its own with capped memory (see `confined`).
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import importlib
import itertools
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from benchmarks.hostile import confined
from benchmarks.measure import RESULTS, product, save

KINDS = (
    "archives",
    "babelon",
    "bits",
    "cnxml",
    "images",
    "jats",
    "label_studio",
    "medline",
    "metadata",
    "model_answers",
    "obo",
    "questions",
    "releases",
    "rrf",
    "specs",
    "wiki",
)
COUNT, SEED = 10_000, 20261127
_BATCH = 50
_DECOY = b"nobody's business"


def mutants(name: str, count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """The damaged files of one kind."""
    module = importlib.import_module(f"benchmarks.hostile.{name}")
    if name in ("cnxml", "images", "questions", "wiki"):
        yield from module.mutants(module.seeds(), count, seed)
    else:
        yield from module.mutants(count, seed)


class Box:
    """A folder to be confined to, with something beside it that must stay as it is."""

    def __init__(self, base: Path, name: str) -> None:
        self.base, self.name = base, name
        self.folder = base / "box"
        self.folder.mkdir()
        (base / "decoy").write_bytes(_DECOY)
        self.pool = self._new()

    def _new(self) -> concurrent.futures.ProcessPoolExecutor:
        return concurrent.futures.ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=confined.begin,
            initargs=([self.name], str(self.folder)),
        )

    def run(self, cases: Sequence[bytes]) -> list[confined.Case]:
        """Outcomes of a batch; when its process died, of each file alone."""
        try:
            return self.pool.submit(confined.run, self.name, cases).result()
        except BrokenProcessPool:
            self.pool = self._new()
            if len(cases) == 1:
                return [("HANG or killed", confined.SECONDS, [])]
            return [self.run([case])[0] for case in cases]

    def disturbed(self) -> list[str]:
        """What changed beside the folder."""
        beside = sorted(path.name for path in self.base.iterdir())
        is_same = beside == ["box", "decoy"] and (self.base / "decoy").read_bytes() == _DECOY
        return [] if is_same else beside

    def peak(self) -> int:
        """Most memory of the process that ran last, bytes."""
        return self.pool.submit(confined.peak_bytes).result()


def campaign(name: str, count: int, seed: int, keep: Path | None = None) -> dict[str, Any]:
    """Outcomes by kind of damage, the slowest, and every failure.

    Args:
        name: kind of file.
        count: how many.
        seed: of the damage.
        keep: a folder where files that failed are put.
    """
    tally: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    failures: list[str] = []
    slowest, began, peak = 0.0, time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as base:
        box = Box(Path(base), name)
        stream = enumerate(mutants(name, count, seed))
        while batch := list(itertools.islice(stream, _BATCH)):
            found = box.run([data for _, (_, _, data) in batch])
            for (number, (kind, _, data)), (result, seconds, breaches) in zip(batch, found, strict=True):
                slowest = max(slowest, seconds)
                told = f"REACHED OUT {breaches[0]}" if breaches else result
                failed = told.startswith(("CRASH", "HANG", "REACHED"))
                tally[kind]["FAILED" if failed else told] += 1
                if failed:
                    failures.append(f"{number} {kind}: {told}")
                    if keep is not None:
                        keep.mkdir(parents=True, exist_ok=True)
                        (keep / f"{name}-{number}").write_bytes(data)
            if changed := box.disturbed():
                failures.append(f"{batch[0][0]}–{batch[-1][0]}: beside the folder now {changed}")
                break
        peak = box.peak()
        box.pool.shutdown()
    return {
        "mutants": count,
        "seed": seed,
        "outcomes": {kind: dict(sorted(counts.items())) for kind, counts in sorted(tally.items())},
        "slowest_seconds": round(slowest, 2),
        "peak_mib": peak >> 20,
        "seconds": round(time.monotonic() - began),
        "failures": failures,
    }


def main() -> int:
    """Run the campaigns; kinds that ran in full take their place in the saved result."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    options.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    options.add_argument("--count", type=int, default=COUNT)
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--keep", type=Path, help="folder for the files that failed")
    given = options.parse_args()
    failed = False
    for name in given.kinds or KINDS:
        made = campaign(name, given.count, given.seed, given.keep)
        failed |= bool(made["failures"])
        print(
            f"{name}: {made['mutants']} files, {len(made['failures'])} failures, slowest "
            f"{made['slowest_seconds']} s, {made['peak_mib']} MiB, {made['seconds']} s in all",
            flush=True,
        )
        for failure in made["failures"][:10]:
            print(f"  {failure}", flush=True)
        if given.count >= COUNT and given.seed == SEED:
            path = RESULTS / "hostile.json"
            held = json.loads(path.read_text("utf-8"))["kinds"] if path.exists() else {}
            save("hostile", {"kinds": {**held, name: {**made, "product": product()}}})
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
