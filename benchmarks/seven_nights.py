"""Seven nights of a served dataset on loopback sources, a fault each night; the release must not show them.

Every night `sweep` and `nightly` are started by `run_deployment` with the night's date as `as_of`; articles
come in by their release date, some change, some are retracted. On the last night `weekly` releases. Then one
undisturbed `medqrels run` over the sources as they stand, with the same list of withdrawn articles, releases
again: the bytes must be equal. Run: python -m benchmarks.seven_nights [NIGHTS] [--dask]; with the latter the
nights' shards are made by two Dask workers with a store on a real S3 server, one of which is killed a night.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.faults import transient
from benchmarks.nights_world import World
from benchmarks.processes import descendants, left_running
from flows.engine.manifest import read_run
from flows.engine.progress import SilentReporter
from flows.engine.runs import KILLED, RUNNING, WAITING, runs_of
from flows.engine.workspace import Workspace, open_workspace
from flows.vocabulary.indexes import index_in_use
from flows.vocabulary.store import home as home_of
from schemas.hashing import sha256_file
from sources.sample.server import Fault, Faults
from tests.flows.cluster.dask_cluster import DaskCluster, running_cluster
from tests.flows.publish import s3_server

NAME = "seven_nights"
ON_DASK = "seven_nights_dask"
NIGHTS = 7
FIRST = date(2026, 3, 2)
PATIENCE = 600.0
BIN = Path(sys.executable).parent


class Nights:
    """The served workspace: starts deployments, disturbs them, and remembers how they ended."""

    def __init__(self, world: World, root: Path, api: str, cluster: DaskCluster | None) -> None:
        self.world, self.root, self.api, self.cluster = world, root, api, cluster
        self.told: list[dict[str, Any]] = []

    def start(self, flow: str, night: int, *, wait: bool = True) -> Any:
        """Start one deployment, and wait for its end unless told otherwise."""
        from prefect.deployments import run_deployment
        from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

        given = {"as_of": self.day(night)}
        given |= {"changes": "poll"} if flow == "nightly" else {}
        with temporary_settings({PREFECT_API_URL: self.api, PREFECT_CLIENT_MAX_RETRIES: 20}):
            started = time.monotonic()
            run: Any = run_deployment(
                f"{flow}/nights", parameters=given, timeout=PATIENCE if wait else 0, poll_interval=0.5
            )
        seconds = round(time.monotonic() - started, 1)
        if wait:
            self.told.append({"night": night, "flow": flow, "state": run.state_name, "seconds": seconds})
        return run

    def lose_a_worker(self) -> None:
        """Kill a worker of the cluster, if there is one, and start another."""
        if self.cluster is not None:
            self.cluster.kill_worker()
            self.cluster.add_worker()

    def day(self, night: int) -> str:
        """The date of a night, from 1."""
        return (FIRST + timedelta(days=night - 1)).isoformat()

    def workspace(self) -> Workspace:
        """What the nights write to."""
        return open_workspace(self.root)

    def begun(self, flow: str, known: int) -> dict[str, Any]:
        """The record of the run started last, once it has finished a shard."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            rows = runs_of(self.workspace())[known:] if self.root.exists() else []
            for row in rows:
                if (
                    row["flow"] == flow
                    and "shard_finished" in (Path(row["folder"]) / "log.jsonl").read_text()
                ):
                    return row
            time.sleep(0.02)
        raise SystemExit(f"{flow} did not begin")

    def ended(self, run: Any) -> str:
        """The state in which a run ends, by Prefect's name for it."""
        from prefect import get_client
        from prefect.settings import PREFECT_API_URL, temporary_settings

        end = time.monotonic() + PATIENCE
        with temporary_settings({PREFECT_API_URL: self.api}), get_client(sync_client=True) as client:
            while time.monotonic() < end:
                state = client.read_flow_run(run).state
                if state is not None and state.is_final():
                    return str(state.name)
                time.sleep(0.2)
        raise SystemExit(f"run {run} did not end")

    def killed(self, night: int) -> None:
        """Kill -9 a nightly run in the middle; nothing that it started stays."""
        known = len(runs_of(self.workspace()))
        self.start("nightly", night, wait=False)
        row = self.begun("nightly", known)
        below = descendants(row["process"])
        os.kill(row["process"], signal.SIGKILL)
        left = left_running([row["process"], *below])
        state = self.recorded_end(row["id"])
        self.told.append({"night": night, "flow": "nightly", "state": state, "left_running": left})
        assert state == KILLED, state

    def recorded_end(self, run: str) -> str:
        """The state a run's record comes to: a killed process lets its locks go with its last thread."""
        end = time.monotonic() + PATIENCE
        while True:
            (now,) = (one for one in runs_of(self.workspace()) if one["id"] == run)
            if now["state"] not in (RUNNING, WAITING) or time.monotonic() > end:
                return str(now["state"])
            time.sleep(0.1)

    def cancelled(self, night: int) -> None:
        """Cancel a nightly run as from Prefect's page; the workspace is clean at its end."""
        from prefect import get_client
        from prefect.settings import PREFECT_API_URL, temporary_settings
        from prefect.states import Cancelling

        known = len(runs_of(self.workspace()))
        run = self.start("nightly", night, wait=False)
        row = self.begun("nightly", known)
        with temporary_settings({PREFECT_API_URL: self.api}), get_client(sync_client=True) as client:
            client.set_flow_run_state(run.id, Cancelling(), force=True)
        state = self.ended(run.id)
        self.recorded_end(row["id"])
        (now,) = (one for one in runs_of(self.workspace()) if one["id"] == row["id"])
        litter = (
            [str(path) for path in (self.root / "tmp").rglob("*")] if (self.root / "tmp").exists() else []
        )
        writer = (self.root / ".writer.json").exists()
        self.told.append(
            {"night": night, "flow": "nightly", "state": state, "record": now["state"], "litter": litter,
             "still_held": writer}
        )  # fmt: skip

    def together(self, night: int) -> None:
        """Start the sweep and the crawl at the same time: one waits for the other."""
        first = self.start("sweep", night, wait=False)
        second = self.start("nightly", night)
        state = self.ended(first.id)
        waited = [row["flow"] for row in runs_of(self.workspace())[-2:] if '"waiting"' in _log(row)]
        self.told.append({"night": night, "flow": "sweep", "state": state, "waited_for_the_other": waited})
        assert second.state_name == "Completed", second.state


