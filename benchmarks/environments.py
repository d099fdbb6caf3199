"""Environments of other tools, each made from its own lock the first time a benchmark needs it."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.measure import ROOT
from scripts import setup_venv


def environment(profile: str) -> Path:
    """The Python of `.venv-<profile>`, made from `requirements/<profile>.lock.txt` if it is not there."""
    venv = ROOT / f".venv-{profile}"
    with setup_venv.exclusive(ROOT / f".venv-{profile}.lock"):
        version = setup_venv.minor_version(setup_venv.python_of(venv))
        if version is None or not setup_venv.stamp_path(ROOT, venv, profile, version).is_file():
            setup_venv.create(venv, Path(sys.executable))
            setup_venv.install_lock(ROOT, venv, profile)
            version = str(setup_venv.minor_version(setup_venv.python_of(venv)))
            setup_venv.stamp_path(ROOT, venv, profile, version).write_text("")
    return setup_venv.python_of(venv)
