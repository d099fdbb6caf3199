"""A published release as a retrieval collection: queries of one split, corpus, labels, pairs to leave out.

Texts and images of the corpus are streamed from the files, never held; the directory is only read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from curation.evaluation.labels import RELEVANT, LeftOut, read_labels, read_left_out, read_origins
from curation.evaluation.ranking import Indices
from curation.evaluation.reading import (
    Pictures,
    column_names,
    every_image,
    has_texts,
    read_corpus_ids,
    rows,
)
from curation.evaluation.variants import WHOLE, Tables, check_variant, read_subset, tables_of
from curation.published.links import refuse_links_out
from curation.published.manifest import NAME, READABLE, ReleaseManifest
from schemas.errors import InputError, ReleaseError
from schemas.hashing import sha256_file
from schemas.image_tables import ROW_IMAGES
from schemas.stages import Reason
from schemas.tables import CORPUS, EXCLUDED, ORIGIN_CORPUS, ORIGIN_QUERIES, QRELS, QUERIES

FACETS = ("specialty", "modality", "language", "tier", "scenario", "region")
"""Columns of the queries table that results are broken down by, where a release has them."""


_LISTS = ("not_publishable_because", "shaped_by", "stages")


@dataclass(frozen=True, slots=True)
class Head:
    """What is used of release.json.

    `shaped_by` names systems that shaped its queries or pools; `stages` are those it was made by, of which
    evaluation reads who answered prompts.
    """

    dataset: str
    version: str
    task: str
    task_title: str
    label: str
    not_publishable_because: tuple[str, ...]
    release_hash: str
    grades: Mapping[str, str]
    files: Mapping[str, str]
    shaped_by: tuple[str, ...]
    stages: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, manifest: ReleaseManifest) -> Head:
        """The head of a release, or of one in the making, whose files are not hashed yet."""
        return cls(**{name: getattr(manifest, name) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class EvaluationQuery:
    """One query of the split. `group` is the article it was made from: queries of one are not independent.

    `family` is shared by its translations, '' where it has none.
    """

    id: str
    text: str
    language: str
    group: str
    facets: Mapping[str, str]
    family: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationDocument:
    """One document; `text` is title and text with a space between, as BEIR's tools join them."""

    id: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Collection:
    """One split of one task, or a part of it.

    `corpus_ids` are in id order, so that a position stands for an id in sorting too. `qrels` has the queries
    that have a relevant document; the others (`unlabelled`) are searched, not measured. `left_out` are
    positions a ranking of the query must not hold: excluded pairs and what is the query's own record.

    `variant` is '' for the whole, `nano`, a language or the name of a balanced subset; `tables` are those it
    is read from; `cut` names the tables (queries, corpus) of which it has only the rows it lists.
    """

    directory: Path
    head: Head
    split: str
    queries: tuple[EvaluationQuery, ...]
    corpus_ids: tuple[str, ...]
    qrels: Mapping[str, Mapping[str, int]]
    left_out: Mapping[str, Indices]
    facets: tuple[str, ...]
    has_query_texts: bool
    has_corpus_texts: bool
    has_query_images: bool
    has_corpus_images: bool
    tables: Tables = WHOLE
    variant: str = ""
    cut: frozenset[str] = frozenset()

    @property
    def sets(self) -> Mapping[str, Indices]:
        """Query -> positions of the documents it is ranked among, for the queries that have such a set."""
        return self.left_out.sets if isinstance(self.left_out, LeftOut) else {}

    @property
    def unlabelled(self) -> int:
        """Queries of the split without a relevant document."""
        return len(self.queries) - len(self.qrels)

    def documents(self) -> Iterator[EvaluationDocument]:
        """Every document in id order."""
        kept = self._kept("corpus")
        for row in rows(self.tables.corpus.files(self.directory), ["id", "title", "text", "language"]):
            if kept is None or row["id"] in kept:
                text = f"{row['title']} {row['text']}".strip()
                yield EvaluationDocument(row["id"], text, row["language"])

    def query_images(self) -> Pictures:
        """(query id, all its images) in id order, for the queries that have any."""
        files = self.tables.queries.files(self.directory, self.split)
        return self._pictures("queries", files, ORIGIN_QUERIES.files(self.directory), "query")

    def corpus_images(self) -> Pictures:
        """(document id, all its images) in id order, for the documents that have any."""
        files = self.tables.corpus.files(self.directory)
        return self._pictures("corpus", files, ORIGIN_CORPUS.files(self.directory), "document")

    def _pictures(self, table: str, files: list[Path], origins: list[Path], side: str) -> Pictures:
        kept, several = self._kept(table), ROW_IMAGES.files(self.directory)
        for row, images in every_image(files, origins, several, side):
            if kept is None or row in kept:
                yield row, images

    def _kept(self, table: str) -> frozenset[str] | None:
        """Ids of the rows it has of a table it was cut from, None where it has all."""
        if table not in self.cut:
            return None
        return frozenset(self.corpus_ids if table == "corpus" else (query.id for query in self.queries))


