"""The same bytes on any processor: this machine is told to compute as an older one would.

The whole demo is compared in test_end_to_end.py, under each setting by itself in benchmarks/processors.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.processors import environment, has, opposite


def hashes(root: Path, given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.processor_routines"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        env=environment(given),
        cwd=root,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


@pytest.mark.timeout(240)
def test_every_routine_makes_the_same_bytes_on_opposite_processors(repository: Path) -> None:
    here, there = hashes(repository, {}), hashes(repository, opposite())
    assert len(here["same"]) >= 19
    assert {name for name, found in here["same"].items() if there["same"][name] != found} == set()
    differing = {name for name, found in here["differing"].items() if there["differing"][name] != found}
    if has("avx2", "fma"):  # or the settings change nothing, and this test shows nothing
        assert differing == set(here["differing"])
