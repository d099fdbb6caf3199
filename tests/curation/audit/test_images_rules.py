"""Rules on images: planted defects are found and their rows named, clean data pass."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.report import run_rule
from curation.audit.rule import Context, Rows
from curation.audit.rules import images
from curation.audit.rules.images_defects import cropped, drawn, encoded, rescaled
from schemas.audit import RuleResult
from schemas.hashing import sha256_bytes
from schemas.tables import CORPUS, EXCLUDED, ORIGIN_CORPUS, ORIGIN_QUERIES, QRELS, QUERIES
from tests.curation.release.known import run_sql

TABLES = {table.name: table for table in (QUERIES, CORPUS, QRELS, EXCLUDED, ORIGIN_QUERIES, ORIGIN_CORPUS)}
BY_ID = {rule.id: rule for rule in images.RULES}


class World:
    """A small dataset of queries and documents with pictures."""

    def __init__(self) -> None:
        self.rows: Rows = {name: [] for name in TABLES}
        for number in range(3):
            self.query(f"q{number}", encoded(drawn(100 + number)))
            self.document(f"d{number}", encoded(drawn(200 + number)))
            self.judge(f"q{number}", f"d{number}")

    def query(self, name: str, data: bytes | None, split: str = "test") -> None:
        self._add("queries", name, data, split=split)

    def document(self, name: str, data: bytes | None) -> None:
        self._add("corpus", name, data)

    def judge(self, query: str, document: str, score: int = 1) -> None:
        self.rows["qrels"].append({"query-id": query, "corpus-id": document, "score": score})

    def exclude(self, query: str, document: str) -> None:
        self.rows["excluded"].append({"query-id": query, "corpus-id": document, "reason": "same_picture"})

    def _add(self, table: str, name: str, data: bytes | None, **more: Any) -> None:
        cell = None if data is None else {"bytes": data, "path": name}
        self.rows[table].append({"id": name, "text": f"text of {name}", "image": cell})
        digest = None if data is None else sha256_bytes(data)
        self.rows[f"provenance_{table}"].append({"id": name, "image_sha256": digest, **more})

    def dataset(self, folder: Path, name: str = "task", **changes: Any) -> Dataset:
        views: dict[str, list[Path]] = {}
        for table, rows in self.rows.items():
            path = folder / name / f"{table}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(rows, schema=TABLES[table].schema), path, row_group_size=2)
            views[table] = [path]
        given = Dataset(name=name, role="audited", kind="release", directory=folder, sha256=name, views=views)
        return dataclasses.replace(given, **changes)


def run(rule: str, tmp_path: Path, subject: Dataset, *siblings: Dataset) -> RuleResult:
    context = Context(subject, run_sql, tmp_path, SerialExecutor(), siblings)
    return run_rule(BY_ID[rule], context)[0]


def named(result: RuleResult) -> list[list[str]]:
    return [[side.id for side in finding.sides] for finding in result.findings]


def test_a_clean_dataset_passes(tmp_path: Path) -> None:
    subject = World().dataset(tmp_path)
    for rule in ("images", "image_duplicates", "image_crops", "image_self_match"):
        result = run(rule, tmp_path, subject)
        assert (result.status, result.found, result.compared) == ("passed", 0, 6), rule
    assert run("overlap_image_copies", tmp_path, subject).status == "not_applicable"


def test_damaged_images_are_named(tmp_path: Path) -> None:
    world = World()
    good = encoded(drawn(1))
    world.query("cut", good[:4000])
    world.document("page", b"<html>no</html>")
    world.query("other", encoded(drawn(2)))
    world.query("lost", None)
    world.query("empty", b"")
    for row in world.rows["provenance_queries"]:
        if row["id"] in {"other", "lost"}:
            row["image_sha256"] = sha256_bytes(good)
    result = run("images", tmp_path, world.dataset(tmp_path))
    told = {finding.sides[0].id: finding.message for finding in result.findings}
    assert told == {
        "cut": "the image does not decode: does not decode: OSError",
        "page": "the image does not decode: no raster image, first bytes 3c68746d6c3e6e6f",
        "other": "the image's bytes are not those provenance records",
        "lost": "the image that provenance records is missing",
        "empty": "the image has no bytes",
    }
    assert {finding.sides[0].table for finding in result.findings if finding.sides[0].id == "page"} == {
        "corpus"
    }


def test_duplicates_must_share_labels(tmp_path: Path) -> None:
    world = World()
    world.query("q3", encoded(rescaled(drawn(100)), quality=60))
    world.judge("q3", "d3")
    world.document("d3", encoded(drawn(203)))
    result = run("image_duplicates", tmp_path, world.dataset(tmp_path))
    assert named(result) == [["q0", "q3", "d0"]]
    assert "1 of the first's positives" in result.findings[0].message
    assert result.findings[0].sides[0].quote == "text of q0"
    world.exclude("q3", "d0")
    assert named(run("image_duplicates", tmp_path, world.dataset(tmp_path))) == [["q3", "q0", "d3"]]
    world.judge("q0", "d3", 0)
    result = run("image_duplicates", tmp_path, world.dataset(tmp_path))
    assert (result.status, result.note) == ("passed", "1 pairs of the same image")


def test_documents_with_one_picture(tmp_path: Path) -> None:
    world = World()
    world.document("d3", encoded(drawn(201)))
    world.document("d4", encoded(cropped(drawn(202))))
    subject = world.dataset(tmp_path)
    assert named(run("image_duplicates", tmp_path, subject)) == [["d1", "d3", "q1"]]
    result = run("image_crops", tmp_path, subject)
    assert (result.severity, named(result)) == ("warn", [["d2", "d4", "q2"]])


def test_no_query_finds_its_own_picture(tmp_path: Path) -> None:
    world = World()
    world.document("self", encoded(cropped(drawn(101)), quality=60))
    world.document("bytes", encoded(drawn(102)))
    world.judge("q2", "bytes", 2)
    result = run("image_self_match", tmp_path, world.dataset(tmp_path))
    assert named(result) == [["q1", "self"], ["q2", "bytes"]]
    assert result.findings[0].message == "the query's own image (cropped) is a document, unlabelled for it"
    assert result.findings[1].message.endswith("(with equal bytes) is a document, positive for it")
    world.exclude("q1", "self")
    world.exclude("q2", "bytes")
    assert run("image_self_match", tmp_path, world.dataset(tmp_path)).status == "passed"


def test_copies_between_splits_and_tasks(tmp_path: Path) -> None:
    world = World()
    world.query("dev1", encoded(cropped(drawn(100))), "dev")
    world.query("dev2", encoded(drawn(301)), "dev")
    world.judge("dev2", "d9")
    world.document("d9", encoded(rescaled(drawn(201))))
    subject = world.dataset(tmp_path)
    result = run("overlap_image_copies", tmp_path, subject)
    assert named(result) == [["d9", "d1", "dev2", "q1"], ["dev1", "q0"]]
    other = World()
    for table in other.rows:
        other.rows[table].clear()
    other.query("s1", encoded(cropped(drawn(102))))
    sibling = other.dataset(tmp_path, "sibling", role="sibling")
    context = Context(subject, run_sql, tmp_path, SerialExecutor(), [sibling])
    result, cells = run_rule(BY_ID["overlap_image_copies"], context)
    assert [side.dataset for side in result.findings[-1].sides] == ["", "sibling"]
    assert named(result)[-1] == ["q2", "s1"]
    shared = {(cell.one, cell.other): cell.shared for cell in cells}
    assert shared == {
        ("task/dev", "task/test"): 2,
        ("task/dev", "sibling/test"): 0,
        ("task/test", "sibling/test"): 1,
    }
    assert [item.compared_with for item in result.coverage] == ["", "sibling"]


def test_other_layouts(tmp_path: Path) -> None:
    world = World()
    world.query("cut", encoded(drawn(1))[:4000])
    world.document("same", encoded(drawn(200)))
    foreign = world.dataset(tmp_path, kind="beir")
    views = {name: foreign.views[name] for name in ("queries", "corpus", "qrels")}
    foreign = dataclasses.replace(foreign, views=views)
    assert named(run("images", tmp_path, foreign)) == [["cut"]]
    assert named(run("image_duplicates", tmp_path, foreign)) == [["d0", "same", "q0"]]
    assert run("image_self_match", tmp_path, foreign).status == "passed"
    assert run("overlap_image_copies", tmp_path, foreign).status == "not_covered"
    no_labels = dataclasses.replace(foreign, views={name: views[name] for name in ("queries", "corpus")})
    assert run("image_duplicates", tmp_path, no_labels).status == "not_covered"
    clean = dataclasses.replace(World().dataset(tmp_path, "clean"), kind="mteb")
    views = {name: clean.views[name] for name in ("queries", "corpus", "qrels")}
    result = run("images", tmp_path, dataclasses.replace(clean, views=views))
    assert (result.status, result.note) == ("not_covered", "no provenance: hashes are not compared")


def test_without_images_or_tables(tmp_path: Path) -> None:
    world = World()
    for table in ("queries", "corpus"):
        for row in world.rows[table]:
            row["image"] = None
        for row in world.rows[f"provenance_{table}"]:
            row["image_sha256"] = None
    subject = world.dataset(tmp_path)
    assert {run(rule, tmp_path, subject).status for rule in BY_ID} == {"not_applicable"}
    for absent in ("queries", "corpus"):
        views = {name: files for name, files in subject.views.items() if name != absent}
        lacking = dataclasses.replace(subject, views=views)
        assert {run(rule, tmp_path, lacking).status for rule in BY_ID} == {"not_run"}
