"""Servers that die in the middle of a command and come back: Prefect's, its database, and S3.

Label Studio's is killed in tests/flows/review/test_sync_kills.py.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.reliability import services
from benchmarks.reliability.kills import VERBS, prepared
from benchmarks.reliability.machine import checked
from benchmarks.reliability.standing import differing, temporary
from benchmarks.reliability.warm import Warm
from benchmarks.reliability.world import World

FLOWS = ("crawl", "extract", "ground", "build", "release")
AWAY_SECONDS = 1.0


_hands = ThreadPoolExecutor(1)
"""One thread for every restart: a database server ends with the thread that started it."""


def _restarting(server: Any, after: float) -> Future[None]:
    """Kill a server in so many seconds, and start it a little later."""

    def work() -> None:
        time.sleep(after)
        server.kill()
        time.sleep(AWAY_SECONDS)
        server.start()

    return _hands.submit(work)


def flows(world: World, server: Any, name: str, count: int, seed: int, tell: Callable[[Any], None]) -> None:
    """A server that Prefect needs, or its own, is restarted during every flow, so many times each."""
    draw = random.Random(f"{name} {seed}")
    for verb in VERBS:
        if verb.name in ("publish", "rebuild", "sweep", "takedown", "run", "audit", "export"):
            continue
        case = prepared(world, verb)
        for _ in range(count if verb.name in FLOWS else 0):
            world.restore(case.before)
            after = round(draw.uniform(0.1, 1.5), 2)
            restarted = _restarting(server, after)
            first = world.run(verb.arguments)
            restarted.result()
            tell(checked(world, case, f"{name} restarted", first) | {"after": after})
        world.restore(case.before)
        world.run(verb.arguments)


def s3(folder: Path, count: int, seed: int, tell: Callable[[Any], None]) -> None:
    """S3 is restarted while a release is sent."""
    draw = random.Random(f"s3 {seed}")
    modules = ("benchmarks.reliability.services", "s3fs")
    with (
        Warm(modules, {"HOME": str(folder)}, grace=1.0) as warm,
        services.bucket(folder / "s3", warm) as scene,
    ):
        for _ in range(count):
            scene.fresh()
            after = round(draw.uniform(0.2, 3.0), 2)
            restarted = _restarting(scene.server, after)
            runs = [scene.crawl()]
            restarted.result()
            while runs[-1]["code"] and len(runs) < 3:
                runs.append(scene.crawl())
            wrong = differing(scene.stands(), scene.wanted)
            crashed = [one["error"] for one in runs if one["code"] not in (0, 3)]
            litter = temporary(scene.now / "tmp")
            good = not (wrong or crashed or litter or runs[-1]["code"])
            tell(
                {"what": "S3 restarted", "after": after, "runs": len(runs), "said": runs[0]["error"],
                 "differing": wrong, "crashed": crashed, "litter": litter, "good": good}
            )  # fmt: skip
