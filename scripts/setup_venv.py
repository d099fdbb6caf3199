"""Makes the virtual environment of the checkout from a hashed lock.

Standard library only: it runs before anything is installed. A stamp, written last, says which lock and
which Python the environment holds; an environment without one is half-made and is rebuilt, so that an
interrupted install never looks finished.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROFILES = ("core", "all", "models")
"""Locks, each holding all of the one before it; `models` brings PyTorch, ten times the size of the others."""
# Some machines set these for reasons of their own; each redirects pip or leaves later imports uncompiled.
HARMFUL_VARIABLES = (
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHOME",
    "PYTHONPATH",
    "PIP_CONSTRAINT",
    "PIP_NO_COMPILE",
    "PIP_PREFIX",
    "PIP_TARGET",
    "PIP_USER",
)


class SetupError(Exception):
    """The environment could not be made; the message says what to do."""


def lock_path(root: Path, profile: str) -> Path:
    """Path of the lock of a profile in the checkout `root`."""
    return root / "requirements" / f"{profile}.lock.txt"


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def python_of(venv: Path) -> Path:
    """Path of the interpreter inside an environment."""
    return venv / "bin" / "python"


def minor_version(python: Path) -> str | None:
    """`3.11`-like version an interpreter reports, or None if it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def stamp_path(root: Path, venv: Path, profile: str, version: str) -> Path:
    """Path of the stamp that a finished environment of this lock and Python carries."""
    return venv / f".medqrels-{profile}-{sha256_of(lock_path(root, profile))}-py{version}"


def stamp_text(root: Path, venv: Path, *, package: bool = True) -> str:
    """What a stamp holds: the package's metadata and both paths, which an editable install is bound to.

    An environment without the package is bound to its own path alone.
    """
    if not package:
        return f"\n\n{venv}\n"
    return f"{sha256_of(root / 'pyproject.toml')}\n{root}\n{venv}\n"


def finished_profiles(root: Path, venv: Path, *, package: bool = True) -> dict[str, Path]:
    """Profiles whose current lock the environment holds, each with its stamp; empty if it must be rebuilt."""
    version = minor_version(python_of(venv))
    if version is None:
        return {}
    stamps = {profile: stamp_path(root, venv, profile, version) for profile in PROFILES}
    bound_to = stamp_text(root, venv, package=package).splitlines()[1:]  # scripts hold absolute paths
    return {
        profile: stamp
        for profile, stamp in stamps.items()
        if stamp.is_file() and stamp.read_text().splitlines()[1:] == bound_to
    }


