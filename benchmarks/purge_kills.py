"""kill -9 at every step of a purge; the same command must end it as if nothing had happened.

A workspace of two articles, one of which is purged; its release stands on a loopback Hub, in a folder, and
in a bucket of a real S3 server that keeps old versions; folder and bucket also hold stores of shards, as
several machines share them. A step is a file opened for writing, moved or deleted, a change of a database,
or a request to the Hub or S3, killed with or without its effect. Two
purges: the first, which clears the workspace, and the last, when a newer version stands everywhere. After
the kill the command is run again. Compared: every byte of the workspace and folder, what the Hub holds,
every version of every object; the article's words are searched for in all of them. Run: `python -m
benchmarks.purge_kills [SECONDS]`
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import copy
import functools
import json
import multiprocessing
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from s3fs import S3FileSystem

from benchmarks.measure import read_result, save
from benchmarks.reliability.steps import Watch
from flows.takedown.purge import purge
from schemas.errors import MedqrelsError
from tests.flows.publish.hub_client import serving
from tests.flows.publish.hub_repository import Repository
from tests.flows.publish.hub_server import TOKEN, Fault, HubServer
from tests.flows.publish.s3_server import BUCKET, S3Proxy, environment, running_s3, storage_options
from tests.flows.takedown.purge_world import REPOSITORY, World, bytes_of, holding, make, opened

NAME = "purge_kills"
PURGES = ("first", "last")
LOCAL, HUB, S3 = "workspace", "Hub", "S3"
_MOST_RUNS = 3
Step = tuple[str, str, int, bool]
"""(where, what is asked, which one of its kind from 1, whether it has its effect)."""


@dataclass(frozen=True)
class Standing:
    """All that stands somewhere, to begin from again."""

    workspace: Path
    hub: Mapping[str, Repository]
    bucket: Mapping[str, bytes]


@dataclass(frozen=True)
class Case:
    """One purge: what it begins with, what it leaves undisturbed, and its steps."""

    purge: str
    before: Standing
    wanted: Mapping[str, Any]
    steps: tuple[Step, ...]


@dataclass
class Scene:
    """The servers, the folder that is purged, and both cases."""

    folder: Path
    world: World
    hub: HubServer
    proxy: S3Proxy
    system: Any
    cases: dict[str, Case] = field(default_factory=dict)

    @property
    def now(self) -> Path:
        """Folder of the workspace and of the published folder; the same for every kill."""
        return self.folder / "now"


@contextlib.contextmanager
def prepared() -> Iterator[Scene]:
    """Publish, purge undisturbed, and count the steps."""
    with (
        tempfile.TemporaryDirectory(prefix="purge-kills-") as scratch,
        pytest.MonkeyPatch.context() as patch,
        running_s3() as s3,
        S3Proxy(s3) as proxy,
        serving(patch) as hub,
    ):
        for name, value in environment(proxy.root).items():
            patch.setenv(name, value)
        system = S3FileSystem(skip_instance_cache=True, use_listings_cache=False, **storage_options(s3))
        keeps = {"Status": "Enabled"}
        system.call_s3("put_bucket_versioning", Bucket=BUCKET, VersioningConfiguration=keeps)
        folder = Path(scratch)
        shelves = [str(folder / "now/shelf"), f"s3://{BUCKET}/shelf"]
        stores = [str(folder / "now/store"), f"s3://{BUCKET}/store"]
        world = opened(make(folder / "now"), shelves, stores)
        scene = Scene(folder, world, hub, proxy, system)
        world.release("1.0.0", (0, 1))
        world.publish("1.0.0")
        _undisturbed(scene, "first")
        world.run_again()
        world.publish("1.0.1")
        _undisturbed(scene, "last")
        yield scene


def kill(scene: Scene, purge: str, step: Step) -> dict[str, Any]:
    """Purge, kill -9 at a step, and purge again to the end."""
    case = scene.cases[purge]
    _restore(scene, case.before)
    run = _purged(scene, step)
    codes: list[int] = []
    told = ""
    while len(codes) < _MOST_RUNS and 0 not in codes:
        again = _purged(scene, None)
        codes.append(int(again["code"]))
        told = again["told"]
    found = outcome(scene)
    return {
        "purge": purge,
        "step": list(step),
        "killed": bool(run["killed"]),
        "runs": len(codes),
        "is_finished": codes[-1] == 0,
        "told": told if codes[-1] else "",
        "differing": _differing(found, case.wanted),
        "left": left(scene) if purge == "last" else [],
    }


def is_good(result: Mapping[str, Any]) -> bool:
    """Whether one kill went as it must."""
    ends = result["killed"] and result["is_finished"] and result["runs"] == 1
    return bool(ends) and not (result["differing"] or result["left"])


def outcome(scene: Scene) -> dict[str, Any]:
    """All that stands, without ids of commits, which hold times."""
    repository = scene.hub.repositories[REPOSITORY]
    commits = list(repository.history(repository.head))
    places = {commit.oid: at for at, commit in enumerate(commits)}
    files = bytes_of(scene.now).items()
    return {
        **{name: digest for name, digest in files if not name.endswith("/_run.json")},  # it holds times
        "the ledger": _ledger(scene.world.workspace.ledger),
        "commits": [[c.title, c.message, sorted((p, b.etag) for p, b in c.tree.items())] for c in commits],
        "other commits": len(repository.commits) - len(commits),
        "tags": {tag: places.get(oid, -1) for tag, oid in sorted(repository.tags.items())},
        "large files": sorted(repository.objects),
        "objects": sorted(_content(scene).items()),
        "object versions": sorted(collections.Counter(key for key, *_ in _versions(scene)).items()),
    }


def left(scene: Scene) -> list[str]:
    """Where the article's words still stand."""
    words, repository = scene.world.words, scene.hub.repositories[REPOSITORY]
    found = [f"{LOCAL} {name}" for name in holding(scene.now, words)]
    contents = [blob.content for commit in repository.commits.values() for blob in commit.tree.values()]
    found += [f"{HUB} a file" for content in contents if words in content]
    held = scene.folder / "large.parquet"
    for kind, each in ((HUB, repository.objects), (S3, {k: b for k, _, b in _versions(scene)})):
        for name, content in each.items():
            held.write_bytes(content)
            is_table = content[:4] == b"PAR1"
            path = held.rename(held.with_suffix(".parquet" if is_table else ".bin"))
            found += [f"{kind} {name}"] if holding_file(path, words) else []
    return sorted(found)


