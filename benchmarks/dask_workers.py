"""Extract and ground on two Dask workers with an S3 store, beside two processes of one machine.

Compared are the bytes, and the processor seconds that workers use for the stages: those of the scheduler, the
server and the coordinator are told apart. What a worker needs to start (imports) counts for neither side.
Run: python -m benchmarks.dask_workers [FOLDER of articles as PMC's bucket has them]
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import measure
from flows.build.jobs import jobs_of
from flows.cluster.hired import hired
from flows.engine.execution import Workers, split_done
from flows.engine.progress import SilentReporter
from flows.engine.runner import Job
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.pipeline import Choices, Verb, steps
from flows.vocabulary.indexes import index_in_use
from sources.sample import bucket_dir
from tests.flows.cluster.dask_cluster import DaskCluster, cpu_seconds, running_cluster
from tests.flows.publish.s3_server import BUCKET, environment, running_s3
from tests.flows.toy import snapshot
from tests.pipeline import crawl_bucket, new_workspace

NAME = "dask_workers"
VERBS: tuple[Verb, ...] = ("extract", "ground")
SHARD = 20
WORKERS = 2


def articles_of(bucket: Path) -> list[str]:
    """PMCIDs in a bucket's folder."""
    return sorted({path.stem.partition(".")[0] for path in (bucket / "metadata").glob("*.json")})


def run(session: Session, pool: Workers) -> Iterator[tuple[str, int, float]]:
    """Every stage of extract and ground: name, shards, seconds by the clock."""
    for verb in VERBS:
        for step in steps(verb):
            _, waiting = split_done(jobs_of(session, step, Choices()))
            started = time.monotonic()
            with ThreadPoolExecutor(8) as threads:
                list(threads.map(lambda group: list(pool.run_group(group)), pool.groups([*waiting.values()])))
            yield step.name, len(waiting), time.monotonic() - started


def warm(jobs: Sequence[Job]) -> int:
    """What every worker imports before it can begin."""
    from flows.pipeline import PIPELINE

    return len(PIPELINE) + len(jobs)


def stages(session: Session, pool: Workers, used: Any) -> dict[str, dict[str, float]]:
    """Per stage shards, clock, and what `used` counts."""
    found, before = {}, used()
    for name, shards, seconds in run(session, pool):
        now = used()
        found[name] = {
            "shards": shards,
            "seconds": round(seconds, 1),
            "worker_cpu_seconds": round(now - before, 2),
        }
        before = now
    return found


def local(workspace: Workspace) -> dict[str, Any]:
    """Two processes of this machine."""
    session = Session(Settings(workspace=workspace.root, workers=WORKERS), workspace, SilentReporter())
    with hired(session) as pool:
        processes: Any = pool
        list(processes._pool.map(warm, [()] * 8))
        pids = list(processes._pool._processes)
        return stages(session, pool, lambda: sum(map(cpu_seconds, pids)))


def clustered(workspace: Workspace, cluster: DaskCluster, store: str) -> dict[str, Any]:
    """Two workers of a cluster."""
    from distributed import Client

    new: Any = Client
    client = new(cluster.address, set_as_default=False)
    client.wait_for_workers(WORKERS, timeout=300)
    client.run(warm, [])
    client.close()
    settings = Settings(workspace=workspace.root, dask=cluster.address, store=store)
    session = Session(settings, workspace, SilentReporter())
    assert cluster.scheduler is not None
    scheduler, own = cpu_seconds(cluster.scheduler.pid), time.process_time()
    with hired(session) as pool:
        told = stages(session, pool, cluster.cpu_seconds)
    return {
        "stages": told,
        "scheduler_cpu_seconds": round(cpu_seconds(cluster.scheduler.pid) - scheduler, 2),
        "coordinator_cpu_seconds": round(time.process_time() - own, 2),
    }


def campaign(folder: Path, bucket: Path) -> dict[str, Any]:
    """Both sides over the same crawl."""
    one = new_workspace(folder / "one")
    names = articles_of(bucket)
    crawl_bucket(one, names, roots=[bucket], shard_size=SHARD, synthetic_images=bucket != bucket_dir())
    index_in_use(one, "native", SilentReporter())
    shutil.copytree(one.root, folder / "two")
    two = Workspace(folder / "two")
    alone = local(one)
    with running_s3() as endpoint:
        given = environment(endpoint)
        with mock.patch.dict(os.environ, given), running_cluster(folder / "dask", given) as cluster:
            shared = clustered(two, cluster, f"s3://{BUCKET}/bench")
    differing = [name for name in alone if snapshot(one.stage(name)) != snapshot(two.stage(name))]
    return {"articles": len(names), "shard": SHARD, "load": round(os.getloadavg()[0], 1), "local": alone} | {
        "dask": shared,
        "differing": differing,
        "efficiency": {verb: efficiency(verb, alone, shared["stages"]) for verb in VERBS},
    }


def efficiency(verb: Verb, alone: dict[str, Any], shared: dict[str, Any]) -> float:
    """Processor seconds of the workers alone, of what workers of a cluster use for the same."""
    names = [step.name for step in steps(verb)]
    one, other = (sum(side[name]["worker_cpu_seconds"] for name in names) for side in (alone, shared))
    return float(round(one / other, 3))


def section() -> list[str]:
    """What came of it, for benchmarks/README.md."""
    found = measure.read_result(NAME)
    lines = [
        "## Workers of a cluster",
        "",
        f"{found['articles']} articles in shards of {found['shard']}, two processes of one machine and then "
        "two Dask workers with an S3 store (SeaweedFS) on loopback. Seconds are processor seconds; "
        f"beside them the scheduler used {found['dask']['scheduler_cpu_seconds']} and the coordinator "
        f"{found['dask']['coordinator_cpu_seconds']}. Stages whose bytes differ: "
        f"{len(found['differing'])}. `python -m benchmarks.dask_workers FOLDER`",
        "",
        "| stage | shards | one machine | cluster |",
        "|---|---:|---:|---:|",
    ]
    for name, row in found["local"].items():
        alone, shared = (side["worker_cpu_seconds"] for side in (row, found["dask"]["stages"][name]))
        lines.append(f"| {name} | {row['shards']} | {alone:.1f} | {shared:.1f} |")
    for verb, share in found["efficiency"].items():
        lines.append(f"| efficiency of `{verb}` | | | {share:.2f} |")
    return [*lines, ""]


def main() -> None:
    """Measure and save."""
    bucket = Path(sys.argv[1]) if len(sys.argv) > 1 else bucket_dir()
    with tempfile.TemporaryDirectory(prefix="medqrels-dask-") as folder:
        result = campaign(Path(folder), bucket)
    print(result)
    print(measure.save(NAME, result))
    sys.exit(bool(result["differing"]))


if __name__ == "__main__":
    main()
