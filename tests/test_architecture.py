"""Imports run one way, only flows knows Prefect, light modules start light, files stay small."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("schemas", "sources", "curation", "annotation", "flows")
HEAVY = ("prefect", "datasets", "duckdb")
LIGHT = {
    "flows.engine.settings": ("prefect", "datasets", "duckdb", "pyarrow"),
    "flows.cli.app": ("prefect", "datasets", "duckdb", "pyarrow"),
    "schemas.record": ("prefect", "datasets", "duckdb", "requests"),
    "curation.tasks.registry": ("prefect", "datasets", "duckdb", "requests"),
    "flows.engine.session": ("prefect", "datasets", "duckdb"),
    "flows.inspect.show": ("prefect", "datasets"),
    "flows.inspect.status": ("prefect", "datasets", "scipy"),
    "flows.inspect.doctor": ("prefect", "datasets"),
    "flows.inspect.audit": ("prefect", "datasets"),
    "flows.inspect.preview": ("prefect", "datasets"),
    "flows.engine.execution": ("prefect", "datasets"),
}
"""What a module may not load, those that may load least first: one interpreter imports all in this order."""
VERBS: list[list[str]] = [[], ["show"], ["status"], ["doctor"], ["audit"], ["crawl", "pmc"], ["release"]]


def modules(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@functools.cache
def imported(path: Path) -> frozenset[str]:
    """Top-level names a file imports anywhere, functions and type checking included."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add((node.module or "").partition(".")[0])
    return frozenset(found)


def run_fresh(code: str, *arguments: str) -> None:
    """Run some code in a fresh interpreter, to its end."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_lies_below(package: str) -> None:
    below = {"schemas": set(), "flows": set(PACKAGES)}.get(package, {"schemas"}) | {package}
    for path in modules(package):
        others = imported(path) & set(PACKAGES) - below
        assert not others, f"{path.relative_to(ROOT)} imports {sorted(others)}"


def test_only_flows_knows_prefect_and_duckdb() -> None:
    users = {
        name: {path for path in modules(*PACKAGES) if name in imported(path)}
        for name in ("prefect", "duckdb")
    }
    engine = ROOT / "flows" / "engine"
    assert users["duckdb"] == {engine / f"{name}.py" for name in ("database", "connection", "sandbox")}
    assert users["prefect"] and all(path.parts[len(ROOT.parts)] == "flows" for path in users["prefect"])


def test_contracts_and_curation_touch_no_network_clock_or_environment() -> None:
    banned = {
        "requests",
        "urllib3",
        "httpx",
        "socket",
        "http",
        "random",
        "time",
        "subprocess",
        "uuid",
        "secrets",
    }
    for path in modules("schemas", "curation"):
        assert not imported(path) & banned, (
            f"{path.relative_to(ROOT)} imports {sorted(imported(path) & banned)}"
        )
        names = {node.attr for node in ast.walk(parsed(path)) if isinstance(node, ast.Attribute)}
        assert not names & {"environ", "getenv", "now", "today", "utcnow"}, path.relative_to(ROOT)


def test_light_modules_start_light() -> None:
    code = (
        "import importlib, json, sys\n"
        "for module, heavy in json.loads(sys.argv[1]).items():\n"
        "    importlib.import_module(module)\n"
        "    found = sorted(set(heavy) & set(sys.modules))\n"
        "    assert not found, f'{module} loads {found}'\n"
    )
    run_fresh(code, json.dumps(LIGHT))


def test_help_is_light() -> None:
    code = (
        "import json, sys\nfrom flows.cli.app import run_cli\n"
        "for verb in json.loads(sys.argv[1]):\n"
        "    assert run_cli([*verb, '--help']) == 0, verb\n"
        f"    found = sorted(set({HEAVY!r}) & set(sys.modules))\n"
        "    assert not found, f'help of {verb} loads {found}'\n"
    )
    run_fresh(code, json.dumps(VERBS))


def test_files_are_small_enough_to_read_in_one_go() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in [*modules(*PACKAGES, "tests", "scripts", "benchmarks")]
        if (lines := len(path.read_text("utf-8").splitlines())) > 500
    }
    assert not long


def test_every_module_says_what_it_is_for() -> None:
    for path in modules(*PACKAGES):
        documentation = ast.get_docstring(parsed(path))
        assert documentation, f"{path.relative_to(ROOT)} has no docstring"
        assert len(documentation.splitlines()) <= 8, f"{path.relative_to(ROOT)}: the docstring is too long"
