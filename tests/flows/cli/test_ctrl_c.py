"""Ctrl-C on a terminal reaches every process of a command: it ends soon, says so once, and can go on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.engine.workspace import Workspace
from tests.conftest import ROOT, copied
from tests.tables import of_prefect

SAYS_WHEN = """
import signal, sys, time
from flows.engine.execution import new_pool

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins without
    with new_pool(2) as pool:
        work = [pool.submit(time.sleep, float(sys.argv[1])) for _ in range(2)]
        time.sleep(float(sys.argv[2]))
        try:
            print("now", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            print("interrupted")
"""


@pytest.mark.parametrize(
    ("work", "wait"),
    [
        pytest.param("60", "0.2", id="before they have begun"),
        pytest.param("60", "4", id="at work"),
        pytest.param("0.1", "4", id="idle"),
    ],
)
def test_worker_processes_end_without_a_word(work: str, wait: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SAYS_WHEN, work, wait],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    ) as started:
        assert started.stdout is not None and started.stdout.readline() == b"now\n"
        os.killpg(started.pid, signal.SIGINT)
        said, complained = started.communicate(timeout=30)
    assert (started.returncode, said, complained) == (0, b"interrupted\n", b"")


TOLD_ALONE = """
import signal, time
from flows.engine.execution import new_pool

class Told(BaseException):
    pass

def told(*_):
    raise Told

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, told)
    try:
        with new_pool(2) as pool:
            work = [pool.submit(time.sleep, 600) for _ in range(2)]
            time.sleep(2)
            print("now", flush=True)
            time.sleep(60)
    except Told:
        print("ended")
"""


def test_work_is_not_waited_for_when_a_service_is_stopped() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TOLD_ALONE], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdout is not None and started.stdout.readline() == b"now\n"
        started.terminate()
        said, complained = started.communicate(timeout=30)
    assert (started.returncode, said, complained) == (0, b"ended\n", b"")


def test_a_command_ends_soon_and_goes_on(sample: Workspace, tmp_path: Path) -> None:
    workspace = copied(sample, tmp_path / "ws")
    for stage in ("parse", "extract"):
        shutil.rmtree(workspace.root / "work" / stage)
    before = set((workspace.root / "runs").glob("*/log.jsonl"))
    home = shutil.copytree(of_prefect(), tmp_path / "home")
    program = "from flows.cli.app import main; main()"
    command = [sys.executable, "-c", program, "extract", "--workspace", str(workspace.root)]
    given = {**os.environ, "PREFECT_HOME": str(home), "MEDQRELS_WORKERS": "2"}
    given.pop("PREFECT_API_URL", None)
    with subprocess.Popen(
        command, cwd=ROOT, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
    ) as started:
        while not (new := set((workspace.root / "runs").glob("*/log.jsonl")) - before):
            assert started.poll() is None
            time.sleep(0.02)
        while b'"progress"' not in next(iter(new)).read_bytes():
            time.sleep(0.02)
        os.killpg(started.pid, signal.SIGINT)
        _, said = started.communicate(timeout=60)  # not for a server that Ctrl-C has ended, too
    assert started.returncode == 130 and b"Traceback" not in said, said.decode()
    assert said.decode().endswith("error: interrupted\n  next: the same command continues from here\n")
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