def holding_file(path: Path, words: bytes) -> bool:
    """Whether one file holds the words."""
    with tempfile.TemporaryDirectory(dir=path.parent) as alone:
        shutil.move(path, Path(alone) / path.name)
        return bool(holding(Path(alone), words))


def _undisturbed(scene: Scene, name: str) -> None:
    """One case: kept as it stands, purged, and its steps counted."""
    kept = Path(shutil.copytree(scene.now, scene.folder / f"before-{name}"))
    before = Standing(kept, copy.deepcopy(scene.hub.repositories), _content(scene))
    _restore(scene, before)
    run = _purged(scene, None)
    if run["code"]:
        raise RuntimeError(f"an undisturbed purge failed: {run['told']}")
    steps: list[Step] = [(LOCAL, "", number, False) for number in range(1, run["steps"] + 1)]
    for where, asked in ((HUB, scene.hub.asked), (S3, scene.proxy.asked)):
        for kind, count in sorted(asked.items()):
            for number in range(1, count + 1):
                steps += [(where, kind, number, False), (where, kind, number, True)]
    scene.cases[name] = Case(name, before, outcome(scene), tuple(steps))


def _restore(scene: Scene, before: Standing) -> None:
    """Have everything stand as it did."""
    shutil.rmtree(scene.now)
    shutil.copytree(before.workspace, scene.now)
    scene.hub.repositories = copy.deepcopy(dict(before.hub))
    stands = _versions(scene)
    if sorted((key, content) for key, _, content in stands) != sorted([*before.bucket.items()] * 2):
        for key, version, _ in stands:
            scene.system.call_s3("delete_object", Bucket=BUCKET, Key=key, VersionId=version)
        for key, content in (*before.bucket.items(), *before.bucket.items()):  # an older version of each
            scene.system.call_s3("put_object", Bucket=BUCKET, Key=key, Body=content)


def _content(scene: Scene) -> dict[str, bytes]:
    base = f"{BUCKET}/"
    return {name.removeprefix(base): scene.system.cat_file(name) for name in scene.system.find(BUCKET)}


def _versions(scene: Scene) -> list[tuple[str, str, bytes]]:
    """(key, version, content) of every version of every object."""
    listed = scene.system.call_s3("list_object_versions", Bucket=BUCKET)
    found = []
    for one in listed.get("Versions") or ():
        place = {"Bucket": BUCKET, "Key": one["Key"], "VersionId": one["VersionId"]}
        found.append((one["Key"], one["VersionId"], _body(scene.system, place)))
    marks = listed.get("DeleteMarkers") or ()
    return found + [(one["Key"], one["VersionId"], b"deleted") for one in marks]


def _body(system: Any, place: Mapping[str, str]) -> bytes:
    """Content of one version of an object."""

    async def read() -> bytes:
        answer = await system._call_s3("get_object", **place)
        content: bytes = await answer["Body"].read()
        return content

    return asyncio.run_coroutine_threadsafe(read(), system.loop).result()


