"""`medqrels audit` as a user meets it: exit codes, other benchmarks, hash lists, stated reports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from curation.audit import RULES
from flows.cli.app import run_cli
from tests.curation.release.known import CAPTIONS, make_world


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean task directory."""
    return make_world(tmp_path_factory.mktemp("known")).release()


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    """Somebody else's benchmark, in BEIR's layout, that asks one of our queries."""
    folder = tmp_path / "theirs"
    (folder / "qrels").mkdir(parents=True)
    ours = CAPTIONS["pmc:PMC901.1"][1]
    queries = [{"_id": "t1", "text": ours.upper()}, {"_id": "t2", "text": "Does a fever need treatment?"}]
    corpus = [
        {"_id": "d1", "title": "", "text": "A fever of short duration needs no treatment in a healthy adult."}
    ]
    for name, rows in (("queries", queries), ("corpus", corpus)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nt1\td1\t1\nt2\td1\t1\n", "utf-8")
    return folder


def reported(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    (report,) = json.loads(capsys.readouterr().out)
    found: dict[str, Any] = report
    return found


def status(report: dict[str, Any], rule: str) -> str:
    return next(str(item["status"]) for item in report["rules"] if item["rule"] == rule)


@pytest.mark.usefixtures("fewer_defects")
def test_a_clean_release_is_clean_and_its_report_holds_until_it_is_changed(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["audit", str(task), "--json"]) == 0
    report = reported(capsys)
    assert report["verdict"] == "clean"
    assert {item["rule"] for item in report["rules"]} == {rule.id for rule in RULES}
    assert all(item["is_found"] for item in report["canaries"])
    assert run_cli(["audit", str(task), "--verify", str(task / "audit.json")]) == 0
    assert "holds" in capsys.readouterr().out
    report["rules"][0]["compared"] += 1
    (tmp_path / "false.json").write_text(json.dumps(report), "utf-8")
    assert run_cli(["audit", str(task), "--verify", str(tmp_path / "false.json")]) == 1
    assert "compared" in capsys.readouterr().out


@pytest.mark.usefixtures("fewer_defects")
@pytest.mark.parametrize("as_hashes", [False, True], ids=["its files", "its hash list"])
def test_a_query_of_another_benchmark_is_found(
    task: Path, benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], as_hashes: bool
) -> None:
    against = benchmark
    if as_hashes:
        against = tmp_path / "theirs.parquet"
        assert run_cli(["audit", "hashlist", str(benchmark), str(against)]) == 0
        assert b"treatment" not in against.read_bytes()
        capsys.readouterr()
    page = tmp_path / "page.html"
    arguments = ["audit", str(task), "--against", str(against), "--report", str(page), "--json"]
    assert run_cli(arguments) == 1
    report = reported(capsys)
    assert (report["verdict"], status(report, "contaminated_queries")) == ("findings", "failed")
    sides = [side for item in report["rules"] for found in item["findings"] for side in found["sides"]]
    assert {"t1"} == {side["id"] for side in sides if side["dataset"]}
    assert "t1" in page.read_text("utf-8")


@pytest.mark.usefixtures("fewer_defects")
def test_an_audit_against_others_never_touches_the_published_report(
    task: Path, benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Path(shutil.copytree(task, tmp_path / "copy"))
    assert run_cli(["audit", str(copy)]) == 0
    published = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert {"audit.json", "audit.html"} <= {path.name for path in published}
    page = tmp_path / "page.html"
    assert run_cli(["audit", str(copy), "--against", str(benchmark), "--report", str(page)]) == 1
    assert page.is_file()
    assert run_cli(["audit", str(copy), "--against", str(benchmark)]) == 1
    assert "contaminated_queries" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == published


def test_what_an_audit_writes_never_goes_into_a_release(
    task: Path, benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in task.rglob("*") if path.is_file()}
    for name in ("audit.html", "runs/page.html"):
        assert run_cli(["audit", str(benchmark), "--report", str(task / name)]) == 2
        assert "would change the release" in capsys.readouterr().err
    assert run_cli(["audit", "hashlist", str(benchmark), str(task / "corpus" / "hashes.parquet")]) == 2
    assert {path: path.stat().st_mtime_ns for path in task.rglob("*") if path.is_file()} == before


@pytest.mark.usefixtures("fewer_defects")
def test_another_benchmark_can_be_audited_and_is_left_as_it_is(
    benchmark: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.relative_to(benchmark) for path in benchmark.rglob("*"))
    code = run_cli(["audit", str(benchmark), "--json"])
    report = reported(capsys)
    assert (code, report["verdict"]) == (0, "partial"), [
        (item["rule"], item["note"]) for item in report["rules"] if item["status"] in ("failed", "not_run")
    ]
    assert status(report, "licence_of_rows") == "not_covered"
    assert status(report, "dangling_ids") == "passed"
    (benchmark / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nt1\tgone\t1\nt2\td1\t1\n", "utf-8"
    )
    assert run_cli(["audit", str(benchmark), "--json"]) == 1
    assert status(reported(capsys), "dangling_ids") == "failed"
    assert sorted(path.relative_to(benchmark) for path in benchmark.rglob("*")) == before


@pytest.mark.usefixtures("fewer_defects")
def test_several_tasks_have_a_page_each(
    benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDQRELS_WORKERS", "1")  # the demo of test_end_to_end shares the defects among two
    other = benchmark.with_name("others")
    shutil.copytree(benchmark, other)
    (other / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nt1\tvanished\t1\n", "utf-8")
    arguments = ["audit", str(benchmark), str(other), "--report", str(tmp_path / "page.html"), "--json"]
    assert run_cli(arguments) == 1
    assert [item["verdict"] for item in json.loads(capsys.readouterr().out)] == ["partial", "findings"]
    pages = {path.name: path.read_text("utf-8") for path in tmp_path.glob("page*")}
    assert set(pages) == {"page-theirs.html", "page-others.html"}
    assert "vanished" in pages["page-others.html"] and "vanished" not in pages["page-theirs.html"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing@1.0.0"], "no release"),
        (["{folder}"], "corpus"),
        (["{task}", "--verify", "{folder}/none.json"], "cannot be read"),
        (["{task}", "{task}", "--report", "page.html"], "same names"),
        (["{task}", "--against", "{folder}/nowhere"], "nowhere"),
    ],
    ids=["no release", "unknown layout", "no report", "same task twice", "no benchmark"],
)
def test_wrong_usage_says_what_to_do(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    (tmp_path / "notes.txt").write_text("nothing", "utf-8")
    given = [item.format(task=task, folder=tmp_path) for item in arguments]
    assert run_cli(["audit", *given, "--workspace", str(tmp_path / "ws")]) == 2
    shown = capsys.readouterr().err
    assert words in shown and "next:" in shown


@pytest.mark.parametrize("place", ["a-file/page.html", "."])
def test_a_page_that_cannot_be_written_is_told_before_the_audit(
    task: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
) -> None:
    (tmp_path / "a-file").touch()
    monkeypatch.setattr("flows.inspect.audit.auditor", lambda **given: pytest.fail("it was audited"))
    assert run_cli(["audit", str(task), "--report", str(tmp_path / place)]) == 2
    error = capsys.readouterr().err
    assert "--report cannot be written: " in error and "next: name another place for --report" in error
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]
