"""First step of a release: the tables of a task written from the workspace, and the head of its release.json.

Pure: Parquet and image bytes in, the tables of one folder out. Same input, same bytes. What is written is no
release before it is sealed (curation.release.seal).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.partition.keys_sql import literal
from curation.published.manifest import BuildRecord, ReleaseManifest, StageRecord
from curation.published.query import QueryRunner, fetch
from curation.published.writer import MAX_SHARD_BYTES, write_table
from curation.release import identified, reviewed
from curation.release.calibrated import Calibrate, write_calibration
from curation.release.facts import Facts, of_written
from curation.release.funnel import retained
from curation.release.head import head_of
from curation.release.named import write_named
from curation.release.near_copies import write_alike
from curation.release.pictured import Pair, Share, write_pair
from curation.release.restricted import Strings, check_strings
from curation.release.selects import ROWS, asking, kept, select_rows
from curation.release.several import write_several
from curation.release.target_names import target_names
from schemas.errors import ReleaseError
from schemas.image_tables import PANELS, ROW_IMAGES
from schemas.larger_tables import LARGER_TABLES, PARTS
from schemas.licences import is_allowed
from schemas.name_tables import NAME_RECIPES, NAMED_CORPUS, NAMED_TABLES
from schemas.published import Published
from schemas.review import Reported
from schemas.spec import DatasetSpec
from schemas.tables import (
    CORPUS,
    KEYS,
    ORIGIN_CORPUS,
    ORIGIN_QUERIES,
    QRELS,
    QUERIES,
    SOURCES,
    TABLES,
    TARGET_NAMES,
)
from schemas.task import Task

REQUIRED = (
    "queries",
    "documents",
    "qrels",
    "excluded",
    "sources",
    "labels",
    "keys",
    "assignments",
    "withheld",
)
OPTIONAL = tuple(table for table in TABLES if table.is_optional and table.step == "write")
"""Published tables that some releases have; a work table of the same name gives the rows of most."""
_ALIKE = "alike"
_LEFT = {
    QUERIES.name: "queries AS q JOIN placed AS a ON a.query_id = q.id",
    CORPUS.name: "documents AS d ANTI JOIN hidden AS g ON g.corpus_id = d.id",
}
"""Rows of a pictured table without the labels that are published of them, which take longest to plan."""
_VERSION = re.compile(r"^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?$")
_PAIRS = (Pair(QUERIES, ORIGIN_QUERIES, by_id=True), Pair(CORPUS, ORIGIN_CORPUS, by_id=False))


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the tables of a release are made of.

    Attributes:
        task: the task whose rows are released.
        tables: work tables by name: those `REQUIRED` (queries, documents, qrels and excluded are outputs of
            the task's set stage; of all sources only the used ones are released), any optional published
            table by its own name, `drops/<stage>` (Drop rows by stage), and passages, figures, articles and
            names for :func:`curation.release.restricted.check_strings`.
        raw: the workspace's raw/ folder, for image bytes.
        spec: the dataset's spec.
        version: version of the release, e.g. 1.0.0.
        build: stages and retention as the workspace recorded them.
        query: runs SQL over Parquet.
        review: what the readers' answers say beyond the table of them, see curation.release.reviewed; written
            to provenance/review.json.
        reported: texts and images that readers reported: no row that shows one is released.
        calibrate: measures the task's judge from the released rows, see curation.release.calibrated; None for
            a task without one.
        max_shard_bytes: payload after which a new shard begins.
    """

    task: Task
    tables: Mapping[str, Sequence[Path]]
    raw: Path
    spec: DatasetSpec
    version: str
    build: BuildRecord
    query: QueryRunner
    review: Mapping[str, Any] | None = None
    reported: Sequence[Reported] = ()
    calibrate: Calibrate | None = None
    max_shard_bytes: int = MAX_SHARD_BYTES

    def select(self, text: str) -> Iterator[pa.Table]:
        """Rows of a SELECT over the work tables and what the partition left of them."""
        known = {*REQUIRED, *(table.name for table in OPTIONAL), "figures", _ALIKE, identified.VIEW}
        views = {name: files for name, files in self.tables.items() if files and name in known}
        left = kept(
            self.task,
            self.version,
            with_panels=self.has_rows(PANELS.name),
            with_sets=self.has_rows(ROW_IMAGES.name),
        )
        for batch in self.query(asking(left, text), views):
            yield pa.Table.from_batches([batch])

    def has_rows(self, table: str) -> bool:
        """Whether a work table is there and not empty: a join with an empty one is planned like any other."""
        return any(pq.read_metadata(path).num_rows for path in self.tables.get(table, ()))

    def one(self, text: str) -> Any:
        """The first column of the one row of an aggregate."""
        return next(self.select(text)).column(0)[0].as_py()


