"""The verb evaluate, end to end: results, run files, models, flags, and a release that is only read."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.evaluate import retrieval
from schemas.errors import InputError, MedqrelsError, ReleaseError, UsageError
from tests.curation.evaluation.world import mean, pictured, toy
from tests.curation.release.known import make_world


def hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_offline_systems_leave_the_release_as_it_is_and_repeat(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    folder = pictured().write(tmp_path)
    before = hashes(folder)
    names = [f"--system={name}" for name in ("bm25", "dense", "hybrid", "image")]
    first, second = tmp_path / "first", tmp_path / "second"
    summary = run(str(folder), *names, "--out", str(first))[0]
    run(str(folder), *names, "--out", str(second))
    assert hashes(folder) == before
    made, again = hashes(first), hashes(second)
    assert made.pop("_run.json") and again.pop("_run.json")
    assert made == again
    assert set(made) == {
        "results.json",
        "results.html",
        "per_query.parquet",
        *(f"runs/{name}.trec.gz" for name in ("bm25", "dense", "hybrid", "image")),
    }
    systems = {system["name"]: system for system in summary["systems"]}
    assert all(system["status"] == "measured" for system in systems.values())
    assert mean(systems["bm25"], "nDCG@10") > 0.6
    assert mean(systems["image"], "Success@1") == pytest.approx(1 / 3)  # only d1 looks like its query
    assert "weak baseline" in systems["image"]["notes"][0]
    assert systems["dense"]["config"]["embeddings"]["corpus"]["share_of_texts_cut"] == 0.0
    assert systems["bm25"]["config"]["k1"] == 0.9
    rows = pq.read_table(first / "per_query.parquet").to_pylist()
    assert len(rows) == 4 * 3
    left_out = {("q1", "d5"), ("q2", "d6")}
    for name in systems:
        with gzip.open(first / "runs" / f"{name}.trec.gz", "rt") as file:
            assert not left_out & {(line.split()[0], line.split()[2]) for line in file}


def test_an_assembled_release_is_read(tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = make_world(tmp_path).release()
    before = hashes(folder)
    summary = run(str(folder), "--system=bm25", "--out", str(tmp_path / "out"))[0]
    assert hashes(folder) == before
    manifest = json.loads((folder / "release.json").read_text())
    assert summary["release"]["release_hash"] == manifest["release_hash"]
    assert summary["queries"] == manifest["counts"]["queries"] == 4
    assert summary["queries_measured"] == 4 and summary["corpus"] == manifest["counts"]["corpus"]
    assert summary["pairs_left_out"] == manifest["counts"]["excluded"]
    path = next((folder / "queries").glob("*.parquet"))
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[1]["image"] = None
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    with pytest.raises(ReleaseError, match="is not what"):
        run(str(folder), "--system=bm25", "--out", str(tmp_path / "again"))
    manifest["files"] = {name: value for name, value in hashes(folder).items() if name in manifest["files"]}
    (folder / "release.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="is missing") as raised:
        run(str(folder), "--system=bm25", "--out", str(tmp_path / "again"))
    assert raised.value.record == rows[1]["id"]


def test_image_baseline_says_why_it_did_not_run(tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = toy().write(tmp_path)
    summary = run(str(folder), "--system=image", "--system=image+rerank:x", "--out", str(tmp_path / "out"))[0]
    for system in summary["systems"]:
        assert system["status"] == "not_run"
        assert system["why_not"] == "the documents of this task have no images"


def test_text_systems_do_not_run_where_documents_are_only_images(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    release = pictured()
    for row in release.documents:
        row["text"] = row["title"] = ""
    names = [f"--system={name}" for name in ("bm25", "dense", "hybrid", "image")]
    summary = run(str(release.write(tmp_path)), *names, "--out", str(tmp_path / "out"))[0]
    assert [system["status"] for system in summary["systems"]] == ["not_run"] * 3 + ["measured"]
    assert summary["systems"][2]["why_not"] == "the documents of this task have no texts"


def test_a_task_that_came_out_empty_says_so(tmp_path: Path, run: Callable[..., Any]) -> None:
    release = toy()
    release.qrels, release.excluded = [], []
    release.queries = [row for row in release.queries if row.get("split") != "dev"]
    folder = release.write(tmp_path)
    (path,) = (folder / "queries").glob("test-*.parquet")
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    release.seal(folder)
    summary = run(str(folder), "--system=bm25", "--system=hybrid", "--out", str(tmp_path / "out"))[0]
    assert {system["why_not"] for system in summary["systems"]} == {"there are no queries"}


def test_rows_with_nothing_to_read_are_not_found(tmp_path: Path, run: Callable[..., Any]) -> None:
    release = toy()
    release.documents[3] |= {"title": "", "text": ""}
    release.queries[0]["text"] = ""
    out = tmp_path / "out"
    run(str(release.write(tmp_path)), "--system=dense", "--out", str(out))
    with gzip.open(out / "runs" / "dense.trec.gz", "rt") as file:
        lines = [line.split() for line in file]
    assert {line[0] for line in lines} == {"q2", "q3", "q4"}
    assert "d4" not in {line[2] for line in lines}


def test_several_processes_find_what_one_finds(
    tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = toy().write(tmp_path)
    run(str(folder), "--out", str(tmp_path / "one"))
    monkeypatch.setattr(retrieval, "PARALLEL_FROM", 1)
    monkeypatch.setattr(retrieval, "PORTION", 2)
    monkeypatch.setenv("MEDQRELS_WORKERS", "2")
    run(str(folder), "--out", str(tmp_path / "two"))
    one, two = hashes(tmp_path / "one"), hashes(tmp_path / "two")
    assert one.pop("_run.json") and two.pop("_run.json")
    assert one == two


def test_vectors_do_not_hang_on_the_number_of_workers(
    tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    release, chance = toy(), random.Random(7)
    words = sorted({word for row in release.documents for word in row["text"].split()})
    release.documents += [
        {"id": f"e{number:02}", "title": "", "text": " ".join(chance.choices(words, k=200))}
        for number in range(40)
    ]
    folder = release.write(tmp_path)
    found = []
    for workers in ("1", "2"):
        monkeypatch.setenv("MEDQRELS_WORKERS", workers)
        out = tmp_path / workers / "out"  # with a cache of its own
        found.append(run(str(folder), "--system=dense", "--out", str(out))[0]["systems"][0])
    assert found[0]["config"]["embeddings"] == found[1]["config"]["embeddings"]
    assert found[0] == found[1]


def test_a_run_file_is_measured_with_its_repairs_told(tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = toy().write(tmp_path)
    path = tmp_path / "theirs.trec"
    path.write_text("q1 Q0 d5 1 9 t\nq1 Q0 d1 2 8 t\nq2 Q0 d3 1 1 t\nq3 Q0 d1 1 1 t\nq3 Q0 d4 2 2 t\n")
    summary = run(str(folder), "--run", str(path), "--out", str(tmp_path / "out"))[0]
    (system,) = summary["systems"]
    assert system["name"] == "theirs" and system["config"]["tag"] == "t"
    assert mean(system, "R@1") == pytest.approx((0.5 + 1 + 1) / 3)  # d5 is excluded, so d1 moves up
    assert any("1 excluded pair" in note for note in system["notes"])
    assert any("not in order of score" in note for note in system["notes"])


def test_our_run_files_give_our_numbers_again(tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = toy().write(tmp_path)
    first = run(str(folder), "--system=hybrid", "--out", str(tmp_path / "out"))[0]["systems"][0]
    path = tmp_path / "out" / "runs" / "hybrid.trec.gz"
    again = run(str(folder), "--run", str(path), "--out", str(tmp_path / "again"))[0]["systems"][0]
    assert again["overall"] == first["overall"]
    assert again["facets"] == first["facets"]


def test_wrong_run_files_are_refused(tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = toy().write(tmp_path)
    path = tmp_path / "bm25.trec"
    path.write_text("q9 Q0 d1 1 1 t\n")
    with pytest.raises(ReleaseError, match="not in this split"):
        run(str(folder), "--run", str(path))
    path.write_text("q1 Q0 d1 1 1 t\n")
    with pytest.raises(UsageError, match="two systems or runs are named 'bm25'"):
        run(str(folder), "--system=bm25", "--run", str(path))


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_run_is_no_system_that_found_nothing(
    tmp_path: Path, run: Callable[..., Any], text: str
) -> None:
    path = tmp_path / "failed.trec"
    path.write_text(text)
    with pytest.raises(ReleaseError, match="run file is empty"):
        run(str(toy().write(tmp_path)), "--run", str(path), "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--run=wrong.trec"], "5 columns"),
        (["--run=bm25.trec"], "two systems or runs"),
        (["--system=st:any"], "sentence-transformers"),
    ],
)
def test_what_is_wrong_is_told_before_any_system_runs(
    tmp_path: Path,
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    wrong: list[str],
    message: str,
) -> None:
    folder = toy().write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    Path("wrong.trec").write_text("q1 Q0 d1 1 1\n")
    Path("bm25.trec").write_text("q1 Q0 d1 1 1 t\n")
    ran: list[str] = []
    monkeypatch.setattr(retrieval.Bench, "run", lambda bench, system: ran.append(system.name))
    with pytest.raises(MedqrelsError, match=message):
        run(str(folder), "--system=bm25", *wrong, "--out", str(tmp_path / "out"))
    assert ran == []


@pytest.mark.parametrize("data", [b"", b"not an image"])
def test_a_missing_image_ends_the_evaluation(tmp_path: Path, run: Callable[..., Any], data: bytes) -> None:
    release = pictured()
    release.queries[2]["image"] = data
    with pytest.raises(InputError) as raised:
        run(str(release.write(tmp_path)), "--system=bm25", "--out", str(tmp_path / "out"))
    assert raised.value.record == "q3" and raised.value.exit_code == 3
    assert not (tmp_path / "out").exists()


def test_systems_that_shaped_the_benchmark_are_flagged(tmp_path: Path, run: Callable[..., Any]) -> None:
    release = toy()
    release.head["shaped_by"] = ["dense"]
    path = tmp_path / "dense-large.trec"
    path.write_text("q1 Q0 d1 1 1 dense\n")
    names = [f"--system={name}" for name in ("bm25", "dense", "hybrid")]
    out = tmp_path / "out"
    summary = run(str(release.write(tmp_path)), *names, "--run", str(path), "--out", str(out))[0]
    flags = {system["name"]: system["shaped_the_benchmark"] for system in summary["systems"]}
    assert flags == {"bm25": False, "dense": True, "hybrid": True, "dense-large": True}
    page = (out / "results.html").read_text()
    tables = re.findall(r"<table>.*?</table>", page, re.S)
    assert len(tables) > 3
    for table in tables:
        for name, is_flagged in flags.items():
            places = re.findall(rf">{name}( <span class=\"warn\"[^>]*>†</span>)?</t[hd]>", table)
            assert places and all(bool(mark) == is_flagged for mark in places), name
    rows = pq.read_table(out / "per_query.parquet").to_pylist()
    assert {row["system"]: row["shaped_the_benchmark"] for row in rows} == flags


@pytest.mark.parametrize(
    "name", ["", "bm26", "st:", "st", "bm25:x", "bm25+rerank:", "image+st:x", "+rerank:x"]
)
def test_unknown_systems_are_refused(tmp_path: Path, run: Callable[..., Any], name: str) -> None:
    with pytest.raises(UsageError, match=r"system|no model"):
        run(str(toy().write(tmp_path)), f"--system={name}")


def test_results_never_go_into_the_release_or_over_other_files(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    folder = toy().write(tmp_path)
    with pytest.raises(UsageError, match="would change the release"):
        run(str(folder), "--out", str(folder / "runs"))
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("mine")
    with pytest.raises(UsageError, match="contains something other than results"):
        run(str(folder), "--out", str(other))
    assert (other / "chapter.txt").read_text() == "mine"
    run(str(folder), "--out", str(tmp_path / "out"))
    run(str(folder), "--out", str(tmp_path / "out"), "--system=bm25", "--k1", "2")
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert found["systems"][0]["config"]["k1"] == 2


def test_a_whole_version_and_where_results_go(tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = toy().write(tmp_path)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "workspace.json").write_text('{"storage_version": 1}')
    planned = run(str(folder.parent), "--dry-run")
    target = workspace / "evaluations" / "toys" / "1.0.0" / "toy"
    assert planned == [{"release": str(folder), "out": str(target), "systems": ["bm25"]}]
    assert not target.exists()
    assert run(str(folder.parent))[0]["page"] == str(target / "results.html")
    assert (target / "results.html").is_file()


@pytest.mark.parametrize("arguments", [["--k", "0"], ["--b", "2"], ["--k1", "nan"], ["--split", "train"]])
def test_options_out_of_range(tmp_path: Path, run: Callable[..., Any], arguments: list[str]) -> None:
    with pytest.raises(MedqrelsError):
        run(str(toy().write(tmp_path)), *arguments, "--out", str(tmp_path / "out"))


def test_the_dev_split_and_a_shallow_depth(tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = toy().write(tmp_path)
    summary = run(str(folder), "--split", "dev", "--k", "5", "--out", str(tmp_path / "out"))[0]
    assert summary["queries"] == 1 and summary["k"] == 5
    assert "R@100" not in summary["measures"]
    assert mean(summary["systems"][0], "R@1") == 1.0
