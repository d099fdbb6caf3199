"""MTEB: the Parquet files of four tables as they are, and a task definition that takes excluded pairs out.

MTEB reranks a repository that has a config `top_ranked` without asking, so the export has none. A task that
asks in several languages has a subset for each: `es-queries` and `es-qrels` over the one corpus. So has one
whose documents have names in other languages, each over its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from curation.export import tables
from curation.export.files import Out
from curation.export.languages import codes
from curation.export.source import TABLES, Source
from curation.export.templating import rendered
from curation.release.rights import hub_licence
from schemas.name_tables import NAMED_QRELS, NAMED_QUERIES, NAMED_TABLES
from schemas.published import Published, language_of, languages_of
from schemas.tables import CORPUS, QRELS, QUERIES

LEFT_OUT = pa.schema([(name, pa.string()) for name in ("query-id", "corpus-id", "reason")])
MODULE = "mteb_tasks.py"
_LICENCES = frozenset({"cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc0-1.0"})
"""Licences that MTEB's metadata has a name for, as medqrels gives them; any other is `multiple`."""


def write(source: Source, out: Out) -> list[str]:
    """Write the files; what a reader must know of them."""
    configs = []
    for table in TABLES:
        files = table.files(source.directory)
        for path in files:
            shutil.copyfile(path, out.path(f"{table.folder}/{path.name}"))
        out.told(
            sum(pq.read_metadata(path).num_rows for path in files) if table in (CORPUS, QUERIES, QRELS) else 0
        )
        configs.append(
            (table.name, [split for split in _splits(source, table) if _has_rows(source, table, split)])
        )
    for split in source.splits:
        _left_out(source, split, out)
    subsets = _named(source, out) or _subsets(source)
    splits = [split for split in source.splits if _has_rows(source, QRELS, split)]
    splits = [split for split in splits if all(split in held.splits for held in subsets.values())]
    readme = rendered("mteb_readme.md.jinja", name=source.name, configs=configs, subsets=subsets)
    out.text("README.md", readme)
    out.text(MODULE, _definition(source, splits, subsets))
    notes = [f"the definition takes them out before it measures: {tables.LEFT_OUT.format('left_out/')}"]
    notes.append("there is no config top_ranked, which MTEB's loader would rerank by without asking")
    if not splits:
        notes.append(
            "the task is empty: MTEB cannot load a split of no rows, so the definition names no split"
        )
    return notes


@dataclass(frozen=True, slots=True)
class Subset:
    """One language: its splits, those of its texts, and what the files of each table and split begin with."""

    splits: tuple[str, ...]
    languages: tuple[str, ...]
    files: Mapping[str, str]


def _subsets(source: Source) -> dict[str, Subset]:
    """Language -> what it has queries and labels of, the test split among them; {} of a task of one.

    A language without a test split makes no subset: MTEB would measure its dev split in its place.
    """
    found: dict[str, Subset] = {}
    for language in languages_of(QUERIES.files(source.directory)):
        held = _held(source, (QUERIES, QRELS), language)
        if "test" in held and codes([language], default=()):
            asked = {table.name: f"{table.folder}/{{}}-{language}-" for table in (QUERIES, QRELS)}
            found[language] = Subset(held, (language,), {CORPUS.name: f"{CORPUS.folder}/{{}}-", **asked})
    return found


def _held(source: Source, tables: Sequence[Published], language: str) -> tuple[str, ...]:
    """Splits in which each of some tables has rows of a language."""
    return tuple(
        split
        for split in source.splits
        if all(
            sum(
                pq.read_metadata(path).num_rows
                for path in table.files(source.directory, f"{split}-{language}")
            )
            for table in tables
        )
    )


def _named(source: Source, out: Out) -> dict[str, Subset]:
    """Language -> names of the documents in it, written; first `default`, its own; {} without any."""
    languages = [
        language
        for language in languages_of(NAMED_QUERIES.files(source.directory))
        if codes([language], default=()) and "test" in _held(source, (NAMED_QUERIES, NAMED_QRELS), language)
    ]
    if not languages:
        return {}
    own = next(row["language"] for row in source.rows(CORPUS))
    whole = {table.name: f"{table.folder}/{{}}-" for table in (CORPUS, QUERIES, QRELS)}
    asked = sorted({row["language"] for split in source.splits for row in source.rows(QUERIES, split)})
    found = {"default": Subset(tuple(source.splits), tuple(sorted({*asked, own})), whole)}
    names = (CORPUS.name, QUERIES.name, QRELS.name)
    for language in languages:
        for table in NAMED_TABLES:
            for path in table.files(source.directory):
                if language_of(path) == language:
                    shutil.copyfile(path, out.path(f"{table.folder}/{path.name}"))
        places = (f"{table.folder}/{{}}-{language}-" for table in NAMED_TABLES)
        held = _held(source, (NAMED_QUERIES, NAMED_QRELS), language)
        found[language] = Subset(held, (*asked, language), dict(zip(names, places, strict=True)))
    return found


def _splits(source: Source, table: Published) -> Sequence[str]:
    return source.splits if table.has_splits else ("test",)


def _has_rows(source: Source, table: Published, split: str) -> bool:
    return source.count(table, split if table.has_splits else "") > 0


def _left_out(source: Source, split: str, out: Out) -> None:
    """Every pair that is taken out of a ranking, as Parquet: some tasks have millions."""
    pairs = source.left_out(split)
    made = pa.table(
        [pa.array([pair[place] for pair in pairs], pa.string()) for place in range(3)], schema=LEFT_OUT
    )
    pq.write_table(made, out.path(f"left_out/{split}.parquet"), compression="zstd", row_group_size=100_000)


def _definition(source: Source, splits: Sequence[str], subsets: Mapping[str, Subset]) -> str:
    manifest = source.manifest
    licence = hub_licence(manifest.license).id
    languages = sorted({row["language"] for split in source.splits for row in source.rows(QUERIES, split)})
    return rendered(
        "mteb_tasks.py.jinja",
        class_name="".join(part.title() for part in source.name.split("-")),
        name="".join(part.title() for part in source.name.split("-")) + "Retrieval",
        title=manifest.task_title,
        description=manifest.task_description,
        version=manifest.version,
        release_hash=manifest.release_hash,
        splits=list(splits) or ["test"],
        languages={name: codes(one.languages) for name, one in subsets.items()}
        if subsets
        else codes(languages or ["en"]),
        category=_category(source),
        modalities=sorted({"text"} | ({"image"} if _pictured(source) else set()), reverse=True),
        licence=licence if licence in _LICENCES else "multiple",
        annotators="expert-annotated" if manifest.label == "expert" else "derived",
        accessed=manifest.accessed,
    )


def _pictured(source: Source) -> bool:
    return source.has_images(CORPUS) or source.has_images(QUERIES)


def _category(source: Source) -> str:
    """MTEB's code: modalities of the query, 2, modalities of the document."""
    has_query_text = any(row["text"] for split in source.splits for row in source.rows(QUERIES, split))
    sides = ((QUERIES, has_query_text), (CORPUS, source.has_texts()))
    return "2".join(
        ("i" if source.has_images(table) else "") + ("t" if has_text else "") or "t"
        for table, has_text in sides
    )
