"""One task of a release as exports read it: whole rows, labels, and every pair a ranking may not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.evaluation.collection import Head, check_files
from curation.evaluation.labels import read_labels, read_left_out, read_origins
from curation.evaluation.reading import column_names, has_texts, read_corpus_ids, rows
from curation.published.manifest import ReleaseManifest, read_manifest
from schemas.published import Published
from schemas.tables import CORPUS, EXCLUDED, QRELS, QUERIES, TOP_RANKED

OWN = "own_record"
"""Reason of a pair that is left out because the document is the query's own record, or of its patient."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """A task folder whose files were checked against release.json.

    Attributes:
        directory: the task folder; it is only read.
        manifest: its release.json.
        splits: those that have queries, test first.
        corpus_ids: in order.
    """

    directory: Path
    manifest: ReleaseManifest
    splits: tuple[str, ...] = field(init=False)
    corpus_ids: pa.Array = field(init=False)

    def __post_init__(self) -> None:
        found = {path.name.partition("-")[0] for path in QUERIES.files(self.directory)}
        object.__setattr__(self, "splits", tuple(sorted(found, key=lambda name: (name != "test", name))))
        object.__setattr__(self, "corpus_ids", read_corpus_ids(self.directory))

    @property
    def name(self) -> str:
        """A name for files and registrations: dataset and task."""
        return f"{self.manifest.dataset}-{self.manifest.task}".replace("_", "-")

    def has_images(self, table: Published) -> bool:
        """Whether rows of queries or corpus have images."""
        return "image" in column_names(table.files(self.directory))

    def has_texts(self) -> bool:
        """Whether any document has a title or text."""
        return has_texts(CORPUS.files(self.directory))

    def rows(self, table: Published, split: str = "") -> Iterator[dict[str, Any]]:
        """Whole rows of a table in its order; a split's where one is named."""
        files = table.files(self.directory, split)
        yield from rows(files, column_names(files))

    def has(self, table: Published, split: str) -> bool:
        """Whether a table has files of a split."""
        return bool(table.files(self.directory, split))

    def count(self, table: Published, split: str = "") -> int:
        """Rows of a table, from the footers of its files."""
        return sum(pq.read_metadata(path).num_rows for path in table.files(self.directory, split))

    def left_out(self, split: str) -> list[tuple[str, str, str]]:
        """(query, document, reason) of every pair a ranking may not hold, in order of ids.

        Excluded pairs, with their reasons; and, where they carry no label, the query's own record and the
        documents of its own patient, which `medqrels evaluate` takes out too.
        """
        stated = {(row["query-id"], row["corpus-id"]): row["reason"] for row in self.rows(EXCLUDED, split)}
        known = {row["id"] for row in rows(QUERIES.files(self.directory, split), ["id"])}
        grades, _ = read_labels(self.directory, split, known, self.corpus_ids)
        origins = read_origins(self.directory)
        places = read_left_out(self.directory, split, known, self.corpus_ids, grades, origins)
        for query, found in places.items():
            for document in self.corpus_ids.take(pa.array(found)).to_pylist():
                stated.setdefault((query, document), OWN)
        return sorted((query, document, reason) for (query, document), reason in stated.items())

    def top_ranked(self, split: str) -> Iterator[dict[str, Any]]:
        """Candidates of each query for re-rankers, no excluded pair among them; none without the table."""
        yield from self.rows(TOP_RANKED, split)


def open_source(directory: Path) -> Source:
    """Open a task folder of a release.

    Raises:
        ReleaseError: it is no release, or a file is missing or changed.
    """
    manifest = read_manifest(directory)
    check_files(directory, Head.of(manifest))
    return Source(directory, manifest)


TABLES = (CORPUS, QUERIES, QRELS, EXCLUDED)
"""What every export holds, all columns of every row."""
