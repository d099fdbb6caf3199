"""What work on a cluster costs beside the same work in processes of one machine, in CPU seconds.

The same crawled articles are extracted and grounded by two local processes, by one Dask worker and by two,
which share a store on a real S3 server. Each sets out on a small workspace first, so that no program is being
loaded while it is measured. Only CPU seconds and memory count: all of it shares this machine with others.
Run: `python -m benchmarks.cluster [--articles N]`
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.flow_overhead import articles
from benchmarks.measure import read_result, save
from benchmarks.processes import descendants
from flows.build.jobs import jobs_of
from flows.cluster.dask_workers import connected
from flows.cluster.hired import hired
from flows.engine.execution import Workers, split_done, workers
from flows.engine.manifest import read_manifest
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.pipeline import Choices, steps
from flows.vocabulary.indexes import index_in_use
from flows.vocabulary.store import home
from tests.flows.cluster.dask_cluster import DaskCluster, cpu_seconds, running_cluster
from tests.flows.publish.s3_server import BUCKET, S3Server, environment

NAME = "cluster"
ARTICLES, SHARD = 1_000, 500
SMALL = 32
VERBS = ("extract", "ground")
EMPTY_TASKS = 300
TARGET, MOST_OVERHEAD = 0.8, 0.02


def crawled(count: int, shard: int, folder: Path) -> Workspace:
    """A workspace with so many articles, as a crawl leaves it."""
    given, root = folder / f"given-{count}", folder / f"crawled-{count}"
    articles(count, given)
    medqrels = str(Path(sys.executable).with_name("medqrels"))
    crawl = ["crawl", "folder", str(given), "--profile", "noncommercial", "--workspace", str(root)]
    settings = {**os.environ, "MEDQRELS_SHARD_SIZE": str(shard)}
    subprocess.run([medqrels, *crawl], check=True, env=settings, capture_output=True)
    return Workspace(root)


def run(session: Session, pool: Workers, verb: str) -> int:
    """Every stage of a verb, as a flow runs it; how many times something was handed out."""
    count = 0
    for step in steps(verb):  # type: ignore[arg-type]
        waiting = list(split_done(jobs_of(session, step, Choices()))[1].values())
        groups = pool.groups(waiting) if waiting else []
        count += len(groups)
        with ThreadPoolExecutor(32) as threads:
            list(threads.map(lambda group: list(pool.run_group(group)), groups))
    return count


def peak_mib(pid: int) -> int:
    """The most memory that a process has held, MiB."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


@contextlib.contextmanager
def local(small: Workspace, large: Workspace, count: int) -> Iterator[tuple[Session, Workers, list[int]]]:
    """Processes of this machine that have loaded the program."""
    before = set(descendants(os.getpid()))
    with workers(count) as pool:
        for workspace in (small, large):
            session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
            if workspace is small:
                for verb in VERBS:
                    run(session, pool, verb)
        started = set(descendants(os.getpid())) - before
        yield session, pool, [pid for pid in started if b"resource_tracker" not in _command(pid)]


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@contextlib.contextmanager
def on_dask(
    small: Workspace, large: Workspace, cluster: DaskCluster, count: int
) -> Iterator[tuple[Session, Workers, list[int]]]:
    """Workers of a cluster that have loaded the program."""
    for workspace in (small, large):
        store = f"s3://{BUCKET}/{workspace.root.name}"
        settings = Settings(workspace=workspace.root, dask=cluster.address, store=store)
        session = Session(settings, workspace, SilentReporter())
        if workspace is small:
            with hired(session) as pool:
                for verb in VERBS:
                    run(session, pool, verb)
        else:
            with hired(session) as pool:
                yield session, pool, [process.pid for process in cluster.workers]


def measured(session: Session, pool: Workers, pids: Sequence[int], others: dict[str, int]) -> dict[str, Any]:
    """CPU seconds of both verbs, of workers and of what is beside them."""
    found: dict[str, Any] = {"groups": 0}
    beside = {"coordinator": os.getpid(), **others}
    before_all = {name: cpu_seconds(pid) for name, pid in beside.items()}
    for verb in VERBS:
        before = sum(map(cpu_seconds, pids))
        found["groups"] += run(session, pool, verb)
        found[verb] = round(sum(map(cpu_seconds, pids)) - before, 2)
    found["beside"] = {name: round(cpu_seconds(pid) - before_all[name], 2) for name, pid in beside.items()}
    found["peak_mib"] = max(map(peak_mib, pids))
    return found


def tables(workspace: Workspace) -> dict[str, str]:
    """Hash of every table that stages made."""
    found = {}
    for folder in workspace.work.glob("*/*"):
        manifest = read_manifest(folder) if folder.is_dir() else None
        for name, output in (manifest.outputs if manifest else {}).items():
            found[f"{folder.parent.name}/{folder.name}/{name}"] = output.sha256
    return found


