"""kill -9 and faults at drawn requests of a publish; the rerun must end as if nothing happened.

A loopback Hub holds what is sent. At one drawn request the publisher is killed, with or without that
request having its effect, or the request gets a refusal, 429 or 503 with Retry-After, a dropped connection,
or no reply. The same command then runs to its end. Checked after every effect: no tag and no place in the
collection while a sibling lacks its commit. At the end: commits, tags, files and the collection are those of
an undisturbed publish, no commit stands twice, and a further run sends nothing. Run: `python -m
benchmarks.hub_faults`
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import copy
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import save
from curation.published.manifest import read_manifest
from flows.adapters.hub import Hub
from flows.engine.progress import SilentReporter
from flows.publish.hub import Publisher
from flows.publish.ready import TaskRelease
from schemas.errors import MedqrelsError
from tests.flows.publish.hub_server import ORGANIZATION, TOKEN, Fault, HubServer
from tests.flows.publish.two_tasks import TASKS, first, newer

KILLS, FAULTS = 100, 300
SEED = 20261126
TRANSFERS = ("lfs", "xet")
REPOSITORIES = tuple(f"{ORGANIZATION}/known-{task}" for task in TASKS)
MARK, VERSION = "release-hash: ", "release-version: "
WAIT_SECONDS = 7
OF_XET, LEAST_OF_XET = "xet-token", 0.5
"""hf_xet asks for its token by itself, and again after a second or more, whatever Retry-After says."""
KINDS = (
    *(Fault("status", status) for status in (401, 403, 409, 412)),
    *(Fault("status", status, retry_after=str(WAIT_SECONDS)) for status in (429, 503)),
    Fault("status", 503),
    Fault("reset"),
    Fault("lost"),
)
_MOST_RUNS = 4
_AT_A_TIME = 4
_EFFECTS = ("commit", "tag", "collection-item")
_OK, _TOLD, _CRASHED = 0, 3, 70


@dataclass(frozen=True)
class Standing:
    """What a Hub holds at some time, to begin from again."""

    repositories: Mapping[str, Any]
    collections: Any
    large: Path


@dataclass(frozen=True)
class Case:
    """One way of publishing: over a transfer, to an empty Hub or after an earlier version."""

    transfer: str
    version: Path
    before: Standing
    wanted: Any
    requests: Mapping[str, int]
    """Endpoint -> how often an undisturbed publish asks it."""

    def drawn(self, draw: random.Random) -> tuple[str, int]:
        """An endpoint, and which request to it."""
        name = draw.choice(sorted(self.requests))
        return name, draw.randint(1, self.requests[name])


@dataclass(frozen=True)
class Scene:
    """Every case, and the folder of all moments."""

    folder: Path
    cases: tuple[Case, ...]


@dataclass
class Watched:
    """A Hub, and what was seen of it."""

    server: HubServer
    transfer: str
    folder: Path
    half: list[str] = field(default_factory=list)
    """Tags and items that were there while a sibling lacked its commit."""

    def see(self, name: str, when: str) -> None:
        """Look after every effect."""
        held = [self.server.repositories.get(name) for name in REPOSITORIES]
        said = ["" if one is None else "\n".join(c.message for c in one.history(one.head)) for one in held]
        for tag in {tag for one in held if one is not None for tag in one.tags}:
            if not all(f"{VERSION}{tag}" in text for text in said):
                self.half.append(f"tag {tag} after {name}")
        has_items = any(one.items for one in self.server.collections.held.values())
        if has_items and not all(MARK in text for text in said):
            self.half.append(f"item after {name}")

    def outcome(self) -> dict[str, Any]:
        """All that others see, without ids of commits, which hold times."""
        repositories = {}
        for name, one in sorted(self.server.repositories.items()):
            commits = list(one.history(one.head))
            places = {commit.oid: at for at, commit in enumerate(reversed(commits))}
            repositories[name] = {
                "commits": [[c.title, c.message, _files(c)] for c in reversed(commits)],
                "tags": {tag: places.get(oid, -1) for tag, oid in sorted(one.tags.items())},
                "objects": sorted(one.objects),
                "private": one.is_private,
            }
        listed = [
            [one.title, sorted(item["id"] for item in one.items)]
            for one in self.server.collections.held.values()
        ]
        return {"repositories": repositories, "collections": sorted(listed)}

    def doubled(self) -> list[str]:
        """Release hashes that more than one commit of a repository has."""
        found = []
        for name, one in self.server.repositories.items():
            marks = [
                line
                for commit in one.commits.values()
                for line in commit.message.splitlines()
                if MARK in line
            ]
            found += [f"{name} {mark}" for mark, count in collections.Counter(marks).items() if count > 1]
        return found


@contextlib.contextmanager
def watched(transfer: str, before: Standing | None, folder: Path) -> Iterator[Watched]:
    """A Hub that begins with what stood."""
    with HubServer() as server:
        if before is not None:
            server.repositories = copy.deepcopy(dict(before.repositories))
            server.collections = copy.deepcopy(before.collections)
            shutil.copytree(before.large, server.xet.folder, dirs_exist_ok=True)
        seen = Watched(server, transfer, folder)
        server.watch = lambda name, when: seen.see(name, when) if when == "after" else None
        yield seen


def prepare(folder: Path, transfers: Sequence[str] = TRANSFERS) -> Scene:
    """Make two versions, and publish each undisturbed over each transfer."""
    one = first(folder / "known")
    two = newer(one, folder)
    cases = []
    for transfer in transfers:
        before: Standing | None = None
        for version in (one, two):
            with watched(transfer, before, folder) as hub:
                code, told = run(hub, version)
                if code != _OK:
                    raise RuntimeError(f"an undisturbed publish failed: {told}")
                start = before or Standing({}, HubServer().collections, _empty(folder / f"{transfer}-empty"))
                cases.append(Case(transfer, version, start, hub.outcome(), dict(hub.server.asked)))
                large = Path(shutil.copytree(hub.server.xet.folder, folder / f"{transfer}-{version.name}"))
                before = Standing(
                    copy.deepcopy(hub.server.repositories), copy.deepcopy(hub.server.collections), large
                )
    return Scene(folder, tuple(cases))


def _empty(folder: Path) -> Path:
    """Where large files will be kept, with the database of a store that keeps none.

    `local://` makes hf_xet its own server, whose database is lost if a kill comes while it is made: no Hub
    dies with its client.
    """
    folder.mkdir()
    code = "import hf_xet, sys; hf_xet.upload_bytes([b''], sys.argv[1], ('t', 2**40), None, None, None)"
    environment = os.environ | {"HF_XET_CACHE": str(folder / "cache")}
    subprocess.run([sys.executable, "-c", code, f"local://{folder}"], env=environment, check=True)
    return folder


def kill(scene: Scene, seed: int, attempt: int = 0) -> dict[str, Any]:
    """Publish, kill -9 at a drawn request, publish again to the end.

    Args:
        scene: from :func:`prepare`.
        seed: of the case, the request, whether it still has its effect, and how long after it the kill comes.
        attempt: how often the publish was over before the kill came.
    """
    draw = random.Random(f"kill {seed} {attempt}")
    case = scene.cases[seed % len(scene.cases)]
    at, has_effect = case.drawn(draw), draw.random() < 0.5
    delay = draw.choice((0.0, draw.uniform(0.0, 0.05))) if has_effect else 0.0
    with watched(case.transfer, case.before, scene.folder) as hub:
        struck: list[str] = []
        process, told = _started(hub, case.version)

        def strike(name: str, count: int) -> Fault | None:
            if (name, count) != at:
                return None
            struck.append(name)
            threading.Timer(delay, process.kill).start() if delay else process.kill()
            return None if has_effect else Fault("reset")

        hub.server.faults = strike
        process.start()
        process.join()
        if is_over := told.is_file():
            told.unlink()
            if attempt < _MOST_RUNS:
                return kill(scene, seed, attempt + 1)
        hub.server.faults = lambda name, count: None
        time.sleep(0.01)  # a request under way at the kill ends before the rerun looks
        codes, said = _to_the_end(hub, case.version)
        return {
            "seed": seed,
            "transfer": case.transfer,
            "version": case.version.name,
            "at": struck[0] if struck else "",
            "killed": bool(struck) and not is_over,
            **_checked(hub, case, codes, said),
        }


def fault(scene: Scene, seed: int) -> dict[str, Any]:
    """Publish while one drawn request goes wrong, again until nothing does.

    Args:
        scene: from :func:`prepare`.
        seed: of the case, the request and the kind.
    """
    draw, case = random.Random(f"fault {seed}"), scene.cases[seed % len(scene.cases)]
    kind = KINDS[(seed // len(scene.cases)) % len(KINDS)]
    at = case.drawn(draw)
    with watched(case.transfer, case.before, scene.folder) as hub:
        struck, pauses, begun = list[str](), list[float](), time.monotonic()

        def strike(name: str, count: int) -> Fault | None:
            nonlocal begun
            if struck and not pauses:
                pauses.append(time.monotonic() - begun)
            if (name, count) != at:
                return None
            struck.append(name)
            begun = time.monotonic()
            return kind

        hub.server.faults = strike
        codes, said = _to_the_end(hub, case.version)
        waits, least = [one for text in said for one in text["waits"]], float(WAIT_SECONDS)
        if struck == [OF_XET]:
            waits, least = pauses, LEAST_OF_XET
        return {
            "seed": seed,
            "transfer": case.transfer,
            "version": case.version.name,
            "at": struck[0] if struck else "",
            "kind": f"{kind.status} {kind.retry_after}".strip() if kind.kind == "status" else kind.kind,
            "waited": not kind.retry_after or max(waits, default=0) >= least,
            "pause": round(pauses[0], 1) if pauses else 0.0,
            **_checked(hub, case, codes, said),
        }


def is_good(result: Mapping[str, Any]) -> bool:
    """Whether one moment went as it must."""
    wrong = ("half", "doubled", "differing", "crashed", "token_told", "sent_again")
    is_struck = result["killed"] if "killed" in result else result["at"] and result["waited"]
    return bool(is_struck and result["is_finished"]) and not any(result[name] for name in wrong)


def _checked(
    hub: Watched, case: Case, codes: Sequence[int], said: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What must hold at the end, and what a further run sends."""
    effects = [hub.server.count(name) for name in _EFFECTS]
    found = hub.outcome()
    again, told = run(hub, case.version)
    differing = [name for name, value in case.wanted.items() if found[name] != value]
    return {
        "runs": len(codes),
        "is_finished": bool(codes) and codes[-1] == _OK and again == _OK,
        "crashed": sorted({str(one["told"])[-300:] for one in said if one["code"] == _CRASHED}),
        "refused": next((str(one["told"]) for one in said if one["code"] == _TOLD), ""),
        "again": told["told"],
        "half": sorted(set(hub.half)),
        "doubled": hub.doubled(),
        "differing": differing,
        "token_told": any(TOKEN in str(one["told"]) for one in (*said, told)),
        "sent_again": effects != [hub.server.count(name) for name in _EFFECTS],
    }


