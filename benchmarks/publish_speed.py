"""How fast a release is sent: to a loopback Hub over LFS, to a folder, to a real S3 server; and sent again.

Beside each what else sends the same files: upload_folder of huggingface_hub and a tag, copytree, s3fs.put.
None of these knows of siblings, compares hashes at the other end, or keeps others from seeing half of it.
Sender and server are two processes; CPU and memory are the sender's.

Run: `python -m benchmarks.publish_speed [MIB]`
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measure import read_result, save
from curation.published.manifest import read_manifest
from flows.adapters.places import open_place
from flows.engine.progress import SilentReporter
from flows.publish.place import PlacePublisher
from flows.publish.ready import TaskRelease
from tests.flows.publish import two_tasks
from tests.flows.publish.hub_client import publisher, serving
from tests.flows.publish.hub_server import ORGANIZATION
from tests.flows.publish.s3_server import BUCKET, S3Proxy, environment, running_s3, storage_options

NAME = "publish_speed"
MIB, FILE_MIB = 512, 32
Sent = Callable[[], object]


def grown(version: Path, mib: int) -> list[Path]:
    """The task folders, with incompressible files added, sealed."""
    drawn = random.Random(1)
    folders = [version / task for task in two_tasks.TASKS]
    for folder in folders:
        (folder / "figures").mkdir(exist_ok=True)
        for number in range(mib // FILE_MIB // len(folders)):
            (folder / f"figures/{number}.bin").write_bytes(drawn.randbytes(FILE_MIB << 20))
        two_tasks.sealed(folder)
    return folders


def alone(work: Sent) -> dict[str, float]:
    """Seconds, CPU seconds and memory added by one call in a process of its own."""
    processes = multiprocessing.get_context("fork")
    ours, theirs = processes.Pipe()

    def measured() -> None:
        started, cpu, before = time.monotonic(), time.process_time(), _peak_mib()
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):  # progress bars
            work()
        theirs.send((time.monotonic() - started, time.process_time() - cpu, _peak_mib() - before))
        os._exit(0)

    process = processes.Process(target=measured)
    process.start()
    theirs.close()
    seconds, cpu, memory = ours.recv()
    process.join()
    return {"seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2), "added_mib": round(memory)}


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _places(folders: Sequence[Path], to: str) -> object:
    tasks = [TaskRelease(path, read_manifest(path)) for path in folders]
    place = open_place(to, attempts=3, timeout_seconds=60.0)
    return PlacePublisher(place, tasks, reporter=SilentReporter()).publish()


def _upload_folders(folders: Sequence[Path]) -> None:
    """What the library of the Hub would do."""
    from huggingface_hub import HfApi

    api = HfApi()
    for folder in folders:
        name = f"{ORGANIZATION}/peer-{folder.name}"
        api.create_repo(name, repo_type="dataset")
        api.upload_folder(repo_id=name, folder_path=folder, repo_type="dataset")
        api.create_tag(name, tag="1.0.0", repo_type="dataset")


def compared(mib: int) -> Iterator[dict[str, Any]]:
    """A row for each destination and sender."""
    with (
        tempfile.TemporaryDirectory(prefix="publish-speed-") as scratch,
        pytest.MonkeyPatch.context() as patch,
    ):
        version = two_tasks.first(Path(scratch))
        folders = grown(version, mib)
        size = sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())

        def row(to: str, sender: str, work: Sent, asked: Callable[[], int]) -> dict[str, Any]:
            before, found = asked(), alone(work)
            rate = round((size >> 20) / found["seconds"], 1)
            return {"to": to, "sender": sender, **found, "requests": asked() - before, "mib_per_second": rate}

        with serving(patch) as hub:
            here = lambda: sum(hub.asked.values())  # noqa: E731
            yield row("Hub", "medqrels", lambda: publisher(folders).publish(), here)
            yield row("Hub", "medqrels, again", lambda: publisher(folders).publish(), here)
            yield row("Hub", "upload_folder", lambda: _upload_folders(folders), here)
        shelf, copy = Path(scratch) / "shelf", Path(scratch) / "copy"
        yield row("folder", "medqrels", lambda: _places(folders, str(shelf)), int)
        yield row("folder", "medqrels, again", lambda: _places(folders, str(shelf)), int)
        yield row("folder", "copytree", lambda: shutil.copytree(version, copy), int)
        with running_s3() as s3, S3Proxy(s3) as proxy, contextlib.ExitStack() as restored:
            restored.callback(patch.undo)
            for name, value in environment(proxy.root).items():
                patch.setenv(name, value)
            there = lambda: sum(proxy.asked.values())  # noqa: E731
            to = f"s3://{BUCKET}/shelf"
            yield row("S3", "medqrels", lambda: _places(folders, to), there)
            yield row("S3", "medqrels, again", lambda: _places(folders, to), there)
            yield row("S3", "s3fs.put", lambda: _put(version, proxy.root), there)


def _put(version: Path, endpoint: str) -> None:
    """What the library under ours would do."""
    from s3fs import S3FileSystem

    S3FileSystem(**storage_options(endpoint)).put(str(version), f"{BUCKET}/peer", recursive=True)


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    found = read_result(NAME)
    lines = [
        "## How fast a release is sent",
        "",
        f"Two tasks, {found['mib']} MiB, most of it in files of {FILE_MIB} MiB that do not compress, to "
        "servers on loopback: the Hub over LFS, S3 through a proxy that counts. CPU and memory are of the "
        "sender; `again` is the same publish when all is there. The others show others what is half sent. "
        "`python -m benchmarks.publish_speed [MIB]`",
        "",
        "| to | sender | seconds | MiB/s | CPU s | memory, MiB | requests |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in found["rows"]:
        rate = "–" if row["sender"].endswith("again") else row["mib_per_second"]
        numbers = (row["seconds"], rate, row["cpu_seconds"], row["added_mib"], row["requests"] or "–")
        lines.append(f"| {row['to']} | {row['sender']} | {' | '.join(map(str, numbers))} |")
    return [*lines, ""]


def main(arguments: Sequence[str]) -> None:
    """Every destination."""
    mib = int(arguments[0]) if arguments else MIB
    save(NAME, {"mib": mib, "rows": list(compared(mib))})


if __name__ == "__main__":
    main(sys.argv[1:])
