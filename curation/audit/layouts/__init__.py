"""Other layouts of retrieval datasets, read into the tables the rules know; hash lists of benchmarks."""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from curation.audit.dataset import Dataset, open_release
from curation.audit.layouts.canonical import Canonical
from curation.audit.layouts.hashlist import is_hash_list, open_hash_list, write_hash_list
from curation.audit.layouts.problems import NAME as PROBLEMS
from curation.audit.layouts.problems import Problems
from curation.audit.layouts.recipes import RECIPES, Recipe, adapted, form_of, no_form, recipe_of
from curation.audit.layouts.recognise import LOOKED_FOR, Part, Plan, data_files, recognise
from curation.audit.layouts.records import Record, first_columns, first_record
from curation.published.links import refuse_links_out
from curation.published.manifest import NAME
from schemas.audit import Role
from schemas.errors import UsageError
from schemas.hashing import canonical_json, sha256_text

__all__ = [
    "RECIPES",
    "open_by_recipe",
    "open_dataset",
    "open_hash_list",
    "recipe_of",
    "write_hash_list",
]


def open_dataset(path: Path, scratch: Path, role: Role = "audited") -> Dataset:
    """Any dataset in a layout we know, with the views `queries`, `corpus`, `qrels` that it has.

    A task directory of ours is read where it lies. Another layout is written as Parquet below `scratch`, in
    bounded memory; what could not be read as written is in the view `problems`. Its hash is over names and
    bytes of all files read.

    Args:
        path: directory or file.
        scratch: where canonical tables go; must live as long as the dataset is used.
        role: what it is in this audit.

    Raises:
        UsageError: there is no such path, the layout is not known, or a link leads out of it.
        ReleaseError: it has a release.json that cannot be read.
    """
    path = Path(path)
    if not path.exists():
        raise UsageError(f"no dataset at {str(path)!r}", file=str(path), hint=LOOKED_FOR)
    if path.is_dir():
        refuse_links_out(path)
    if path.is_dir() and (path / NAME).is_file():
        return open_release(path, role)
    tasks = sorted(item.parent.name for item in path.glob(f"*/{NAME}")) if path.is_dir() else []
    if tasks:
        raise UsageError(
            f"a release of several tasks: {path.name!r}", file=str(path), hint=f"name one: {', '.join(tasks)}"
        )
    if path.is_file() and is_hash_list(path):
        return open_hash_list(path, role)
    return _read(path, scratch, role)


def open_by_recipe(path: Path, recipe: Recipe, scratch: Path, role: Role = "against") -> Dataset:
    """A named public benchmark from the user's own download, by the field names of its recipe.

    Args:
        path: folder or file.
        recipe: see `curation.audit.layouts.recipes`.
        scratch: where canonical tables go; must live as long as the dataset is used.
        role: what it is in this audit.

    Raises:
        UsageError: there is no such path, or its files have other fields; the message names both.
    """
    path = Path(path)
    if not path.exists():
        raise UsageError(f"no dataset at {str(path)!r}", file=str(path), hint=f"from {recipe.source}")
    if recipe.layout:
        opened = open_dataset(path, scratch, role)
        if not {"queries", "corpus"} <= set(opened.views) or opened.kind not in ("beir", "mteb"):
            raise UsageError(
                f"recipe {recipe.name}: expected {recipe.layout}; found: {', '.join(sorted(opened.views))}",
                file=str(path),
                hint=recipe.source,
            )
        return dataclasses.replace(opened, name=recipe.name)
    seen: dict[str, Record] = {}
    adapters: dict[str, Callable[[Record], Iterator[Record]]] = {}
    for name in [path.name] if path.is_file() else data_files(path):
        record = first_record(path, name)
        if record is None:
            continue
        seen[name] = record
        form = form_of(recipe, record, name)
        if form is not None:
            adapters[name] = functools.partial(adapted, form)
    if not adapters:
        raise no_form(recipe, seen)
    parts = tuple(Part(name, "items", "", "all") for name in adapters)
    unread = tuple(name for name in seen if name not in adapters)
    return _written(path, Plan("jsonl", parts, unread), scratch, role, adapters, recipe.name)


def _read(path: Path, scratch: Path, role: Role) -> Dataset:
    """Write canonical tables of another layout."""
    return _written(path, recognise(path, lambda name: first_columns(path, name)), scratch, role)


def _written(
    path: Path,
    plan: Plan,
    scratch: Path,
    role: Role,
    adapters: Mapping[str, Callable[[Record], Iterator[Record]]] | None = None,
    name: str = "",
) -> Dataset:
    scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="layout-", dir=scratch))
    problems = Problems(folder / PROBLEMS)
    takes_all = role != "audited" or plan.kind == "images"
    made = Canonical(path, folder, plan, problems, takes_all, adapters or {})
    views = made.write()
    problems.close()
    return Dataset(
        name=name or path.resolve().name,
        role=role,
        kind=plan.kind,
        directory=folder,
        sha256=sha256_text(canonical_json(made.hashes)),
        views={**views, "problems": [problems.path]},
    )
