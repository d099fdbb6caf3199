"""What stands after a command: every file by its hash, every row of a database but those that tell time."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Mapping
from pathlib import Path

from schemas.hashing import sha256_bytes, sha256_file

TELLING_TIME = frozenset({"fetched_at", "attempts", "last_error"})
"""Columns of the ledger that say when and how often, which a kill may change."""
_APART = ("ws/runs/", "ws/.lock", "ws/tmp/", "tmp/")
_OF_RUNS = frozenset({"_run.json"})


def standing(folder: Path) -> dict[str, str]:
    """Path -> hash of all files and links in a folder, but for records of runs, locks and what is temporary.

    Databases count by their rows: their file also says in what order it was written.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if f"{name}/".startswith(_APART) or path.name in _OF_RUNS or path.name.endswith(("-wal", "-shm")):
            continue
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                found[f"{name}/"] = "empty folder"
        elif path.suffix == ".sqlite":
            try:
                found[name] = _rows(path)
            except sqlite3.DatabaseError:
                found[name] = "damaged"
        else:
            found[name] = sha256_file(path)
    return found


def differing(found: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """Names that are not the same in both."""
    return sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))


def temporary(folder: Path) -> list[str]:
    """What lies in a folder of temporary files; the empty home of medqrels is no litter."""
    inside = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return [name for name in inside if not (name.startswith("medqrels-") and "/" not in name)]


def _rows(path: Path) -> str:
    """Hash of what a database holds, read from a copy: reading it in place would change its files."""
    with tempfile.TemporaryDirectory() as scratch:
        copies = [Path(scratch) / one.name for one in path.parent.glob(f"{path.name}*")]
        for copy in copies:
            copy.write_bytes((path.parent / copy.name).read_bytes())
        with contextlib.closing(sqlite3.connect(Path(scratch) / path.name)) as held:
            lines = []
            tables = [name for (name,) in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in sorted(tables):
                columns = [row[1] for row in held.execute(f"PRAGMA table_info({table})")]
                kept = ", ".join(f'"{name}"' for name in columns if name not in TELLING_TIME)
                lines += sorted(f"{table} {row!r}" for row in held.execute(f"SELECT {kept} FROM {table}"))
    return sha256_bytes("\n".join(lines).encode())
