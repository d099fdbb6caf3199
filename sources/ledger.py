"""The crawl ledger: what was fetched, which bytes they were, and what failed. One SQLite file beside raw/.

A row is written only after its file is safely in place, so a crash can lose a row but never make one lie.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schemas.errors import WorkspaceError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    source      TEXT NOT NULL,
    key         TEXT NOT NULL,
    path        TEXT,
    sha256      TEXT,
    md5         TEXT,
    etag        TEXT,
    size_bytes  INTEGER,
    headers     TEXT NOT NULL DEFAULT '{}',
    fetched_at  REAL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    last_error  TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (source, key)
) WITHOUT ROWID
"""
_RECORD = """
INSERT INTO objects
    (source, key, path, sha256, md5, etag, size_bytes, headers, fetched_at, attempts, last_error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, '')
ON CONFLICT (source, key) DO UPDATE SET path = excluded.path, sha256 = excluded.sha256, md5 = excluded.md5,
    etag = excluded.etag, size_bytes = excluded.size_bytes, headers = excluded.headers,
    fetched_at = excluded.fetched_at, attempts = attempts + 1, last_error = ''
"""
_FAILED = """
INSERT INTO objects (source, key, attempts, last_error) VALUES (?, ?, 1, ?)
ON CONFLICT (source, key) DO UPDATE SET attempts = attempts + 1, last_error = excluded.last_error
"""
_SUMMARY = """
SELECT source, count(path), coalesce(sum(size_bytes), 0), sum(last_error <> ''), max(fetched_at)
FROM objects GROUP BY source ORDER BY source
"""


@dataclass(frozen=True, slots=True)
class Held:
    """One stored object: file under raw/, hashes of its bytes, and the headers that matter."""

    source: str
    key: str
    path: str
    sha256: str
    md5: str
    size_bytes: int
    etag: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """What the ledger holds of one source; `last_fetched_at` is seconds since the epoch."""

    source: str
    objects: int
    size_bytes: int
    failing: int
    last_fetched_at: float | None


class Ledger:
    """Rows keyed by (source, key). Thread-safe, and safe beside other processes; write-ahead logging.

    Args:
        path: the SQLite file; made if absent.
        clock: seconds since the epoch.

    Raises:
        WorkspaceError: the file is not a ledger or cannot be opened.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.RLock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(path, timeout=60.0, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            # A commit is not synced, only ordered: a power cut may take the last rows, never tear one. Their
            # files stand already, are fetched once more and replaced by the same bytes.
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(_SCHEMA)
        except sqlite3.Error as error:
            raise _damaged(path, error) from error

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def find(self, source: str, key: str) -> Held | None:
        """The stored object, or None if it was never stored. Whether its file still stands is not checked."""
        columns = "path, sha256, md5, size_bytes, etag, headers"
        query = f"SELECT {columns} FROM objects WHERE source = ? AND key = ? AND path IS NOT NULL"
        with self._asked():
            row = self._db.execute(query, (source, key)).fetchone()
            if row is None:
                return None
            path, sha256, md5, size_bytes, etag, headers = row
            return Held(source, key, path, sha256, md5, size_bytes, etag, json.loads(headers))

    def record(self, held: Held) -> None:
        """Note a stored object; its file must already be in place."""
        headers = json.dumps(dict(held.headers), sort_keys=True)
        row = (held.source, held.key, held.path, held.sha256, held.md5, held.etag, held.size_bytes, headers)
        with self._asked():
            self._db.execute(_RECORD, (*row, self._clock()))

    def forget(self, source: str, path: str) -> None:
        """Leave out what is known of a file that was deleted."""
        with self._asked():
            self._db.execute("DELETE FROM objects WHERE source = ? AND path = ?", (source, path))

    def failed(self, source: str, key: str, error: str) -> None:
        """Note a failed attempt; what is held of the key, if anything, stays."""
        with self._asked():
            self._db.execute(_FAILED, (source, key, error[:500]))

    @contextlib.contextmanager
    def _asked(self) -> Iterator[None]:
        """One question at a time; damage inside the file shows only when its page is read.

        Raises:
            WorkspaceError: the file is damaged. A full disk and the like stay the errors of the machine.
        """
        with self._lock:
            try:
                yield
            except (sqlite3.DatabaseError, ValueError) as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                raise _damaged(self._path, error) from error


def summary(path: Path) -> tuple[SourceSummary, ...]:
    """What a ledger holds per source, read without writing anything; () when there is no ledger yet.

    Raises:
        WorkspaceError: the file is not a ledger.
    """
    if not path.is_file():
        return ()
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            return tuple(SourceSummary(*row) for row in db.execute(_SUMMARY))
    except sqlite3.Error as error:
        raise _damaged(path, error) from error


def stored_files(path: Path, source: str | None = None) -> list[tuple[str, str]]:
    """Path under raw/ and SHA-256 of everything stored (from one source), in order, read without writing.

    Raises:
        WorkspaceError: the file is not a ledger.
    """
    if not path.is_file():
        return []
    of_it = "path IS NOT NULL AND source = ifnull(?, source)"
    query = f"SELECT path, sha256 FROM objects WHERE {of_it} ORDER BY path"
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            return [(str(row[0]), str(row[1])) for row in db.execute(query, (source,))]
    except sqlite3.Error as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: sqlite3.Error | ValueError) -> WorkspaceError:
    hint = "move the file away: the crawl then compares what is stored and fetches only what differs"
    return WorkspaceError(f"the crawl ledger cannot be read: {error}", file=str(path), hint=hint)
