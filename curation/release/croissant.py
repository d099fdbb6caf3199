"""croissant.json: a task directory told to machines, in Croissant 1.1 with RAI and PROV-O.

Everything follows from the published files: record sets from the declared columns, statements on
responsible use from the card's facts and prose, provenance from release.json. Paths are relative, so that
publishing a release anywhere changes none of its bytes; a file set without a container lies beside this file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from curation.published.manifest import ReleaseManifest
from curation.release import croissant_prov, croissant_rai
from curation.release.credit import maintainers, title_of
from curation.release.croissant_terms import CONTEXT, CROISSANT, EQUIVALENT, RAI
from curation.release.rights import licence_link
from schemas.published import IMAGE, Column, Published
from schemas.spec import Citation
from schemas.tables import QRELS, TABLES

PARQUET = "application/x-parquet"  # what readers of Croissant know; the registered name they do not
_TYPES: Mapping[pa.DataType, str] = {
    pa.string(): "sc:Text",
    pa.int64(): "cr:Int64",
    pa.bool_(): "sc:Boolean",
    pa.float64(): "cr:Float64",
    pa.binary(): "sc:Text",  # of a list of images: mlcroissant decodes none, and gives text as bytes
}
_KEYS = frozenset(f"{table.name}.{table.key[0]}" for table in TABLES if len(table.key) == 1)
"""Columns that are unique in their table: only such a one can be referred to without repeating rows."""
_WIDTH = 150
"""Longest value that stands on one line."""


def croissant(
    head: ReleaseManifest,
    facts: Mapping[str, Any],
    prose: Mapping[str, str],
    citation: Citation,
    files: Mapping[str, str],
    models: Sequence[Mapping[str, Any]],
) -> str:
    """The text of croissant.json.

    Args:
        head: release.json, without hashes.
        facts: of the whole release, see `curation.release.facts.compute`.
        prose: section -> text, as the card shows it.
        citation: what people say of the dataset.
        files: path -> hex SHA-256 of at least the Parquet files.
        models: stages that a language model answered, see `curation.release.card.models`.
    """
    tables = [_present(table, facts) for table in TABLES if table.name in facts["parquet"]]
    content: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RAI],
        "name": f"{head.dataset}-{head.task}",
        "description": f"{title_of(head)}. {head.task_description}",
        "url": citation.url or "./",
        "license": licence_link(head.license),
        "creator": croissant_prov.creators(head, citation),
        "publisher": {"@type": "sc:Organization", "name": citation.publisher or maintainers(head)},
        "version": head.version,
        "citeAs": _bibtex(head, citation),
        "inLanguage": [row["language"] for row in facts["languages"]],
        "keywords": ["information retrieval", "medicine", "benchmark", head.task],
        "isLiveDataset": False,
    }
    if citation.year is not None:
        content["datePublished"] = str(citation.year)
    if citation.doi:
        content["identifier"] = f"https://doi.org/{citation.doi}"
    content |= croissant_rai.statements(head, facts, prose, models)
    content |= croissant_prov.of_dataset(head, facts, citation, models)
    content["distribution"] = [part for table in tables for part in _distribution(table, facts, files)]
    keys = frozenset(key for key in _KEYS if _has_rows(key.split(".")[0], facts))
    content["recordSet"] = [_record_set(table, keys, head, models) for table in tables]
    return "\n".join(_lines(content)) + "\n"


def _present(table: Published, facts: Mapping[str, Any]) -> Published:
    """The table with the columns its files have."""
    return table.only({feature["name"] for feature in facts["parquet"][table.name]["features"]})


def _has_rows(name: str, facts: Mapping[str, Any]) -> bool:
    """Whether a table may be referred to: mlcroissant cannot join one to another without rows."""
    found = facts["parquet"].get(name)
    return found is not None and any(split["rows"] for split in found["splits"].values())


def _distribution(
    table: Published, facts: Mapping[str, Any], files: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The files of a table: all of them to be read, and each with its hash."""
    yield _file_set(table)
    for name, size in facts["parquet"][table.name]["shards"].items():
        yield _file(f"{table.folder}/{name}", files[f"{table.folder}/{name}"], size)


def _files_of(table: Published) -> str:
    return f"files/{table.name}"


