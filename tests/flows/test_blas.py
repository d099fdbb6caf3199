"""Threads of OpenBLAS in the processes of medqrels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASKED = """
from flows.engine.execution import new_pool
import numpy
from threadpoolctl import threadpool_info
def threads():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}
if __name__ == "__main__":
    with new_pool(1) as pool:
        print(*threads(), *pool.submit(threads).result())
"""


@pytest.mark.parametrize(
    ("given", "threads"), [({}, ["1", "1"]), ({"OPENBLAS_NUM_THREADS": "2"}, ["2", "2"])]
)
def test_one_thread_in_every_process_unless_the_user_says_more(
    given: dict[str, str], threads: list[str], tmp_path: Path
) -> None:
    script = tmp_path / "asked.py"
    script.write_text(ASKED, "utf-8")
    kept = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    kept |= {"PYTHONPATH": str(ROOT), **given}
    done = subprocess.run([sys.executable, str(script)], env=kept, capture_output=True, text=True, check=True)
    assert done.stdout.split() == threads
