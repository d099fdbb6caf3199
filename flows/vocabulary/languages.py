"""Languages that a dataset is meant to hold and that the vocabulary in use has no names in."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.registry import TASKS
from flows.engine.workspace import Workspace
from flows.vocabulary.store import current
from schemas.name_tables import NAMED_CORPUS
from schemas.spec import DatasetSpec

_OF_DEFAULT = frozenset({"en"})
"""Languages of the vocabulary that a workspace is given when it has none."""


def without_names(workspace: Workspace, spec: DatasetSpec | None, tasks: Iterable[str]) -> str:
    """What to tell of languages that tasks cannot ask in for want of names, '' where there are none.

    Args:
        workspace: whose vocabulary is used.
        spec: the dataset's; its `languages` are those wanted.
        tasks: names of the tasks to be built.
    """
    asking = [
        name for name in tasks if TASKS[name].by_language or NAMED_CORPUS.name in TASKS[name].extra_tables
    ]
    wanted = {tag.lower().partition("-")[0] for tag in spec.languages} if spec is not None else set()
    if not asking or wanted <= _OF_DEFAULT:
        return ""
    vocabulary = current(workspace)
    named = _OF_DEFAULT if vocabulary is None else _languages(vocabulary.table("names"))
    lacking = sorted(wanted - named)
    if not lacking:
        return ""
    first = "" if vocabulary is not None else "medqrels vocabulary add hpo (mondo, mesh), "
    return (
        f"{', '.join(asking)}: the vocabulary has no names in {', '.join(lacking)}, which the spec asks for; "
        f"add translations, then ground again: {first}medqrels vocabulary add babelon FOLDER, "
        "medqrels vocabulary build"
    )


def _languages(names: object) -> frozenset[str]:
    table = pq.read_table(names, columns=["language"], read_dictionary=["language"])
    tags = pc.unique(table.column("language")).to_pylist()
    return frozenset(str(tag).lower().partition("-")[0] for tag in tags)
