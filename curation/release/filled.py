"""Queries that a release holds as recipes alone, made from one's own vocabulary: beside it, never in it.

A name is found by its UMLS atom, or by its source; it must have the stated hash, and so must the text that
is made of it. The folder holds the rows of the release with these queries, and cannot be published.
"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.published.manifest import NAME, ReleaseManifest, hash_files, read_manifest
from curation.published.query import QueryRunner, fetch
from curation.published.writer import write_table
from curation.release.filled_names import RECIPES_SQL, added_names
from curation.release.seal import aside
from schemas.confusion_table import CONFUSIONS
from schemas.errors import ReleaseError, UsageError
from schemas.hashing import sha256_file, sha256_text
from schemas.ids import query_id
from schemas.name_tables import NAME_RECIPES, NAMED_TABLES
from schemas.published import Published, language_of, of_language
from schemas.string_tables import RECIPES, STRING_ORIGINS
from schemas.tables import (
    CORPUS,
    EXCLUDED,
    HARD_POOL,
    ORIGIN_CORPUS,
    ORIGIN_QUERIES,
    QRELS,
    QUERIES,
    SOURCES,
)
from schemas.vocabulary import UNCONFIRMED

HOLE = "{name}"
SUFFIX = "-filled"
WHY_NOT = "It holds strings of the user's own restricted vocabulary."
KEPT = (
    *(CORPUS, QUERIES, QRELS, EXCLUDED, SOURCES, ORIGIN_CORPUS, ORIGIN_QUERIES),
    *(STRING_ORIGINS, HARD_POOL),
)
"""The last two are what the measure among passages of the right concept is computed from."""
_OF_NAMES = (CONFUSIONS, *NAMED_TABLES)
"""Tables of a filled folder; what baselines gave for the release is not true of it."""
_HELD = "SELECT DISTINCT source, name, atom, restriction, sha256(name) AS digest FROM names \
WHERE source IN (SELECT DISTINCT source FROM recipes)"
_RECIPES = 'SELECT *, "query-id" AS key FROM recipes'
_FOUND = f"""
    WITH held AS ({_HELD}),
    named AS (
        SELECT h.source, digest, min(name) AS name, max(restriction) AS restriction, min(s.release) AS release
        FROM held AS h LEFT JOIN sources AS s ON s.source = h.source GROUP BY ALL
    )
    SELECT r.*, n.name, n.restriction, n.release, r.source IN (SELECT source FROM held) AS has_source,
        r.atom <> '' AND r.atom IN (SELECT atom FROM held) AS has_atom
    FROM ({{recipes}}) AS r LEFT JOIN named AS n ON n.source = r.source AND n.digest = r.name_sha256
    ORDER BY r.key
"""
"""A vocabulary keeps one atom of names that differ in nothing else, so what counts is the hash."""
_ORIGINS = "SELECT family, split, min(id) AS id FROM origins WHERE family <> '' GROUP BY ALL"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Missing:
    """A recipe that could not be filled.

    `reason`: source_absent (the vocabulary has no name of its source), atom_absent, name_absent (the source
    has no atoms), other_wording (the atom is there with other words), recipe_changed (name and frame do not
    give the text that is stated).
    """

    query: str
    source: str
    atom: str
    reason: str


@dataclass(frozen=True, slots=True)
class Filling:
    """What the recipes of a task give with a vocabulary: texts by `key`, the recipes, what is missing.

    The key of a query's recipe is its id, that of a name's recipe `<query>/<language>/<document>`.
    """

    recipes: tuple[Mapping[str, Any], ...]
    texts: Mapping[str, str]
    missing: tuple[Missing, ...]

    def reasons(self) -> dict[str, int]:
        """Missing recipes by reason."""
        return dict(sorted(Counter(item.reason for item in self.missing).items()))


def look_up(query: QueryRunner, directory: Path, names: Path, sources: Path) -> Filling:
    """Find the names of a task's recipes, and make the texts.

    Args:
        query: runs SQL over Parquet.
        directory: the released task; it is only read.
        names: Parquet of ConceptName rows of the user's vocabulary.
        sources: Parquet of its VocabularySource rows.

    Raises:
        ReleaseError: a file of recipes is not the one that release.json states.
    """
    manifest = read_manifest(directory)
    names_only = NAME_RECIPES.files(directory)
    files = names_only or RECIPES.files(directory)
    for path in files:
        if sha256_file(path) != manifest.files.get(path.relative_to(directory).as_posix()):
            raise ReleaseError(
                "a file of recipes was changed",
                file=str(path),
                hint="fetch the release again: medqrels audit",
            )
    if not files:
        return Filling((), {}, ())
    texts: dict[str, str] = {}
    missing = []
    found = _FOUND.format(recipes=RECIPES_SQL if names_only else _RECIPES)
    rows = fetch(query, found, {"recipes": files, "names": [names], "sources": [sources]})
    for row in rows:
        text, reason = _made_name(row) if names_only else _made(manifest.task, row)
        if reason:
            missing.append(Missing(row["key"], row["source"], row["atom"], reason))
        else:
            texts[row["key"]] = text
    return Filling(tuple(rows), texts, tuple(missing))


def _absent(row: Row) -> str:
    """Why a recipe's name is not in the vocabulary."""
    if not row["has_source"]:
        return "source_absent"
    if not row["atom"]:
        return "name_absent"
    return "other_wording" if row["has_atom"] else "atom_absent"


