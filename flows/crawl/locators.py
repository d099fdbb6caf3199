"""Reads what a crawl is asked for: PMCIDs of a file, XML files of a folder."""

from __future__ import annotations

from pathlib import Path

from schemas.errors import InputError, UsageError
from schemas.ids import normalise_pmcid
from sources import folder


def read_ids(path: Path) -> list[str]:
    """PMCIDs of a text file: one a line, `#` starts a comment, blank lines are skipped.

    Raises:
        UsageError: the file cannot be read, is empty, or a line is not a PMCID.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the id file cannot be read: {error}", file=str(path)) from error
    found = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                found.append(normalise_pmcid(text))
            except InputError as error:
                raise UsageError(
                    f"line {number}: {error.message}", file=str(path), hint=error.hint
                ) from error
    if not found:
        raise UsageError("the id file names no article", file=str(path), hint="write one PMCID a line")
    return found


def discover(root: Path) -> list[str]:
    """XML files of a folder, as sorted paths inside it.

    Raises:
        UsageError: not a folder, or no XML file in it.
    """
    if not root.is_dir():
        raise UsageError("not a folder", file=str(root))
    locators = list(folder.discover(root))
    if not locators:
        raise UsageError("no XML file in this folder", file=str(root), hint="files must end in .xml or .nxml")
    return locators