def read_head(directory: Path) -> Head:
    """Read release.json as far as evaluation needs it.

    Raises:
        ReleaseError: there is none, or it is of another format.
    """
    path = directory / NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format_version"] not in READABLE:
            raise ReleaseError(
                f"release.json is of format {content['format_version']}; this version reads "
                f"{READABLE.start} to {READABLE.stop - 1}",
                file=str(path),
                hint="use the medqrels version that wrote it",
            )
        chosen: dict[str, Any] = {name: content[name] for name in Head.__slots__ if name not in _LISTS}
        chosen |= {name: tuple(content.get(name, ())) for name in _LISTS}
        return Head(**chosen)
    except FileNotFoundError as error:
        raise ReleaseError(
            "not a release: no release.json", file=str(path), hint="name a task folder of a release"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReleaseError(f"release.json cannot be read: {error!r}", file=str(path)) from error


def check_files(directory: Path, head: Head) -> None:
    """Every published file is there with the hash release.json states; no other is among what is measured.

    Raises:
        ReleaseError: a file is missing or changed, or is not listed; names it.
        UsageError: a link leads out of the directory, or something is no file.
    """
    refuse_links_out(directory)
    measured = {table.name for table in (CORPUS, QUERIES, QRELS, EXCLUDED)}
    for path in sorted(directory.rglob("*.parquet")) if head.files else ():
        inside = path.relative_to(directory)
        if inside.parts[0].rpartition("-")[2] in measured and inside.as_posix() not in head.files:
            raise ReleaseError(
                "a file of a release is not listed in its release.json",
                file=str(path),
                hint="delete it, or download the release again",
            )
    for name, expected in sorted(head.files.items()):
        path = directory / name
        if not path.is_file():
            raise ReleaseError(
                "a published file is missing", file=str(path), hint="download the release again"
            )
        if sha256_file(path) != expected:
            raise ReleaseError(
                "a published file is not what release.json says",
                file=str(path),
                hint="download the release again, or see: medqrels audit " + str(directory),
            )


def open_collection(
    directory: Path, split: str = "test", variant: str = "", head: Head | None = None
) -> Collection:
    """Open one split of a task directory, or a part of it.

    Args:
        directory: the task directory.
        split: test or dev; variants are of test alone.
        variant: '' for the whole split, `nano` for the nano tables, a language that documents have names in,
            or the name of a balanced subset.
        head: of a release in the making; None to read that of a finished one, release.json.

    Raises:
        ReleaseError: files are missing, changed, or name ids that are not there.
        InputError: an image is missing or cannot be opened; names its row.
        UsageError: the release has no such variant.
    """
    head = head or read_head(directory)
    check_files(directory, head)
    check_variant(directory, split, variant)
    tables = tables_of(directory, variant)
    collection = _opened(directory, head, split, tables)
    if variant and tables is WHOLE:
        subset = read_subset(directory, variant)
        collection = restricted(collection, subset.queries, subset.documents)
    collection = replace(collection, variant=variant)
    check_images(collection)
    return collection


def _opened(directory: Path, head: Head, split: str, tables: Tables) -> Collection:
    """Every query of a split and what is known of it; images are not looked at."""
    files = tables.queries.files(directory, split)
    if not files:
        raise ReleaseError(
            f"no queries of split {split!r}", file=str(directory / tables.queries.folder), hint="see --split"
        )
    corpus_ids = read_corpus_ids(directory, tables.corpus)
    corpus = tables.corpus.files(directory)
    columns, origins = column_names(files), read_origins(directory)
    facets = [name for name in FACETS if name in columns]
    found = list(rows(files, ["id", "text", *dict.fromkeys(["language", *facets])]))
    known = {row["id"] for row in found}
    grades, statuses = read_labels(directory, split, known, corpus_ids, tables)
    queries = _queries(found, facets, origins, statuses)
    return Collection(
        directory,
        head,
        split,
        queries,
        tuple(corpus_ids.to_pylist()),
        {query: judged for query, judged in grades.items() if max(judged.values()) >= RELEVANT},
        read_left_out(directory, split, known, corpus_ids, grades, origins, tables),
        (*facets, "label_status"),
        any(query.text for query in queries),
        has_texts(corpus),
        "image" in columns,
        "image" in column_names(corpus),
        tables,
    )


def restricted(
    collection: Collection, queries: AbstractSet[str], documents: AbstractSet[str] | None = None
) -> Collection:
    """A part of a collection: some of its queries and, unless None, some of its documents.

    Labels of documents that are not in the part are not in it either: a query keeps those that remain.

    Args:
        collection: any.
        queries: ids; the others are left out.
        documents: ids; None keeps the corpus whole.

    Raises:
        ReleaseError: an id is not in the collection.
    """
    kept = tuple(query for query in collection.queries if query.id in queries)
    _check_all(collection, queries, {query.id for query in kept})
    qrels = {query.id: collection.qrels[query.id] for query in kept if query.id in collection.qrels}
    left_out = _left_out(collection, {query.id for query in kept})
    part = replace(collection, queries=kept, qrels=qrels, left_out=left_out, cut=collection.cut | {"queries"})
    if documents is None:
        return part
    held = np.array([name in documents for name in collection.corpus_ids], np.bool_)
    ids = tuple(name for name in collection.corpus_ids if name in documents)
    _check_all(collection, documents, set(ids))
    places = np.cumsum(held, dtype=np.int32) - 1
    judged = {
        query: {name: grade for name, grade in grades.items() if name in documents}
        for query, grades in qrels.items()
    }
    return replace(
        part,
        corpus_ids=ids,
        qrels={
            query: grades for query, grades in judged.items() if max(grades.values(), default=0) >= RELEVANT
        },
        left_out=LeftOut(
            {query: places[out[held[out]]].astype(np.int32) for query, out in left_out.listed.items()},
            {query: places[own[held[own]]].astype(np.int32) for query, own in part.sets.items()},
            len(ids),
        ),
        cut=part.cut | {"corpus"},
    )


def _left_out(collection: Collection, queries: AbstractSet[str]) -> LeftOut:
    """What is left out of the rankings of some queries."""
    whole = collection.left_out
    if not isinstance(whole, LeftOut):
        return LeftOut({query: whole[query] for query in whole if query in queries})
    listed, sets = (
        {query: places for query, places in found.items() if query in queries}
        for found in (whole.listed, whole.sets)
    )
    return LeftOut(listed, sets, whole.documents)


def _check_all(collection: Collection, wanted: AbstractSet[str], found: AbstractSet[str]) -> None:
    missing = sorted(set(wanted) - found)
    if missing:
        raise ReleaseError(
            "a subset names an id that is not there", record=missing[0], file=str(collection.directory)
        )


def _queries(
    found: Sequence[Mapping[str, Any]],
    facets: Sequence[str],
    origins: Mapping[str, Mapping[str, str]],
    statuses: Mapping[str, str],
) -> tuple[EvaluationQuery, ...]:
    """Queries in id order; one without provenance is a group of its own."""
    made = [
        EvaluationQuery(
            row["id"],
            row["text"],
            row["language"],
            origins.get(row["id"], {}).get("article_id") or row["id"],
            {**{name: row[name] or "" for name in facets}, "label_status": statuses.get(row["id"], "")},
            origins.get(row["id"], {}).get("family") or "",
        )
        for row in found
    ]
    return tuple(sorted(made, key=lambda query: query.id))


def check_images(collection: Collection, *, decode: bool = False) -> None:
    """Every row of a table with images has one that opens; `decode` reads every pixel too.

    Raises:
        InputError: image_missing or image_corrupt, with the row's id. Nothing is put in its place.
    """
    for images in (collection.query_images(), collection.corpus_images()):
        for row, data in ((row, data) for row, held in images for data in held):
            try:
                with Image.open(io.BytesIO(data)) as image:
                    if decode:
                        image.load()
            except Exception as error:  # decoders raise anything on damaged bytes
                raise InputError(
                    f"the image of this row cannot be decoded: {type(error).__name__}",
                    reason=Reason.IMAGE_CORRUPT,
                    record=row,
                    file=str(collection.directory),
                    hint="download the release again",
                ) from error