def _made_name(row: Row) -> tuple[str, str]:
    """The name of one recipe: spelt out, or found by its hash."""
    if not row["text"]:
        return ("", _absent(row)) if row["name"] is None else (row["name"], "")
    return (row["text"], "") if sha256_text(row["text"]) == row["text_sha256"] else ("", "recipe_changed")


def _made(task: str, row: Row) -> tuple[str, str]:
    """The text of one recipe, or why there is none."""
    if row["name"] is None:
        return "", _absent(row)
    text = row["frame"].replace(HOLE, row["name"])
    is_same = (
        sha256_text(text) == row["text_sha256"] and query_id(task, row["language"], text) == row["query-id"]
    )
    return (text, "") if is_same else ("", "recipe_changed")


def write_filled(
    query: QueryRunner, directory: Path, filling: Filling, target: Path, vocabulary: str
) -> ReleaseManifest:
    """Write the task with its filled queries into a new folder; the release is only read.

    Args:
        query: runs SQL over Parquet.
        directory: the released task.
        filling: what `look_up` found.
        target: folder to make.
        vocabulary: fingerprint of the vocabulary that gave the names.

    Raises:
        UsageError: the folder holds something, or is in a release.
    """
    if target.resolve().is_relative_to(directory.resolve()):
        raise UsageError(
            "what is filled cannot go into a release", file=str(target), hint="name another folder"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            "the folder holds something", file=str(target), hint="name one that is not there yet"
        )
    manifest = read_manifest(directory)
    target.parent.mkdir(parents=True, exist_ok=True)
    with aside(target) as folder:
        has_names = bool(NAME_RECIPES.files(directory))
        added: Mapping[str, Mapping[tuple[str, str], Sequence[Row]]] = (
            added_names(query, directory, filling.recipes, filling.texts)
            if has_names
            else _added(query, directory, filling)
        )
        counts = dict(manifest.counts)
        for table in (*KEPT, *(_OF_NAMES if has_names else ())):
            _merge(table, directory, folder, added.get(table.name, {}))
            counts[table.name] = sum(pq.read_metadata(path).num_rows for path in table.files(folder))
        (folder / "README.md").write_text(_readme(manifest, folder), encoding="utf-8", newline="\n")
        filled = _head(manifest, counts, hash_files(folder), vocabulary)
        (folder / NAME).write_text(filled.to_json(), encoding="utf-8", newline="\n")
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)
    return filled


def _head(
    manifest: ReleaseManifest, counts: Mapping[str, int], files: Mapping[str, str], vocabulary: str
) -> ReleaseManifest:
    """release.json of a filled folder: it names its version so, and cannot be published."""
    made = replace(
        manifest,
        version=manifest.version.removesuffix(SUFFIX) + SUFFIX,
        publishable_by_content=False,
        not_publishable_because=tuple(dict.fromkeys((*manifest.not_publishable_because, WHY_NOT))),
        counts=counts,
        files=files,
        vocabulary=vocabulary,
        shaped_by=(),
        change={},
    )
    return replace(made, release_hash=made.computed_hash())


