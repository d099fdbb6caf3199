"""Loads what is about to become a release with `datasets`, as its users will, and compares it with its files.

In a process of its own: `datasets` reads its environment once, and a release must not ask the network.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import io
import itertools
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq

from curation.evaluation.variants import ValueConfig, value_configs
from flows.engine.execution import new_pool
from flows.engine.scratch import owned_folder
from schemas.errors import ReleaseError
from schemas.published import language_of, languages_of, of_language
from schemas.tables import CORPUS, QUERIES, TABLES

_HINT = "what was made is not in place; the release before it stands"
_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "DATASETS_VERBOSITY": "error",
}


def check_loads(directories: Sequence[Path], temporary: Path, workers: int = 1) -> None:
    """Load every config and split of sealed task folders with `datasets.load_dataset`, offline.

    Each must have the splits, rows and features its Parquet files have; the first and last row of each split
    are decoded, with their images.

    Args:
        directories: task folders.
        temporary: where the cache may stand for the time.
        workers: processes that load.

    Raises:
        ReleaseError: something does not load, or differs; it names task, config, split and reason.
    """
    with (
        owned_folder(temporary, "load-") as scratch,
        new_pool(max(1, min(workers, len(directories)))) as pool,
    ):
        loading = [pool.submit(_load, directory, scratch / directory.name) for directory in directories]
        for directory, found in zip(directories, loading, strict=True):
            try:
                wrong = found.result()
            except concurrent.futures.BrokenExecutor:
                wrong = "the process that loads it died; memory may have run out"
            if wrong:
                raise ReleaseError(
                    f"{directory.name} does not load with datasets as it was written: {wrong}",
                    file=str(directory),
                    hint=_HINT,
                )


def _load(directory: Path, scratch: Path) -> str:
    os.environ.update(_QUIET, HF_HOME=str(scratch / "home"))
    return first_difference(directory, scratch)


def first_difference(directory: Path, scratch: Path) -> str:
    """What `datasets` makes of a task folder that its files do not say, '' when there is nothing."""
    import datasets

    try:
        held = {table.name: dict(_with_rows(table.files(directory))) for table in TABLES}
        for table in TABLES:
            files = table.files(directory)
            for language in languages_of(files):
                parted = _with_rows([path for path in files if language_of(path) == language])
                held[of_language(table.name, language)] = dict(parted)
        for language in languages_of(QUERIES.files(directory)):
            held[of_language(CORPUS.name, language)] = held[CORPUS.name]
        some = {one.name: one for one in value_configs(directory)}
        for one in some.values():
            held[one.name] = {split: held[QUERIES.name][split] for split in one.splits}
        expected = {name: files for name, files in held.items() if files}
        if not expected:
            return ""
        with card_read_once(datasets.load, directory) as listed:
            differ = listed ^ set(expected)
            if differ:
                return f"config {min(differ)!r}: it is in the card or in the files only"
            return _of_configs(datasets, directory, expected, some, scratch / "cache")
    except Exception as error:  # whatever a library raises is the reason
        return f"its card or its files cannot be read: {_reason(error)}"


@contextlib.contextmanager
def card_read_once(load: Any, directory: Path) -> Iterator[set[str]]:
    """The card's configs; `load_dataset` would parse it anew for each of them, three quarters of its time."""
    parsed = load.dataset_module_factory(str(directory))

    def again(*_: object, **__: object) -> Any:
        kept = dict(parsed.builder_kwargs)  # the caller takes things out of it
        return dataclasses.replace(parsed, builder_kwargs=kept)

    with mock.patch.object(load, "dataset_module_factory", again):
        yield {config.name for config in parsed.builder_configs_parameters.builder_configs}


def _of_configs(
    datasets: Any,
    directory: Path,
    expected: Mapping[str, dict[str, list[Path]]],
    some: Mapping[str, ValueConfig],
    cache: Path,
) -> str:
    for config, splits in expected.items():
        try:
            wrong = _of_config(datasets, directory, config, splits, some.get(config), cache)
        except Exception as error:  # whatever a library raises is the reason
            wrong = _reason(error)
        shutil.rmtree(cache, ignore_errors=True)
        if wrong:
            return f"config {config!r}, {wrong}"
    return ""


def _with_rows(files: Sequence[Path]) -> Iterator[tuple[str, list[Path]]]:
    """Split -> shards, of splits that have rows."""
    for split in sorted({path.name.split("-", 1)[0] for path in files}):
        shards = [path for path in files if path.name.startswith(f"{split}-")]
        if any(pq.read_metadata(path).num_rows for path in shards):
            yield split, shards


def _of_config(
    datasets: Any,
    directory: Path,
    config: str,
    splits: dict[str, list[Path]],
    some: ValueConfig | None,
    cache: Path,
) -> str:
    with contextlib.redirect_stderr(io.StringIO()):
        loaded = datasets.load_dataset(str(directory), config, cache_dir=str(cache))
    if set(loaded) != set(splits):
        return f"split {sorted(set(loaded) ^ set(splits))[0]!r}: it was loaded or written only"
    for split, shards in splits.items():
        found, written = loaded[split], sum(_rows(path, some) for path in shards)
        if found.num_rows != written:
            return f"split {split!r}: {found.num_rows:,} rows loaded, {written:,} written"
        features = datasets.Features.from_arrow_schema(pq.read_schema(shards[0]))
        pairs = itertools.zip_longest(found.features.items(), features.items())
        for loads_as, written_as in pairs:
            if loads_as != written_as:
                return f"split {split!r}: column {loads_as} was written as {written_as}"
        for place in (0, written - 1):
            try:
                found[place]
            except Exception as error:
                return f"split {split!r}: row {place} cannot be decoded: {_reason(error)}"
    return ""


def _rows(path: Path, some: ValueConfig | None) -> int:
    """Rows of a shard, or those of one value."""
    if some is None:
        return int(pq.read_metadata(path).num_rows)
    return int(pq.read_table(path, columns=["id"], filters=[some.filter]).num_rows)


def _reason(error: BaseException) -> str:
    """Kind and first line of an error, and of what caused it."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {(str(cause).splitlines() or [''])[0][:300]}"
