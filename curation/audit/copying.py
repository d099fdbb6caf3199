"""Small copies of a release to plant defects in: cut from its own rows, or invented.

A cut holds a few queries of each split (the first, the last and some by chance), documents judged, excluded
and unjudged for them, and everything that hangs on those rows; what is left out is left out in SQL.
"""

from __future__ import annotations

import dataclasses
import itertools
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit import invented
from curation.audit.dataset import Dataset, card_facts, open_release
from curation.audit.derived import distractors_of, parts_of, pools_of
from curation.audit.layouts.hashlist import open_hash_list, write_hash_list
from curation.audit.rule import Context, Rows
from curation.published.manifest import NAME, ReleaseManifest, hash_files
from curation.published.query import Sandbox, Stored
from curation.release import card, credit, facts
from schemas.audit import Kind
from schemas.published import Published
from schemas.spec import Citation
from schemas.tables import TABLES

SIBLING = "canary"
"""Task name of the invented sibling."""
_PER_SPLIT = {"ends": 2, "chance": 8}
_DOCUMENTS = {"qrels": 70, "excluded": 25, "": 25}
_LONGEST_TEXT, _LARGEST_IMAGE = 100_000, 3_000_000
_FEWEST_QUERIES, _FEWEST_DOCUMENTS = 2, 4
_PLACED = pa.schema([(name, pa.string()) for name in ("tab", "q", "split")])
SECOND = {table.name: table.schema for table in TABLES}
"""Columns of the dataset beside a copy."""
_BY_NAME = {table.name: table for table in TABLES}
_CHOSEN = """
    SELECT id FROM (
        SELECT id FROM (SELECT id FROM queries ORDER BY id LIMIT {ends})
        UNION SELECT id FROM (SELECT id FROM queries ORDER BY id DESC LIMIT {ends})
        UNION SELECT id FROM (SELECT id FROM queries ORDER BY md5(id), id LIMIT {chance}))
    WHERE id IS NOT NULL ORDER BY id"""


class Unusable(Exception):  # noqa: N818 - a reason, not a fault
    """The release has too little in it to plant anything in; the text says what."""


@dataclass
class Copy:
    """Rows of a small release, and how it is written."""

    name: str
    kind: Kind
    rows: Rows
    schemas: Mapping[str, pa.Schema]
    split_of: Mapping[str, Mapping[str, str]]
    """Table -> query id -> split whose file the row is in."""
    manifest: ReleaseManifest | None
    prose: Mapping[str, str]
    citation: Citation
    directory: Path
    context: Context
    ids: frozenset[str] = field(init=False)
    """Every id of the copy: a rule that names another one names what was planted."""

    def __post_init__(self) -> None:
        columns = ("id", "query-id", "corpus-id", "article_id", "source_id", "concept", "key", "stage")
        self.ids = frozenset(
            str(row[name]) for rows in self.rows.values() for row in rows for name in columns if name in row
        )
        self._numbers = itertools.count()
        self._damaged: Path | None = None

    def tables(self) -> dict[str, pa.Table]:
        """Its tables as a sandbox has them, and `placed`.

        `placed` says in which split's file the rows of a query are: tab, q, split.
        """
        found = {table.name: self._table(table) for table in TABLES if table.name in self.schemas}
        rows = [
            {
                "tab": table.name,
                "q": str(row[table.query_column]),
                "split": split,
            }
            for table in TABLES
            if table.has_splits and table.name in self.schemas
            for split, part in self._by_split(table, self.rows).items()
            for row in part
        ]
        return found | {"placed": pa.Table.from_pylist(rows, schema=_PLACED)}

    def _table(self, table: Published, rows: Rows | None = None) -> pa.Table:
        found = (self.rows if rows is None else rows).get(table.name, [])
        return _as_table(found, self.schemas.get(table.name, table.schema))

    def stored(self, directory: Path) -> Dataset:
        """The copy as a sandbox has it; its files would be in a folder."""
        views = {name: Stored(f"{self.name}.{name}", self.schemas[name]) for name in self.schemas}
        views["placed"] = Stored(f"{self.name}.placed", _PLACED)
        manifest = self.manifest and dataclasses.replace(self.manifest, siblings=())
        return Dataset(self._title, "audited", self.kind, directory, "copy", views, manifest)

    @property
    def _title(self) -> str:
        return self.context.subject.name if self.name == "own" else "invented"

    def files_to_damage(self) -> Path:
        """The whole directory as published, with card and release.json; by another name each time.

        The last one is mended and moved: on a disk, folders take ten times as long to make as files to read.
        """
        damaged, last = self.directory / f"damaged-{next(self._numbers)}", self._damaged
        if last is None:
            shutil.copytree(self.files(), damaged)
        else:
            last.rename(damaged)
            mend(damaged, self.files())
        self._damaged = damaged
        return damaged

    def files(self) -> Path:
        """The same directory whole, to be read only."""
        sound = self.directory / "sound"
        if not sound.exists():
            self._write(sound)
        return sound

    def reopened(self, directory: Path) -> Dataset:
        """A folder of `files_to_damage`, as it is now."""
        if self.manifest is not None:
            return open_release(directory)
        found = {name: files for name, files in facts.views(directory).items() if files}
        return Dataset(self._title, "audited", self.kind, directory, "copy", found)

    def _write(self, directory: Path) -> None:
        """Tables, one file each of every split; card and release.json, true to the rows."""
        for table in (table for table in TABLES if table.name in self.schemas):
            (directory / table.folder).mkdir(parents=True)
            for split, part in self._by_split(table, self.rows).items():
                path = directory / table.folder / f"{split}-00000-of-00001.parquet"
                pq.write_table(pa.Table.from_pylist(part, schema=self.schemas[table.name]), path)
        if self.manifest is None:
            return
        files, shared = hash_files(directory), self.context.shared
        numbers = card_facts(directory, files, self.context.query, shared)
        head = dataclasses.replace(
            self.manifest, counts=numbers["counts"], files={}, release_hash="", siblings=()
        )
        card.write(directory, head, numbers, self.prose, self.context.query, self.citation)
        head = dataclasses.replace(head, files=hash_files(directory))
        head = dataclasses.replace(head, release_hash=head.computed_hash())
        (directory / NAME).write_text(head.to_json(), encoding="utf-8", newline="\n")

    def _by_split(self, table: Published, rows: Rows) -> dict[str, list[dict[str, Any]]]:
        """Rows of a table by their file's split: the one they were cut from, else that of their query."""
        found: dict[str, list[dict[str, Any]]] = {"test": []}
        if not table.has_splits:
            return {"test": rows[table.name]}
        before = self.split_of.get(table.name, {})
        stated = {
            str(row["id"]): row["split"] for row in rows.get("provenance_queries", ()) if "split" in row
        }
        for row in rows[table.name]:
            name = str(row.get(table.query_column))
            split = before.get(name) or stated.get(name) or "test"
            found.setdefault(split if split in ("test", "dev") else "test", []).append(row)
        return dict(sorted(found.items(), reverse=True))