def _added(
    query: QueryRunner, directory: Path, filling: Filling
) -> dict[str, dict[tuple[str, str], list[Row]]]:
    """Rows of the filled queries by table, split and language: those of a translation, and their text."""
    origins = fetch(query, _ORIGINS, {"origins": ORIGIN_QUERIES.files(directory)})
    siblings = {row["family"]: (row["split"], row["id"]) for row in origins}
    wanted = {sibling for _, sibling in siblings.values()}
    held = {
        table.name: _by(directory, table, column, wanted)
        for table, column in (
            (QUERIES, "id"),
            (ORIGIN_QUERIES, "id"),
            (QRELS, "query-id"),
            (EXCLUDED, "query-id"),
            (HARD_POOL, "query-id"),
        )
    }
    found: dict[str, dict[tuple[str, str], list[Row]]] = defaultdict(lambda: defaultdict(list))
    for recipe in filling.recipes:
        name = recipe["query-id"]
        family = f"{recipe['concept']}/{recipe['facet']}"
        if name not in filling.texts:
            continue
        if family not in siblings:
            raise ReleaseError(
                f"no query of the family {family} is in the release", record=name, file=str(directory),
                hint="fetch the release again: recipes are of questions that other languages ask, too",
            )  # fmt: skip
        split, sibling = siblings[family]
        place = (split, recipe["language"])
        own = {
            "id": name,
            "text": filling.texts[name],
            "language": recipe["language"],
            "license": _licence(recipe),
        }
        found[QUERIES.name][place] += [{**row, **own} for row in held[QUERIES.name][sibling]]
        origin = {
            "id": name,
            "source_id": f"{family}/{recipe['language']}",
            "text_sha256": recipe["text_sha256"],
            "license_evidence": f"template {recipe['template']}; the name is quoted from {recipe['source']}",
        }
        found[ORIGIN_QUERIES.name]["test", ""] += [
            {**row, **origin} for row in held[ORIGIN_QUERIES.name][sibling]
        ]
        found[QRELS.name][place] += [{**row, "query-id": name} for row in held[QRELS.name][sibling]]
        found[EXCLUDED.name][split, ""] += [{**row, "query-id": name} for row in held[EXCLUDED.name][sibling]]
        found[HARD_POOL.name]["test", ""] += [
            {**row, "query-id": name} for row in held[HARD_POOL.name][sibling]
        ]
        found[STRING_ORIGINS.name]["test", ""].append(_string(recipe))
    return found


def _string(recipe: Mapping[str, Any]) -> Row:
    """Where the words of a filled query come from: a row of `strings`."""
    start = recipe["frame"].index(HOLE)
    same = ("query-id", "language", "template", "name", "concept", "source", "release", "term_type")
    return {
        **{column: recipe[column] for column in same},
        "restriction": recipe["restriction"],
        "kind": "template",
        "start": start,
        "end": start + len(recipe["name"]),
        "record": "",
        "license": _licence(recipe),
        "status": "candidate" if recipe["term_type"] == UNCONFIRMED else "official",
        "tier": "restricted",
    }


def _licence(recipe: Mapping[str, Any]) -> str:
    return f"LicenseRef-restricted-{recipe['source']}"


def _by(directory: Path, table: Published, column: str, wanted: Iterable[str]) -> dict[str, list[Row]]:
    """Rows of a table by the query they are of."""
    chosen = pa.array(sorted(wanted), pa.string())
    found: dict[str, list[Row]] = defaultdict(list)
    for path in table.files(directory):
        read = pq.read_table(path, filters=pa.compute.field(column).isin(chosen))
        for row in read.to_pylist():
            found[row[column]].append(row)
    return found


def _merge(
    table: Published, directory: Path, folder: Path, added: Mapping[tuple[str, str], Sequence[Row]]
) -> None:
    """Files of a table: copied byte for byte, written anew where rows come in."""
    renewed = {share for share, rows in added.items() if rows}
    (folder / table.folder).mkdir(parents=True, exist_ok=True)
    for path in table.files(directory):
        if (path.name.partition("-")[0], language_of(path)) not in renewed:
            shutil.copyfile(path, folder / table.folder / path.name)
    for split, language in sorted(renewed):
        share = f"{split}-{language}" if language else split
        old = [path for path in table.files(directory, split) if language_of(path) == language]
        known = old or table.files(directory)
        form = table.only(pq.read_schema(known[0]).names) if known else table
        rows = pa.Table.from_pylist(list(added[split, language]), schema=form.schema)
        whole = pa.concat_tables([*(pq.read_table(path).cast(form.schema) for path in old), rows])
        ordered = whole.sort_by([(column, "ascending") for column in table.key])
        write_table(form, iter([ordered]), folder, split=share)


def _readme(manifest: ReleaseManifest, folder: Path) -> str:
    """What the folder is, and how `datasets` loads it."""
    lines = ["---", "configs:"]
    for table in (*KEPT, *_OF_NAMES):
        shares: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for path in table.files(folder):
            split, language = path.name.partition("-")[0], language_of(path)
            shares[of_language(table.name, language) if language else table.name].append(
                (split, f"{table.folder}/{split}-{language}*.parquet")
            )
        for name, places in sorted(shares.items()):
            lines += [f"- config_name: {name}", "  data_files:"]
            for split, pattern in sorted(set(places)):
                lines += [f"  - split: {split}", f"    path: {pattern}"]
    return "\n".join(
        [
            *lines, "---", "",
            f"{manifest.title}: {manifest.task_title}, version {manifest.version}, with the queries that the "
            "release holds as recipes alone.",
            "", f"{WHY_NOT} It must not be passed on.", "",
        ]
    )  # fmt: skip
