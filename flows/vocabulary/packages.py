"""Vocabularies inside installed packages: their files and version, without importing the packages."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import UsageError


@dataclass(frozen=True, slots=True)
class Package:
    """An installed distribution that carries a vocabulary."""

    name: str
    version: str
    _distribution: importlib.metadata.Distribution

    def file(self, path: str) -> Path:
        """One of its files.

        Raises:
            UsageError: this version has no such file.
        """
        found = Path(str(self._distribution.locate_file(path)))
        if not found.is_file():
            raise UsageError(
                f"{self.name} {self.version} has no file {path}", hint=f"pip install -U {self.name}"
            )
        return found

    def files(self, folder: str, suffix: str) -> list[Path]:
        """Its files in one folder, by name."""
        return sorted(Path(str(self._distribution.locate_file(folder))).glob(f"*{suffix}"))


def installed(name: str, *, extra: str = "") -> Package:
    """A package that must be installed.

    Args:
        name: distribution name.
        extra: extra that brings it, '' when it comes with medqrels itself.

    Raises:
        UsageError: it is not installed; says how.
    """
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError as error:
        raise UsageError(
            f"the package {name}, which carries this vocabulary, is not installed",
            hint=f"make setup EXTRAS={extra}" if extra else "make setup",
        ) from error
    return Package(name, found.version, found)
