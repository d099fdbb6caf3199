"""Which files of a directory hold queries, corpus and qrels: by the README's configs, names, then columns."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from curation.audit.layouts.fields import QRELS_DOCUMENT, QRELS_QUERY
from curation.audit.layouts.pictures import holds_pictures
from schemas.audit import Kind
from schemas.errors import UsageError

Table = Literal["queries", "corpus", "qrels", "items"]
LOOKED_FOR = (
    "looked for: release.json (a task of ours); corpus and queries as JSONL, Parquet, CSV or TSV, with qrels "
    "(BEIR, MTEB, Hugging Face configs, R2MED, <lang>-corpus folders); JSONL, CSV or Parquet files of texts "
    "or questions; a folder or zip archive of images; a hash list"
)
_SUFFIX = re.compile(r"\.(jsonl|ndjson|json|csv|tsv|parquet|txt|trec|qrels)(\.gz)?$", re.I)
_SHARD = re.compile(r"([-_.]\d{3,}(-of-\d{3,})?)+$|^\d{4,}$|^part[-_]?\d+$")
_LANGUAGE = re.compile(r"^[a-z]{2,3}$|^[A-Z][a-z]{3}$|^[A-Z]{2}$")
_NAMES: dict[str, Table] = {
    "corpus": "corpus", "corpora": "corpus", "documents": "corpus", "docs": "corpus", "passages": "corpus",
    "collection": "corpus", "queries": "queries", "query": "queries", "topics": "queries",
    "qrels": "qrels", "qrel": "qrels",
}  # fmt: skip
_SPLITS = {
    "test": "test", "dev": "dev", "train": "train", "validation": "dev", "valid": "dev", "val": "dev",
    "training": "train", "eval": "test",
}  # fmt: skip
_PLAIN = frozenset({"data", "default", "main", "dataset", "raw", "processed"})
_MAX_FILES = 200_000
_MAX_README = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """One data file and what it holds. `subset`: language or sub-dataset, '' when there is one only."""

    name: str
    table: Table
    subset: str
    split: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to read, in order; `unread` are data files of unknown purpose."""

    kind: Kind
    parts: tuple[Part, ...]
    unread: tuple[str, ...]


def suffix_of(name: str) -> str:
    """Format of a data file by its name: jsonl, json, csv, tsv, parquet or txt; '' when it is none."""
    found = _SUFFIX.search(name)
    kind = found.group(1).lower() if found else ""
    return {"ndjson": "jsonl", "trec": "txt", "qrels": "txt"}.get(kind, kind)


def recognise(root: Path, columns: Any) -> Plan:
    """The plan for a directory or a single file.

    Args:
        root: what the user named.
        columns: called with a file name inside `root`, returns its column names (first record), [] when
            unreadable; used where names do not tell.

    Raises:
        UsageError: nothing of it is known.
    """
    if root.is_file():
        if root.name.lower().endswith(".zip") and holds_pictures(root):
            return Plan("images", (), ())
        if suffix_of(root.name) in ("", "txt"):
            raise UsageError(f"not a dataset: {root.name!r}", file=str(root), hint=LOOKED_FOR)
        return Plan("jsonl", (Part(root.name, "items", "", _split_of([root.name])),), ())
    names = list(_walk(root))
    parts: dict[str, Part] = {}
    for name in names:
        part = _by_name(name)
        if part is not None:
            parts[name] = part
    parts |= _by_configs(root, names, columns)
    rest = [name for name in names if name not in parts and suffix_of(name) not in ("", "txt")]
    if parts:
        parts |= {name: Part(name, "qrels", _subset_of(name), _split_of([name])) for name in rest
                  if looks_like_qrels(columns(name))}  # fmt: skip
    elif rest:
        parts = {name: Part(name, "items", _subset_of(name), _split_of([name])) for name in rest}
    tables = {part.table for part in parts.values()}
    if not parts and holds_pictures(root):
        return Plan("images", (), ())
    if not tables & {"queries", "corpus", "items"}:
        raise UsageError(f"not a dataset: {root.name!r}", file=str(root), hint=LOOKED_FOR)
    unread = tuple(name for name in names if name not in parts and suffix_of(name) not in ("", "txt"))
    ordered = sorted(parts.values(), key=lambda part: (part.table, part.subset, part.split, part.name))
    return Plan(_kind(ordered), tuple(ordered), unread)


def data_files(root: Path) -> list[str]:
    """Files below a directory that hold rows, by their names."""
    return [name for name in _walk(root) if suffix_of(name) != "txt"]


def looks_like_qrels(columns: Sequence[str]) -> bool:
    """Whether columns name a query and a document."""
    known = {name.lower() for name in columns}
    return bool(known & set(QRELS_QUERY)) and bool(known & set(QRELS_DOCUMENT)) and len(known) <= 6


