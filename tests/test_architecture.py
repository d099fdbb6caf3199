"""Imports run one way, only flows knows Prefect, light modules start light, files stay small."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("schemas", "sources", "curation", "annotation", "flows")
HEAVY = ("prefect", "datasets", "duckdb")
LIGHT = {
    "flows.show": ("prefect", "datasets"),
    "flows.status": ("prefect", "datasets"),
    "flows.doctor": ("prefect", "datasets"),
    "flows.auditing": ("prefect", "datasets"),
    "flows.preview": ("prefect", "datasets"),
    "flows.session": ("prefect", "datasets", "duckdb"),
    "flows.settings": ("prefect", "datasets", "duckdb", "pyarrow"),
    "flows.cli": ("prefect", "datasets", "duckdb", "pyarrow"),
    "flows.execution": ("prefect", "datasets"),
    "schemas.record": ("prefect", "datasets", "duckdb", "requests"),
    "curation.tasks.registry": ("prefect", "datasets", "duckdb", "requests"),
}


def modules(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Top-level names a file imports anywhere, functions and type checking included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add((node.module or "").partition(".")[0])
    return found


def loaded_by(code: str) -> set[str]:
    """Names of modules loaded after running some code in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n' + ' '.join(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as run; run()",
            "--no-cache",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


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
    assert users["duckdb"] == {ROOT / "flows" / "database.py"}
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
        names = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Attribute)
        }
        assert not names & {"environ", "getenv", "now", "today", "utcnow"}, path.relative_to(ROOT)


@pytest.mark.parametrize("module", sorted(LIGHT))
def test_light_modules_start_light(module: str) -> None:
    heavy = loaded_by(f"import {module}") & set(LIGHT[module])
    assert not heavy, f"{module} loads {sorted(heavy)}"


@pytest.mark.parametrize(
    "verb", [[], ["show"], ["status"], ["doctor"], ["audit"], ["crawl", "pmc"], ["release"]]
)
def test_help_is_light(verb: list[str]) -> None:
    code = f"import contextlib\nfrom flows.cli import run_cli\nassert run_cli({[*verb, '--help']!r}) == 0"
    assert not loaded_by(code) & set(HEAVY)


def test_light_verbs_run_without_prefect(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\nfrom flows.cli import run_cli\n"
        "from flows.workspace import open_workspace\n"
        f"root = {str(tmp_path / 'w')!r}\nopen_workspace(Path(root), create=True)\n"
        "assert run_cli(['status', '--workspace', root]) == 0\n"
        "assert run_cli(['show', 'pmc:PMC1.1', '--workspace', root]) == 2\n"
        "run_cli(['doctor', '--workspace', root])\n"
    )
    assert not loaded_by(code) & {"prefect", "datasets"}


def test_files_are_small_enough_to_read_in_one_go() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in [*modules(*PACKAGES, "tests", "scripts", "benchmarks")]
        if (lines := len(path.read_text("utf-8").splitlines())) > 500
    }
    assert not long


def test_every_module_says_what_it_is_for() -> None:
    for path in modules(*PACKAGES):
        documentation = ast.get_docstring(ast.parse(path.read_text("utf-8")))
        assert documentation, f"{path.relative_to(ROOT)} has no docstring"
        assert len(documentation.splitlines()) <= 8, f"{path.relative_to(ROOT)}: the docstring is too long"
