"""Expansions, searched with in a query's place or beside it: read, checked, put into queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from curation.evaluation.collection import Collection, EvaluationQuery
from curation.prompts.registry import KINDS
from schemas.errors import UsageError
from schemas.hashing import sha256_file
from schemas.tables import EXPANSIONS, ORIGIN_QUERIES, QUERIES

REPEATS: Final = 5
"""How often the query stands before the text that BM25 reads beside it, after Wang et al. 2023."""
_NEEDED: Final = ("query-id", "kind", "text", "model")
_TOLD: Final = ("model", "served_model", "prompt_sha256")


@dataclass(frozen=True, slots=True)
class Expansions:
    """Texts of one kind by query id, and what is known of them.

    Attributes:
        kind: kind of prompt, without its version.
        labels: kind and version of every row.
        texts: query id -> text; also of queries of other splits.
        models, served_models, prompt_sha256: every value that a row has.
        files: name of each file -> hex SHA-256.
    """

    kind: str
    labels: tuple[str, ...]
    texts: Mapping[str, str]
    models: tuple[str, ...]
    served_models: tuple[str, ...]
    prompt_sha256: tuple[str, ...]
    files: Mapping[str, str]

    def describe(self) -> dict[str, Any]:
        """Kind, models, prompt and files, for results."""
        return {
            "kind": list(self.labels),
            "models": list(self.models),
            "served_models": list(self.served_models),
            "prompt_sha256": list(self.prompt_sha256),
            "files": dict(self.files),
        }


def own_files(collection: Collection) -> list[Path]:
    """Files of the release's own expansions of this split."""
    return EXPANSIONS.files(collection.directory, collection.split)


def files_of(named: str) -> list[Path]:
    """The files of a path: itself, or those of the folder.

    Raises:
        UsageError: there is none.
    """
    path = Path(named)
    found = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not found or not found[0].is_file():
        raise UsageError(
            "there are no expansions", file=named, hint="name a Parquet file as docs/tables.md says"
        )
    return found


def read_expansions(
    files: Sequence[Path], kind: str, known: AbstractSet[str], *, may_lack: bool = False
) -> Expansions | None:
    """The texts of one kind; rows of other kinds are passed over.

    Args:
        files: Parquet with `query-id`, `kind`, `text`, `model`, perhaps `served_model` and `prompt_sha256`.
        kind: of prompt: a row's kind is this, or this with a version (hyde@1).
        known: ids of all queries of the release, whatever their split.
        may_lack: whether there may be no row of this kind; then None comes back.

    Raises:
        UsageError: a file is not of this form, or a row names no query of the release, comes twice, or has no
            text or model; the first such row is named. No row is of this kind.
    """
    texts: dict[str, str] = {}
    told: dict[str, set[str]] = {name: set() for name in (*_TOLD, "kind")}
    for path in files:
        for row in _rows(path):
            if str(row["kind"]).partition("@")[0] != kind:
                continue
            query = row["query-id"]
            if fault := _fault(row, query in known, query in texts):
                raise UsageError(fault, record=str(query), file=str(path), hint="correct the file")
            texts[query] = row["text"]
            for name, values in told.items():
                values.update([row[name]] if row.get(name) else [])
    if not texts:
        if may_lack:
            return None
        raise UsageError(f"no row is of kind {kind!r}", file=str(files[0]))
    every = {name: tuple(sorted(values)) for name, values in told.items()}
    return Expansions(
        kind=kind,
        labels=every["kind"],
        texts=texts,
        models=every["model"],
        served_models=every["served_model"],
        prompt_sha256=every["prompt_sha256"],
        files={path.name: sha256_file(path) for path in files},
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if lacking := [name for name in _NEEDED if name not in names]:
                raise UsageError(f"a file of expansions lacks {', '.join(lacking)}", file=str(path))
            read: list[dict[str, Any]] = file.read([n for n in names if n in (*_NEEDED, *_TOLD)]).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"the expansions cannot be read: {error}", file=str(path)) from error
    return read


def _fault(row: Mapping[str, Any], is_known: bool, is_double: bool) -> str:
    """What is wrong with a row, '' when nothing is."""
    if not is_known:
        return "an expansion is of a query that the release does not have"
    if is_double:
        return "a query has two expansions of one kind"
    for name in ("text", "model"):
        if not isinstance(row[name], str) or not row[name].strip():
            return f"an expansion has no {name}"
    return ""


def every_query(directory: Path) -> set[str]:
    """Ids of the queries of all splits of a task folder."""
    found: set[str] = set()
    for files, column in ((QUERIES.files(directory), "id"), (ORIGIN_QUERIES.files(directory), "id")):
        for path in files:
            found.update(pq.read_table(path, columns=[column]).column(column).to_pylist())
    return found


def expanded(
    queries: Sequence[EvaluationQuery], expansions: Expansions, *, repeats: int
) -> tuple[EvaluationQuery, ...]:
    """The queries as they are searched with; one without an expansion stays as it is.

    Args:
        queries: of a split.
        expansions: of one kind, which says whether the text stands in the query's place or beside it.
        repeats: how often the query stands before a text beside it.
    """
    in_place = KINDS[expansions.kind].search == "in_place"
    made = []
    for query in queries:
        text = expansions.texts.get(query.id, "")
        before = [] if in_place else [query.text] * repeats
        made.append(replace(query, text=" ".join([*before, text]).strip()) if text else query)
    return tuple(made)