def mend(directory: Path, sound: Path) -> None:
    """Make a folder hold the same files and folders as another."""
    is_folder = {path.relative_to(sound): path.is_dir() for path in sound.rglob("*")}
    for path in sorted(directory.rglob("*"), reverse=True):  # what is in a folder comes before it
        if path.is_symlink() or not path.is_dir():
            if path.is_symlink() or is_folder.get(path.relative_to(directory), True):
                path.unlink()
        elif not is_folder.get(path.relative_to(directory)):
            path.rmdir()
    for name in sorted(is_folder):
        there = directory / name
        if is_folder[name]:
            there.mkdir(exist_ok=True)
        elif not there.exists() or there.read_bytes() != (sound / name).read_bytes():
            shutil.copyfile(sound / name, there)


def second(one: Copy, sandbox: Sandbox, role: str, context: Context) -> Dataset:
    """What was planted beside a copy in schema `second`: a sibling task, another benchmark, or its hashes."""
    views = {name: Stored(f"second.{name}", schema) for name, schema in SECOND.items()}
    directory = context.directory
    if role == "sibling":
        head = one.manifest or invented.manifest()
        manifest = dataclasses.replace(head, task=SIBLING, siblings=(head.task,))
        return Dataset(SIBLING, "sibling", "release", directory, SIBLING, views, manifest)
    any_row = (f"SELECT '{name}' AS name FROM (FROM second.{name} LIMIT 1)" for name in views)
    kept = {row["name"]: views[row["name"]] for row in sandbox.run(" UNION ALL ".join(any_row))}
    other = Dataset(SIBLING, "against", "beir", directory, SIBLING, kept)
    if role != "hashlist":
        return other
    files = dataclasses.replace(other, views=context.on_disk(other, *kept))
    hashes = context.scratch / "hashes.parquet"
    write_hash_list(files, hashes, context.pool)
    return open_hash_list(hashes)


def empty_second() -> dict[str, pa.Table]:
    """The tables of the dataset beside a copy before anything is planted in them."""
    return {name: schema.empty_table() for name, schema in SECOND.items()}