@dataclass(frozen=True, slots=True)
class Written:
    """A task folder in the making: its tables are there; `facts` are those of them, see `facts.of_written`.

    `head` is release.json as far as it is known: no file is hashed, nothing derived.
    """

    directory: Path
    head: ReleaseManifest
    facts: Facts
    splits: tuple[str, ...]


def write(inputs: Inputs, directory: Path) -> Written:
    """Write every table that is made of the workspace into an empty folder.

    Raises:
        ReleaseError: a work table is missing, a row may not be released, or an image is unusable.
        ConservationError: the recorded retention does not add up.
    """
    _check_arguments(inputs)
    with tempfile.TemporaryDirectory(prefix="medqrels-release-") as scratch:
        found = _with_withheld(inputs, Path(scratch))
        _check_rights(found)
        strings = _released_only(found, check_strings(found.query, found.tables))
        splits = _write_tables(found, strings, directory)
    _check_sources(inputs, directory)
    numbers = of_written(directory, found.query)
    named = bool(TARGET_NAMES.files(directory))
    head = head_of(found.task, found.spec, found.version, found.build, numbers, names_targets=named)
    head = replace(head, made_texts=len(strings.made), restricted_names=strings.restricted_names)
    return Written(directory, head, numbers, splits)


def _check_arguments(inputs: Inputs) -> None:
    """The version is one, and the build is there."""
    if not _VERSION.match(inputs.version):
        raise ReleaseError(f"not a version: {inputs.version!r}", hint="use MAJOR.MINOR.PATCH, e.g. 1.0.0")
    missing = [name for name in REQUIRED if not inputs.tables.get(name)]
    if missing:
        task = inputs.task.name
        raise ReleaseError(
            f"no built table {', '.join(missing)}",
            record=task,
            hint="medqrels ground" if missing == ["labels"] else f"medqrels build {task}",
        )


def _with_withheld(inputs: Inputs, scratch: Path) -> Inputs:
    """The same with what is found here: near copies, rows that could name a patient."""
    alike = write_alike(inputs.query, inputs.tables["documents"], scratch)
    drops = identified.write_identified(
        inputs.query, inputs.task.name, inputs.tables, inputs.reported, scratch
    )
    found = {_ALIKE: [alike], identified.VIEW: [drops], f"drops/{identified.STAGE}": [drops]}
    stages = (*inputs.build.stages, StageRecord(identified.STAGE, identified.VERSION, {}))
    return replace(inputs, tables={**inputs.tables, **found}, build=replace(inputs.build, stages=stages))


def _write_tables(inputs: Inputs, strings: Strings, directory: Path) -> tuple[str, ...]:
    """Write them; the splits."""

    def put(table: Published, chunks: Iterator[pa.Table], split: str = "test") -> None:
        write_table(table, chunks, directory, inputs.max_shard_bytes, split=split)

    has_dev = inputs.one(f"SELECT count(*) FROM {_LEFT[QUERIES.name]} WHERE split = 'dev'") > 0
    splits = ("test", "dev") if has_dev else ("test",)
    shares = _shares(inputs, splits)
    cuts_panels = _has_panels(inputs)
    for pair in _PAIRS:
        cuts = cuts_panels and pair.table.name == QUERIES.name
        with_images = inputs.one(f"SELECT count(image) FROM {_LEFT[pair.table.name]}") > 0
        write_pair(
            pair, inputs.select, put, raw=inputs.raw, with_images=with_images, shares=shares, cuts=cuts
        )
    if inputs.tables.get(ROW_IMAGES.name):
        write_several(inputs.select, put, inputs.raw)
    if inputs.tables.get(NAMED_CORPUS.name):
        write_named(inputs.select, put, splits)
    for table in _selected(inputs):
        for share in _shares_of(table, shares, splits):
            put(table, inputs.select(select_rows(table, share.split, queries=share.queries)), share.name)
    if inputs.review is not None:
        reviewed.write_review(directory, inputs.review)
    if inputs.calibrate is not None:
        write_calibration(directory, inputs.calibrate)
    targets = _targets(inputs.query, directory)
    if targets and inputs.tables.get("names"):
        put(TARGET_NAMES, target_names(inputs.query, inputs.tables["names"], targets))
    left = {"query": _count(QUERIES, directory), "document": _count(CORPUS, directory)}
    passed = (*inputs.build.retention, *identified.shown(inputs.task.name, inputs.one, left))
    for table, rows in (
        *strings.tables(),
        *retained(inputs.query, inputs.tables, inputs.task.name, passed),
    ):
        put(table, iter([rows]))
    return splits


