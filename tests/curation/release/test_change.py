"""The version that follows from a change: every clause of the rule, on a release changed in one thing."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.changes.levels import Level, is_enough, largest, next_version
from curation.published.manifest import ReleaseManifest, Retention, read_manifest
from curation.release.change import Change, compare, new_task
from schemas.benchmark import Excluded
from schemas.hashing import sha256_text
from schemas.stages import Drop, Reason
from tests.curation.release.known import World, make_world, run_sql


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_world(tmp_path_factory.mktemp("first")).release()


def changed(first: Path, world: World, **head: Any) -> Change:
    """What differs between the first release and one of a changed world, as its flow would ask."""
    directory = world.release(version="7.0.0")
    return compare(first, directory, dataclasses.replace(read_manifest(directory), **head), run_sql)


def labels(world: World) -> None:
    world.qrels[0] = dataclasses.replace(world.qrels[0], score=1)
    world.qrels.pop()


def other_rule(world: World) -> None:
    """The grade of a kept pair is as it was: what was measured stays comparable."""
    world.qrels[0] = dataclasses.replace(world.qrels[0], rule="visual_context/cites-text@1")


def excluded(world: World) -> None:
    one, document = world.queries[0], world.documents[-1]
    world.excluded.append(
        Excluded(query_id=one.id, corpus_id=document.id, task="visual_context", reason="near_copy")
    )


def facet(world: World) -> None:
    world.queries[0] = dataclasses.replace(world.queries[0], specialty="pulmonology")


def source(world: World) -> None:
    world.sources[0] = dataclasses.replace(world.sources[0], journal="Another journal")


def drop(world: World) -> None:
    figure = "pmc:PMC902.2#F9"
    world.drops["visual_context"].append(
        Drop(unit="figure", id=figure, article_id="pmc:PMC902.2", reason=Reason.NO_GRAPHIC)
    )
    world.retention = [
        dataclasses.replace(step, entered=step.entered + (step.stage == "visual_context"))
        for step in world.retention
    ]


def document_gone(world: World) -> None:
    judged = {row.corpus_id for row in world.qrels} | {row.corpus_id for row in world.excluded}
    gone = world.documents.pop()
    world.qrels = [row for row in world.qrels if row.corpus_id != gone.id]
    world.excluded = [row for row in world.excluded if row.corpus_id != gone.id]
    assert gone.id in judged


def withdraw(world: World, unit: str, name: str, reason: Reason) -> None:
    """Some stage drops it for a reason that means withdrawal."""
    world.drops["crawl"].append(Drop(unit=unit, id=name, article_id="pmc:PMC902.2", reason=reason))
    world.retention = [
        Retention(row.stage, row.unit, row.entered + (row.unit == unit), row.kept)
        if row.stage == "crawl"
        else row
        for row in world.retention
    ]


def document_withdrawn(world: World) -> None:
    """Its article was retracted."""
    document_gone(world)
    withdraw(world, "article", "pmc:PMC902.2", Reason.RETRACTED)


def query_withdrawn(world: World) -> None:
    """Its article is named; that the query went with it follows."""
    query_gone(world)
    withdraw(world, "article", "PMC902", Reason.WITHDRAWN)


def document_text(world: World) -> None:
    one = world.documents[2]
    text = one.text + " The family agreed."
    world.documents[2] = dataclasses.replace(one, text=text, text_sha256=sha256_text(text))


def document_title(world: World) -> None:
    world.documents[2] = dataclasses.replace(world.documents[2], title="Another title")


def query_gone(world: World) -> None:
    gone = world.queries.pop()
    world.qrels = [row for row in world.qrels if row.query_id != gone.id]
    world.excluded = [row for row in world.excluded if row.query_id != gone.id]


def split(world: World) -> None:
    world.dev = {world.queries[0].id}


def setting(world: World) -> None:
    world.settings["visual_context"] |= {"min_words": 30}


def other_setting(world: World) -> None:
    world.settings["extract"] = {"depth": 3}


@pytest.mark.parametrize(
    ("change", "level", "note"),
    [
        (lambda world: None, "none", ""),
        (labels, "major", "labels −1 1 changed"),
        (other_rule, "patch", "labels 1 with another rule or status"),
        (excluded, "major", "excluded pairs +1"),
        (facet, "patch", "facets, licence or source of 1 query changed"),
        (source, "patch", "rows of sources differ"),
        (drop, "patch", "rows of funnel, drops differ"),
        (other_setting, "patch", "setting extract.depth: None → 3"),
        (document_gone, "major", "−1 document"),
        (document_withdrawn, "patch", "−1 document withdrawn"),
        (query_withdrawn, "patch", "−1 query withdrawn"),
        (document_text, "major", "1 document changed"),
        (document_title, "major", "1 document changed"),
        (query_gone, "major", "−1 query"),
        (setting, "patch", "setting visual_context.min_words: 25 → 30"),
        (split, "major", "1 query in another split"),
    ],
)
def test_one_change_gives_its_level_and_says_what(
    first: Path, world: World, change: Callable[[World], None], level: Level, note: str
) -> None:
    change(world)
    found = changed(first, world)
    assert (found.previous, found.level) == ("1.0.0", level), found.notes
    assert (found.notes[0] if found.notes else "") == note


def test_what_was_added_is_minor_too(tmp_path: Path, world: World, first: Path) -> None:
    query_gone(world)
    smaller = world.release(version="0.9.0")
    found = compare(smaller, first, read_manifest(first), run_sql)
    assert (found.level, found.notes[0]) == ("minor", "+1 query")


@pytest.mark.parametrize(
    ("head", "level", "note"),
    [
        ({"siblings": ("summary",)}, "minor", "tasks of the dataset: +summary"),
        (
            {"versions": {"storage": 1, "ids": 99, "licence_profiles": ""}},
            "patch",
            "the rules of ids changed",
        ),
        ({"grades": {"2": "Something else."}}, "major", "grade 2 means something else"),
        ({"license": "by-nc"}, "minor", "licence of the whole: by-sa → by-nc"),
        ({"vocabulary": "abc"}, "patch", "the vocabulary changed"),
        ({"label": "expert", "expert_minimum": 9}, "patch", "release.json: label, expert_minimum"),
        ({"overrides": {"a": "b"}}, "patch", "release.json: overrides"),
    ],
)
def test_what_release_json_says_counts(
    first: Path, world: World, head: dict[str, Any], level: Level, note: str
) -> None:
    found = changed(first, world, **head)
    assert (found.level, found.notes[0]) == (level, note)


@pytest.mark.parametrize("stage", ["visual_context", "visual_context_all", "extract"])
def test_another_version_of_a_stage_counts_by_what_it_did_to_rows(
    first: Path, world: World, stage: str
) -> None:
    def again(head: ReleaseManifest) -> tuple[Any, ...]:
        return tuple({**one, "version": 2} if one["name"] == stage else one for one in head.stages)

    found = changed(first, world, stages=again(read_manifest(first)))
    assert (found.level, found.notes) == ("patch", (f"stage {stage}: version 1 → 2",))


def rewrite(directory: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    (path,) = (directory / table).glob("*.parquet")
    pq.write_table(change(pq.read_table(path)), path)


def widened(table: pa.Table) -> pa.Table:
    return table.append_column("note", pa.array([""] * table.num_rows))


def retyped(table: pa.Table) -> pa.Table:
    at = table.column_names.index("score")
    return table.set_column(at, "score", table.column("score").cast(pa.int32()))


@pytest.mark.parametrize(
    ("table", "change", "level", "note"),
    [
        (
            "qrels",
            lambda t: t.drop_columns(["via"]),
            "major",
            "columns of qrels gone or of another type: via",
        ),
        ("qrels", retyped, "major", "columns of qrels gone or of another type: score"),
        ("excluded", widened, "minor", "new columns of excluded: note"),
        ("provenance/sources", lambda t: t.drop_columns(["doi"]), "none", ""),
    ],
)
def test_columns_that_go_break_code_and_new_ones_do_not(
    first: Path, tmp_path: Path, table: str, change: Callable[[pa.Table], pa.Table], level: Level, note: str
) -> None:
    copy = Path(shutil.copytree(first, tmp_path / "copy"))
    rewrite(copy, table, change)
    found = compare(first, copy, read_manifest(first), run_sql)
    assert (found.level, found.notes[0] if found.notes else "") == (level, note)


def test_only_the_first_version_of_a_query_is_left_out_of_the_comparison(first: Path, world: World) -> None:
    """`since` of every query says 7.0.0 in the other release, and nothing else differs."""
    again = world.release(version="7.0.0")
    (one,), (other,) = (list((path / "provenance/queries").iterdir()) for path in (first, again))
    assert one.read_bytes() != other.read_bytes()
    assert compare(first, again, read_manifest(again), run_sql) == Change(
        "1.0.0", "none", (), read_manifest(first).release_hash, earlier=({"version": "1.0.0"},)
    )


@pytest.mark.parametrize(
    ("version", "level", "following"),
    [
        ("1.0.0", "patch", "1.0.1"),
        ("1.9.9", "minor", "1.10.0"),
        ("1.9.9", "major", "2.0.0"),
        ("0.1.0", "major", "1.0.0"),
        ("1.1.0-rc1", "patch", "1.1.0"),
        ("1.1.0-rc1", "minor", "1.1.0"),
        ("1.1.0-rc1", "major", "2.0.0"),
        ("2.0.0-rc1", "major", "2.0.0"),
        ("1.1.1-rc1", "minor", "1.2.0"),
    ],
)
def test_versions_follow_as_semantic_versioning_has_it(version: str, level: Level, following: str) -> None:
    assert next_version(version, level) == following


@pytest.mark.parametrize(("version", "level"), [("1.0", "patch"), ("1.0.0", "none"), ("latest", "minor")])
def test_no_version_follows_nothing(version: str, level: Level) -> None:
    with pytest.raises(ValueError, match="no version follows"):
        next_version(version, level)


def test_the_largest_change_wins() -> None:
    assert largest(["none", "minor", "patch"]) == "minor" and largest([]) == "none"
    assert new_task("1.2.0").level == "minor"


@pytest.mark.parametrize(
    ("version", "needed", "enough"),
    [
        ("1.0.1", "1.1.0", False),
        ("1.1.0", "1.1.0", True),
        ("1.1.0-rc1", "1.1.0", True),
        ("2.0.0", "1.1.0", True),
    ],
)
def test_a_named_version_says_at_least_what_is_needed(version: str, needed: str, enough: bool) -> None:
    assert is_enough(version, needed) == enough