def _to_the_end(hub: Watched, version: Path) -> tuple[list[int], list[Mapping[str, Any]]]:
    """Run until a run ends well, a few times at most."""
    codes: list[int] = []
    said: list[Mapping[str, Any]] = []
    while len(codes) < _MOST_RUNS and _OK not in codes:
        code, told = run(hub, version)
        codes.append(code)
        said.append(told)
    return codes, said


def run(hub: Watched, version: Path) -> tuple[int, Mapping[str, Any]]:
    """One publish in a process of its own: exit code, and what it told."""
    process, path = _started(hub, version)
    process.start()
    process.join()
    lost: dict[str, Any] = {"told": f"exit code {process.exitcode}", "waits": [], "code": _CRASHED}
    told: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else lost
    path.unlink(missing_ok=True)
    return int(told["code"]), told  # an exit code is lost at times when several are started at once


def _started(hub: Watched, version: Path) -> tuple[Any, Path]:
    """A process that will publish, and the file it tells in."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["benchmarks.hub_faults"])  # imported once, not for each of them
    with tempfile.NamedTemporaryFile(dir=hub.folder, suffix=".json", delete=False) as made:
        told = Path(made.name)
    told.unlink()
    is_xet = hub.transfer == "xet"
    home = hub.server.scratch.name + "/home"
    return processes.Process(target=drive, args=(version, hub.server.root, home, is_xet, told)), told


def drive(version: Path, endpoint: str, home: str, is_xet: bool, path: Path) -> None:
    """Publish to a Hub; tell of the end in a file."""
    from huggingface_hub import constants

    waits: list[float] = []
    os.environ |= {"HF_TOKEN": TOKEN, "HF_HOME": home, "HF_XET_CACHE": f"{home}/xet"}
    constants.ENDPOINT, constants.HF_HUB_DISABLE_XET = endpoint, not is_xet
    constants.HF_XET_CACHE = f"{home}/xet"
    setattr(time, "sleep", waits.append)  # noqa: B010 - the library waits, too
    hub = Hub(attempts=3, timeout_seconds=10.0, sleep=waits.append)
    tasks = [TaskRelease(version / task, read_manifest(version / task)) for task in TASKS]
    code, told = _OK, ""
    try:
        Publisher(hub, ORGANIZATION, tasks, private=False, reporter=SilentReporter()).publish()
    except MedqrelsError as error:
        code, told = _TOLD, f"{error.message} ({error.hint})"
    except BaseException as error:
        code, told = _CRASHED, f"{type(error).__name__}: {error}"
    path.write_text(json.dumps({"code": code, "told": told, "waits": waits}), "utf-8")
    os._exit(code)  # threads of the transfer may still wait


def _files(commit: Any) -> list[tuple[str, str]]:
    return sorted((path, blob.etag) for path, blob in commit.tree.items())


def _counted(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, int]:
    return dict(sorted(collections.Counter(str(one[key]) for one in rows).items()))


def main() -> int:
    """Both campaigns, or what of them ends in as many seconds as the argument says; 1 if any went wrong."""
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")
    kills: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="medqrels-hub-faults-") as folder:
        scene = prepare(Path(folder))
        started = time.monotonic()

        def moment(number: int) -> None:
            if time.monotonic() - started > limit:
                return
            turn, place = divmod(number, 1 + FAULTS // KILLS)
            done = fault(scene, SEED + number - turn - 1) if place else kill(scene, SEED + turn)
            (faults if place else kills).append(done)
            print("good" if is_good(done) else "BAD", json.dumps(done), flush=True)

        with concurrent.futures.ThreadPoolExecutor(_AT_A_TIME) as pool:
            list(pool.map(moment, range(KILLS + FAULTS)))
    everything = [*kills, *faults]
    bad = [one for one in everything if not is_good(one)]
    campaign: dict[str, Any] = {
        "seconds": round(time.monotonic() - started),
        "requests": {f"{one.transfer} {one.version.name}": sum(one.requests.values()) for one in scene.cases},
        "bad": bad,
        **{name: sum(bool(one[name]) for one in everything) for name in ("half", "doubled", "differing")},
    }
    for name, rows in (("kills", kills), ("faults", faults)):
        kinds = ("transfer", "at") if name == "kills" else ("transfer", "kind", "at")
        campaign[name] = {
            "count": len(rows),
            "good": sum(map(is_good, rows)),
            **{f"by_{key}": _counted(rows, key) for key in (*kinds, "runs")},
        }
    print(save("hub_faults", campaign), f"{len(everything) - len(bad)} of {len(everything)} good")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
