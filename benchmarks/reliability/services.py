"""Faults before what is not crawled: a language model, and S3 that a release is published to."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.real_model import outputs
from benchmarks.reliability.fault_proxy import FaultProxy
from benchmarks.reliability.server_faults import Scene, Source
from benchmarks.reliability.warm import Warm
from curation.published.manifest import read_manifest
from flows.adapters.answering import Terms
from flows.adapters.llm_ledger import Prices
from flows.adapters.llm_runner import Patience
from flows.adapters.places import open_place
from flows.build import answer as verb
from flows.engine.progress import SilentReporter
from flows.engine.workspace import Workspace
from flows.publish.place import PlacePublisher
from flows.publish.ready import TaskRelease
from flows.specs import read_spec
from schemas.errors import MedqrelsError
from sources.sample import bucket_dir
from tests.flows.publish.s3_server import BUCKET, S3Server, environment, storage_options
from tests.flows.publish.two_tasks import TASKS, first
from tests.flows.review.openai_server import KEY, OpenAIServer
from tests.pipeline import crawl_bucket, new_workspace, run_stages

_MODEL = Source("language model", OpenAIServer, lambda at: {}, "")
_S3 = Source("S3", OpenAIServer, lambda at: {}, "")
TRIES = 4
_SECONDS = 2.0
_SPEC = """
name = "asked"
title = "Texts of a model"
[prompts]
stages = ["hyde"]
is_trial = true
[tasks.visual_context]
"""


class Asked(Scene):
    """Prompts of two articles, put to a model."""

    def fresh(self) -> None:
        """Nothing asked yet."""
        shutil.rmtree(self.now, ignore_errors=True)
        shutil.copytree(self.folder / "built", self.now / "ws")
        (self.now / "tmp").mkdir()

    def crawl(self, at: str = "") -> dict[str, Any]:
        """Ask everything."""
        return self._driven("ask", str(self.now), str(self.folder / "spec.toml"), at or self.proxy.root)

    def stands(self) -> dict[str, str]:
        """What the stages hold."""
        found = outputs(Workspace(self.now / "ws"), ("*_hyde",)).items()
        return {name: hashlib.sha256(content).hexdigest() for name, content in found}


class Published(Scene):
    """A release of two tasks, sent to a bucket."""

    system: Any
    server: S3Server

    def fresh(self) -> None:
        """Nothing sent yet."""
        shutil.rmtree(self.now, ignore_errors=True)
        (self.now / "tmp").mkdir(parents=True)
        for name in self.system.find(BUCKET):
            self.system.rm_file(name)

    def crawl(self, at: str = "") -> dict[str, Any]:
        """Send everything."""
        return self._driven("send", str(self.now), str(self.folder / "known/1.0.0"), at or self.proxy.root)

    def stands(self) -> dict[str, str]:
        """What the bucket holds."""
        names = self.system.find(BUCKET)
        return {name: hashlib.sha256(self.system.cat_file(name)).hexdigest() for name in names}


def ask(now: str, spec: str, at: str, told: str) -> int:
    """Put every prompt to the model at an address."""
    terms = Terms(
        "gpt-test",
        Decimal(5),
        Prices(Decimal(1), Decimal(1)),
        concurrency=1,
        patience=Patience(attempts=TRIES, first_wait=0.01, timeout=_SECONDS),
    )
    reach = {"OPENAI_BASE_URL": f"{at}/v1", "OPENAI_API_KEY": KEY}
    request = verb.Request(read_spec(Path(spec)), ("hyde",), terms)
    return told_of(now, told, lambda: verb.answer(request, Path(now, "ws"), reach)["stages"])


def send(now: str, version: str, at: str, told: str) -> int:
    """Publish to the bucket at an address."""
    import os

    os.environ |= environment(at)
    tasks = [TaskRelease(Path(version, task), read_manifest(Path(version, task))) for task in TASKS]

    def work() -> None:
        place = open_place(f"s3://{BUCKET}/shelf", attempts=TRIES, timeout_seconds=_SECONDS)
        PlacePublisher(place, tasks, reporter=SilentReporter()).publish()

    return told_of(now, told, work)


def told_of(now: str, told: str, work: Callable[[], Any]) -> int:
    """Do something in a fork, waiting but briefly, and write down what came of it.

    Args:
        now: folder whose `tmp/` takes temporary files.
        told: file for the error, what was dropped, and the waits; in seconds.
        work: what is done; it may return rows of stages.

    Returns:
        exit code.
    """
    tempfile.tempdir = f"{now}/tmp"
    waits: list[float] = []
    sleep = time.sleep

    def briefly(seconds: float) -> None:
        waits.append(seconds)
        sleep(min(seconds, 0.05))

    time.sleep = briefly  # type: ignore[assignment]  # of this fork alone
    code, error, dropped = 0, "", {}
    try:
        stages = work() or []
        dropped = {str(place): "not_run" for place, one in enumerate(stages) if one["not_run"]}
    except MedqrelsError as failure:
        code, error = 3, f"{failure.message} ({failure.hint})"
    Path(told).write_text(json.dumps({"error": error, "dropped": dropped, "waits": waits}), "utf-8")
    return code


@contextlib.contextmanager
def model(folder: Path, warm: Warm) -> Iterator[Scene]:
    """A model that has been asked everything once."""
    folder.mkdir()
    workspace = new_workspace(folder / "built")
    crawl_bucket(workspace, sorted({path.name.partition(".")[0] for path in bucket_dir().glob("PMC*")})[:2])
    run_stages(workspace, ground=False)
    (folder / "spec.toml").write_text(_SPEC, "utf-8")
    with OpenAIServer() as server, FaultProxy(server.root) as proxy:
        scene = Asked(_MODEL, folder, warm, proxy, {})
        undisturbed(scene)
        yield scene


@contextlib.contextmanager
def bucket(folder: Path, warm: Warm) -> Iterator[Published]:
    """A bucket of a real S3 server that a release was sent to once."""
    from s3fs import S3FileSystem

    folder.mkdir()
    first(folder / "known").rename(folder / "known/1.0.0")
    with S3Server() as server, FaultProxy(server.endpoint) as proxy:
        scene = Published(_S3, folder, warm, proxy, {}, heeds_retry_after=False)  # S3 sends none
        scene.server = server
        options = storage_options(server.endpoint)
        scene.system = S3FileSystem(skip_instance_cache=True, use_listings_cache=False, **options)
        undisturbed(scene)
        yield scene


def undisturbed(scene: Scene) -> None:
    """Do it without faults, and keep what is asked and left.

    Raises:
        RuntimeError: it failed.
    """
    scene.fresh()
    scene.proxy.calm()
    told: Mapping[str, Any] = scene.crawl()
    if told["code"]:
        raise RuntimeError(f"undisturbed, {scene.source.name}: {told}")
    scene.requests, scene.wanted = scene.proxy.asked, scene.stands()
