"""Installs medqrels as a user of another Python would, and runs it outside the checkout.

The core lock is universal: this proves it on one given interpreter, with the package built as a wheel, so
that missing package data or an import of a test-only package shows. Run `python -m scripts.smoke PYTHON…`;
without any, every Python found. The tests take one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.setup_venv import ROOT, SetupError, ensure, exclusive, minor_version, pip, python_of

PACKAGES = ("schemas", "sources", "curation", "annotation", "flows")
# What only development needs; if one is importable, a missing runtime dependency could hide behind it.
TEST_ONLY = ("pytest", "hypothesis", "mypy", "importlinter", "pubmed_parser")
TIMEOUT_S = 120.0
IMPORT_EVERY_MODULE = """
import importlib, pkgutil, sys
def fail(name):
    raise
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + ".", onerror=fail):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""


class SmokeError(Exception):
    """The installed package does not work; the message holds what it printed."""


def interpreters(root: Path) -> list[tuple[str, Path]]:
    """Minor version and path of every usable Python, oldest first; the running one is always among them."""
    search = root / "scripts" / "find-python.sh"
    listed = subprocess.run(["sh", search, "--all"], capture_output=True, text=True, check=True).stdout
    found = dict(line.split("\t") for line in listed.splitlines())
    found.setdefault(f"3.{sys.version_info.minor}", sys.executable)
    return [(version, Path(path)) for version, path in sorted(found.items())]


def cache_root() -> Path:
    """Directory of this user's smoke environments, kept between runs because each holds some 130 packages.

    Raises:
        SmokeError: the directory belongs to another user.
    """
    path = Path(tempfile.gettempdir()) / f"medqrels-smoke-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid != os.getuid():
        raise SmokeError(f"{path} belongs to another user; set TMPDIR to a directory of your own")
    return path


def build_wheel(root: Path, venv: Path, target: Path) -> Path:
    """Builds the wheel of the checkout from a copy of exactly what packaging reads.

    Args:
        root: the checkout.
        venv: environment whose build backend is used.
        target: empty directory for the copy and the wheel.

    Returns:
        Path of the wheel.
    """
    source = target / "source"
    source.mkdir()
    for name in PACKAGES:
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy2(root / name, source / name)
    wheels = target / "wheels"
    call(
        python_of(venv), "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, source, cwd=target,
    )  # fmt: skip
    (wheel,) = wheels.glob("medqrels-*.whl")
    return wheel


def call(*command: str | Path, cwd: Path) -> str:
    """Runs a command and returns its standard output.

    Raises:
        SmokeError: it failed or took longer than two minutes.
    """
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    words = [str(part) for part in command]
    try:
        done = subprocess.run(
            words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        )
    except subprocess.CalledProcessError as error:
        raise SmokeError(
            f"{' '.join(words)}\nexit {error.returncode}\n{error.stdout}{error.stderr}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise SmokeError(f"{' '.join(words)}\ntook longer than {TIMEOUT_S:.0f} s") from error
    return done.stdout


def check(root: Path, venv: Path, directory: Path, release: Path | None = None) -> str:
    """Checks the installed package from an unrelated directory, without a workspace.

    Args:
        root: the checkout.
        venv: environment that holds the wheel.
        directory: an empty one.
        release: task folder that must audit itself there; left as it is.

    Returns:
        What `medqrels --help` printed.

    Raises:
        SmokeError: an import, the command or a data file is missing, or a test-only package is there.
    """
    python = python_of(venv)
    call(python, "-I", "-c", IMPORT_EVERY_MODULE, *PACKAGES, cwd=directory)
    find = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
    present = call(python, "-I", "-c", find, *TEST_ONLY, cwd=directory).split()
    if present:
        raise SmokeError(f"the core lock brings test packages: {', '.join(present)}")
    locate = "import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).submodule_search_locations[0])"
    for name in PACKAGES:
        installed = Path(call(python, "-I", "-c", locate, name, cwd=directory).strip())
        missing = sorted(files_under(root / name) - files_under(installed))
        if missing:
            raise SmokeError(f"the wheel lacks {len(missing)} files of {name}: {', '.join(missing[:5])}")
    if release is not None:
        audit(venv, directory, release)
    return call(venv / "bin" / "medqrels", "--help", cwd=directory)


def audit(venv: Path, directory: Path, release: Path) -> None:
    """Audits a published task with the installed package.

    Raises:
        SmokeError: the audit could not be made, or missed what it planted; findings are none of its faults.
    """
    code = "import sys; from flows.cli.app import run_cli; sys.exit(run_cli(sys.argv[1:]) > 1)"
    (found,) = json.loads(call(python_of(venv), "-I", "-c", code, "audit", release, "--json", cwd=directory))
    missed = [item["canary"] for item in found["canaries"] if not item["is_found"]]
    if missed or not found["canaries"]:
        raise SmokeError(f"the audit missed what was planted: {', '.join(missed)}")


def files_under(directory: Path) -> set[str]:
    """Relative paths of the files of a package, bytecode apart."""
    return {
        path.relative_to(directory).as_posix()
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def smoke(root: Path, python: Path, release: Path | None = None) -> str:
    """Installs the core lock and medqrels under `python` and checks the result; `release` as `check` does.

    Returns:
        What `medqrels --help` printed.

    Raises:
        SetupError: the lock does not install under this interpreter.
        SmokeError: the installed package does not work.
    """
    version = minor_version(python)
    if version is None:
        raise SmokeError(f"{python} does not run")
    cache = cache_root()
    venv = cache / f"py{version}"
    with exclusive(cache / f"py{version}.lock"):
        ensure(root, venv, "core", python, package=False)
        with tempfile.TemporaryDirectory(prefix="medqrels-wheel-") as name:
            wheel = build_wheel(root, venv, Path(name))
            pip(venv, "--no-deps", "--force-reinstall", wheel)
            return check(root, venv, Path(name), release)


def main(arguments: list[str] | None = None) -> int:
    """Command line: interpreters by path, else all that are found."""
    parser = argparse.ArgumentParser(description="Smoke-test the core lock under other interpreters.")
    parser.add_argument("pythons", nargs="*", type=Path, metavar="PYTHON")
    given = parser.parse_args(arguments).pythons
    for python in given or [path for _, path in interpreters(ROOT)]:
        try:
            smoke(ROOT, python)
        except (SetupError, SmokeError) as error:
            print(f"{python}: {error}", file=sys.stderr)
            return 1
        print(f"{python}: ok")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
