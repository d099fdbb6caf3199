"""Equal bytes whatever the workers, shards, hash seed and place; a killed worker costs time, never data."""

from __future__ import annotations

import dataclasses
import functools
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flows.engine.execution import StageSummary, split_done, sum_up, workers
from flows.engine.manifest import MANIFEST
from flows.engine.runner import plan, shards_of
from flows.engine.workspace import Workspace, open_workspace
from flows.pipeline import PIPELINE
from schemas.errors import ConservationError, MedqrelsError
from schemas.stages import Drop
from tests.flows.toy import (
    CUT,
    POOL,
    SLOW,
    ToyArticle,
    ToyWord,
    articles,
    cut,
    digest,
    run,
    run_slowly,
    seed,
    snapshot,
)

PRODUCT_STAGES = [step.stage for step in PIPELINE if step.stage is not None]
KILLS = 12


def whole(root: Path, size: int, count: int) -> Workspace:
    workspace = open_workspace(root, create=True)
    seed(workspace, articles(40), size)
    run(workspace, CUT, count)
    run(workspace, POOL, count)
    return workspace


def pooled(workspace: Workspace) -> dict[str, bytes]:
    """Set-stage output; its manifest names its input shards, so it is left out."""
    return snapshot(workspace.stage("pool"), skip=("_run.json", MANIFEST))


@pytest.mark.parametrize("stage", PRODUCT_STAGES, ids=lambda stage: stage.name)
def test_every_stage_of_the_product_can_be_sent_to_a_worker(stage: Any) -> None:
    there = pickle.loads(pickle.dumps(stage))
    assert type(there) is type(stage) and parts(there) == parts(stage)


def parts(stage: Any) -> list[Any]:
    """Fields of a stage; of a partial function, which equals none but itself, its own."""
    values = [getattr(stage, field.name) for field in dataclasses.fields(stage) if field.name != "accounts"]
    accounts = [
        getattr(account, field.name)
        for account in getattr(stage, "accounts", ())
        for field in dataclasses.fields(account)
    ]
    return [
        (value.func, value.args, value.keywords) if isinstance(value, functools.partial) else value
        for value in [*values, *accounts]
    ]


def test_worker_count_does_not_show(tmp_path: Path) -> None:
    one = whole(tmp_path / "one", 7, 1)
    two = whole(tmp_path / "two", 7, 2)
    assert snapshot(one.work) == snapshot(two.work)


def test_shard_size_does_not_show_in_set_stages(tmp_path: Path) -> None:
    results = [pooled(whole(tmp_path / str(size), size, 1)) for size in (1, 3, 500)]
    assert results[0] == results[1] == results[2]
    assert set(results[0]) == {f"all/{name}.parquet" for name in ("chosen", "totals", "_dropped")}


def test_hash_seed_and_place_do_not_show(tmp_path: Path, repository: Path) -> None:
    digests = set()
    for number, hash_seed in enumerate(("0", "1", "4242")):
        root = tmp_path / ("x" * (number + 1)) / "work space"
        done = subprocess.run(
            [sys.executable, "-m", "tests.flows.toy", str(root)],
            capture_output=True,
            text=True,
            check=True,
            cwd=repository,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        digests.add(done.stdout.strip())
    here = open_workspace(tmp_path / "here", create=True)
    seed(here, articles(40), 7)
    run(here, CUT)
    run(here, POOL)
    assert digests == {digest(snapshot(here.work))}


def test_killed_workers_leave_nothing_wrong_behind(tmp_path: Path) -> None:
    """Killed at random moments, whatever was left: the next run gives the bytes of an undisturbed one."""
    undisturbed = open_workspace(tmp_path / "undisturbed", create=True)
    seed(undisturbed, articles(24), 4)
    run(undisturbed, SLOW)
    expected = snapshot(undisturbed.stage("cut"))
    disturbed = open_workspace(tmp_path / "disturbed", create=True)
    seed(disturbed, articles(24), 4)
    moments = random.Random(20261121)
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.flows.toy"])  # else every process imports a second's worth
    killed = 0
    for _ in range(KILLS):
        ready, tell = processes.Pipe(duplex=False)
        process = processes.Process(target=run_slowly, args=(disturbed.root, tell))
        process.start()
        tell.close()
        assert ready.recv() == "ready"
        time.sleep(moments.uniform(0.0, 0.7))
        process.kill()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        for shard, manifest in shards_of(disturbed, "cut").items():  # never a manifest beside other bytes
            for output in manifest.outputs.values():
                data = (disturbed.stage("cut") / shard / output.file).read_bytes()
                assert data == expected[f"{shard}/{output.file}"]
    assert killed >= 10
    run(disturbed, SLOW)
    assert snapshot(disturbed.stage("cut")) == expected


def dies(article: ToyArticle, *, shortest: int) -> Iterator[ToyWord | Drop]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield from cut(article, shortest=shortest)


def loses(article: ToyArticle, *, shortest: int) -> Iterator[ToyWord | Drop]:
    yield from list(cut(article, shortest=shortest))[1:]


def test_a_worker_that_dies_is_an_error_with_a_remedy(workspace: Workspace) -> None:
    seed(workspace, articles(4), 4)
    with pytest.raises(MedqrelsError, match="a worker process died during stage cut, shard s0000") as caught:
        run(workspace, replace(CUT, process=dies), 2)
    assert "MEDQRELS_WORKERS=1" in caught.value.hint
    assert run(workspace, CUT, 2) == ["s0000"]


def test_errors_come_back_whole_from_a_worker(workspace: Workspace) -> None:
    seed(workspace, articles(4), 4)
    with pytest.raises(ConservationError) as caught:
        run(workspace, replace(CUT, process=loses), 2)
    assert caught.value.record == "toy:0001#w0"


def test_summaries_add_up(workspace: Workspace) -> None:
    seed(workspace, articles(12), 4)
    run(workspace, CUT)
    shards = list(shards_of(workspace, "cut").values())
    summary = sum_up("cut", [(shards[0], True), (shards[1], False), (shards[2], False)])
    body = summary.to_dict()
    assert body["shards"] == {"made": 1, "reused": 2}
    assert body["rows"] == {"words": body["units"]["word"]["kept"]}
    assert body["dropped"] == {"short_passage": body["units"]["word"]["dropped"]}
    assert summary.line().startswith(f"cut: {body['rows']['words']} words; dropped ")
    assert "(up to date)" not in summary.line()
    assert StageSummary("cut").line() == "cut: no rows (up to date)"
    summary.rows |= {f"step_{number}": 7 for number in range(9)}
    word = body["units"]["word"]
    assert summary.line().startswith(f"cut: {word['kept']} of {word['in']} words; dropped ")


def test_done_and_waiting_are_told_apart(workspace: Workspace) -> None:
    seed(workspace, articles(12), 4)
    jobs = plan(workspace, CUT)
    with workers(1) as pool:
        pool.run(jobs[1])
    done, waiting = split_done(jobs)
    assert [job.shard for job in done] == ["s0004"] and sorted(waiting) == ["s0000", "s0008"]
