"""Processes end when the one that started them ends, and not before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.processes import is_running, left_running

ROOT = Path(__file__).resolve().parents[3]
POOL = """
import os, sys, time
from flows.engine.execution import new_pool
if __name__ == "__main__":
    with new_pool(2) as pool:
        print(*{pool.submit(os.getpid).result() for _ in range(8)}, flush=True)
        pool.submit(time.sleep, 600)
        sys.stdin.read()
"""
SERVER = """
import sys
from flows.engine.prefect_server import _start, free_port
print(_start(free_port(), {}).pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("how", "code"), [(signal.SIGKILL, POOL), (signal.SIGTERM, POOL), (signal.SIGKILL, SERVER)]
)
def test_what_a_killed_process_started_ends_soon_after_it(how: int, code: str, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(code, "utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**kept, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdin is not None and parent.stdout is not None
    with parent.stdin, parent.stdout:
        started = [int(pid) for pid in parent.stdout.readline().split()]
        try:
            time.sleep(1.2)  # longer than between two looks
            assert started and all(map(is_running, started))
            parent.send_signal(how)
            parent.wait(30)
        finally:
            assert left_running(started) == []
