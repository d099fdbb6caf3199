"""Every number a card or an audit page shows, computed from the published files alone."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.derived.diagnostics.facts import facts as diagnostics_facts
from curation.derived.distractors.facts import facts as distractor_facts
from curation.derived.pools.facts import facts as pool_facts
from curation.derived.subsets.facts import facts as part_facts
from curation.evaluation.variants import value_configs
from curation.published.query import QueryRunner, columns_of, fetch, fetch_one
from curation.release import results
from curation.release.calibrated import calibration_facts
from curation.release.example import example
from curation.release.faceted import facet_facts
from curation.release.miners import miner_facts
from curation.release.named import name_facts
from curation.release.reviewed import review_facts
from curation.release.translated import translation_facts
from schemas.name_tables import NAMED_CORPUS
from schemas.published import card_features, language_of, languages_of, of_language
from schemas.tables import DERIVED, TABLES

Facts = Mapping[str, Any]
COUNTED = ("corpus", "queries", "qrels", "excluded", "sources", "drops")
"""Tables whose rows release.json counts."""

_LENGTHS = """
    SELECT min(words) AS shortest, quantile_disc(words, 0.5) AS median,
           quantile_disc(words, 0.95) AS p95, max(words) AS longest
    FROM (SELECT strlen(text) - strlen(replace(text, ' ', '')) + 1 AS words FROM {table})"""
_LICENCES = """
    SELECT license, count(*) FILTER (part = 'queries') AS queries, count(*) FILTER (part = 'corpus') AS corpus
    FROM (SELECT license, 'queries' AS part FROM queries UNION ALL SELECT license, 'corpus' FROM {corpus})
    GROUP BY license ORDER BY count(*) DESC, license"""
_LANGUAGES = """
    SELECT language, count(*) FILTER (part = 'queries') AS queries,
           count(*) FILTER (part = 'corpus') AS corpus
    FROM (SELECT language, 'queries' AS part FROM queries UNION ALL SELECT language, 'corpus' FROM corpus)
    GROUP BY language ORDER BY count(*) DESC, language"""
_POSITIVES = """
    SELECT min(n) AS least, quantile_disc(n, 0.5) AS median, max(n) AS most FROM (
        SELECT count(*) AS n FROM qrels WHERE score > 0 GROUP BY "query-id")"""
_SOURCES = """
    SELECT count(*) AS articles, count(DISTINCT nullif(journal, '')) AS journals, min(year) AS first_year,
           max(year) AS last_year,
           count(*) FILTER (id LIKE 'pmc:%' AND NOT is_synthetic) AS from_pmc FROM sources"""
_IMAGES = """
    SELECT count(image_sha256) AS images, count(DISTINCT image_sha256) AS distinct_images,
           count(*) FILTER (image_transform <> '') AS normalised,
           quantile_disc(image_width, 0.5) AS median_width, quantile_disc(image_height, 0.5) AS median_height
    FROM """
_SPLITS = """
    SELECT split, count(*) AS queries FROM provenance_queries
    GROUP BY split ORDER BY split = 'test' DESC, split"""
_SYNTHETIC = """
    SELECT (SELECT count(*) FROM queries WHERE is_synthetic) AS queries,
           (SELECT count(*) FROM corpus WHERE is_synthetic) AS corpus"""
_EXPERTS = """
    SELECT count(DISTINCT "query-id") AS queries FROM qrels WHERE label_status IN ('expert', 'adjudicated')"""
_TEXT_CHECK = """
    SELECT count(*) FILTER (text_check = 'passed') AS passed,
           count(*) FILTER (text_check <> 'passed') AS not_run
    FROM image_checks"""
_FLAGS = """
    SELECT flag, count(*) AS images FROM (SELECT unnest(flags) AS flag FROM image_checks)
    GROUP BY flag ORDER BY flag"""
_LABELLED = "SELECT count(*) AS n FROM drops WHERE reason = 'label_in_image'"
_REASONS = """
    SELECT stage, unit, reason, count(*) AS count FROM drops
    GROUP BY ALL ORDER BY stage, unit, count DESC, reason"""


def views(directory: Path) -> dict[str, Sequence[Path]]:
    """View name -> shards, for the tables a task directory has."""
    return {table.name: files for table in TABLES if (files := table.files(directory))}


def corpus_of(given: Container[str]) -> str:
    """SQL: licences of all documents, those in further languages among them."""
    if NAMED_CORPUS.name not in given:
        return "corpus"
    return f"(SELECT license FROM corpus UNION ALL SELECT license FROM {NAMED_CORPUS.name})"


def _grouped(
    query: QueryRunner, given: Mapping[str, Sequence[Path]], columns: str, table: str
) -> list[dict[str, Any]]:
    text = f"SELECT {columns}, count(*) AS count FROM {table} GROUP BY ALL ORDER BY count DESC, {columns}"
    return fetch(query, text, given)


def _counted(query: QueryRunner, given: Mapping[str, Sequence[Path]], column: str) -> dict[str, int]:
    """Queries by a facet, none where older releases lack it."""
    if column not in columns_of(query, given, "queries"):
        return {}
    return {row[column]: row["count"] for row in _grouped(query, given, column, "queries")}


def funnel(query: QueryRunner, given: Mapping[str, Sequence[Path]]) -> list[dict[str, Any]]:
    """The steps from crawled to released, each with its drop reasons, most frequent first."""
    reasons = fetch(query, _REASONS, given)
    steps = fetch(query, "SELECT * FROM funnel ORDER BY step", given)
    for step in steps:
        step["reasons"] = [
            {"reason": row["reason"], "count": row["count"]}
            for row in reasons
            if (row["stage"], row["unit"]) == (step["stage"], step["unit"])
        ]
    return steps


def _with_languages(given: Mapping[str, Sequence[Path]]) -> dict[str, Sequence[Path]]:
    """The tables, and what is loaded of a parted one by language: `es-queries`."""
    found = dict(given)
    for name, files in given.items():
        for language in languages_of(files):
            found[of_language(name, language)] = [path for path in files if language_of(path) == language]
    return found


def _parquet(given: Mapping[str, Sequence[Path]]) -> dict[str, dict[str, Any]]:
    """Table -> what its files' footers say: features as a card states them, rows and sizes.

    `splits` is split -> {rows, bytes uncompressed}, test first; `shards` is file name -> bytes.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, files in _with_languages(given).items():
        counted: dict[str, dict[str, int]] = {}
        for path in files:
            footer = pq.read_metadata(path)
            sizes = [footer.row_group(number).total_byte_size for number in range(footer.num_row_groups)]
            split = counted.setdefault(path.name.split("-", 1)[0], {"rows": 0, "bytes": 0})
            split["rows"] += footer.num_rows
            split["bytes"] += sum(sizes)
        found[name] = {
            "features": card_features(footer.schema.to_arrow_schema()),
            "splits": dict(sorted(counted.items(), key=lambda item: (item[0] != "test", item[0]))),
            "bytes": sum(path.stat().st_size for path in files),
            "shards": {path.name: path.stat().st_size for path in files},
        }
    return found


