"""What equal bytes are claimed under: the lock, Python's minor version, the kind of machine."""

from __future__ import annotations

import platform
import sys
import unicodedata
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from curation.published.manifest import NAME, read_manifest, unlike
from schemas.hashing import canonical_json, sha256_file, sha256_text

PACKAGE = "medqrels"
PACKAGES = ("schemas", "sources", "curation", "annotation", "flows")
"""The top-level packages of the program."""


@cache
def made_with() -> dict[str, str]:
    """What release.json records. `unicode` follows from `python`, but is what decides how texts are folded.

    `lock` is a hash of the installed versions of all that medqrels needs to run: extras beside it count not,
    so that an environment of the core lock and one of any wider lock have the same.
    """
    libc, _ = platform.libc_ver()
    return {
        "lock": sha256_text(canonical_json(installed(PACKAGE))),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "unicode": unicodedata.unidata_version,
        "machine": f"{platform.machine()} {libc or platform.system()}",
    }


def installed(package: str) -> dict[str, str]:
    """Name -> version of every installed distribution that a package needs, directly or not; sorted."""
    found: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(canonicalize_name(package), frozenset[str]())]
    while waiting:
        name, extras = item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        try:
            held = distribution(name)
        except PackageNotFoundError:  # not needed here after all, as a marker of it would say
            continue
        if name != package:
            found[name] = held.version
        for line in held.requires or ():
            needed = Requirement(line)
            marker = needed.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return dict(sorted(found.items()))


def unlike_here(directory: Path) -> str:
    """How the claim of the release in a folder differs from this environment's; '' if alike or no release."""
    return unlike(read_manifest(directory).made_with, made_with()) if (directory / NAME).is_file() else ""


@cache
def code_hash() -> str:
    """Hash of the program itself: every file of its packages, templates and data included."""
    root = Path(__file__).resolve().parents[2]
    files = [
        path
        for package in PACKAGES
        for path in sorted((root / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    return sha256_text(
        canonical_json({path.relative_to(root).as_posix(): sha256_file(path) for path in files})
    )
