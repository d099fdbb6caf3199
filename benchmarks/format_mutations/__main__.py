"""1,000 damaged files of each format: each is read or quarantined, none crashes, hangs or fills the memory.

`python -m benchmarks.format_mutations [--count N] [FORMAT…]`
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import importlib
import re
import resource
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from benchmarks.measure import save

FORMATS = ("archives", "bits", "cnxml", "images", "medline", "questions", "wiki")
LIMIT_SECONDS = 20
LIMIT_BYTES = 4 * 1024**3


def mutants(name: str, count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """The damaged files of one format."""
    module = importlib.import_module(f"benchmarks.format_mutations.{name}")
    if name in ("archives", "bits", "medline"):  # these build their seeds themselves
        yield from module.mutants(count, seed)
    else:
        yield from module.mutants(module.seeds(), count, seed)


def _outcome(name: str, data: bytes) -> tuple[str, float]:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIMIT_SECONDS)
    started = time.monotonic()
    try:
        module = importlib.import_module(f"benchmarks.format_mutations.{name}")
        result = re.sub(r"^(read)\b.*", r"\1", str(module.outcome(data)))
    except Exception as error:  # what is not a quarantine is the defect looked for
        result = f"CRASH {type(error).__name__}: {error}"[:200]
    finally:
        signal.alarm(0)
    return result, time.monotonic() - started


def campaign(name: str, count: int, seed: int) -> dict[str, Any]:
    """Outcomes by kind of damage, the slowest, and every failure."""
    tally: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    failures: list[str] = []
    slowest = 0.0
    pool = concurrent.futures.ProcessPoolExecutor(1)
    for number, (kind, _, data) in enumerate(mutants(name, count, seed)):
        try:
            result, seconds = pool.submit(_outcome, name, data).result()
        except BrokenProcessPool:
            result, seconds = f"HANG or killed after {LIMIT_SECONDS} s", float(LIMIT_SECONDS)
            pool = concurrent.futures.ProcessPoolExecutor(1)
        slowest = max(slowest, seconds)
        failed = result.startswith(("CRASH", "HANG"))
        tally[kind]["FAILED" if failed else result] += 1
        if failed:
            failures.append(f"{number} {kind}: {result}")
    pool.shutdown()
    outcomes = {kind: dict(sorted(counts.items())) for kind, counts in sorted(tally.items())}
    return {
        "mutants": count,
        "outcomes": outcomes,
        "slowest_seconds": round(slowest, 2),
        "failures": failures,
    }


def main() -> int:
    """Run the campaigns and save them."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.format_mutations", description=__doc__)
    options.add_argument("formats", nargs="*", metavar="FORMAT", help=", ".join(FORMATS))
    options.add_argument("--count", type=int, default=1_000)
    options.add_argument("--seed", type=int, default=20261121)
    given = options.parse_args()
    found = {}
    for name in given.formats or FORMATS:
        found[name] = campaign(name, given.count, given.seed)
        made = found[name]
        print(f"{name}: {made['mutants']} mutants, {len(made['failures'])} failures", flush=True)
        for failure in made["failures"][:10]:
            print(f"  {failure}")
    if not given.formats:
        save("format_mutations", {"seed": given.seed, "formats": found})
    return int(any(made["failures"] for made in found.values()))


if __name__ == "__main__":
    sys.exit(main())
