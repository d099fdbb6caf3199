"""The backends by name: what prepares an index of a vocabulary, and what opens it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from curation.concepts.matcher import Matcher
from schemas.errors import UsageError
from schemas.record import from_table
from schemas.vocabulary import ConceptType

Backend = Literal["native", "quickumls", "scispacy"]
BACKENDS: Final[Mapping[str, int]] = {"native": 8, "quickumls": 1, "scispacy": 1}
"""Backends and the version of what each makes of the same names and texts."""


def version_of(backend: str) -> str:
    """What a backend makes of the same names and texts changes with this.

    Raises:
        UsageError: no such backend.
    """
    if backend not in BACKENDS:
        raise _unknown(backend)
    if backend != "native":
        return str(BACKENDS[backend])
    from curation.concepts.normalise import rules

    return f"{BACKENDS[backend]}-{rules()}"


def prepare(
    backend: str, names: Path, types: Path | None, destination: Path, about: Mapping[str, Any]
) -> None:
    """Build a backend's index.

    Args:
        backend: native, quickumls or scispacy.
        names: Parquet of ConceptName rows.
        types: Parquet of ConceptType rows.
        destination: file (native) or folder to make; it appears whole or not at all.
        about: what the names came from, kept in a native index.

    Raises:
        UsageError: no such backend, or its extra is not installed.
    """
    if backend == "native":
        from curation.concepts.index import build_index

        build_index(names, destination, _types(types) if types else (), about)
    elif backend == "quickumls":
        from curation.concepts.backends import quickumls

        quickumls.prepare(names, types, destination)
    elif backend == "scispacy":
        from curation.concepts.backends import scispacy

        scispacy.prepare(names, types, destination)
    else:
        raise _unknown(backend)


@functools.lru_cache(maxsize=2)
def open_backend(backend: str, index: Path) -> Matcher:
    """A matcher over an index; a process opens each once.

    Raises:
        UsageError: no such backend, or its extra is not installed.
        WorkspaceError: the index is missing or damaged.
    """
    if backend == "native":
        from curation.concepts.native import open_index

        return open_index(index)
    if backend == "quickumls":
        from curation.concepts.backends.quickumls import open_quickumls

        return open_quickumls(index)
    if backend == "scispacy":
        from curation.concepts.backends.scispacy import open_scispacy

        return open_scispacy(index)
    raise _unknown(backend)


def _types(path: Path) -> Iterator[ConceptType]:
    for batch in pq.ParquetFile(path).iter_batches():
        yield from from_table(ConceptType, pa.Table.from_batches([batch]))


def _unknown(backend: str) -> UsageError:
    return UsageError(f"no backend is called {backend!r}", hint="one of " + ", ".join(BACKENDS))
