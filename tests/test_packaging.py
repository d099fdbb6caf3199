"""The commands of the checkout, its deployment, and the installed wheel on two interpreters."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml
from prefect.cli.deploy._models import PrefectYamlModel

from scripts.setup_venv import ROOT
from scripts.smoke import interpreters, smoke
from tests.scratch import DISK


def two_pythons() -> list[tuple[str, Path]]:
    """The running Python and the newest other one; `make bench` takes all, a minute each."""
    running = f"3.{sys.version_info.minor}"
    found = interpreters(ROOT)
    others = [item for item in found if item[0] != running]
    return [*(item for item in found if item[0] == running), *others[-1:]]


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


def test_prefect_yaml_deploys_the_run_flow_daily() -> None:
    content = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    model = PrefectYamlModel.model_validate(content)
    # Prefect ignores keys it does not know, so a misspelt one would be lost without a word.
    known = {field.alias or name for name, field in PrefectYamlModel.model_fields.items()}
    assert set(content) <= known
    (deployment,) = model.deployments
    assert set(content["deployments"][0]) <= set(type(deployment).model_fields)
    assert deployment.schedules and deployment.entrypoint
    path, _, name = deployment.entrypoint.partition(":")
    functions = {
        node.name: node.args
        for node in ast.parse((ROOT / path).read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    arguments = functions[name]
    positional = [argument.arg for argument in arguments.args]
    keyword = [argument.arg for argument in arguments.kwonlyargs]
    required = positional[: len(positional) - len(arguments.defaults)]
    required += [arg for arg, default in zip(keyword, arguments.kw_defaults, strict=True) if default is None]
    assert set(required) <= set(deployment.parameters) <= {*positional, *keyword}
    assert (ROOT / deployment.parameters["spec"]).is_file()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("version", "python"), two_pythons())
def test_core_lock_runs_under(version: str, python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if disk := os.environ.get(DISK):  # the environment is kept for the next run
        monkeypatch.setattr(tempfile, "tempdir", disk)
    assert "medqrels" in smoke(ROOT, python)
