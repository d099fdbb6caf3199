"""A UMLS Metathesaurus to tables: 17 M names stream through DuckDB, range by range of the CUI."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.vocabulary import umls
from curation.vocabulary.semantic import groups
from curation.vocabulary.tables import TABLES
from curation.vocabulary.umls import LAYOUT, UmlsOptions
from flows.engine.database import add_view, write_select
from flows.engine.manifest import Output, write_parquet
from flows.engine.progress import Reporter, Steps
from flows.engine.workspace import Workspace
from flows.vocabulary.connection import Connection, opened
from flows.vocabulary.ranges import bounds, select_ranges, told
from flows.vocabulary.store import Build, Vocabulary, fingerprint, finished, home, write_batches
from flows.vocabulary.umls_files import Part, add_file_view, find_parts, readable, release_of, stage_file
from schemas.errors import InputError
from schemas.hashing import sha256_file, sha256_text
from schemas.record import arrow_schema, to_table
from schemas.stages import Drop, Sql
from schemas.wording import counted

VERSION = 3
"""Changes when the same Metathesaurus would give other rows."""
MEMORY = "2GB"
"""DuckDB's part of the 4 GB a build may take."""
_RELATION_ROWS = 4_000_000


def umls_identity(place: Path, options: UmlsOptions) -> dict[str, Any]:
    """What a build of this Metathesaurus depends on: hashes of its files, options, version of the code.

    Raises:
        UsageError: not a Metathesaurus, or an option it cannot have.
    """
    options.check([*groups(), *groups().values()])
    parts = find_parts(place)
    files = sorted({part.path for name in parts.values() for part in name})
    return {
        "kind": "source",
        "source": "UMLS",
        "reader": "umls",
        "version": VERSION,
        "options": dataclasses.asdict(options) | {"release": release_of(place, parts)},
        "inputs": {path.name: sha256_file(path) for path in files},
    }


def build_umls(
    workspace: Workspace, place: Path, options: UmlsOptions, reporter: Reporter, memory: str = MEMORY
) -> Vocabulary:
    """Read a Metathesaurus into its folder, or find that this was done.

    Raises:
        UsageError: not a Metathesaurus, or an option it cannot have.
        InputError: a file is not RRF, or the options leave no name.
    """
    reporter.line("umls: reading the files' hashes")
    identity = umls_identity(place, options)
    folder = home(workspace) / "sources" / f"UMLS-{fingerprint(identity)[:12]}"
    held = finished(folder)
    if held is not None:
        return held
    build = Build(folder, identity)
    parts = find_parts(place)
    with (
        opened(memory, build.scratch) as connection,
        reporter.stage("umls", len(parts) + len(TABLES), "files and tables") as steps,
    ):
        dropped = _stage(connection, build, parts, steps)
        release = identity["options"]["release"] or _newest(connection)
        sha256 = sha256_text("".join(f"{name} {sha}\n" for name, sha in sorted(identity["inputs"].items())))
        return _tables(connection, build, options, (release, sha256), dropped, steps)


def _stage(
    connection: Connection, build: Build, parts: Mapping[str, Sequence[Part]], steps: Steps
) -> list[Drop]:
    dropped: list[Drop] = []
    for name in LAYOUT:
        if name not in parts:
            add_file_view(connection, name, None)
            continue
        staged = build.scratch / f"{name}.parquet"

        def make(path: Path, name: str = name) -> Mapping[str, Any]:
            drops = stage_file(connection, name, readable(name, parts[name], build.scratch), path)
            (build.scratch / f"{name}.RRF").unlink(missing_ok=True)
            return {"drops": [dataclasses.asdict(drop) for drop in drops]}

        dropped += [Drop(**item) for item in build.step(name, make, staged)["drops"]]
        add_file_view(connection, name, staged)
        steps.advance(note=f"{name}.RRF read")
    return dropped


def _newest(connection: Connection) -> str:
    row = connection.execute("SELECT max(IMETA) FROM MRSAB").fetchone()
    return str(row[0] or "") if row else ""