def invent(context: Context, directory: Path) -> Copy:
    """The invented release."""
    rows = invented.rows()
    splits = {row["id"]: row["split"] for row in rows["provenance_queries"]}
    prose = dict.fromkeys(card.PROSE, "Invented.")
    of = {table.name: splits for table in TABLES if table.has_splits}
    return Copy(
        "invented", "release", rows, SECOND, of, invented.manifest(), prose, Citation(), directory, context
    )


def cut(context: Context, directory: Path) -> Copy:
    """A small part of the audited dataset.

    Raises:
        Unusable: there are too few queries or documents.
    """
    subject = context.subject
    if not {"queries", "corpus"} <= set(subject.views):
        raise Unusable("no queries or no corpus")
    queries = _chosen_queries(context)
    documents = _chosen_documents(context, queries)
    rows: Rows = {table.name: [] for table in TABLES}
    split_of: dict[str, dict[str, str]] = {}
    for name, where in _filters(queries, documents).items():
        if name in subject.views:
            small = f" AND {_small(subject.views[name][0])}" if name in ("queries", "corpus") else ""
            rows[name], split_of[name] = _cut_table(context, name, where + small)
    _settle(rows)
    for name, where in _filters_of_rest(rows).items():
        if name in subject.views:
            rows[name], _ = _cut_table(context, name, where)
    for step in rows["funnel"]:
        step["entered"], step["dropped"] = step["kept"], 0
    if "top_ranked" in subject.views and subject.manifest is not None:
        rows |= pools_of(rows, subject.manifest.shaped_by)
    if "distractors" in subject.views and subject.manifest is not None:
        rows["distractors"] = distractors_of(rows)
    if subject.manifest is not None:
        rows |= parts_of(rows, tuple(subject.views))
    if len(rows["queries"]) < _FEWEST_QUERIES or len(rows["corpus"]) < _FEWEST_DOCUMENTS:
        raise Unusable("too few queries or documents")
    schemas = {name: pq.read_schema(subject.views[name][0]) for name in _BY_NAME if name in subject.views}
    readme = subject.directory / card.README
    prose = dict.fromkeys(card.PROSE, "None.")
    if subject.manifest is not None and readme.is_file():
        prose |= card.prose_of(readme.read_text(encoding="utf-8", errors="replace"))
    citation = credit.stated(subject.directory)
    return Copy(
        "own", subject.kind, rows, schemas, split_of, subject.manifest, prose, citation, directory, context
    )


def _chosen_queries(context: Context) -> list[str]:
    found: set[str] = set()
    for _, files in _files_by_split(context, "queries"):
        text = _CHOSEN.format(**_PER_SPLIT)
        found.update(row["id"] for row in _rows(context, text, {"queries": files}))
    return sorted(found)


def _chosen_documents(context: Context, queries: Sequence[str]) -> list[str]:
    """Documents judged, excluded and unjudged for some queries."""
    views = context.subject.views
    found: list[str] = []
    if "confusions" in views:  # sets are whole
        text = f"""SELECT DISTINCT "corpus-id" AS id FROM confusions
            WHERE "query-id" IN {_listed(queries)} ORDER BY id"""
        found += [row["id"] for row in context.rows(text, "confusions")]
    for name, limit in _DOCUMENTS.items():
        if name and name in views:
            text = f"""SELECT id FROM corpus WHERE id IN (SELECT "corpus-id" FROM {name}
                WHERE "query-id" IN {_listed(queries)}) ORDER BY md5(id), id LIMIT {limit}"""
            found += [row["id"] for row in context.rows(text, "corpus", name)]
        elif not name:
            text = f"SELECT id FROM corpus ORDER BY md5(id), id LIMIT {limit}"
            found += [row["id"] for row in context.rows(text, "corpus")]
    return sorted({name for name in found if name is not None})


def _small(path: Path) -> str:
    """SQL for rows that are cheap to copy many times."""
    names = pq.read_schema(path).names
    image = f" AND coalesce(octet_length(image.bytes), 0) < {_LARGEST_IMAGE}" if "image" in names else ""
    return f"coalesce(length(text), 0) < {_LONGEST_TEXT}{image}"