def _shares(inputs: Inputs, splits: Sequence[str]) -> tuple[Share, ...]:
    """What queries and qrels are parted into: splits, and in a task of several languages these."""
    found = []
    apart = inputs.task.tiers_apart
    named = ", ".join(map(literal, apart)) or "NULL"
    text = f"""SELECT DISTINCT if(tier IN ({named}), tier, '') AS tier, language FROM kept
        WHERE split = '{{}}' ORDER BY tier, language"""
    for split in splits:
        rows = inputs.select(text.format(split)) if inputs.task.by_language else ()
        parts = [row for part in rows for row in part.to_pylist()]
        found += [Share(split, row["language"], row["tier"], apart) for row in parts] or [Share(split)]
    return tuple(found)


def _shares_of(table: Published, shares: Sequence[Share], splits: Sequence[str]) -> Sequence[Share]:
    """Those of one table: only the qrels follow the languages of the queries."""
    if table.name == QRELS.name:
        return shares
    return [Share(split) for split in splits] if table.has_splits else [Share("")]


def _selected(inputs: Inputs) -> Iterator[Published]:
    """Tables whose rows are those of a work table, without the pictured ones."""
    paired = [table for pair in _PAIRS for table in (pair.table, pair.origin)]
    paired += [ROW_IMAGES, *NAMED_TABLES, NAME_RECIPES, *(() if _has_panels(inputs) else (PANELS,))]
    if inputs.tables.get(PARTS.name) and not inputs.one(f"SELECT count(*) FROM {PARTS.name}"):
        paired += LARGER_TABLES  # of passages as they are there is nothing to tell
    for table in TABLES:
        is_given = bool(inputs.tables.get(table.name)) if table in OPTIONAL else table.name in ROWS
        if is_given and table not in paired:
            yield table


def _has_panels(inputs: Inputs) -> bool:
    """Whether any released query shows a panel."""
    text = f"SELECT count(*) FROM {PANELS.name} SEMI JOIN kept ON kept.id = {PANELS.name}.query_id"
    return bool(inputs.tables.get(PANELS.name)) and inputs.one(text) > 0


def _released_only(inputs: Inputs, strings: Strings) -> Strings:
    """Made texts of released rows: the partition and the gates leave rows out."""
    if not strings.made:
        return strings
    text = "SELECT 'queries' AS tab, id FROM kept UNION ALL SELECT 'corpus', id FROM described ORDER BY ALL"
    rows = {(row["tab"], row["id"]) for batch in inputs.select(text) for row in batch.to_pylist()}
    made = tuple(place for place in strings.made if place[:2] in rows)
    return strings._replace(made=made, hashes=strings.hashes if made else ())


def _check_rights(inputs: Inputs) -> None:
    """The last gate: nothing outside the profile, nothing retracted, enters a release."""
    rows = fetch(
        inputs.query,
        """SELECT id, license, article_id FROM (SELECT id, license, article_id FROM queries
            UNION ALL SELECT id, license, article_id FROM documents)
        QUALIFY row_number() OVER (PARTITION BY license ORDER BY id) = 1 ORDER BY license""",
        {name: inputs.tables[name] for name in ("queries", "documents")},
    )
    for row in rows:
        if not is_allowed(row["license"], inputs.spec.licence_profile):
            raise ReleaseError(
                f"licence {row['license']} is not in profile '{inputs.spec.licence_profile}'",
                record=row["id"],
                hint=f"medqrels build {inputs.task.name}; the build must drop it with a reason",
            )


def _check_sources(inputs: Inputs, directory: Path) -> None:
    """Nothing retracted is among what was written."""
    text = "SELECT id FROM sources WHERE is_retracted ORDER BY id LIMIT 1"
    for row in fetch(inputs.query, text, {SOURCES.name: SOURCES.files(directory)}):
        raise ReleaseError(
            "a retracted article is among the sources",
            record=row["id"],
            hint=f"medqrels build {inputs.task.name}",
        )


def _count(table: Published, directory: Path) -> int:
    """How many rows of a table were written."""
    return sum(pq.read_metadata(path).num_rows for path in table.files(directory))


def _targets(query: QueryRunner, directory: Path) -> list[str]:
    """Target concepts of the written queries, sorted: their names are published as hashes."""
    text = "SELECT DISTINCT key FROM keys WHERE dimension = 'target_concept' ORDER BY key"
    return [row["key"] for row in fetch(query, text, {KEYS.name: KEYS.files(directory)})]
