"""2,000 damaged XML files through parse and extract: each is read or quarantined, none crashes or hangs."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import signal
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from benchmarks.jats_speed import raw_of
from benchmarks.measure import SHARED, save
from benchmarks.mutations import mutants
from curation.extract.stage import EXTRACT
from schemas.errors import InputError
from schemas.stages import Reason
from sources import jats

LIMIT_SECONDS = 20


def outcome(path: Path, data: bytes) -> tuple[str, float]:
    """What became of one file, and how long it took; a hang ends the process by SIGALRM."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIMIT_SECONDS)
    started = time.monotonic()
    try:
        article = jats.parse(data, raw_of(path, data))
        for _ in EXTRACT.process(article, **EXTRACT.params):
            pass
        result = "read, recovered" if "xml_recovered" in article.flags else "read"
    except InputError as error:
        result = f"quarantined: {Reason(error.reason).value}"
    except Exception as error:  # anything else is the defect looked for
        result = f"CRASH {type(error).__name__}: {error}"[:200]
    finally:
        signal.alarm(0)
    return result, time.monotonic() - started


def campaign(files: list[Path], count: int, seed: int) -> dict[str, Any]:
    """Run `count` mutants; returns outcomes by kind of damage, the slowest, and every failure."""
    contents = [path.read_bytes() for path in files]
    tally: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    failures: list[str] = []
    slowest = 0.0
    pool = concurrent.futures.ProcessPoolExecutor(1)
    for number, (kind, index, data) in enumerate(mutants(contents, count, seed)):
        try:
            result, seconds = pool.submit(outcome, files[index], data).result()
        except BrokenProcessPool:
            result, seconds = f"HANG or killed after {LIMIT_SECONDS} s", float(LIMIT_SECONDS)
            pool = concurrent.futures.ProcessPoolExecutor(1)
        slowest = max(slowest, seconds)
        failed = result.startswith(("CRASH", "HANG"))
        tally[kind]["FAILED" if failed else result] += 1
        if failed:
            failures.append(f"{number} {kind} {files[index].stem}: {result}")
    pool.shutdown()
    return {
        "mutants": count,
        "seed": seed,
        "files": len(files),
        "outcomes": {kind: dict(sorted(counts.items())) for kind, counts in sorted(tally.items())},
        "slowest_seconds": round(slowest, 2),
        "failures": failures,
    }


def main() -> None:
    """Run the campaign and save it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--count", type=int, default=2_000)
    options.add_argument("--seed", type=int, default=20261121)
    given = options.parse_args()
    folders = ("pmc-bucket", "jats-with-images", "jats-multilingual")
    files = sorted(path for name in folders for path in (given.data / name).rglob("*.xml"))
    result = campaign(files, given.count, given.seed)
    print(save("jats_mutations", result))
    for line in result["failures"]:
        print(line)


if __name__ == "__main__":
    main()