def _derived_splits(directory: Path) -> dict[str, list[str]]:
    """Table -> the splits it has files of, test first; only what baseline runs gave."""
    found: dict[str, list[str]] = {}
    for table in DERIVED:
        names = {path.name.split("-", 1)[0] for path in table.files(directory)}
        found[table.name] = [split for split in ("test", "dev") if split in names]
    return found


_WITHDRAWN = """SELECT id, unit, reason, notice FROM withdrawn WHERE parent = '' ORDER BY unit, id"""
"""What was named, without what went with it."""


def of_written(directory: Path, query: QueryRunner) -> dict[str, Any]:
    """Facts of the tables that are written from the workspace; what is derived from them changes none."""
    given = views(directory)
    counts = {name: fetch_one(query, f"SELECT count(*) AS n FROM {name}", given)["n"] for name in COUNTED}
    return {
        "counts": counts,
        "languages": fetch(query, _LANGUAGES, given),
        "licences": fetch(query, _LICENCES.format(corpus=corpus_of(given)), given),
        "tiers": _counted(query, given, "tier"),
        "scenarios": _counted(query, given, "scenario"),
        "value_configs": value_configs(directory),
        "label_status": _grouped(query, given, "label_status", "qrels"),
        "scores": _grouped(query, given, "score, label_status", "qrels"),
        "rules": _grouped(query, given, "rule, score", "qrels"),
        "exclusions": _grouped(query, given, "reason", "excluded"),
        "lengths": {
            name: fetch_one(query, _LENGTHS.format(table=name), given) for name in ("queries", "corpus")
        },
        "positives": fetch_one(query, _POSITIVES, given),
        "funnel": funnel(query, given),
        "sources": fetch_one(query, _SOURCES, given),
        "images": fetch_one(query, _IMAGES + "provenance_queries", given),
        "corpus_images": fetch_one(query, _IMAGES + "provenance_corpus", given),
        "splits": fetch(query, _SPLITS, given),
        **review_facts(directory, query, given),
        **calibration_facts(directory),
        **miner_facts(query, given),
        "synthetic": fetch_one(query, _SYNTHETIC, given),
        "text_check": fetch_one(query, _TEXT_CHECK, given) if "image_checks" in given else None,
        "image_flags": fetch(query, _FLAGS, given) if "image_checks" in given else [],
        "images_with_label": fetch_one(query, _LABELLED, given)["n"],
        "experts": fetch_one(query, _EXPERTS, given),
        "example": example(query, given),
        **translation_facts(query, given),
        **name_facts(query, given),
        **facet_facts(query, given),
        "withdrawn": fetch(query, _WITHDRAWN, given) if "withdrawn" in given else [],
    }


def of_derived(directory: Path, query: QueryRunner) -> dict[str, Any]:
    """Facts of baseline runs and derived tables, and which tables there are in the end."""
    given = views(directory)
    measured, derived = results.read(directory)
    return {
        "tables": sorted(given),
        "parquet": _parquet(given),
        "derived_splits": _derived_splits(directory),
        "results": measured,
        "derived": derived,
        "pools": pool_facts(directory, query),
        **distractor_facts(directory, query),
        "diagnostics": diagnostics_facts(directory, query),
        "parts": part_facts(directory, query),
    }


def compute(directory: Path, query: QueryRunner) -> dict[str, Any]:
    """All facts of a task directory; the same files give the same facts."""
    return of_written(directory, query) | of_derived(directory, query)
