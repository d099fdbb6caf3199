"""Assemble one task's release: published Parquet tables, card and release.json, from built work tables.

Pure: Parquet and image bytes in, one directory out, renamed into place last. Same input, same bytes.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.release import card, facts
from curation.release.images import read_image
from curation.release.manifest import (
    FORMAT_VERSION,
    NAME,
    BuildRecord,
    ReleaseManifest,
    hash_files,
    read_manifest,
)
from curation.release.query import QueryRunner, fetch, fetch_one
from curation.release.restricted import check_strings
from curation.release.rights import combined_family
from curation.release.tables import (
    CORPUS,
    DROPS,
    EXCLUDED,
    FUNNEL,
    MAX_SHARD_BYTES,
    ORIGIN_CORPUS,
    ORIGIN_QRELS,
    ORIGIN_QUERIES,
    QRELS,
    QUERIES,
    SOURCES,
    TEXT_QUERIES,
    Published,
    write_table,
)
from schemas.errors import ConservationError, ReleaseError
from schemas.grades import EXCLUSIONS, GRADES
from schemas.hashing import canonical_json, sha256_text
from schemas.ids import ID_VERSION
from schemas.licences import PROFILES, is_allowed
from schemas.spec import DatasetSpec
from schemas.stages import Task

REQUIRED = ("queries", "documents", "qrels", "excluded", "sources")
_VERSION = re.compile(r"^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?$")
_USED = "(SELECT article_id FROM queries UNION SELECT article_id FROM documents)"
_SELECT: dict[str, str] = {
    "corpus": "SELECT id, title, text, language, license, is_synthetic FROM documents ORDER BY id",
    "provenance_corpus": """SELECT id, article_id, license_evidence, text_sha256, transforms
        FROM documents ORDER BY id""",
    "qrels": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", score, label_status, rule
        FROM qrels ORDER BY query_id, corpus_id""",
    "provenance_qrels": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", evidence
        FROM qrels ORDER BY query_id, corpus_id""",
    "excluded": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", reason
        FROM excluded ORDER BY query_id, corpus_id""",
    "sources": f"""SELECT id, title, authors, journal, year, doi, pmid, pmcid, article_type, language,
        subjects, licence.spdx AS license, licence.url AS license_url, licence.evidence AS license_evidence,
        licence.statement AS license_statement, is_retracted, is_synthetic, scope_evidence, raw_sha256
        FROM sources WHERE id IN {_USED} ORDER BY id""",
    "queries": "SELECT id, text, language, license, is_synthetic FROM queries ORDER BY id",
}
_QUERY_ORIGINS = """SELECT id, source_id, article_id, license_evidence, text_sha256, transforms, image_count,
    image.path AS image_path, image.sha256 AS image_stored_sha256,
    text, language, license, is_synthetic FROM queries ORDER BY id"""


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

    def write(self, table: Published, chunks: Iterator[pa.Table], directory: Path) -> None:
        write_table(table, chunks, directory, self.max_shard_bytes)

    def select(self, text: str) -> Iterator[pa.Table]:
        views = {name: self.tables[name] for name in REQUIRED}
        for batch in self.query(text, views):
            yield pa.Table.from_batches([batch])


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
        cards: the folder `data_cards/<dataset>` with the prose.
        version: version of the release, e.g. 1.0.0.
        build: stages and retention as the workspace recorded them.
        query: runs SQL over Parquet.
        max_shard_bytes: payload after which a new shard begins.

    Raises:
        ReleaseError: prose is missing, a row may not be released, an image is unusable, or the version is
            taken by other content. Nothing is left behind.
        ConservationError: the recorded retention does not add up.
    """
    _check_arguments(task, tables, version)
    prose = card.load_prose(cards)
    job = _Job(task, tables, raw, spec, version, build, query, max_shard_bytes)
    target = out / spec.name / version / task.name
    partial = target.parent / f".{task.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        manifest = _fill(job, partial, prose, cards.name)
        return _settle(partial, target, manifest)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_arguments(task: Task, tables: Mapping[str, Sequence[Path]], version: str) -> None:
    """The version is one, and the build is there."""
    if not _VERSION.match(version):
        raise ReleaseError(f"not a version: {version!r}", hint="use MAJOR.MINOR.PATCH, e.g. 1.0.0")
    missing = [name for name in REQUIRED if not tables.get(name)]
    if missing:
        raise ReleaseError(
            f"no built table {', '.join(missing)}", record=task.name, hint=f"medqrels build {task.name}"
        )


def _settle(partial: Path, target: Path, manifest: ReleaseManifest) -> ReleaseManifest:
    """Rename the finished directory into place, or leave an equal release alone."""
    if not target.exists():
        partial.rename(target)
        return manifest
    present = read_manifest(target)
    if present.release_hash == manifest.release_hash and hash_files(target) == dict(present.files):
        return present
    raise ReleaseError(
        f"version {manifest.version} of {manifest.dataset}/{manifest.task} is taken by other content",
        file=f"{manifest.dataset}/{manifest.version}/{manifest.task}",
        hint="release under a higher version; `medqrels diff` shows what changed",
    )


def _fill(job: _Job, directory: Path, prose: Mapping[str, str], folder: str) -> ReleaseManifest:
    """Write every table, then the card, then release.json."""
    _check_rights(job)
    check_strings(job.query, job.tables)
    _write_queries(job, directory)
    for table in (CORPUS, ORIGIN_CORPUS, QRELS, ORIGIN_QRELS, EXCLUDED, SOURCES):
        job.write(table, job.select(_SELECT[table.name]), directory)
    _write_funnel(job, directory)
    numbers = facts.compute(directory, job.query)
    head = _head(job, numbers)
    text = card.render(head, numbers, card.render_prose(prose, numbers, folder))
    (directory / "README.md").write_text(text, encoding="utf-8", newline="\n")
    manifest = replace(head, files=hash_files(directory))
    manifest = replace(manifest, release_hash=manifest.computed_hash())
    (directory / NAME).write_text(manifest.to_json(), encoding="utf-8", newline="\n")
    return manifest


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
    retracted = fetch(
        job.query,
        f"SELECT id FROM sources WHERE is_retracted AND id IN {_USED} ORDER BY id LIMIT 1",
        {name: job.tables[name] for name in REQUIRED},
    )
    if retracted:
        raise ReleaseError(
            "a retracted article is among the sources",
            record=retracted[0]["id"],
            hint=f"medqrels build {job.task.name}",
        )


def _write_queries(job: _Job, directory: Path) -> None:
    """Queries and their provenance in one pass, so that each image is read once."""
    view = {"queries": job.tables["queries"]}
    with_images = fetch_one(job.query, "SELECT count(image) AS n FROM queries", view)["n"] > 0
    table = QUERIES if with_images else TEXT_QUERIES
    origins: list[pa.Table] = []

    def chunks() -> Iterator[pa.Table]:
        for big in job.select(_QUERY_ORIGINS):
            for start in range(0, big.num_rows, QUERIES.rows_per_group):
                rows = big.slice(start, QUERIES.rows_per_group)
                images = _image_columns(job, rows)
                origins.append(
                    _with(rows, {name: values for name, values in images.items() if name != "image"})
                )
                yield _with(rows, {"image": images["image"]}) if with_images else rows

    job.write(table, chunks(), directory)
    names = ORIGIN_QUERIES.schema.names
    job.write(ORIGIN_QUERIES, (rows.select(names) for rows in origins), directory)


def _with(rows: pa.Table, columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Rows with columns added in the types of the published tables."""
    for name, values in columns.items():
        schema = QUERIES.schema if name == "image" else ORIGIN_QUERIES.schema
        rows = rows.append_column(name, pa.array(values, type=schema.field(name).type))
    if "image" in columns:
        return rows
    return rows.drop_columns(
        ["text", "language", "license", "is_synthetic", "image_path", "image_stored_sha256"]
    )