def _file_set(table: Published) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": _files_of(table),
        "name": f"{table.name} files",
        "description": f"Parquet files of {table.name}"
        + (", one set per split, which begins the file's name." if table.has_splits else "."),
        "encodingFormat": PARQUET,
        "includes": f"{table.folder}/*.parquet",
    }


def _file(name: str, digest: str, size: int) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": PurePosixPath(name).name,
        "contentUrl": name,
        "contentSize": f"{size} B",
        "encodingFormat": PARQUET,
        "sha256": digest,
    }


def _record_set(
    table: Published, keys: Set[str], head: ReleaseManifest, models: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    key = [{"@id": f"{table.name}/{name}"} for name in table.key]
    split = [_split(table)] if table.has_splits else []
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "key": key[0] if len(key) == 1 else key,
        **croissant_prov.of_table(table, head, models),
        "field": [*split, *(_field(table, column, keys) for column in table.columns)],
    }


def _split(table: Published) -> dict[str, Any]:
    """The split of a row, which only the name of its file tells."""
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/split",
        "name": "split",
        "description": "test or dev; no column: the name of the file begins with it",
        "dataType": ["sc:Text", "cr:Split"],
        "source": {
            "fileSet": {"@id": _files_of(table)},
            "extract": {"fileProperty": "filename"},
            "transform": {"regex": "^([a-z]+)-.*$"},
        },
    }


def _field(table: Published, column: Column, keys: Set[str]) -> dict[str, Any]:
    name = f"{table.name}/{column.name}"
    found = {"@type": "cr:Field", "@id": name, "name": column.name, "description": column.meaning}
    if column.type.equals(IMAGE):
        return {**found, "dataType": "sc:ImageObject", "source": _source(table, column.name, "bytes")}
    if not pa.types.is_list(column.type):
        return {**found, **_plain(table, column, keys)}
    repeated = {"isArray": True, "arrayShape": "-1"}
    kind = column.type.value_type
    if not pa.types.is_struct(kind):
        return {**found, "dataType": _TYPES[kind], **repeated, "source": _source(table, column.name)}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{part.name}",
            "name": part.name,
            "dataType": _TYPES[part.type],
            "source": _source(table, column.name, part.name),
        }
        for part in kind
    ]
    return {**found, **repeated, "subField": parts}


def _plain(table: Published, column: Column, keys: Set[str]) -> dict[str, Any]:
    """Type and source of a column with one value a row, and which of the keys it refers to."""
    kind: str | list[str] = _TYPES[column.type]
    if table.name == QRELS.name and column.name == "score":
        kind = [_TYPES[column.type], "cr:Label"]
    found: dict[str, Any] = {"dataType": kind, "source": _source(table, column.name)}
    if column.refers in keys:
        found["references"] = {"field": {"@id": column.refers.replace(".", "/")}}
    if column.name in EQUIVALENT:
        found["equivalentProperty"] = EQUIVALENT[column.name]
    return found


def _source(table: Published, column: str, part: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"fileSet": {"@id": _files_of(table)}, "extract": {"column": column}}
    return {**found, "transform": {"jsonPath": part}} if part else found


def _bibtex(head: ReleaseManifest, citation: Citation) -> str:
    names = citation.authors or (f"{{{maintainers(head)}}}",)
    told = {
        "title": f"{{{title_of(head)}}}",
        "author": " and ".join(names),
        "year": str(citation.year or ""),
        "version": head.version,
        "publisher": f"{{{citation.publisher or maintainers(head)}}}",
        "doi": citation.doi,
        "url": citation.url,
    }
    fields = ", ".join(f"{name} = {{{value}}}" for name, value in told.items() if value)
    return f"@misc{{{head.dataset}-{head.task}-{head.version}, {fields}}}"


def _lines(value: Any, before: str = "", after: str = "", indent: str = "") -> Iterator[str]:
    """JSON with short values on one line each, so that a change shows where it is."""
    flat = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, (dict, list)) or len(flat) <= _WIDTH:
        yield f"{indent}{before}{flat}{after}"
        return
    is_list = isinstance(value, list)
    yield f"{indent}{before}{'[' if is_list else '{'}"
    items = dict(enumerate(value)) if isinstance(value, list) else value
    for place, (name, each) in enumerate(items.items(), 1):
        named = "" if is_list else f"{json.dumps(name)}: "
        yield from _lines(each, named, "," if place < len(items) else "", indent + " ")
    yield f"{indent}{']' if is_list else '}'}{after}"
