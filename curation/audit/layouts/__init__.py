"""Other layouts of retrieval datasets, read into the tables the rules know; hash lists of benchmarks."""

from __future__ import annotations

import tempfile
from pathlib import Path

from curation.audit.dataset import Dataset, open_release
from curation.audit.layouts.canonical import Canonical
from curation.audit.layouts.hashlist import is_hash_list, open_hash_list, write_hash_list
from curation.audit.layouts.problems import NAME as PROBLEMS
from curation.audit.layouts.problems import Problems
from curation.audit.layouts.recognise import LOOKED_FOR, recognise
from curation.audit.layouts.records import first_columns
from curation.release.manifest import NAME
from schemas.audit import Role
from schemas.errors import UsageError
from schemas.hashing import canonical_json, sha256_text

__all__ = ["open_dataset", "open_hash_list", "write_hash_list"]


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
        UsageError: there is no such path, or the layout is not known.
        ReleaseError: it has a release.json that cannot be read.
    """
    path = Path(path)
    if not path.exists():
        raise UsageError(f"no dataset at {str(path)!r}", file=str(path), hint=LOOKED_FOR)
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


def _read(path: Path, scratch: Path, role: Role) -> Dataset:
    """Write canonical tables of another layout."""
    plan = recognise(path, lambda name: first_columns(path, name))
    scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="layout-", dir=scratch))
    problems = Problems(folder / PROBLEMS)
    takes_all = role != "audited" or plan.kind == "images"
    made = Canonical(path, folder, plan, problems, takes_all)
    views = made.write()
    problems.close()
    return Dataset(
        name=path.resolve().name,
        role=role,
        kind=plan.kind,
        directory=folder,
        sha256=sha256_text(canonical_json(made.hashes)),
        views={**views, "problems": [problems.path]},
    )