def _tables(
    connection: Connection,
    build: Build,
    options: UmlsOptions,
    stamp: tuple[str, str],
    dropped: list[Drop],
    steps: Steps,
) -> Vocabulary:
    connection.execute(f"CREATE TABLE typed AS {umls.typed(options, groups())}")
    names = build.table("names", lambda path: _names(connection, options, build.scratch, path, steps))
    if not names.rows:
        raise InputError(
            "no name of this Metathesaurus passes the options",
            file=str(build.folder),
            hint="choose other --languages, --sources or --types",
        )
    steps.advance(note=counted(names.rows, "name"))
    add_view(connection, "names", [build.folder / "names.parquet"], TABLES["names"].row)
    connection.execute("CREATE TABLE kept AS SELECT DISTINCT concept FROM names")
    connection.execute("CREATE VIEW live AS SELECT DISTINCT CUI FROM MRCONSO")
    connection.execute("CREATE TABLE kept_sources AS SELECT DISTINCT source FROM names")
    for name, sql in (
        ("types", umls.types(groups())),
        ("definitions", umls.definitions(options)),
        ("mappings", umls.MAPPINGS),
        ("retired", umls.RETIRED),
        ("sources", umls.sources(*stamp)),
    ):
        output = build.table(name, lambda path, sql=sql: write_select(connection, sql, path))  # type: ignore[misc]
        steps.advance(note=f"{output.rows} {name}")
    output = build.table(
        "relations", lambda path: _relations(connection, options, build.scratch, path, steps)
    )
    steps.advance(note=counted(output.rows, "relation"))
    build.table("drops", lambda path: _drops(dropped, path))
    steps.advance()
    return build.finish(_facts(connection, options, stamp[0], names.rows, dropped))


def _names(connection: Connection, options: UmlsOptions, scratch: Path, path: Path, steps: Steps) -> Output:
    """Unique names, a range of CUIs at a time."""
    text = umls.names(options)
    table = TABLES["names"]

    def statements() -> Iterator[Sql]:
        cuts = bounds([scratch / "MRCONSO.parquet"], "CUI")
        for condition in told(cuts, "CUI", steps, "names"):
            ranged = text.replace("FROM MRCONSO WHERE", f"FROM MRCONSO WHERE {condition} AND")
            connection.execute(f"CREATE OR REPLACE VIEW read_names AS {ranged}")
            yield table.unique("read_names")

    return write_batches(select_ranges(connection, statements()), arrow_schema(table.row), path)


def _relations(
    connection: Connection, options: UmlsOptions, scratch: Path, path: Path, steps: Steps
) -> Output:
    sql = umls.relations(options)
    staged = scratch / "MRREL.parquet"
    if not staged.is_file():
        return write_select(connection, sql, path)

    def statements() -> Iterator[Sql]:
        cuts = bounds([staged], "CUI1", _RELATION_ROWS)
        for condition in told(cuts, "CUI1", steps, "relations"):
            yield Sql(
                sql.text.replace("FROM MRREL WHERE", f"FROM MRREL WHERE {condition} AND"),
                sql.row,
                sql.order_by,
            )

    return write_batches(select_ranges(connection, statements()), arrow_schema(sql.row), path)


def _drops(dropped: list[Drop], path: Path) -> Output:
    write_parquet(path, to_table(Drop, dropped))
    return Output(path.name, sha256_file(path), len(dropped))


def _facts(
    connection: Connection, options: UmlsOptions, release: str, kept: int, dropped: list[Drop]
) -> dict[str, Any]:
    """Release, licence and where every line of MRCONSO went."""
    lines = sum(drop.article_id == "MRCONSO.RRF" for drop in dropped)
    counts: dict[str, int] = {}
    remaining = "true"
    for reason, condition in umls.left_out(options).items():
        row = connection.execute(f"SELECT count(*) FROM MRCONSO WHERE {remaining} AND {condition}").fetchone()
        counts[reason] = int(row[0]) if row else 0
        remaining += f" AND NOT ({condition})"
    row = connection.execute("SELECT count(*) FROM MRCONSO").fetchone()
    total = int(row[0]) if row else 0
    counts["repeated"] = total - sum(counts.values()) - kept
    return {
        "release": release,
        "licence": "UMLS Metathesaurus License",
        "tier": "terms",
        "prefixes": ["UMLS"],
        "translates": "",
        "names_read": total + lines,
        "names_left_out": {**counts, "ill_formed": lines},
    }
