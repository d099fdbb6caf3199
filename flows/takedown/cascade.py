"""What goes when something is withdrawn: found in the tables of the workspace and in its releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.published.manifest import NAME
from curation.published.query import QueryRunner, fetch
from curation.release.withdrawal import VIEW, of_published, rests_on
from curation.tasks.registry import TASKS
from flows.crawl.selection import Selection, selections
from flows.engine.connection import query
from flows.engine.runner import shards_of, table_files
from flows.engine.workspace import Workspace
from flows.review.store import FOLDER, review_folders
from schemas.errors import UsageError
from schemas.ids import article_of, family_key
from schemas.image_tables import ORIGIN_IMAGES, ROW_IMAGES
from schemas.larger_tables import PARTS
from schemas.published import Published
from schemas.record import to_table
from schemas.tables import ORIGIN_CORPUS, ORIGIN_QRELS, ORIGIN_QUERIES
from schemas.withdrawal import WithdrawalReason, Withdrawn, WithdrawnUnit
from sources.stage import CRAWL

_IMAGES = "SELECT DISTINCT figure_id, article_id, sha256 FROM images"
_RECORDS: tuple[tuple[WithdrawnUnit, str, str], ...] = (
    ("figure", "extract.figures", "id"),
    ("passage", "extract.passages", "id"),
    ("patient", "cases.cases", "id"),
    ("image", "images.images", "sha256"),
)
_ROWS: tuple[tuple[WithdrawnUnit, str], ...] = (("query", "queries"), ("document", "documents"))
_PUBLISHED: tuple[tuple[WithdrawnUnit, Published], ...] = (
    ("query", ORIGIN_QUERIES),
    ("document", ORIGIN_CORPUS),
)
Views = Mapping[str, Sequence[Path]]


@dataclass
class Cascade:
    """Everything that one withdrawal takes along.

    Attributes:
        rows: for the list: what was named first, then what goes with it, by unit and id.
        work: rows of the workspace's tables that go, counted by table.
        releases: release and task -> ids of published rows that rest on it.
        review: review -> ids of items that show a withdrawn query or document.
    """

    rows: list[Withdrawn]
    work: dict[str, int] = field(default_factory=dict)
    releases: dict[str, list[str]] = field(default_factory=dict)
    review: dict[str, list[str]] = field(default_factory=dict)

    @property
    def named(self) -> Withdrawn:
        """What was asked for."""
        return self.rows[0]


def resolve(workspace: Workspace, name: str, reason: WithdrawalReason, notice: str) -> Withdrawn:
    """What an id means here.

    Args:
        workspace: an open workspace.
        name: article (also a PMCID or another key of a repository), figure, passage, patient, query or
            document id, or the SHA-256 of an image.
        reason: why it is withdrawn.
        notice: what was said of it, one line.

    Raises:
        UsageError: nothing in the workspace or its releases has that id.
    """
    named = Withdrawn(id=name, unit="document", reason=reason, notice=" ".join(notice.split()))
    return _resolved(workspace, named, query())


def cascade(workspace: Workspace, named: Withdrawn, scratch: Path) -> Cascade:
    """Find what rests on something, in the workspace and its releases.

    Args:
        workspace: an open workspace.
        named: what is withdrawn.
        scratch: an existing folder for a small table.
    """
    database = query()
    found = Cascade([named])
    found.rows += _records(workspace, found, database)
    listed = scratch / "named.parquet"
    pq.write_table(to_table(Withdrawn, found.rows), listed)
    rows = _rest_on_it(workspace, found, database, listed)
    known = {row.id for row in found.rows}
    found.rows += [_with(found.named, id, unit) for unit, id in sorted(rows) if id not in known]
    gone = {row.id for row in found.rows}
    for dataset, task, folder in _reviews(workspace):
        items = [one.id for one in folder.candidates() if {one.query_id, one.corpus_id} & gone]
        if items:
            found.review[f"{dataset}/{task}"] = items
    return found


def _reviews(workspace: Workspace) -> Iterator[Any]:
    if any((workspace.root / FOLDER).glob("*/*/candidates.parquet")):
        yield from review_folders(workspace)


def _with(named: Withdrawn, id: str, unit: WithdrawnUnit) -> Withdrawn:
    return Withdrawn(id=id, unit=unit, reason=named.reason, notice=named.notice, parent=named.id)


def _resolved(workspace: Workspace, named: Withdrawn, database: QueryRunner) -> Withdrawn:
    """The same with what its id names."""
    name = named.id
    for selection, id, locator in crawled(workspace):
        if name in (id, locator) or ("#" not in name and family_key(name) == family_key(id)):
            return replace(named, id=id, unit="article", source=selection.source, locator=locator)
    for unit, record, column in _RECORDS:
        if _holds(database, table_files(workspace, record), column, name):
            return replace(named, unit=unit)
    for task in TASKS.values():
        for unit, row in _ROWS:
            if _holds(database, table_files(workspace, f"{task.over_all.name}.{row}"), "id", name):
                return replace(named, unit=unit)
    for directory in published(workspace):
        for unit, table in _PUBLISHED:
            if _holds(database, table.files(directory), "id", name):
                return replace(named, unit=unit)
            if _holds(database, table.files(directory), "article_id", name):
                return replace(named, unit="article")
    raise UsageError(
        "nothing in this workspace or its releases has that id",
        record=name,
        file=str(workspace.root),
        hint=f"medqrels show {article_of(name)} lists the records of an article",
    )


def _holds(database: QueryRunner, files: Sequence[Path], column: str, value: str) -> bool:
    if not files:
        return False
    quoted = value.replace("'", "''")
    text = f"SELECT count(*) AS n FROM held WHERE {column} = '{quoted}'"
    return bool(fetch(database, text, {"held": files})[0]["n"])


def crawled(workspace: Workspace) -> Iterator[tuple[Selection, str, str]]:
    """(shard, article id, locator) of every article that a crawl keeps."""
    finished = shards_of(workspace, CRAWL)
    for selection in selections(workspace):
        if selection.shard in finished:
            file = finished[selection.shard].outputs["raw"].file
            path = workspace.stage(CRAWL) / selection.shard / file
            held = pq.read_table(path, columns=["id", "locator"]).to_pydict()
            for id, locator in zip(held["id"], held["locator"], strict=True):
                yield selection, id, locator


def published(workspace: Workspace) -> list[Path]:
    """Task folders of every release in the workspace, in order."""
    return sorted(path.parent for path in workspace.releases.glob(f"*/*/*/{NAME}"))


def _records(workspace: Workspace, found: Cascade, database: QueryRunner) -> list[Withdrawn]:
    """Records that what was named consists of, or is shown by; of an article its own id says enough."""
    named = found.named
    name = named.id.replace("'", "''")
    views = {
        "images": table_files(workspace, "images.images"),
        "cases": table_files(workspace, "cases.cases"),
        "figures": table_files(workspace, "extract.figures"),
        "passages": table_files(workspace, "extract.passages"),
    }
    wanted = {
        "figure": f"SELECT sha256 AS id, 'image' AS unit FROM ({_IMAGES}) WHERE figure_id = '{name}'",
        "image": f"SELECT figure_id AS id, 'figure' AS unit FROM ({_IMAGES}) WHERE sha256 = '{name}'",
        "patient": f"""SELECT figure AS id, 'figure' AS unit FROM
                (SELECT unnest(figures) AS figure FROM cases WHERE id = '{name}')
            UNION SELECT sha256, 'image' FROM ({_IMAGES}) WHERE figure_id IN
                (SELECT unnest(figures) FROM cases WHERE id = '{name}')
            UNION SELECT span.passage_id, 'passage' FROM
                (SELECT unnest(spans) AS span FROM cases WHERE id = '{name}')""",
    }.get(named.unit)
    if named.unit == "article":
        for table, column in (("figures", "article_id"), ("passages", "article_id"), ("cases", "article_id")):
            if views[table]:
                count = f"SELECT count(*) AS n FROM {table} WHERE {column} = '{name}'"
                found.work[table] = fetch(database, count, views)[0]["n"]
    if wanted is None or not all(views.values()):
        return []
    rows = fetch(database, f"SELECT DISTINCT id, unit FROM ({wanted}) ORDER BY unit, id", views)
    return [_with(named, row["id"], row["unit"]) for row in rows]


def _rest_on_it(
    workspace: Workspace, found: Cascade, database: QueryRunner, listed: Path
) -> set[tuple[WithdrawnUnit, str]]:
    """Queries and documents of task tables and of releases that rest on what is listed."""
    rows: set[tuple[WithdrawnUnit, str]] = set()
    for task in TASKS.values():
        names = ("queries", "documents", "qrels")
        views = {name: table_files(workspace, f"{task.over_all.name}.{name}") for name in names}
        listing = ROW_IMAGES.name if task.lists_images else ""
        if listing:
            views[listing] = table_files(workspace, f"{task.over_all.name}.{listing}")
        parts = PARTS.name if PARTS.name in task.extra_tables else ""
        if parts:
            views[parts] = table_files(workspace, f"{task.over_all.name}.{parts}")
        if not all(views.values()):
            continue
        for unit, table in _ROWS:
            ids = _ids(database, rests_on(table, unit, listing, parts), {**views, VIEW: [listed]})
            rows |= {(unit, id) for id in ids}
            if ids:
                found.work[f"{task.name} {table}"] = len(ids)
    for directory in published(workspace):
        held: list[str] = []
        for unit, shown in _PUBLISHED:
            held_in: Views = {
                shown.name: shown.files(directory),
                ORIGIN_QRELS.name: ORIGIN_QRELS.files(directory),
                VIEW: [listed],
            }
            if not all(held_in.values()):
                continue
            beside = {table.name: table.files(directory) for table in (ORIGIN_IMAGES, PARTS)}
            held_in = {**held_in, **{name: files for name, files in beside.items() if files}}
            pictured, parted = (bool(files) for files in beside.values())
            resting = of_published(unit, with_images=pictured, with_parts=parted)
            ids = _ids(database, resting, held_in)
            rows |= {(unit, id) for id in ids}
            held += ids
        if held:
            found.releases[directory.relative_to(workspace.releases).as_posix()] = held
    return rows


def _ids(database: QueryRunner, text: str, views: Views) -> list[str]:
    return [row["id"] for row in fetch(database, text, views)]
