"""Assemble one task's release: published Parquet tables, card and release.json, from built work tables.

Pure: Parquet and image bytes in, one directory out, renamed into place last. Same input, same bytes.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.published.manifest import (
    FORMAT_VERSION,
    NAME,
    BuildRecord,
    ReleaseManifest,
    StageRecord,
    hash_files,
    read_manifest,
    unlike,
)
from curation.published.query import QueryRunner, fetch
from curation.published.writer import MAX_SHARD_BYTES, write_table
from curation.release import card, facts, identified, plots, reviewed
from curation.release.near_copies import write_alike
from curation.release.pictured import Pair, write_pair
from curation.release.restricted import Strings, check_strings
from curation.release.rights import combined_family
from curation.release.selects import DOCUMENT_ROWS, FURTHER, KEPT, QUERY_ROWS, ROWS, USED
from curation.release.target_names import target_names
from schemas.errors import ConservationError, ReleaseError
from schemas.hashing import canonical_json, sha256_text
from schemas.ids import ID_VERSION
from schemas.licences import PROFILES, is_allowed
from schemas.published import Published
from schemas.spec import DatasetSpec
from schemas.string_tables import TARGET_NAMES
from schemas.tables import (
    CORPUS,
    DROPS,
    EXCLUDED,
    EXTRA,
    FUNNEL,
    IMAGE_CHECKS,
    IMAGE_CORPUS,
    KEYS,
    ORIGIN_CORPUS,
    ORIGIN_QRELS,
    ORIGIN_QUERIES,
    QRELS,
    QUERIES,
    SOURCES,
    TEXT_QUERIES,
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
EXTRA_NAMES = tuple(table.name for table in (*EXTRA, IMAGE_CHECKS))
_ALIKE = "alike"
_SELECTED = (*REQUIRED, *EXTRA_NAMES, _ALIKE, identified.VIEW)
_VERSION = re.compile(r"^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?$")
_PAIRS = {
    "queries": Pair(QUERIES, TEXT_QUERIES, ORIGIN_QUERIES, by_id=True),
    "documents": Pair(IMAGE_CORPUS, CORPUS, ORIGIN_CORPUS, by_id=False),
}

Derive = Callable[[Path, Sequence[str]], Sequence[str]]
"""Adds to a task directory (and its splits) what is made from the finished tables, such as baseline runs;
returns the names of the systems that shaped it."""
Compare = Callable[[Path, ReleaseManifest], Mapping[str, Any]]
"""What release.json says of the change since the release before, from finished tables and the rest of it."""


@dataclass(frozen=True, slots=True)
class _Job:
    """What every step needs."""

    task: Task
    tables: Mapping[str, Sequence[Path]]
    raw: Path
    spec: DatasetSpec
    version: str
    build: BuildRecord
    query: QueryRunner
    max_shard_bytes: int
    derive: Derive | None = None
    review: Mapping[str, Any] | None = None
    compare: Compare | None = None

    def write(
        self, table: Published, chunks: Iterator[pa.Table], directory: Path, split: str = "test"
    ) -> None:
        write_table(table, chunks, directory, self.max_shard_bytes, split=split)

    def select(self, text: str) -> Iterator[pa.Table]:
        """Rows of a SELECT over the work tables and what the partition left of them."""
        views = {name: self.tables[name] for name in _SELECTED if self.tables.get(name)}
        kept = KEPT.format(task=self.task.name, version=self.version)
        for batch in self.query(kept + text, views):
            yield pa.Table.from_batches([batch])

    def one(self, text: str) -> Any:
        """The first column of the one row of an aggregate."""
        return next(self.select(text)).column(0)[0].as_py()


def assemble(
    task: Task,
    tables: Mapping[str, Sequence[Path]],
    *,
    raw: Path,
    out: Path,
    spec: DatasetSpec,
    cards: Path,
    version: str,
    build: BuildRecord,
    query: QueryRunner,
    derive: Derive | None = None,
    review: Mapping[str, Any] | None = None,
    compare: Compare | None = None,
    max_shard_bytes: int = MAX_SHARD_BYTES,
) -> ReleaseManifest:
    """Write `<out>/<dataset>/<version>/<task>/` and return its manifest.

    Args:
        task: the task whose rows are released.
        tables: work tables by name: queries, documents, qrels, excluded (outputs of the task's set stage),
            sources (all of them; only the used ones are released), `drops/<stage>` (Drop rows by stage), and
            passages, figures and names for :func:`curation.release.restricted.check_strings`.
        raw: the workspace's raw/ folder, for image bytes.
        out: the workspace's releases/ folder.
        spec: the dataset's spec.
        cards: the folder `data_cards/<dataset>` with the prose, that of tasks in folders of their names.
        version: version of the release, e.g. 1.0.0.
        build: stages and retention as the workspace recorded them.
        query: runs SQL over Parquet.
        review: what the readers' answers say beyond the table of them, see curation.release.reviewed; written
            to provenance/review.json.
        derive: adds what is made from the finished tables; nothing is added when None.
        compare: says what changed since the release before; nothing is said when None.
        max_shard_bytes: payload after which a new shard begins.

    Raises:
        ReleaseError: prose is missing, a row may not be released, an image is unusable, or the version is
            taken by other content. Nothing is left behind.
        ConservationError: the recorded retention does not add up.
    """
    _check_arguments(task, tables, version)
    prose = card.load_prose(cards, [task.name])[task.name]
    target = out / spec.name / version / task.name
    partial = target.parent / f".{task.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with tempfile.TemporaryDirectory(prefix="medqrels-release-") as scratch:
            alike = write_alike(query, tables["documents"], Path(scratch))
            drops = identified.write_identified(query, task.name, tables, Path(scratch))
            given = {
                **tables,
                _ALIKE: [alike],
                identified.VIEW: [drops],
                f"drops/{identified.STAGE}": [drops],
            }
            stages = (*build.stages, StageRecord(identified.STAGE, identified.VERSION, {}))
            passed = replace(build, stages=stages)
            job = _Job(
                task, given, raw, spec, version, passed, query, max_shard_bytes, derive, review, compare
            )
            manifest = _fill(job, partial, prose, cards.name)
        return settle(partial, target, manifest)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_arguments(task: Task, tables: Mapping[str, Sequence[Path]], version: str) -> None:
    """The version is one, and the build is there."""
    if not _VERSION.match(version):
        raise ReleaseError(f"not a version: {version!r}", hint="use MAJOR.MINOR.PATCH, e.g. 1.0.0")
    missing = [name for name in REQUIRED if not tables.get(name)]
    if missing:
        raise ReleaseError(
            f"no built table {', '.join(missing)}",
            record=task.name,
            hint="medqrels ground" if missing == ["labels"] else f"medqrels build {task.name}",
        )


def settle(partial: Path, target: Path, manifest: ReleaseManifest) -> ReleaseManifest:
    """Rename the finished directory into place, or leave an equal release alone.

    Raises:
        ReleaseError: another release stands there.
    """
    if not target.exists():
        partial.rename(target)
        return manifest
    present = read_manifest(target)
    if present.release_hash == manifest.release_hash and hash_files(target) == dict(present.files):
        return present
    other = unlike(present.made_with, manifest.made_with)
    raise ReleaseError(
        f"version {manifest.version} of {manifest.dataset}/{manifest.task} is taken by other content"
        + (f", {other}" if other else ""),
        file=f"{manifest.dataset}/{manifest.version}/{manifest.task}",
        hint="release under a higher version; `medqrels diff` shows what changed",
    )


def _fill(job: _Job, directory: Path, prose: card.Prose, folder: str) -> ReleaseManifest:
    """Write every table, then the card, then release.json."""
    _check_rights(job)
    strings = _released_only(job, check_strings(job.query, job.tables))
    splits = ["test", *(["dev"] if job.one("SELECT count(*) FROM kept WHERE split = 'dev'") else [])]
    for name, text in (("queries", QUERY_ROWS), ("documents", DOCUMENT_ROWS)):
        write_pair(
            _PAIRS[name],
            job.select,
            text,
            lambda table, chunks, split: job.write(table, chunks, directory, split),
            raw=job.raw,
            with_images=job.one(f"SELECT count(image) FROM {'kept' if name == 'queries' else 'described'}")
            > 0,
            splits=splits if name == "queries" else ("test",),
        )
    for table in (QRELS, EXCLUDED):
        for split in splits:
            text = f"SELECT * FROM ({ROWS[table.name]}) WHERE split = '{split}' ORDER BY 1, 2"
            job.write(table, job.select(text), directory, split)
    for table in (ORIGIN_QRELS, KEYS, SOURCES):
        job.write(table, job.select(ROWS[table.name]), directory)
    for table in (*EXTRA, IMAGE_CHECKS):
        if job.tables.get(table.name):
            job.write(table, job.select(FURTHER[table.name]), directory)
    if job.review is not None:
        reviewed.write_review(directory, job.review)
    _write_target_names(job, directory)
    for table, rows in strings.tables():
        job.write(table, iter([rows]), directory)
    _write_funnel(job, directory)
    numbers = facts.compute(directory, job.query)
    head = replace(
        _head(job, numbers), made_texts=len(strings.made), restricted_names=strings.restricted_names
    )
    if job.compare:
        head = replace(head, change=job.compare(directory, head))
    if job.derive and numbers["counts"]["queries"]:
        (directory / NAME).write_text(head.to_json(), encoding="utf-8", newline="\n")
        head = replace(head, shaped_by=tuple(job.derive(directory, splits)))
        numbers = facts.compute(directory, job.query)
    text = card.render(head, numbers, card.render_prose(prose, numbers, folder))
    (directory / "README.md").write_text(text, encoding="utf-8", newline="\n")
    plots.write(directory, numbers)
    manifest = replace(head, files=hash_files(directory))
    manifest = replace(manifest, release_hash=manifest.computed_hash())
    (directory / NAME).write_text(manifest.to_json(), encoding="utf-8", newline="\n")
    return manifest


def _released_only(job: _Job, strings: Strings) -> Strings:
    """Made texts of released rows: the partition and the gates leave rows out."""
    if not strings.made:
        return strings
    text = "SELECT 'queries' AS tab, id FROM kept UNION ALL SELECT 'corpus', id FROM described ORDER BY ALL"
    rows = {(row["tab"], row["id"]) for batch in job.select(text) for row in batch.to_pylist()}
    made = tuple(place for place in strings.made if place[:2] in rows)
    return strings._replace(made=made, hashes=strings.hashes if made else ())


def _check_rights(job: _Job) -> None:
    """The last gate: nothing outside the profile, nothing retracted, enters a release."""
    rows = fetch(
        job.query,
        """SELECT id, license, article_id FROM (SELECT id, license, article_id FROM queries
            UNION ALL SELECT id, license, article_id FROM documents)
        QUALIFY row_number() OVER (PARTITION BY license ORDER BY id) = 1 ORDER BY license""",
        {name: job.tables[name] for name in ("queries", "documents")},
    )
    for row in rows:
        if not is_allowed(row["license"], job.spec.licence_profile):
            raise ReleaseError(
                f"licence {row['license']} is not in profile '{job.spec.licence_profile}'",
                record=row["id"],
                hint=f"medqrels build {job.task.name}; the build must drop it with a reason",
            )
    retracted = list(
        job.select(f"SELECT id FROM sources WHERE is_retracted AND id IN {USED} ORDER BY id LIMIT 1")
    )
    if any(rows.num_rows for rows in retracted):
        raise ReleaseError(
            "a retracted article is among the sources",
            record=retracted[0].column("id")[0].as_py(),
            hint=f"medqrels build {job.task.name}",
        )


def _write_target_names(job: _Job, directory: Path) -> None:
    """Hashes of every name of the target concepts: an auditor can look for them, nobody can read them."""
    targets = [
        row["key"]
        for part in job.select(
            "SELECT DISTINCT key FROM rests WHERE dimension = 'target_concept' ORDER BY key"
        )
        for row in part.to_pylist()
    ]
    if targets and job.tables.get("names"):
        job.write(TARGET_NAMES, target_names(job.query, job.tables["names"], targets), directory)


def _write_funnel(job: _Job, directory: Path) -> None:
    """The retention table and the drops behind it, checked against each other."""
    stages = [name for name in sorted(job.tables) if name.startswith("drops/") and job.tables[name]]
    counted: dict[tuple[str, str], int] = {}
    parts: list[pa.Table] = []
    for name in stages:
        stage = name.removeprefix("drops/")
        mine = f"WHERE starts_with(id, '{job.task.name}-')" if stage == "partition" else ""
        chosen = f"unit, id, article_id, reason, detail, {identified.SUSPECT}"
        text = f"SELECT {chosen} FROM drops {mine} ORDER BY ALL"
        for batch in job.query(text, {"drops": job.tables[name]}):
            rows = identified.without_identifiers(pa.Table.from_batches([batch]))
            for unit in rows.column("unit").to_pylist():
                counted[stage, unit] = counted.get((stage, unit), 0) + 1
            parts.append(rows.append_column("stage", pa.array([stage] * rows.num_rows, pa.string())))
    job.write(DROPS, iter(parts), directory)
    steps = []
    for number, step in enumerate((*job.build.retention, *identified.shown(job.task.name, job.one)), start=1):
        dropped = counted.get((step.stage, step.unit), 0)
        if step.entered != step.kept + dropped:
            raise ConservationError(
                f"{step.stage}: {step.entered} {step.unit} entered, {step.kept} kept, {dropped} dropped",
                hint=f"rebuild: medqrels build {job.task.name}",
            )
        steps.append((number, step.stage, step.unit, step.entered, step.kept, dropped))
    columns = [
        pa.array(values, field.type)
        for values, field in zip(zip(*steps, strict=True), FUNNEL.schema, strict=True)
    ]
    chunks = [pa.Table.from_arrays(columns, names=FUNNEL.schema.names)] if steps else []
    job.write(FUNNEL, iter(chunks), directory)


def _family(numbers: facts.Facts) -> str:
    """The licence family of the whole release."""
    family = combined_family(row["license"] for row in numbers["licences"])
    if family is None:
        listed = ", ".join(
            f"{row['license']} ({row['queries'] + row['corpus']})" for row in numbers["licences"]
        )
        raise ReleaseError(
            f"no licence fits all rows together: {listed}",
            hint="narrow licence_profile in the spec, then build again",
        )
    return family


def _head(job: _Job, numbers: facts.Facts) -> ReleaseManifest:
    """release.json without file hashes."""
    family = _family(numbers)
    synthetic = numbers["synthetic"]
    reasons = (
        ["It contains rows made from synthetic input."] if synthetic["queries"] + synthetic["corpus"] else []
    )
    if not numbers["counts"]["queries"]:
        reasons.append("It has no query: its inputs gave none, as the retention table says.")
    used = {row["reason"] for row in numbers["exclusions"]}
    is_named = TARGET_NAMES.name in numbers["tables"]
    is_silver = numbers["experts"]["queries"] < job.spec.expert_minimum
    return ReleaseManifest(
        format_version=FORMAT_VERSION,
        dataset=job.spec.name,
        title=job.spec.title,
        version=job.version,
        task=job.task.name,
        task_title=job.task.title,
        task_description=job.task.description,
        licence_profile=job.spec.licence_profile,
        license=family,
        label="silver" if is_silver else "expert",
        expert_minimum=job.spec.expert_minimum,
        publishable_by_content=not reasons,
        not_publishable_because=tuple(reasons),
        accessed=job.spec.sources.accessed,
        grades=reviewed.grades(job.task, numbers["scores"]),
        exclusions={code: meaning for code, meaning in job.task.all_exclusions.items() if code in used},
        versions={
            "storage": job.build.storage_version,
            "ids": ID_VERSION,
            "licence_profiles": sha256_text(
                canonical_json({name: sorted(of) for name, of in PROFILES.items()})
            )[:12],
        },
        stages=tuple(
            {"name": stage.name, "version": stage.version, "params": dict(stage.params)}
            for stage in job.build.stages
        ),
        overrides=dict(job.build.overrides),
        counts=numbers["counts"],
        files={},
        siblings=tuple(sorted(set(job.spec.tasks) - {job.task.name})),
        vocabulary=job.build.vocabulary if is_named else "",
        vocabularies=job.build.vocabularies if is_named or job.tables.get("labels") else (),
        made_with=dict(job.build.made_with),
    )
