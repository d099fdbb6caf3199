"""Stages on a Dask cluster with a real S3 server as store: the bytes of one machine, whoever is killed.

`make bench` also has one worker make everything, and every process of a cluster restarted at once.
"""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from curation.tasks.registry import TASKS
from flows.adapters.places import open_place
from flows.build.jobs import jobs_of
from flows.cluster import dask_workers
from flows.cluster.hired import hired
from flows.cluster.store import ShardStore
from flows.engine.execution import split_done
from flows.engine.manifest import read_manifest, read_run
from flows.engine.progress import SilentReporter
from flows.engine.runner import Resource, plan
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.pipeline import Choices, steps
from schemas.errors import FetchError, UsageError
from schemas.hashing import sha256_file
from schemas.stages import RecordStage
from sources.stage import PARSE
from tests.flows.cluster.dask_cluster import OTHER_VERSION, SLOW, DaskCluster, running_cluster
from tests.flows.publish.s3_server import BUCKET, environment, running_s3
from tests.flows.toy import snapshot

STAGES = ("parse", "extract")
ALL_STAGES = tuple(
    step.name for verb in ("extract", "ground") for step in steps(verb) if isinstance(step.stage, RecordStage)
)
"""What is made shard by shard before the tasks."""
PER_ARTICLE = tuple(task.per_article.name for task in TASKS.values())


class Told(SilentReporter):
    """Keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """What clients of a real S3 server need."""
    with running_s3() as endpoint:
        yield environment(endpoint)


PATIENCE = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s"}
"""How long the scheduler waits for a worker that tells nothing; a busy machine is slow to tell, too."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, s3: dict[str, str]) -> Iterator[DaskCluster]:
    """A scheduler and two workers, who can reach the server."""
    with running_cluster(tmp_path_factory.mktemp("dask"), {**s3, **PATIENCE}) as running:
        yield running


@pytest.fixture
def crawled(sample: Workspace, tmp_path: Path) -> Workspace:
    """The sample as a crawl leaves it, and its vocabulary."""
    root = tmp_path / "crawled"
    shutil.copytree(sample.root, root, ignore=lambda folder, names: _later(sample, folder, names))
    return Workspace(root)


def _later(sample: Workspace, folder: str, names: list[str]) -> list[str]:
    if Path(folder) == sample.work:
        return [name for name in names if name != "crawl"]
    return [name for name in names if name in ("runs", "releases", "tmp")]


def run(workspace: Workspace, address: str, store: str, stages: tuple[str, ...] = STAGES) -> list[str]:
    """Make some stages on a cluster; what was told."""
    told = Told()
    settings = Settings(workspace=workspace.root, dask=address, store=store)
    session = Session(settings, workspace, told)
    with hired(session) as pool:
        for step in (*steps("extract"), *steps("ground"), *steps("build")):
            if step.name in stages:
                _, waiting = split_done(jobs_of(session, step, Choices()))
                with ThreadPoolExecutor(8) as threads:  # as a flow does: a group in each
                    list(
                        threads.map(
                            lambda group: list(pool.run_group(group)), pool.groups([*waiting.values()])
                        )
                    )
    return told.lines


def same(workspace: Workspace, sample: Workspace, stages: tuple[str, ...] = STAGES) -> bool:
    """Whether stages hold the bytes that one machine made."""
    return all(snapshot(workspace.stage(name)) == snapshot(sample.stage(name)) for name in stages)