def run(*command: str | Path) -> None:
    """Runs one step of the installation without the variables that would change what it does.

    Raises:
        SetupError: the command failed; its own output has been shown.
    """
    environment = {key: value for key, value in os.environ.items() if key not in HARMFUL_VARIABLES}
    done = subprocess.run([str(part) for part in command], env=environment, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetupError(f"this step failed (exit {done.returncode}): {' '.join(map(str, command))}")


def pip(venv: Path, *arguments: str | Path) -> None:
    """Runs the environment's own pip."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    run(python_of(venv), "-m", "pip", "install", *quiet, *arguments)


def install_lock(root: Path, venv: Path, profile: str, *, compiled: bool = True) -> None:
    """Installs exactly what the lock names; pip refuses a file whose hash is not in it.

    Args:
        root: the checkout.
        venv: directory of the environment.
        profile: one of PROFILES.
        compiled: write bytecode of every module now, not of those that are imported when they are.
    """
    later = () if compiled else ("--no-compile",)
    pip(venv, "--no-deps", "--require-hashes", *later, "-r", lock_path(root, profile))


def create(venv: Path, python: Path) -> None:
    """Makes an empty environment, in place of whatever half-made one is there."""
    if venv.is_symlink():
        raise SetupError(f"{venv} is a symbolic link; remove it and run this again")
    if venv.exists():
        print(f"rebuilding {venv}", flush=True)
        shutil.rmtree(venv)
    run(python, "-m", "venv", venv)


def install_package(root: Path, venv: Path) -> None:
    """Installs medqrels itself, in editable form, with the build backend that the lock brought."""
    pip(venv, "--no-deps", "--no-build-isolation", "--editable", root)


def refresh_package(root: Path, venv: Path, stamps: list[Path]) -> bool:
    """Reinstalls medqrels if pyproject.toml changed since the stamps were written; True if it did."""
    text = stamp_text(root, venv)
    if all(stamp.read_text() == text for stamp in stamps):
        return False
    install_package(root, venv)
    for stamp in stamps:
        stamp.write_text(text)
    return True


def ensure(
    root: Path, venv: Path, profile: str, python: Path, *, pinned: bool = False, package: bool = True
) -> bool:
    """Makes `venv` hold the lock of `profile` and, if `package`, medqrels itself in editable form.

    An environment of a wider profile also serves a narrower one; one of a narrower profile is extended in
    place, as the wider locks only add to it.

    Args:
        root: the checkout.
        venv: directory of the environment.
        profile: one of PROFILES.
        python: interpreter that makes a new environment.
        pinned: rebuild an environment made by another minor version than `python`'s.
        package: also install medqrels. Without it the environment serves every checkout of the same lock, and
            most of its modules are never imported: none is compiled in advance.

    Returns:
        True if anything was installed.

    Raises:
        SetupError: a step failed; the environment then has no stamp and the next call rebuilds it.
    """
    finished = finished_profiles(root, venv, package=package)
    if pinned and minor_version(python_of(venv)) != minor_version(python):
        finished = {}
    if finished.keys() & set(PROFILES[PROFILES.index(profile) :]):
        return package and refresh_package(root, venv, sorted(finished.values()))
    if finished:
        for stamp in finished.values():
            stamp.unlink()
    else:
        create(venv, python)
    print(f"installing {lock_path(root, profile).relative_to(root)} into {venv}", flush=True)
    install_lock(root, venv, profile, compiled=package)
    if package:
        install_package(root, venv)
    stamp = stamp_path(root, venv, profile, str(minor_version(python_of(venv))))
    stamp.write_text(stamp_text(root, venv, package=package))
    return True


def ensure_own(root: Path, name: str, python: Path) -> Path:
    """Makes `.venv-<name>` hold requirements/<name>.lock.txt: tools apart from medqrels.

    Returns:
        The environment's `bin` directory.

    Raises:
        SetupError: a step failed; the environment then has no stamp and the next call rebuilds it.
    """
    venv = root / f".venv-{name}"
    with exclusive(root / f".venv-{name}.lock"):
        version = minor_version(python_of(venv))
        bound_to = stamp_text(root, venv, package=False)  # scripts hold absolute paths
        stamp = stamp_path(root, venv, name, str(version))
        if version is None or not stamp.is_file() or stamp.read_text() != bound_to:
            create(venv, python)
            print(f"installing {lock_path(root, name).relative_to(root)} into {venv}", flush=True)
            install_lock(root, venv, name)
            stamp_path(root, venv, name, str(minor_version(python_of(venv)))).write_text(bound_to)
    return venv / "bin"


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds a lock file, so that two `make` commands at once install one after the other."""
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another installation ({path})", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def profile_for(root: Path, extras: list[str]) -> str:
    """Lock that holds the named extras: `core` for none, `models` if it is one, else `all`.

    Raises:
        SetupError: an extra that pyproject.toml does not declare.
    """
    with (root / "pyproject.toml").open("rb") as handle:
        known = sorted(tomllib.load(handle)["project"]["optional-dependencies"])
    unknown = sorted(set(extras) - set(known) - {"all"})
    if unknown:
        raise SetupError(f"no such extra: {', '.join(unknown)}; there are: {', '.join(known)}, or all")
    return "models" if "models" in extras else "all" if extras else "core"


def main(arguments: list[str] | None = None) -> int:
    """Command line: `setup_venv.py [EXTRA…]`, or `setup_venv.py --own NAME`."""
    parser = argparse.ArgumentParser(description="Make the environment from a lock.")
    parser.add_argument(
        "extras", nargs="*", metavar="EXTRA", help="extras of pyproject.toml, also comma-separated"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: where this file is)")
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), help="interpreter of a new environment"
    )
    parser.add_argument("--own", metavar="NAME", help="make .venv-NAME from its own lock instead")
    options = parser.parse_args(arguments)
    root: Path = options.root.resolve()
    extras = [extra for word in options.extras for extra in word.split(",") if extra]
    try:
        if options.own:
            ensure_own(root, options.own, options.python)
            return 0
        profile = profile_for(root, extras)
        with exclusive(root / ".venv.lock"):
            ensure(root, root / ".venv", profile, options.python, pinned=bool(os.environ.get("PYTHON")))
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
