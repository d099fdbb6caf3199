"""The commands of the checkout, its deployment, and the installed wheel on another interpreter."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from prefect.cli.deploy._models import PrefectYamlModel

from flows.schedule.deployments import ENTRYPOINT
from flows.schedules import SCHEDULED
from scripts.setup_venv import ROOT
from scripts.smoke import interpreters, smoke
from tests.scratch import DISK


def another_python() -> tuple[str, Path]:
    """The newest Python beside the running one, if there is any; `make bench` takes all, a minute each."""
    running = f"3.{sys.version_info.minor}"
    found = interpreters(ROOT)
    return [*(item for item in found if item[0] == running), *(item for item in found if item[0] != running)][
        -1
    ]


def make(*arguments: str) -> str:
    done = subprocess.run(["make", "-C", ROOT, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_make_without_a_target_explains_itself() -> None:
    for target in (
        "setup",
        "demo",
        "lint",
        "test",
        "bench",
        "site",
        "sbom",
        "audit-dependencies",
        "lock",
        "clean",
    ):
        assert re.search(rf"(?m)^  make {target} +\w", make())


def test_ci_runs_what_make_test_runs() -> None:
    ci = ROOT / ".ci" / "run"
    assert os.access(ci, os.X_OK)
    assert "set -euo pipefail" in ci.read_text() and "exec make test" in ci.read_text()
    steps = make("--dry-run", "test")
    for step in (
        "system-deps.sh",
        "ruff check .",
        "ruff format --check .",
        "bin/mypy",
        "lint-imports",
        "pytest",
    ):
        assert step in steps


def test_prefect_yaml_deploys_every_scheduled_flow_with_parameters_it_takes() -> None:
    content = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    model = PrefectYamlModel.model_validate(content)
    # Prefect ignores keys it does not know, so a misspelt one would be lost without a word.
    known = {field.alias or name for name, field in PrefectYamlModel.model_fields.items()}
    assert set(content) <= known
    functions = {
        node.name: node.args
        for node in ast.parse((ROOT / ENTRYPOINT).read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    for written, deployment in zip(content["deployments"], model.deployments, strict=True):
        assert set(written) <= set(type(deployment).model_fields)
        assert deployment.schedules and deployment.entrypoint
        path, _, name = deployment.entrypoint.partition(":")
        assert path == ENTRYPOINT
        arguments = functions[name]
        names = [argument.arg for argument in arguments.args]
        required = names[: len(names) - len(arguments.defaults)]
        assert set(required) <= set(deployment.parameters) <= set(names)
        assert (ROOT / deployment.parameters["spec"]).is_file()
    flows = [item.entrypoint.partition(":")[2] for item in model.deployments if item.entrypoint]
    assert flows == [one.name for one in SCHEDULED]


def test_core_lock_names_all_that_the_running_python_needs() -> None:
    """Of what medqrels requires without extras, by the markers of this interpreter."""
    locked = set(re.findall(r"(?m)^([a-z0-9.-]+)==", (ROOT / "requirements/core.lock.txt").read_text()))
    waiting, seen = [("medqrels", frozenset[str]())], set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        for text in importlib.metadata.requires(name) or ():
            needs = Requirement(text)
            marker = needs.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((canonicalize_name(needs.name), frozenset(needs.extras)))
    needed = {name for name, _ in seen} - {"medqrels"}
    assert len(needed) > 100 and needed - locked == set()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("audits", [False, pytest.param(True, marks=pytest.mark.campaign)])
def test_core_lock_runs_under_another_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, audits: bool
) -> None:
    """`make bench` has it audit a release of an older version, too, as its reader would."""
    if disk := os.environ.get(DISK):  # the environment is kept for the next run
        monkeypatch.setattr(tempfile, "tempdir", disk)
    release = None
    if audits:
        with tarfile.open(ROOT / "tests/frozen/format_3.tar.xz") as archive:
            archive.extractall(tmp_path)  # our own; Python 3.11.2 has no filters yet
        (release,) = tmp_path.glob("*/*/summary")
    assert "medqrels" in smoke(ROOT, another_python()[1], release)