def when(ready: Callable[[], bool], then: Callable[[], object]) -> threading.Thread:
    """Do something as soon as something is so, beside what goes on."""

    def watch() -> None:
        end = time.monotonic() + 120
        while not ready() and time.monotonic() < end:
            time.sleep(0.02)
        then()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_two_workers_and_a_bucket_give_the_bytes_of_one_machine(
    sample: Workspace,
    crawled: Workspace,
    cluster: DaskCluster,
    s3: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    store = f"s3://{BUCKET}/plain"
    cluster.add_worker(OTHER_VERSION)
    told = run(crawled, cluster.address, store)
    assert same(crawled, sample)
    cluster.kill_worker(-1)
    refused = [line for line in told if "is refused, another version: code of another day for " in line]
    assert len(refused) == 1, told

    place = open_place(store, attempts=2, timeout_seconds=10)
    shared = ShardStore(place)
    for job in plan(crawled, PARSE, resources={"raw": Resource(crawled.raw)}):
        claim, _ = shared.pointer("parse", job.shard)
        assert f"{claim}.json" in place.listed(f"shards/{job.shard}/parse")
        assert shared.sealed(job.identity) == read_manifest(job.folder)

    before = place.listed("shards")
    shutil.rmtree(crawled.stage("extract"))  # a disk that was lost: what is sealed is made by nobody again
    run(crawled, cluster.address, store)
    assert same(crawled, sample) and place.listed("shards") == before


@pytest.mark.parametrize("count", [3, pytest.param(1, marks=pytest.mark.campaign)])
def test_every_stage_of_shards_is_the_same_with_any_number_of_workers(
    sample: Workspace, crawled: Workspace, cluster: DaskCluster, tmp_path: Path, count: int
) -> None:
    cluster.have_workers(count)
    run(crawled, cluster.address, str(tmp_path / "store"), (*ALL_STAGES, *PER_ARTICLE))
    for stage in (*ALL_STAGES, *PER_ARTICLE):
        assert same(crawled, sample, (stage,)), stage
    hosts = {read_run(folder)["worker"] for stage in ALL_STAGES for folder in crawled.stage(stage).iterdir()}
    assert (len(hosts) > 1) == (count > 1)


def test_a_killed_worker_leaves_no_trace(
    sample: Workspace, crawled: Workspace, cluster: DaskCluster, tmp_path: Path
) -> None:
    cluster.have_workers(2)
    store = tmp_path / "store"
    sealed = when(lambda: any((store / "shards").glob("*/parse/*.json")), cluster.kill_worker)
    run(crawled, cluster.address, str(store))
    sealed.join()
    assert same(crawled, sample) and len(cluster.workers) == 1


def test_a_cluster_that_lost_every_worker_is_given_up_and_new_ones_are_used(
    sample: Workspace,
    crawled: Workspace,
    cluster: DaskCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dask_workers, "PATIENCE_SECONDS", 4.0)
    store = tmp_path / "store"

    def kill_all() -> None:
        while cluster.workers:
            cluster.kill_worker()

    sealed = when(lambda: any((store / "shards").glob("*/parse/*.json")), kill_all)
    with pytest.raises(FetchError, match="no worker left"):
        run(crawled, cluster.address, str(store))
    sealed.join()
    cluster.add_worker()
    run(crawled, cluster.address, str(store))
    assert same(crawled, sample)


def test_a_worker_that_stands_still_is_waited_for_no_longer_than_the_scheduler_says(
    sample: Workspace, crawled: Workspace, cluster: DaskCluster, tmp_path: Path
) -> None:
    cluster.have_workers(2)
    store = tmp_path / "store"
    frozen = cluster.workers[0]
    sealed = when(
        lambda: any((store / "shards").glob("*/parse/*.json")), lambda: frozen.send_signal(signal.SIGSTOP)
    )
    run(crawled, cluster.address, str(store))
    sealed.join()
    assert frozen.poll() is None
    cluster.kill_worker()
    assert same(crawled, sample)


def test_a_slow_worker_is_given_less(
    sample: Workspace, crawled: Workspace, cluster: DaskCluster, tmp_path: Path
) -> None:
    cluster.have_workers(1)
    cluster.add_worker(SLOW)
    cluster.await_workers(2)
    run(crawled, cluster.address, str(tmp_path / "store"))
    cluster.kill_worker(-1)
    assert same(crawled, sample)
    folders = [folder for stage in STAGES for folder in crawled.stage(stage).iterdir()]
    made = Counter(read_run(folder)["worker"] for folder in folders)
    assert len(made) == 1 or max(made.values()) > min(made.values()), made


@pytest.mark.parametrize("with_workers", [pytest.param(True, marks=pytest.mark.campaign), False])
def test_a_restarted_scheduler_costs_what_was_under_way(
    sample: Workspace, crawled: Workspace, cluster: DaskCluster, tmp_path: Path, with_workers: bool
) -> None:
    cluster.have_workers(2)
    store = tmp_path / "store"

    def restart() -> None:
        if with_workers:
            cluster.restart(2)
        else:
            cluster.restart_scheduler()
            cluster.add_worker()

    sealed = when(lambda: any((store / "shards").glob("*/parse/*.json")), restart)
    told = run(crawled, cluster.address, str(store))
    sealed.join()
    assert same(crawled, sample)
    assert sum("the Dask scheduler was lost" in line for line in told) == 1, told


def test_without_a_scheduler_or_a_worker_of_this_version_it_says_so(
    crawled: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_workers, "PATIENCE_SECONDS", 1.0)
    with pytest.raises(FetchError, match="no Dask scheduler answers") as caught:
        run(crawled, "tcp://127.0.0.1:9", str(tmp_path / "store"))
    assert "dask worker" in caught.value.hint
    for dask, store in (("tcp://127.0.0.1:9", ""), ("", str(tmp_path))):
        with pytest.raises(UsageError, match="is missing"):
            run(crawled, dask, store)


def test_a_store_that_nobody_knows_is_refused(crawled: Workspace) -> None:
    with pytest.raises(UsageError, match="names no place"):
        run(crawled, "tcp://127.0.0.1:9", "gs://bucket/prefix")
    assert not list(Path.cwd().glob("gs:*"))


def test_what_rotted_in_the_store_is_sent_and_made_again_within_the_run(
    sample: Workspace, crawled: Workspace, cluster: DaskCluster, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    run(crawled, cluster.address, str(store))
    shutil.rmtree(crawled.stage("extract"))
    for path in store.glob("shards/*/tables/*"):
        path.write_bytes(b"rotten")
    told = run(crawled, cluster.address, str(store))
    assert same(crawled, sample) and any("a table was damaged in the store" in line for line in told)
    for folder in (path for stage in STAGES for path in crawled.stage(stage).iterdir()):
        manifest = read_manifest(folder)
        assert manifest is not None
        for output in manifest.outputs.values():
            assert sha256_file(store / "shards" / folder.name / "tables" / output.sha256) == output.sha256