def _log(row: Mapping[str, Any]) -> str:
    return (Path(row["folder"]) / "log.jsonl").read_text("utf-8")


@contextlib.contextmanager
def hired(folder: Path, *, on_dask: bool) -> Iterator[tuple[dict[str, str], DaskCluster | None]]:
    """What tells flows of the cluster and its store, and the cluster; nothing without one."""
    if not on_dask:
        yield {}, None
        return
    with s3_server.running_s3() as endpoint:
        credentials = s3_server.environment(endpoint)
        with running_cluster(folder / "dask", credentials) as cluster:
            store = f"s3://{s3_server.BUCKET}/nights"
            yield {**credentials, "MEDQRELS_DASK": cluster.address, "MEDQRELS_STORE": store}, cluster


@contextlib.contextmanager
def served(spec: Path, root: Path, home: Path, port: int, told: Mapping[str, str]) -> Iterator[str]:
    """`medqrels serve` with a Prefect server of its own; yields the server's address."""
    with (home / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            [
                str(BIN / "medqrels"),
                "serve",
                "--spec",
                str(spec),
                "--workspace",
                str(root),
                "--port",
                str(port),
            ],
            env={**told} | {"PREFECT_RUNNER_POLL_FREQUENCY": "1", "PREFECT_CLIENT_MAX_RETRIES": "20"},
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until(lambda: _deployed(port), process, home / "serve.log")
        yield f"http://127.0.0.1:{port}/api"
    finally:
        below = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
        left = left_running(below)
        assert not left, f"still running after serve: {left}"


def _deployed(port: int) -> bool:
    import urllib.request

    url = f"http://127.0.0.1:{port}/api/deployments/count"
    request = urllib.request.Request(url, b"{}", {"Content-Type": "application/json"})
    with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=5) as answer:
        return bool(json.loads(answer.read()) >= 4)
    return False