def empty_task(cluster: DaskCluster) -> dict[str, float]:
    """CPU seconds of a worker and of the scheduler for a task that does nothing."""
    client = connected(cluster.address)
    assert cluster.scheduler is not None
    payload = [{"identity": "x" * 3_000, "inputs": {}, "resources": {}, "tag": ""}]

    def now() -> tuple[float, float]:
        assert cluster.scheduler is not None
        return cluster.cpu_seconds(), cpu_seconds(cluster.scheduler.pid)

    before = now()
    for number in range(EMPTY_TASKS):
        client.submit(len, payload, key=f"nothing-{number}", pure=False).result()
    after = now()
    client.close()
    worker, scheduler = (
        (later - earlier) / EMPTY_TASKS for earlier, later in zip(before, after, strict=True)
    )
    return {"worker": round(worker, 5), "scheduler": round(scheduler, 5)}


def compared(count: int, folder: Path) -> dict[str, Any]:
    """Everything, at one size."""
    small, large = crawled(SMALL, 2, folder), crawled(count, SHARD, folder)
    index_in_use(small, "native", SilentReporter())
    shutil.copytree(home(small), home(large))
    made: dict[str, Any] = {}
    bytes_of: dict[str, dict[str, str]] = {}

    def copies(name: str) -> tuple[Workspace, Workspace]:
        pair = [shutil.copytree(one.root, folder / f"{name}-{one.root.name}") for one in (small, large)]
        return Workspace(pair[0]), Workspace(pair[1])

    few, many = copies("local")
    with local(few, many, 2) as (session, pool, pids):
        made["two local processes"] = measured(session, pool, pids, {})
    bytes_of["local"] = tables(many)
    with S3Server() as s3:
        os.environ |= environment(s3.endpoint)
        empty: dict[str, float] = {}
        for workers_of, name in ((1, "one Dask worker"), (2, "two Dask workers")):
            with running_cluster(
                folder / f"dask-{workers_of}", environment(s3.endpoint), workers_of
            ) as cluster:
                cluster.await_workers(workers_of)
                few, many = copies(f"dask{workers_of}")
                assert cluster.scheduler is not None
                beside = {"scheduler": cluster.scheduler.pid, "S3 server": s3.pid}
                with on_dask(few, many, cluster, workers_of) as (session, pool, pids):
                    made[name] = measured(session, pool, pids, beside)
                bytes_of[name] = tables(many)
                empty = empty_task(cluster)
    return {
        "articles": count,
        "shard": SHARD,
        "setups": made,
        "tables": len(bytes_of["local"]),
        "differing": sum(one != bytes_of["local"] for one in bytes_of.values()),
        "empty_task": empty,
    }


def total(setup: dict[str, Any]) -> float:
    """CPU seconds of the workers for both verbs."""
    return float(sum(setup[verb] for verb in VERBS))


def overhead(found: dict[str, Any], name: str) -> float:
    """Share of the workers' CPU seconds that tasks cost as tasks."""
    setup = found["setups"][name]
    return float(setup["groups"] * found["empty_task"]["worker"] / total(setup))


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    found = read_result(NAME)
    setups = found["setups"]
    base = setups["two local processes"]
    lines = [
        "## Two Dask workers beside two local processes",
        "",
        f"{found['articles']:,} articles in shards of {found['shard']} extracted and grounded, in CPU "
        "seconds of the workers; efficiency is what two local processes take, divided by it. They share a "
        f"store on a real S3 server. {found['tables']:,} tables each; setups whose tables differ "
        f"from the local ones: {found['differing']}. Target: {TARGET} or more for both, tasks under "
        f"{MOST_OVERHEAD:.0%}. `python -m benchmarks.cluster`",
        "",
        "| who works | extract | ground | efficiency of extract | of ground | tasks | of them overhead "
        "| most memory of a worker | coordinator | scheduler | S3 server |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, setup in setups.items():
        is_local = setup is base
        shares = "– | –" if is_local else " | ".join(f"{base[verb] / setup[verb]:.2f}" for verb in VERBS)
        share = "–" if is_local else f"{overhead(found, name):.1%}"
        beside = " | ".join(
            f"{setup['beside'][one]:.1f} s" if one in setup["beside"] else "–"
            for one in ("coordinator", "scheduler", "S3 server")
        )
        lines.append(
            f"| {name} | {setup['extract']:.1f} s | {setup['ground']:.1f} s | {shares} | {setup['groups']} | "
            f"{share} | {setup['peak_mib']:,} MiB | {beside} |"
        )
    empty = found["empty_task"]
    return [
        *lines,
        "",
        f"A task that does nothing costs a worker {empty['worker'] * 1000:.1f} ms of CPU and the scheduler "
        f"{empty['scheduler'] * 1000:.1f} ms.",
        "",
    ]


def main() -> int:
    """Measure, and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, default=ARTICLES)
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        found = compared(parser.parse_args().articles, Path(folder))
    print(save(NAME, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
