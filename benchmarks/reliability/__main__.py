"""Runs the campaign of faults or parts of it: `python -m benchmarks.reliability [PART …] [SECONDS]`.

Ends with 1 if anything went wrong. Parts: kills, servers, reviews, system, restarts, moments, each for so
many seconds at most; the results keep what was measured of those not run again. `kills:takedown` runs the
kills of one command again, after a mend of it.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.reliability import kills, machine, moments, restarts, reviews, server_faults, services
from benchmarks.reliability.warm import Warm
from benchmarks.reliability.world import opened
from tests.flows.review.postgres_server import Postgres

NAME = "reliability"
OTHER_STEPS = 4
AT_ONCE = 2
RUNS = 20
RESTARTS = 2
FAULTS_OF_A_SOURCE, FAULTS_OF_A_MODEL, FAULTS_OF_S3, FAULTS_OF_LABEL_STUDIO = 60, 60, 30, 26
SEED = 20261126


Note = Callable[[Any], None]
"""Takes each result as it comes, and words for whoever watches."""


class TimeIsUpError(Exception):
    """A part has had its time."""


def _kills(folder: Path, note: Note, names: Collection[str] = ()) -> None:
    """Two worlds side by side: the commands with most points take turns between them. Or some by name."""
    if names:
        with opened(folder) as world:
            kills.campaign(
                world, [verb for verb in kills.VERBS if verb.name in names], OTHER_STEPS, SEED, note
            )
        return

    def some(number: int) -> None:
        place = folder / str(number)
        place.mkdir()
        with opened(place) as world:
            kills.campaign(world, kills.VERBS[number::AT_ONCE], OTHER_STEPS, SEED, note)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(some, number) for number in range(AT_ONCE)]:
            done.result()


def _moments(folder: Path, note: Note) -> None:
    with opened(folder) as world:
        for verb in kills.VERBS[:2]:
            world.run(verb.arguments)
        before, wanted, seconds = moments.undisturbed(world)
        for seed in range(RUNS):
            made = moments.moment(world, before, wanted, seconds, seed, moments.KILLS_OF_A_RUN)
            note(made | {"what": "a whole run", "good": moments.is_good(made)})


def _servers(folder: Path, note: Note) -> None:
    server_faults.campaign(folder, server_faults.SOURCES, FAULTS_OF_A_SOURCE, note)
    with Warm((*server_faults.MODULES, "s3fs"), {"HOME": str(folder)}, grace=1.0) as warm:
        with services.model(folder / "model", warm) as scene:
            server_faults.faults_of(scene, FAULTS_OF_A_MODEL, note)
        with services.bucket(folder / "s3", warm) as bucket:
            server_faults.faults_of(bucket, FAULTS_OF_S3, note)


def _reviews(folder: Path, note: Note) -> None:
    modules = (*server_faults.MODULES, "benchmarks.reliability.reviews", "label_studio_sdk")
    with (
        Warm(modules, {"HOME": str(folder)}, grace=1.0) as warm,
        reviews.label_studio(folder / "label-studio") as server,
    ):
        for kind in (reviews.Pushed, reviews.Pulled):
            with reviews.before(server, kind, folder / kind.name, warm) as scene:
                server_faults.faults_of(scene, FAULTS_OF_LABEL_STUDIO, note)


def _machine(folder: Path, note: Note) -> None:
    with opened(folder) as world:
        machine.campaign(world, SEED, note)


def _restarts(folder: Path, note: Note) -> None:
    (folder / "postgresql").mkdir()
    with Postgres() as database, opened(folder / "postgresql", database=database.url) as world:
        restarts.flows(world, database, "PostgreSQL", RESTARTS, SEED, note)
    restarts.s3(folder, RESTARTS, SEED, note)
    (folder / "own").mkdir()
    with opened(folder / "own") as world:
        restarts.flows(world, world.prefect, "Prefect", RESTARTS, SEED, note)


PARTS: Mapping[str, Callable[[Path, Note], None]] = {
    "kills": _kills,
    "servers": _servers,
    "reviews": _reviews,
    "system": _machine,
    "restarts": _restarts,
    "moments": _moments,
}


def results_of(part: str, folder: Path, limit: float, verb: str = "") -> list[dict[str, Any]]:
    """What a part, or a command of it, comes to in so many seconds; what is under way then is left out."""
    results: list[dict[str, Any]] = []
    end = time.monotonic() + limit

    def note(one: Any) -> None:
        if isinstance(one, dict):
            results.append(one)
        print(part, one if isinstance(one, str) or not one["good"] else "good", flush=True)
        if time.monotonic() > end:
            raise TimeIsUpError

    with contextlib.suppress(TimeIsUpError):
        _kills(folder, note, [verb]) if verb else PARTS[part](folder, note)
    return results


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


def _with(before: Mapping[str, Any], found: Mapping[str, Any], verb: str) -> dict[str, Any]:
    """The figures of a part with those of one command measured again."""
    row = {**found["rows"][verb], "product": found["product"]}
    others = [one for one in before["bad"] if one["what"] != verb]
    return {**before, "rows": {**before["rows"], verb: row}, "bad": [*others, *found["bad"]]}


def main(arguments: Sequence[str]) -> int:
    """Run parts, and write the figures of each beside those of the others."""
    asked = [name for name in arguments if not name.isdigit()] or list(PARTS)
    limit = next((float(text) for text in arguments if text.isdigit()), float("inf"))
    is_bad = False
    for name, _, verb in (text.partition(":") for text in asked):
        begun, product = time.monotonic(), measure.product()
        with tempfile.TemporaryDirectory(prefix=f"reliability-{name}-") as folder:
            results = results_of(name, Path(folder), limit, verb)
            found = summed_up(results, time.monotonic() - begun) | {"product": product}
        is_bad |= bool(found["bad"])
        held: dict[str, Any] = {}
        with contextlib.suppress(FileNotFoundError):
            held = json.loads((measure.RESULTS / f"{NAME}.json").read_text("utf-8"))
        held.pop("machine", None)
        if verb:
            found = _with(held[name], found, verb)
        saved = measure.save(NAME, {**held, name: found})
        print(saved, json.dumps(found["rows"]), flush=True)
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
