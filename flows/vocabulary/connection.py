"""DuckDB as vocabularies use it: opened by the database module, quiet, free to read files in any order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from flows.engine.database import connect

Connection: TypeAlias = Any
"""A DuckDB connection; its type stays with flows.engine.database, the only module that imports DuckDB."""


@contextmanager
def opened(memory: str, scratch: Path | None = None) -> Iterator[Connection]:
    """A database for tables that are always written in a stated order.

    Args:
        memory: DuckDB's memory limit.
        scratch: folder it may spill to; a temporary one when not given.
    """
    with connect(memory, scratch) as connection:
        connection.execute("SET preserve_insertion_order = false")
        yield connection
