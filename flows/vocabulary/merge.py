"""Merges the chosen sources into one vocabulary and makes it the one in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.vocabulary import merge_sql
from curation.vocabulary.merge import CrossReference, Merge, merge
from curation.vocabulary.tables import TABLES
from flows.engine.database import add_view, write_select
from flows.engine.manifest import Output
from flows.engine.progress import Reporter, Steps
from flows.engine.workspace import Workspace
from flows.vocabulary.connection import Connection, opened
from flows.vocabulary.ranges import bounds, select_ranges, told
from flows.vocabulary.store import (
    Build,
    Vocabulary,
    fingerprint,
    finished,
    home,
    link,
    set_current,
    write_batches,
)
from schemas.errors import UsageError
from schemas.record import arrow_schema
from schemas.stages import Sql
from schemas.wording import counted

VERSION = 5
"""Changes when the same sources would merge into other rows."""
MEMORY = "2GB"
_RANGED: dict[str, Callable[[str], str]] = {
    "names": merge_sql.names,
    "relations": merge_sql.relations,
    "types": merge_sql.types,
    "definitions": merge_sql.definitions,
}
_WHOLE = {"mappings": merge_sql.MAPPINGS, "retired": merge_sql.RETIRED, "sources": merge_sql.SOURCES}
STEPS = len(_RANGED) + len(_WHOLE) + 1


def merged_identity(sources: Sequence[Vocabulary]) -> dict[str, Any]:
    """What a merge depends on: the sources, in no order, and the version of the code."""
    made_from = {item.folder.name: item.fingerprint for item in sources}
    return {"kind": "merged", "version": VERSION, "made_from": dict(sorted(made_from.items()))}


def merge_sources(
    workspace: Workspace, sources: Sequence[Vocabulary], reporter: Reporter, memory: str = MEMORY
) -> Vocabulary:
    """Merge sources into their folder, or find that this was done, and make it the one in use.

    Raises:
        UsageError: no source.
    """
    if not sources:
        raise UsageError("a vocabulary needs at least one source", hint="medqrels vocabulary add hpo")
    ordered = sorted(sources, key=lambda item: item.folder.name)
    identity = merged_identity(ordered)
    folder = home(workspace) / f"merged-{fingerprint(identity)[:12]}"
    held = finished(folder)
    if held is None:
        build = Build(folder, identity)
        with (
            opened(memory, build.scratch) as connection,
            reporter.stage("merge", STEPS, "tables") as steps,
        ):
            held = _Merging(connection, ordered, build).run(steps)
    set_current(workspace, held)
    return held


@dataclass(slots=True)
class _Merging:
    connection: Connection
    sources: Sequence[Vocabulary]
    build: Build

    def run(self, steps: Steps) -> Vocabulary:
        untranslated = self._views()
        outcome = self._decide()
        joined = self._count("members SEMI JOIN live USING (concept)")
        concepts = self._count("live") - joined
        steps.advance(note=f"{counted(joined, 'id')} joined")
        for name in _RANGED:
            output = self.build.table(name, self._ranged(name, outcome, steps))
            steps.advance(note=f"{output.rows} {name}")
        for name, text in _WHOLE.items():
            table = TABLES[name]
            self.connection.execute(f"CREATE OR REPLACE VIEW {name}_merged AS {text}")
            sql = table.unique(f"{name}_merged")
            output = self.build.table(name, lambda path, sql=sql: write_select(self.connection, sql, path))  # type: ignore[misc]
            steps.advance(note=f"{output.rows} {name}")
        return self.build.finish(self._facts(outcome, concepts, joined, untranslated))

    def _files(self, name: str) -> list[Path]:
        return [item.table(name) for item in self.sources if item.rows(name)]

    def _count(self, what: str) -> int:
        row = self.connection.execute(f"SELECT count(*) FROM {what}").fetchone()
        return int(row[0]) if row else 0

    def _views(self) -> int:
        """All tables of all sources together; returns how many translations have no concept here."""
        for name, table in TABLES.items():
            if name not in ("names", "drops"):
                add_view(self.connection, name, self._files(name), table.row)
        originals = [item for item in self.sources if not self._base_of(item)]
        add_view(
            self.connection,
            "original_names",
            [item.table("names") for item in originals if item.rows("names")],
            TABLES["names"].row,
        )
        parts = ["SELECT * FROM original_names"]
        lost = 0
        for number, item in enumerate(self.sources):
            base = self._base_of(item)
            if base is not None and item.rows("names"):
                parts.append(self._translation(item, base, f"t{number}"))
                lost += item.rows("names") - self._count(f"translated_t{number}")
        self.connection.execute("CREATE VIEW names AS " + " UNION ALL ".join(parts))
        self.connection.execute("CREATE TABLE live AS SELECT DISTINCT concept FROM names")
        return lost

    def _base_of(self, item: Vocabulary) -> Vocabulary | None:
        """The vocabulary that one translates, if it is here too."""
        wanted = item.manifest.get("translates", "")
        found = [other for other in self.sources if wanted and other.manifest["source"] == wanted]
        return found[0] if found else None

    def _translation(self, item: Vocabulary, base: Vocabulary, view: str) -> str:
        add_view(self.connection, f"{view}_names", [item.table("names")], TABLES["names"].row)
        add_view(self.connection, f"{view}_base_names", [base.table("names")], TABLES["names"].row)
        add_view(self.connection, f"{view}_base_retired", [base.table("retired")], TABLES["retired"].row)
        text = merge_sql.translated(f"{view}_names")
        text = text.replace("base_retired", f"{view}_replaced").replace("FROM base)", f"FROM {view}_base)")
        self.connection.execute(
            f"CREATE TABLE {view}_base AS SELECT DISTINCT concept FROM {view}_base_names;"
            f"CREATE TABLE {view}_replaced AS SELECT concept, max(replacement) AS replacement"
            f" FROM {view}_base_retired WHERE replacement <> '' GROUP BY concept;"
            f"CREATE TABLE translated_{view} AS {text}"
        )
        return f"SELECT * FROM translated_{view}"

    def _decide(self) -> Merge:
        """Which ids become one: tables `members` and `statuses`."""
        run = self.connection.execute
        run(f"CREATE TABLE targets AS {merge_sql.TARGETS}")
        references = [CrossReference(*row) for row in run(merge_sql.CANDIDATES).fetchall()]
        namesakes = [(one, two) for one, two in run(merge_sql.NAMESAKES).fetchall()]
        ends = {item.concept for item in references} | {item.target for item in references if item.is_live}
        outcome = merge(references, ends.union(*namesakes), namesakes)
        members = sorted(outcome.canonical.items())
        self.connection.register(
            "members",
            pa.table(
                {"concept": _text(row[0] for row in members), "canonical": _text(row[1] for row in members)}
            ),
        )
        run(f"CREATE TABLE misnamed AS {merge_sql.MISNAMED}")
        statuses = sorted(outcome.status.items())
        columns = {
            name: _text(key[place] for key, _ in statuses)
            for place, name in enumerate(("concept", "other", "source"))
        }
        self.connection.register("statuses", pa.table({**columns, "status": _text(s for _, s in statuses)}))
        return outcome

    def _ranged(self, name: str, outcome: Merge, steps: Steps) -> Callable[[Path], Output]:
        table, files = TABLES[name], self._files(name)
        translated = name == "names" and any(self._base_of(item) for item in self.sources)
        if len(files) == 1 and not outcome.canonical and not translated:
            rows = max(item.rows(name) for item in self.sources)
            return link(files[0], rows)

        def statements() -> Iterator[Sql]:
            for condition in told(bounds(files, "concept"), "concept", steps, name):
                self.connection.execute(f"CREATE OR REPLACE VIEW {name}_merged AS {_RANGED[name](condition)}")
                yield table.unique(f"{name}_merged")

        return lambda path: write_batches(
            select_ranges(self.connection, statements()), arrow_schema(table.row), path
        )

    def _facts(self, outcome: Merge, concepts: int, joined: int, untranslated: int) -> dict[str, Any]:
        said = ("source", "reader", "release", "licence", "tier", "inputs", "options")
        status = Counter(outcome.status.values())
        return {
            "sources": [
                {"folder": item.folder.name, **{key: item.manifest[key] for key in said}}
                for item in self.sources
            ],
            "concepts": concepts,
            "cross_references": {key: status[key] for key in ("merged", "kept", "refused")},
            "ids_joined": joined,
            "translations_without_concept": untranslated,
        }


def _text(values: Iterator[str]) -> pa.Array:
    return pa.array(list(values), pa.string())