def _purged(scene: Scene, step: Step | None) -> dict[str, Any]:
    """One purge in a process of its own, killed at a step if one is given; what it told."""
    path = scene.folder / "told.json"
    path.unlink(missing_ok=True)
    number = step[2] if step and step[0] == LOCAL else 0
    work = functools.partial(drive, scene.world.root, scene.world.articles[0], scene.hub.root, number, path)
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["benchmarks.purge_kills"])  # imported once, not for each of them
    process = processes.Process(target=work)
    struck: list[str] = []

    def strike(where: str, kind: str, count: int) -> Fault | None:
        if step is None or step[:3] != (where, kind, count):
            return None
        struck.append(kind)
        process.kill()
        return None if step[3] else Fault("reset")

    scene.hub.asked.clear()
    scene.proxy.asked.clear()
    scene.hub.faults = functools.partial(strike, HUB)
    scene.proxy.faults = functools.partial(strike, S3)
    process.start()
    process.join()
    time.sleep(0.02 if struck else 0.0)  # a request under way at the kill ends before anybody looks
    scene.hub.faults = scene.proxy.faults = lambda kind, count: None
    if path.is_file():
        return {**json.loads(path.read_text("utf-8")), "killed": False}
    return {"code": 1, "told": f"exit code {process.exitcode}", "killed": process.exitcode == -9}


def drive(root: str, article: str, endpoint: str, at: int, path: Path) -> None:
    """Purge; tell of the end in a file, or be killed before step `at`."""
    from huggingface_hub import constants

    constants.ENDPOINT, constants.HF_HUB_DISABLE_XET = endpoint, True
    os.environ |= {"HF_TOKEN": TOKEN, "MEDQRELS_WORKERS": "1", "MEDQRELS_HTTP__ATTEMPTS": "2"}
    watch = Watch(Path(root), at or None)
    watch.begin()
    code, told = 0, ""
    try:
        purge(article, "privacy", notice="A patient", workspace=root)
    except MedqrelsError as error:
        code, told = 3, f"{error.message} ({error.hint})"
    except BaseException as error:
        code, told = 70, f"{type(error).__name__}: {error}"
    steps = watch.counts.total()
    cpu = time.process_time()
    path.write_text(json.dumps({"code": code, "told": told, "steps": steps, "cpu": cpu}), "utf-8")
    os._exit(code)


def _ledger(path: Path) -> list[Any]:
    with contextlib.closing(sqlite3.connect(path)) as held:
        return [list(row) for row in held.execute("SELECT * FROM objects ORDER BY source, key")]


def _differing(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    found = read_result(NAME)
    ended = sum(not one["killed"] for one in found["bad"])
    early = f" ({ended} ended before their kill came, as undisturbed)" if ended else ""
    lines = [
        "## kill -9 at every step of a purge",
        "",
        "An article purged whose release stands on a loopback Hub, in a folder and in a bucket of a real S3 "
        "server that keeps old versions; killed before each change of the workspace and folder and at each "
        "request, with and without its effect, and run once more, at steps drawn from "
        f"{found['steps']:,}. Then every byte, commit, tag, large file "
        f"and object version is compared with an undisturbed purge: {found['good']:,} of {found['count']:,} "
        f"equal{early}; "
        f"the article's words found afterwards: {found['left']}. In {found['seconds']:,} s. "
        "`python -m benchmarks.purge_kills [SECONDS]`",
        "",
        "| purge | killed at a step of | kills | as undisturbed |",
        "|---|---|---:|---:|",
    ]
    for row in found["rows"]:
        lines.append(f"| {row['purge']} | {row['where']} | {row['kills']:,} | {row['good']:,} |")
    return [*lines, ""]


def main(arguments: Sequence[str]) -> int:
    """Every step, or as many drawn ones as end in so many seconds; 1 if any went wrong."""
    limit = float(arguments[0]) if arguments else float("inf")
    results: list[dict[str, Any]] = []
    with prepared() as scene:
        points = [(name, step) for name in PURGES for step in scene.cases[name].steps]
        random.Random(0).shuffle(points)
        started = time.monotonic()
        for name, step in points:
            if time.monotonic() - started > limit:
                break
            results.append(kill(scene, name, step))
            print("good" if is_good(results[-1]) else "BAD", json.dumps(results[-1]), flush=True)
        seconds = round(time.monotonic() - started)
    kinds = collections.Counter((one["purge"], one["step"][0]) for one in results)
    good = collections.Counter((one["purge"], one["step"][0]) for one in results if is_good(one))
    found = {
        "steps": len(points),
        "count": len(results),
        "good": sum(good.values()),
        "left": sum(bool(one["left"]) for one in results),
        "seconds": seconds,
        "bad": [one for one in results if not is_good(one)],
        "rows": [
            {"purge": name, "where": where, "kills": count, "good": good[name, where]}
            for (name, where), count in sorted(kinds.items())
        ],
    }
    print(save(NAME, found), f"{found['good']} of {len(results)} good, {len(points)} steps")
    return int(bool(found["bad"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
