"""Where a dataset's files may lie: in its own folder, and what its links lead to, too."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from schemas.errors import UsageError


def home(root: Path) -> Path:
    """The folder that links of a dataset may lead into: its own.

    A snapshot in the Hub's cache is links into `blobs/` beside `snapshots/`: its home is the folder of both.
    """
    real = root.resolve()
    for folder in (real, *real.parents):
        if folder.parent.name == "snapshots" and (folder.parent.parent / "blobs").is_dir():
            return folder.parent.parent
    return real


def refuse_links_out(root: Path) -> None:
    """Look at every link below a folder that others made, before any file of it is read.

    Raises:
        UsageError: one leads out of the dataset (its content would be read, and perhaps quoted) or to itself,
            or something is no file at all: reading a pipe waits for ever.
    """
    allowed = home(root)
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            if path.is_symlink() and not _leads_inside(path, allowed):
                raise _refused(
                    "a link leads out of the dataset", path, root, "delete the link, or put the file there"
                )
            kind = path.lstat().st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
                raise _refused("neither a file nor a folder", path, root, "delete it")


def _leads_inside(link: Path, allowed: Path) -> bool:
    try:
        real = link.resolve()
    except (RuntimeError, OSError):  # it leads to itself
        return False
    return real.is_relative_to(allowed) and not real.is_symlink()  # as one does that Python 3.13 gives back


def _refused(what: str, path: Path, root: Path, hint: str) -> UsageError:
    return UsageError(f"{what}: {path.relative_to(root).as_posix()!r}", file=str(root), hint=hint)
