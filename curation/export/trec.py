"""TREC: qrels in four columns, topics, documents as JSON Lines, runs, a registration for ir_datasets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

from curation.export import tables
from curation.export.files import Out, columns
from curation.export.source import Source
from curation.export.templating import rendered
from schemas.tables import CORPUS, QRELS, QUERIES

_RUNS = "runs"


def write(source: Source, out: Out) -> list[str]:
    """Write the files; what a reader must know of them."""
    out.objects("docs.jsonl", _documents(source, out))
    for split in source.splits:
        out.objects(f"topics.{split}.jsonl", _topics(source, split, out))
        out.lines(f"topics.{split}.tsv", _folded(source, split))
        out.lines(f"qrels.{split}.txt", _qrels(source, split))
        tables.labels(source, split, out, f"labels.{split}.jsonl")
        out.lines(f"excluded.{split}.tsv", tables.left_out(source, split))
        tables.candidates(source, split, out, f"top_ranked.{split}.jsonl")
        for path in sorted((source.directory / _RUNS / split).glob("*.trec.gz")):
            shutil.copyfile(path, out.path(f"runs/{split}/{path.name}"))
    out.text(f"{source.name.replace('-', '_')}_ir_datasets.py", _registration(source))
    return [
        f"qrels have no place for them: {tables.LEFT_OUT.format('excluded.SPLIT.tsv')}",
        "the run files hold no excluded pair",
        "topics.SPLIT.tsv folds white space; topics.SPLIT.jsonl has texts and all columns as they are",
    ]


def _documents(source: Source, out: Out) -> Iterator[dict[str, Any]]:
    for row in source.rows(CORPUS):
        columns((row["id"],), "corpus")
        yield {"docno": row["id"], **tables.rest(row, "id"), **tables.with_image(row, out)}


def _topics(source: Source, split: str, out: Out) -> Iterator[dict[str, Any]]:
    for row in source.rows(QUERIES, split):
        yield {"number": row["id"], **tables.rest(row, "id"), **tables.with_image(row, out)}


def _folded(source: Source, split: str) -> Iterator[str]:
    for row in source.rows(QUERIES, split):
        yield f"{columns((row['id'],), 'queries')}\t{' '.join(row['text'].split())}"


def _qrels(source: Source, split: str) -> Iterator[str]:
    for row in source.rows(QRELS, split):
        yield columns((row["query-id"], 0, row["corpus-id"], row["score"]), "qrels")


def _registration(source: Source) -> str:
    """The Python file that makes the export known to ir_datasets."""
    manifest = source.manifest
    fields = {
        table.name: [name for name in _columns(source, table) if name not in ("id", "image")]
        + (["image"] if source.has_images(table) else [])
        for table in (CORPUS, QUERIES)
    }
    return rendered(
        "ir_datasets.py.jinja",
        name=f"{manifest.dataset}/{manifest.task}",
        version=manifest.version,
        release_hash=manifest.release_hash,
        grades={int(score): meaning for score, meaning in manifest.grades.items()},
        splits=source.splits,
        fields=fields,
    )


def _columns(source: Source, table: Any) -> list[str]:
    first = next(iter(source.rows(table)), None)
    return list(first) if first else [column.name for column in table.columns if not column.is_optional]
