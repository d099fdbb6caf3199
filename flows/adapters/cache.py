"""A content-addressed store of model answers: one SQLite file per model, key -> bytes.

A key is a hash of all that was asked; the file's name is a hash of all that shapes the answer.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from schemas.errors import WorkspaceError

_ASK = 500


class AnswerCache:
    """Open as a context. Answers are committed in batches: a killed run keeps what it had."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{fingerprint[:24]}.sqlite"
        try:
            self._connection = sqlite3.connect(self.path, timeout=60)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer BLOB NOT NULL)"
            )
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Answers that are held."""
        wanted = sorted(set(keys))
        found: dict[bytes, bytes] = {}
        for start in range(0, len(wanted), _ASK):
            part = wanted[start : start + _ASK]
            marks = ",".join("?" * len(part))
            with self._asked():
                found.update(
                    self._connection.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", part)
                )
        return found

    def keys(self) -> set[bytes]:
        """Keys of all answers that are held."""
        with self._asked():
            return {row[0] for row in self._connection.execute("SELECT key FROM answers")}

    def delete(self, keys: Iterable[bytes]) -> int:
        """Delete answers so that no byte of them is left in the file; how many were held."""
        held = self.get(keys)
        if held:
            with self._asked():
                self._connection.execute("PRAGMA secure_delete = ON")
                with self._connection:
                    self._connection.executemany(
                        "DELETE FROM answers WHERE key = ?", [(key,) for key in sorted(held)]
                    )
                self._connection.execute("VACUUM")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return len(held)

    def put(self, answers: Mapping[bytes, bytes]) -> None:
        """Hold answers; those held already stay."""
        with self._asked(), self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO answers VALUES (?, ?)", sorted(answers.items())
            )

    @contextlib.contextmanager
    def _asked(self) -> Iterator[None]:
        """Damage inside shows only when its page is read; a full disk stays an error of the machine."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise self._damaged(error) from error

    def _damaged(self, error: sqlite3.Error) -> WorkspaceError:
        message = f"the cache of model answers cannot be read: {error}"
        return WorkspaceError(message, file=str(self.path), hint="delete it")
