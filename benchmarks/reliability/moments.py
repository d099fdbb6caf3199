"""kill -9 at random moments of a whole run, several one after the other; then it ends with the same bytes."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.reliability.standing import differing
from benchmarks.reliability.world import World

ARGUMENTS = ("run", "--spec", "cards/spec.toml")
CODES = (0, 1)
KILLS_OF_A_RUN = 5
WITH_TWO_WORKERS = 4
"""Every so many runs have two worker processes."""
_LEAST_SECONDS = 0.2


def undisturbed(world: World) -> tuple[Path, dict[str, str], float]:
    """What a run begins with, what it leaves, and seconds that it takes."""
    before, begun = world.keep("before-moments"), time.monotonic()
    run = world.run(ARGUMENTS)
    if run.ended.code not in CODES or run.ended.left or world.litter():
        raise RuntimeError(f"undisturbed: {run.ended} {world.litter()}\n{run.said}")
    return before, world.stands(), time.monotonic() - begun


def moment(
    world: World, before: Path, wanted: dict[str, str], seconds: float, seed: int, kills: int
) -> dict[str, Any]:
    """Kill a run so many times, each time a little later than it got in the time before, and end it.

    Args:
        world: where.
        before: what it begins with.
        wanted: what an undisturbed run leaves.
        seconds: that one takes.
        seed: of the moments.
        kills: how many.
    """
    draw = random.Random(f"moment {seed}")
    world.restore(before)
    workers = "2" if seed % WITH_TWO_WORKERS == 0 else "1"
    at: list[float] = []
    left: list[str] = []
    killed = 0
    for _ in range(kills):
        at.append(round(draw.uniform(_LEAST_SECONDS, seconds * 0.6), 2))
        timers: list[threading.Timer] = []

        def started(pid: int, after: float = at[-1], timers: list[threading.Timer] = timers) -> None:
            timers.append(threading.Timer(after, os.kill, (pid, signal.SIGKILL)))
            timers[0].start()

        run = world.run(ARGUMENTS, started=started, variables={"MEDQRELS_WORKERS": workers})
        timers[0].cancel()
        killed += run.ended.is_killed
        left += run.ended.left
    last = world.run(ARGUMENTS, variables={"MEDQRELS_WORKERS": workers})
    return {
        "seed": seed,
        "workers": int(workers),
        "at": at,
        "killed": killed,
        "is_finished": last.ended.code in CODES,
        "said": "" if last.ended.code in CODES else last.said[-600:],
        "differing": differing(world.stands(), wanted),
        "litter": world.litter(),
        "left_running": [*left, *last.ended.left],
    }


def is_good(result: dict[str, Any]) -> bool:
    """Whether one run went as it must; a kill that came after its end counts as none."""
    wrong = result["differing"] or result["litter"] or result["left_running"]
    return bool(result["killed"] and result["is_finished"] and not wrong)