def _kind(parts: Sequence[Part]) -> Kind:
    if parts[0].table == "items":
        return "jsonl"
    texts = {suffix_of(part.name) for part in parts if part.table in ("queries", "corpus")}
    judged = {suffix_of(part.name) for part in parts if part.table == "qrels"}
    return "beir" if texts == {"jsonl"} and judged <= {"tsv", "txt"} else "mteb"


def _walk(root: Path) -> Iterator[str]:
    """Data files below a directory, sorted, hidden folders left out."""
    count = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        count += len(files) + len(folders)
        if count > _MAX_FILES:
            raise UsageError(
                f"{root.name!r} holds more than {_MAX_FILES:,} files",
                file=str(root),
                hint="name the dataset itself",
            )
        for name in sorted(files):
            if not name.startswith(".") and suffix_of(name):
                yield (Path(folder) / name).relative_to(root).as_posix()


def _words(component: str) -> list[str]:
    return [word for word in re.split(r"[-_.\s]+", _SHARD.sub("", component)) if word]


def _components(name: str) -> list[str]:
    parts = name.split("/")
    return [*parts[:-1], _SUFFIX.sub("", parts[-1])]


def _by_name(name: str) -> Part | None:
    """A file whose path says what it is."""
    components = _components(name)
    for place, component in enumerate(components):
        words = _words(component)
        tables = [_NAMES[word.lower()] for word in words if word.lower() in _NAMES]
        other = [word for word in words if word.lower() not in _NAMES]
        other = [word for word in other if word.lower() not in _SPLITS and not word.isdigit()]
        if not tables or not all(_LANGUAGE.match(word) for word in other):
            continue
        table = "qrels" if "qrels" in tables else tables[0]
        if suffix_of(name) == "txt" and table != "qrels":
            return None
        subset = [*components[:place], "-".join(other), *components[place + 1 :]]
        return Part(name, table, _joined(subset), _split_of(components))
    if suffix_of(name) == "txt" and name.lower().endswith((".qrels", ".trec")):
        return Part(name, "qrels", _subset_of(name), _split_of(components))
    return None


def _joined(components: Sequence[str]) -> str:
    """What of a path names a subset: not shard numbers, splits, table names or empty folders."""
    kept = []
    for component in components:
        words = [w for w in _words(component) if w.lower() not in _SPLITS and w.lower() not in _NAMES]
        if words and not (len(words) == 1 and (words[0].lower() in _PLAIN or words[0].isdigit())):
            kept.append("-".join(words))
    return "/".join(kept)


def _subset_of(name: str) -> str:
    return _joined(_components(name)[:-1])


def _split_of(components: Sequence[str]) -> str:
    """test, dev or train when a path says so, the innermost first; else 'all'."""
    for component in reversed(components):
        for word in _words(_SUFFIX.sub("", component)):
            if word.lower() in _SPLITS:
                return _SPLITS[word.lower()]
    return "all"


def _by_configs(root: Path, names: Sequence[str], columns: Any) -> dict[str, Part]:
    """Files that the README's `configs` assign, as Hugging Face datasets do."""
    found: dict[str, Part] = {}
    for config, split, pattern in _configs(root):
        words = _words(config)
        tables = [_NAMES[word.lower()] for word in words if word.lower() in _NAMES]
        other = [w for w in words if w.lower() not in _NAMES and w.lower() not in _PLAIN]
        subset = "-".join(w for w in other if w.lower() not in _SPLITS)
        for name in fnmatch.filter(names, pattern):
            table: Table | None = tables[-1] if tables else None
            if table is None and looks_like_qrels(columns(name)):
                table = "qrels"
            if table is not None:
                found[name] = Part(name, table, subset, _SPLITS.get(split.lower(), _split_of([name])))
    return found


def _configs(root: Path) -> Iterator[tuple[str, str, str]]:
    """(config, split, pattern) of the README's front matter; whatever has another form is passed over."""
    path = root / "README.md"
    try:
        text = path.open("rb").read(_MAX_README).decode("utf-8", "replace")
        head = text.split("---", 2)
        given = yaml.safe_load(head[1]) if text.startswith("---") and len(head) == 3 else None
    except (OSError, yaml.YAMLError, ValueError, RecursionError):
        return
    configs = given.get("configs") if isinstance(given, dict) else None
    listed = [item for item in configs if isinstance(item, dict)] if isinstance(configs, list) else []
    for config in sorted(
        listed, key=lambda item: "filters" not in item
    ):  # some rows of files that others hold
        if not isinstance(config.get("config_name"), str):
            continue
        for split, pattern in _patterns(config.get("data_files")):
            yield config["config_name"], split, pattern


def _patterns(given: Any, split: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(given, str):
        yield split, given.removeprefix("./").replace("**", "*")
    elif isinstance(given, list):
        for item in given:
            yield from _patterns(item, split)
    elif isinstance(given, dict) and "path" in given:
        yield from _patterns(given["path"], str(given.get("split", split)))
    elif isinstance(given, dict):
        for name, item in given.items():
            if isinstance(item, str | list):
                yield from _patterns(item, str(name))
