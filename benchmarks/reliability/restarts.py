"""Servers that die in the middle of a command and come back: Prefect's, and S3 that a release is sent to.

Label Studio's is killed in tests/flows/review/test_sync_kills.py.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
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


def _restarting(server: Any, after: float) -> threading.Thread:
    """Kill a server in so many seconds, and start it a little later."""

    def work() -> None:
        time.sleep(after)
        server.kill()
        time.sleep(AWAY_SECONDS)
        server.start()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def prefect(world: World, count: int, seed: int, tell: Callable[[Any], None]) -> None:
    """Prefect's server is restarted during every flow, so many times each."""
    draw = random.Random(f"prefect {seed}")
    for verb in VERBS:
        if verb.name in ("publish", "rebuild", "sweep", "takedown", "run", "audit", "export"):
            continue
        case = prepared(world, verb)
        for _ in range(count if verb.name in FLOWS else 0):
            world.restore(case.before)
            after = round(draw.uniform(0.1, 1.5), 2)
            thread = _restarting(world.prefect, after)
            first = world.run(verb.arguments)
            thread.join()
            tell(checked(world, case, "Prefect restarted", first) | {"after": after})
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
            thread = _restarting(scene.server, after)
            runs = [scene.crawl()]
            thread.join()
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