def _image_columns(job: _Job, rows: pa.Table) -> dict[str, list[Any]]:
    """Image bytes and provenance of some queries; files are named by query id, never as their source."""
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "image",
            "image_source_sha256",
            "image_sha256",
            "image_transform",
            "image_width",
            "image_height",
        )
    }
    for row in rows.select(["id", "license", "image_path", "image_stored_sha256"]).to_pylist():
        values: tuple[Any, ...] = (None, None, None, "", None, None)
        if row["image_path"] is not None:
            stored = row["image_stored_sha256"]
            found = read_image(job.raw, row["image_path"], stored, row["id"], license=row["license"])
            image = {"bytes": found.data, "path": f"{row['id']}.{found.extension}"}
            values = (image, found.source_sha256, found.sha256, found.transform, found.width, found.height)
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    return columns


def _write_funnel(job: _Job, directory: Path) -> None:
    """The retention table and the drops behind it, checked against each other."""
    stages = [name for name in sorted(job.tables) if name.startswith("drops/") and job.tables[name]]
    counted: dict[tuple[str, str], int] = {}
    parts: list[pa.Table] = []
    for name in stages:
        stage = name.removeprefix("drops/")
        text = "SELECT unit, id, article_id, reason, detail FROM drops ORDER BY unit, id, reason, detail"
        for batch in job.query(text, {"drops": job.tables[name]}):
            rows = pa.Table.from_batches([batch])
            for unit in rows.column("unit").to_pylist():
                counted[stage, unit] = counted.get((stage, unit), 0) + 1
            parts.append(rows.append_column("stage", pa.array([stage] * rows.num_rows, pa.string())))
    job.write(DROPS, iter(parts), directory)
    steps = []
    for number, step in enumerate(job.build.retention, start=1):
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
    used = {row["reason"] for row in numbers["exclusions"]}
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
        publishable=not reasons,
        not_publishable_because=tuple(reasons),
        accessed=job.spec.sources.accessed,
        grades={str(score): meaning for score, meaning in GRADES.get(job.task.name, {}).items()},
        exclusions={reason: meaning for reason, meaning in EXCLUSIONS.items() if reason in used},
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
    )