def _wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"medqrels serve did not start: {log.read_text('utf-8', 'replace')[-2000:]}")
        time.sleep(0.3)


def environment(world: World, home: Path) -> dict[str, str]:
    """What processes of the campaign are told: loopback sources, a home of their own, little patience."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "MEDQRELS_"))}
    return {
        **kept,
        **world.settings(),
        "HOME": str(home),
        "PREFECT_HOME": str(home / ".prefect"),
        "MEDQRELS_WORKERS": "2",
        "MEDQRELS_HTTP__ATTEMPTS": "3",
        "MEDQRELS_HTTP__TIMEOUT_SECONDS": "5",
        "MEDQRELS_HTTP__DEADLINE_SECONDS": "2",
    }


def run_nights(nights: Nights, count: int) -> None:
    """One fault a night: passing errors, a busy E-utilities, a silent Europe PMC, a kill, and more."""
    disturb: dict[int, Callable[[int], object]] = {4: nights.killed, 6: nights.cancelled}
    for night in range(1, count + 1):
        world = nights.world
        world.dawn(night)
        world.bucket_faults = transient(night, share=0.2)
        world.eutils_faults = (lambda n: "503" if n % 3 == 1 else None) if night == 2 else (lambda n: None)
        world.europepmc_faults = _busy(3) if night == 3 else (lambda what, n: None)
        if night == 5:
            world.bucket_faults = _down(world, 5)
        if night in disturb and night <= count:
            disturb[night](night)
        nights.lose_a_worker()
        if night == 7:
            nights.together(night)
        else:
            nights.start("sweep", night)
            nights.start("nightly", night)
    nights.start("weekly", count)


def _busy(requests: int) -> Callable[[str, int], str | None]:
    """Europe PMC that is busy for so many requests: as many as a sweep makes; the next one is answered."""
    left = iter(range(requests))
    return lambda what, n: None if next(left, None) is None else "busy"


def _down(world: World, requests: int) -> Faults:
    """A bucket that answers nothing for its next requests: more than one request is patient with."""
    until = world.requests + requests
    return lambda method, key, count: Fault("status") if world.requests < until else None


def undisturbed(world: World, spec: Path, root: Path, home: Path, register: Path) -> float:
    """One `medqrels run` over the sources as they stand, into a new workspace; seconds."""
    world.calm()
    workspace = open_workspace(root, create=True)
    if register.is_file():
        shutil.copy(register, workspace.root)
    started = time.monotonic()
    done = subprocess.run(
        [str(BIN / "medqrels"), "run", "--spec", str(spec), "--workspace", str(root)],
        env=environment(world, home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return round(time.monotonic() - started, 1)


def share_vocabulary(one: Path, other: Path) -> None:
    """Make two workspaces that have the default vocabulary before their first night, indexed once."""
    workspace = open_workspace(one, create=True)
    with workspace.writing():
        index_in_use(workspace, "native", SilentReporter())
    shutil.copytree(home_of(workspace), home_of(open_workspace(other, create=True)))


def files(root: Path) -> dict[str, str]:
    """Every file of the releases of a workspace, with its hash; pages and reports of audits too."""
    base = root / "releases"
    return {
        path.relative_to(base).as_posix(): sha256_file(path)
        for path in sorted(base.rglob("*"))
        if path.is_file()
    }


def _makers(workspace: Workspace) -> set[str]:
    """Workers of a cluster that made what stands; those that were killed count where their shards remain."""
    folders = [folder for folder in workspace.work.glob("*/*") if (folder / "_run.json").is_file()]
    return {read_run(folder)["worker"] for folder in folders if "worker" in read_run(folder)}


def campaign(folder: Path, count: int, *, on_dask: bool = False) -> dict[str, Any]:
    """The nights and the undisturbed run; what each did, and which files of the releases differ."""
    from benchmarks.prefect_server import free_port

    home, served_root, calm_root = folder / "home", folder / "nights", folder / "calm"
    home.mkdir()
    began = time.monotonic()
    share_vocabulary(served_root, calm_root)
    started = time.monotonic()
    with World(folder / "sources", FIRST) as world, hired(folder, on_dask=on_dask) as (told, cluster):
        spec = world.write_spec(folder / "cards")
        told = {**environment(world, home), **told}
        with served(spec, served_root, home, free_port(), told) as api:
            nights = Nights(world, served_root, api, cluster)
            run_nights(nights, count)
        spent = time.monotonic() - started
        seconds = undisturbed(world, spec, calm_root, home, served_root / "withdrawn.jsonl")
    ours, theirs = files(served_root), files(calm_root)
    return {
        "nights": count,
        "runs": nights.told,
        "articles": world.told(),
        "files": len(ours),
        "differing": sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)),
        "vocabulary_seconds": round(started - began, 1),
        "seconds": round(spent, 1),
        "undisturbed_seconds": seconds,
        "workers": len(_makers(Workspace(served_root)) - _makers(Workspace(calm_root))) if on_dask else 0,
        "recorded_states": [[row["flow"], row["state"]] for row in runs_of(Workspace(served_root))],
    }


def section() -> list[str]:
    """What came of it, for benchmarks/README.md."""
    found = measure.read_result(NAME)
    runs = found["runs"]
    (killed,) = (row for row in runs if row["state"] == KILLED)
    (cancelled,) = (row for row in runs if "record" in row)
    (together,) = (row for row in runs if "waited_for_the_other" in row)
    (again,) = (
        row["state"].lower()
        for row in runs[runs.index(killed) + 1 :]
        if (row["night"], row["flow"]) == (killed["night"], "nightly")
    )
    lines = [
        "## Seven nights by themselves",
        "",
        f"{len(found['articles']['arrived_by_night'])} articles of the sample on loopback come in over seven "
        "nights; some are revised, retracted or get an expression of concern. `medqrels serve`, a fault each "
        "night; then one undisturbed `medqrels run` over the sources as they stand, with the same list of "
        f"withdrawn articles. The nights took {found['seconds']:.0f} s. `python -m benchmarks.seven_nights`",
        "",
        "| what | seen |",
        "|---|---|",
        f"| files of the releases | {found['files']}, of which {len(found['differing'])} differ |",
        f"| runs that completed | {sum(row['state'] == 'Completed' for row in runs)} of {len(runs)} |",
        f"| kill -9 in night {killed['night']} | {len(killed['left_running'])} processes left, "
        f"rerun {again} |",
        f"| cancelled in night {cancelled['night']} | recorded as {cancelled['record']}, "
        f"{len(cancelled['litter'])} files left half-written |",
        f"| sweep and crawl started at once in night {together['night']} | both completed; "
        f"waited for the other: {', '.join(together['waited_for_the_other']) or 'neither had to'} |",
        "",
    ]
    if (measure.RESULTS / f"{ON_DASK}.json").is_file():
        found = measure.read_result(ON_DASK)
        lines += [
            "The same with two Dask workers and a store on an S3 server, one worker killed and another "
            f"started each night: {found['files']} files, of which {len(found['differing'])} differ from "
            f"those that one machine made; {found['seconds']:.0f} s, shards of {found['workers']} workers "
            "in what stands. "
            "`python -m benchmarks.seven_nights --dask`",
            "",
        ]
    return lines


def main() -> None:
    """Run the campaign and save what came of it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("nights", type=int, nargs="?", default=NIGHTS)
    options.add_argument("--dask", action="store_true", help="make the shards on a cluster")
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what is served ends with it
    with tempfile.TemporaryDirectory(prefix="medqrels-nights-") as folder:
        result = campaign(Path(folder), given.nights, on_dask=given.dask)
    print(json.dumps(result, indent=1))
    if given.nights == NIGHTS:
        print(measure.save(ON_DASK if given.dask else NAME, result))
    sys.exit(bool(result["differing"]) or not result["files"])


if __name__ == "__main__":
    main()