def _filters(queries: Sequence[str], documents: Sequence[str]) -> dict[str, str]:
    """What of each table belongs to some queries and documents; one that is not here is left out."""
    of_queries, of_documents = f"id IN {_listed(queries)}", f"id IN {_listed(documents)}"
    pair = f'"query-id" IN {_listed(queries)} AND "corpus-id" IN {_listed(documents)}'
    return {
        "queries": of_queries,
        "corpus": of_documents,
        "provenance_queries": of_queries,
        "provenance_corpus": of_documents,
        "image_checks": of_documents,
        "images": f"{of_queries} OR {of_documents}",
        "provenance_images": f"{of_queries} OR {of_documents}",
        "made_texts": f"{of_queries} OR {of_documents}",
        "qrels": pair,
        "confusions": pair,
        "named_corpus": of_documents,
        "named_queries": of_queries,
        "named_qrels": pair,
        "name_recipes": pair,
        "excluded": pair,
        "provenance_qrels": pair,
        "judgements": pair,
        "keys": f'"query-id" IN {_listed(queries)}',
        "diagnostics": f'"query-id" IN {_listed(queries)}',
        "expansions": f'"query-id" IN {_listed(queries)}',
        "answers": f'"query-id" IN {_listed(queries)}',
        "cuts": f'"query-id" IN {_listed(queries)}',
        "gives_away": f'"query-id" IN {_listed(queries)}',
        "facets": f'"query-id" IN {_listed(queries)}',
        "panels": f'"query-id" IN {_listed(queries)}',
        "strings": f'"query-id" IN {_listed(queries)}',
        "parts": f'"corpus-id" IN {_listed(documents)}',
        "passage_labels": f'"query-id" IN {_listed(queries)}',
    }


def _filters_of_rest(rows: Rows) -> dict[str, str]:
    """What of the other tables the rows point to."""
    origins = (*rows["provenance_queries"], *rows["provenance_corpus"], *rows.get("named_corpus", ()))
    articles = {row["article_id"] for row in origins}
    targets = {row["key"] for row in rows["keys"] if row["dimension"] == "target_concept"}
    return {
        "sources": f"id IN {_listed(articles)}",
        "target_names": f"concept IN {_listed(targets)}",
        "funnel": "true",
        "drops": "false",
        "restricted_names": "false",
    }


def _files_by_split(context: Context, name: str) -> list[tuple[str, list[Path]]]:
    """Files of a table by split, as their names say; other layouts have one."""
    files = list(context.subject.views[name])
    if context.subject.kind != "release" or not _BY_NAME[name].has_splits:
        return [("test", files)]
    found: dict[str, list[Path]] = {}
    for path in files:
        found.setdefault(path.name.split("-")[0], []).append(path)
    return sorted(found.items(), reverse=True)


def _cut_table(context: Context, name: str, where: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Rows of a table in key order, and which split's file each query's rows were in."""
    key = ", ".join(f'"{column}"' for column in _BY_NAME[name].key)
    found: list[dict[str, Any]] = []
    splits: dict[str, str] = {}
    for split, files in _files_by_split(context, name):
        rows = _rows(context, f'SELECT * FROM "{name}" WHERE {where} ORDER BY {key}', {name: files})
        for row in rows:
            splits.setdefault(str(row.get("query-id", row.get("id"))), split)
        found += rows
    return found, splits


def _rows(context: Context, text: str, views: Mapping[str, Sequence[Path]]) -> list[dict[str, Any]]:
    return [row for batch in context.query(text, views) for row in batch.to_pylist()]


def _settle(rows: Rows) -> None:
    """Leave out what hangs on rows too large to copy, then queries left without a positive."""
    documents = {row["id"] for row in rows["corpus"]}
    for name in ("provenance_corpus", "image_checks"):
        rows[name] = [row for row in rows[name] if row["id"] in documents]
    queries = {row["id"] for row in rows["queries"]}
    for name, of in rows.items():
        if {"query-id", "corpus-id"} <= {*SECOND[name].names}:
            rows[name] = [row for row in of if row["query-id"] in queries and row["corpus-id"] in documents]
    if not rows["qrels"]:
        return
    kept = {row["query-id"] for row in rows["qrels"] if (row["score"] or 0) > 0}
    for name, of in rows.items():
        if name in ("queries", "provenance_queries"):
            rows[name] = [row for row in of if row["id"] in kept]
        elif "query-id" in SECOND[name].names:
            rows[name] = [row for row in of if row["query-id"] in kept]


def _as_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows under a schema; columns that are not declared are strings."""
    for name in sorted({name for row in rows for name in row} - set(schema.names)):
        schema = schema.append(pa.field(name, pa.string()))
    return pa.Table.from_pylist(rows, schema=schema)


def clone(value: Any) -> Any:
    """Dicts and lists anew, strings and bytes shared."""
    if isinstance(value, dict):
        return {name: clone(item) for name, item in value.items()}
    return [clone(item) for item in value] if isinstance(value, list) else value


def _listed(values: Iterable[Any]) -> str:
    """Values as a SQL list, never empty."""
    quoted = sorted("'" + str(value).replace("'", "''") + "'" for value in values if value is not None)
    return f"({', '.join(quoted) or 'NULL'})"
