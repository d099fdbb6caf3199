"""Runs the campaign or parts of it: `python -m benchmarks.reliability [PART …]`; 1 if anything went wrong.

Parts: kills, moments, servers, machine, restarts. `results/reliability.json` keeps those not run again.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.reliability import kills, moments, server_faults, services
from benchmarks.reliability.warm import Warm
from benchmarks.reliability.world import opened

NAME = "reliability"
KILLS_OF_A_VERB = 6
RUNS = 20
FAULTS_OF_A_SOURCE, FAULTS_OF_A_MODEL, FAULTS_OF_S3 = 60, 45, 15
SEED = 20261126


def _kills(folder: Path) -> list[dict[str, Any]]:
    with opened(folder) as world:
        results = kills.campaign(world, kills.VERBS, KILLS_OF_A_VERB, SEED, _tell)
    return [one | {"what": one["verb"], "good": kills.is_good(one)} for one in results]


def _moments(folder: Path) -> list[dict[str, Any]]:
    results = []
    with opened(folder) as world:
        for verb in kills.VERBS[:2]:
            world.run(verb.arguments)
        before, wanted, seconds = moments.undisturbed(world)
        for seed in range(RUNS):
            made = moments.moment(world, before, wanted, seconds, seed, moments.KILLS_OF_A_RUN)
            results.append(made | {"what": "a whole run", "good": moments.is_good(made)})
            _tell(results[-1])
    return results


def _servers(folder: Path) -> list[dict[str, Any]]:
    results = server_faults.campaign(folder, server_faults.SOURCES, FAULTS_OF_A_SOURCE, _tell)
    modules = (*server_faults.MODULES, "benchmarks.reliability.services")
    counts = (FAULTS_OF_A_MODEL, FAULTS_OF_S3)
    with Warm(modules, {"HOME": str(folder)}, grace=1.0) as warm:
        for make, count in zip(services.OTHERS, counts, strict=True):
            with make(folder / make.__name__, warm) as scene:
                results += server_faults.faults_of(scene, count, _tell)
    return [one | {"what": one["source"], "good": server_faults.is_good(one)} for one in results]


PARTS: Mapping[str, Callable[[Path], list[dict[str, Any]]]] = {
    "kills": _kills,
    "servers": _servers,
    "moments": _moments,
}


def _tell(what: Any) -> None:
    print(what, flush=True)


def summed_up(results: Iterable[Mapping[str, Any]], seconds: float) -> dict[str, Any]:
    """Counts by what was disturbed, and everything of those that went wrong."""
    rows: dict[str, dict[str, Any]] = {}
    wrong = []
    for one in results:
        row = rows.setdefault(one["what"], {"tried": 0, "good": 0, "points": one.get("points", 0)})
        row["tried"] += one.get("killed", 1) if isinstance(one.get("at"), list) else 1
        row["good"] += (one.get("killed", 1) if isinstance(one.get("at"), list) else 1) if one["good"] else 0
        wrong += [] if one["good"] else [dict(one)]
    return {"rows": rows, "bad": wrong, "seconds": round(seconds)}


def main(arguments: Sequence[str]) -> int:
    """Run parts, and write their figures beside those of the others."""
    path = measure.RESULTS / f"{NAME}.json"
    held: dict[str, Any] = {}
    with contextlib.suppress(FileNotFoundError):
        held = json.loads(path.read_text("utf-8"))
    held.pop("machine", None)
    is_bad = False
    for name in arguments or tuple(PARTS):
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"reliability-{name}-") as folder:
            results = PARTS[name](Path(folder))
        held[name] = summed_up(results, time.monotonic() - begun)
        is_bad |= bool(held[name]["bad"])
        print(measure.save(NAME, held), json.dumps(held[name]["rows"]), flush=True)
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
