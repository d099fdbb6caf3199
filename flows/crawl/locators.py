"""Reads what a crawl is asked for: PMCIDs of a file, XML files of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from schemas.errors import InputError, UsageError
from schemas.ids import normalise_pmcid
from sources import folder


def read_ids(path: Path) -> list[str]:
    """PMCIDs of a text file.

    Raises:
        UsageError: as :func:`read_lines`.
    """
    return read_lines(path, normalise_pmcid, "article id", "PMCID")


def read_lines(path: Path, read: Callable[[str], str], unit: str, id_name: str) -> list[str]:
    """Ids of a text file: one a line, `#` starts a comment, blank lines are skipped.

    Args:
        path: the file.
        read: the id of a line's text; raises InputError where it is none.
        unit: what a line holds, for messages.
        id_name: what the ids are called, for messages.

    Raises:
        UsageError: the file cannot be read, is empty, or a line is not an id.
    """
    try:
        lines = path.read_text("utf-8-sig").splitlines()  # some editors begin files with a mark
    except OSError as error:
        raise UsageError(f"the id file cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the id file cannot be read: it is not UTF-8 from byte {error.start} on",
            file=str(path),
            hint="save it as UTF-8 text",
        ) from error
    found = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                found.append(read(text))
            except InputError as error:
                raise UsageError(
                    f"line {number}: {error.message}", file=str(path), hint=error.hint
                ) from error
    if not found:
        raise UsageError(
            f"the id file contains no {unit}", file=str(path), hint=f"write one {id_name} per line"
        )
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
