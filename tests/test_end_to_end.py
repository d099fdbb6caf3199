"""One road through the house: the demo as a user runs it, one article from the bucket to load_dataset."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from benchmarks.processes import descendants, left_running
from curation.audit import RULES
from curation.tasks.registry import TASKS
from flows.cli.app import run_cli
from flows.demo import describe
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace, open_workspace
from flows.inspect.audit import auditor
from flows.inspect.show import trace
from flows.pipeline import steps
from flows.release.inputs import check_built
from flows.release.versions import release_task
from flows.specs import read_spec, spec_path
from flows.vocabulary.store import home as vocabulary_home
from schemas.errors import WorkspaceError
from schemas.hashing import sha256_text
from sources.sample import ids_path
from tests.fewer import BY_TURNS, FEWER
from tests.golden.sample import SHARD_SIZE
from tests.pipeline import LABELLED, UNGROUNDED, crawl_bucket, new_workspace, run_partition, run_stages
from tests.processors import opposite

MEDQRELS = Path(sys.executable).with_name("medqrels")
DATASET = "medqrels-sample"
TASK = "visual_context"
BY_TURNS_HERE, FEWER_HERE = (sys.executable, "-c", BY_TURNS), (sys.executable, "-c", FEWER)


def plain_environment(home: Path) -> dict[str, str]:
    """The environment of a user who has set nothing, with a HOME of its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "MEDQRELS_"))}
    return {**kept, "HOME": str(home)}


def medqrels(
    *arguments: str, home: Path, starts: Sequence[str] = (str(MEDQRELS),), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the installed command as a user would, in its own HOME."""
    return subprocess.run(
        [*starts, *arguments],
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
        env={**plain_environment(home), **environment},
        cwd=home,
    )


def sample_ids() -> list[str]:
    lines = ids_path().read_text("utf-8").splitlines()
    return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]


def release_in(workspace: Workspace, version: str = "1.0.0") -> Path:
    """Assemble the sample dataset without Prefect."""
    path = spec_path(DATASET)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    spec = read_spec(path)
    spec = spec.model_copy(update={"tasks": {TASK: spec.tasks[TASK]}})
    check_built(session, TASKS[TASK], spec)
    run_partition(workspace, spec, version)
    release_task(session, TASKS[TASK], spec, path.parent, version, {})
    return workspace.releases / DATASET / version / TASK


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The demo, run once with a Prefect server of its own; each rule's defects are planted in one task."""
    home = tmp_path_factory.mktemp("home")
    given = {"PYTHONHASHSEED": "1", "MEDQRELS_WORKERS": "2"}
    done = medqrels("demo", "--workspace", "ws", "--json", home=home, starts=BY_TURNS_HERE, **given)
    assert done.returncode == 0, done.stderr[-3000:]
    yield home, json.loads(done.stdout)


def task_in(demo: tuple[Path, dict[str, Any]], task: str = TASK) -> Path:
    """Folder of one task in the demo's release."""
    home, made = demo
    return home / next(str(item["path"]) for item in made["releases"] if item["task"] == task)


def test_demo_makes_a_release_of_every_task(demo: tuple[Path, dict[str, Any]], repository: Path) -> None:
    _, made = demo
    assert {item["task"]: item["audit"] for item in made["releases"]} == dict.fromkeys(LABELLED, "clean")
    assert not any(item["publishable"] for item in made["releases"]), "the sample is synthetic"
    said = describe(made)
    readme = (repository / "README.md").read_text("utf-8")
    for task, counts in made["loaded"].items():
        assert min(counts["queries"], counts["corpus"], counts["qrels"]) >= 1, task
        cells = [task, *(str(counts[name]) for name in ("queries", "corpus", "qrels")), "clean"]
        assert cells in [line.split() for line in said.splitlines()]
        assert cells in [line.split() for line in readme.splitlines()], "README shows what the demo prints"


def test_every_planted_defect_is_found_by_the_demo(demo: tuple[Path, dict[str, Any]]) -> None:
    """Those of each rule once; as a user runs it, with all of them in every task, below."""
    found = [item for task in LABELLED for item in planted_in(task_in(demo, task))]
    assert all(item["is_found"] for item in found)
    assert sorted({item["rule"] for item in found}) == sorted(rule.id for rule in RULES)


@pytest.mark.campaign
@pytest.mark.timeout(900)
def test_the_command_finds_every_planted_defect_in_every_task(tmp_path: Path) -> None:
    done = medqrels("demo", "--workspace", "ws", "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    for release in json.loads(done.stdout)["releases"]:
        found = planted_in(tmp_path / release["path"])
        assert release["audit"] == "clean" and all(item["is_found"] for item in found)
        assert [*dict.fromkeys(item["rule"] for item in found)] == [rule.id for rule in RULES]


def planted_in(directory: Path) -> list[dict[str, Any]]:
    """What became of the defects that an audit planted."""
    found: list[dict[str, Any]] = json.loads((directory / "audit.json").read_text("utf-8"))["canaries"]
    return found


@pytest.mark.parametrize("task", sorted(LABELLED))
def test_what_the_demo_made_loads(demo: tuple[Path, dict[str, Any]], task: str) -> None:
    home, _ = demo
    tables = {
        name: datasets.load_dataset(
            str(task_in(demo, task)), name, split="test", cache_dir=str(home / "cache")
        )
        for name in ("queries", "corpus", "qrels", "excluded")
    }
    query_ids, corpus_ids = set(tables["queries"]["id"]), set(tables["corpus"]["id"])
    for table in ("qrels", "excluded"):
        assert set(tables[table]["query-id"]) <= query_ids
        assert set(tables[table]["corpus-id"]) <= corpus_ids
    assert query_ids and set(tables["qrels"]["query-id"]) == query_ids
    pictured = tables["corpus"] if task == "image_search" else tables["queries"]
    for row in pictured:
        assert row["image"].size[0] > 100
        row["image"].load()
    for row in tables["queries"]:
        assert row["text"].strip()
        assert "PMC99" not in row["text"]


@pytest.mark.parametrize("page", ["README.md", "card"])
def test_the_documented_python_runs(
    demo: tuple[Path, dict[str, Any]], page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = task_in(demo)
    root = Path(__file__).resolve().parent.parent
    text = (root / "README.md" if page == "README.md" else directory / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.S)
    code, changed = re.subn(r'^path = ".*?"', f"path = {str(directory)!r}", example, flags=re.M)
    assert changed == 1
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code, names)
    assert len(names["queries"]) and len(names["corpus"]) and len(names["qrels"])


@pytest.mark.usefixtures("fewer_defects")
@pytest.mark.parametrize("page", ["for_consumers", "for_auditors", "for_maintainers"])
def test_the_first_five_minutes_of_a_role_work(
    demo: tuple[Path, dict[str, Any]],
    page: str,
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every command of the page, in order, as it stands there; none changes the release.

    An audit in a workspace writes its report there, here of fewer defects.
    """
    home, _ = demo
    workspace = tmp_path / "workspace/demo"
    workspace.mkdir(parents=True)
    for path in (home / "ws").iterdir():
        if path.name != "releases":
            (workspace / path.name).symlink_to(path)
    shutil.copytree(home / "ws/releases", workspace / "releases")
    before = files_of(workspace / "releases")
    (block,) = re.findall(r"```sh\n(.*?)```", (repository / f"docs/{page}.md").read_text("utf-8"), re.S)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEDQRELS_WORKERS", "1")  # defects are planted here, and only few
    first, *lines = block.splitlines()
    assert first.startswith(". .venv/bin/activate ")  # what makes the others' first word known
    assert lines and all(line.startswith("medqrels ") for line in lines)
    for line in lines:
        code, said = run_cli(line.split()[1:]), capsys.readouterr()
        assert code == 0 and said.out.strip(), f"{line}: {said.err[-2000:]}"
    named = {"for_consumers": ["results", "beir"], "for_auditors": ["audited.html"]}
    assert all((tmp_path / name).exists() for name in named.get(page, ()))
    assert "../visual_context/audit.html" in before["medqrels-sample/1.0.0/summary/audit.html"].decode()
    after = files_of(workspace / "releases")
    reports = {f"medqrels-sample/1.0.0/summary/audit.{kind}" for kind in ("html", "json")}
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert changed == (reports if page == "for_auditors" else set())


def test_every_article_of_the_sample_meets_its_fate(demo: tuple[Path, dict[str, Any]]) -> None:
    home, _ = demo
    directory = task_in(demo)
    used = set(pq.read_table(directory / "provenance/sources")["id"].to_pylist())
    kept = {f"pmc:PMC9900000{number:02d}.1" for number in (1, 2, 3, 5, 7, 8, 10, *range(13, 25))} | {
        "pmc:PMC990000004.2"
    }
    assert used == kept | {"litarch:NBK990001", "litarch:NBK990000/Doravexin"}
    workspace = Workspace(home / "ws")
    fates = {"PMC990000006": "licence_not_allowed", "PMC990000011": "retracted"}
    for locator, reason in fates.items():
        (drop,) = trace(workspace, locator)["tables"]["crawl.dropped"]
        assert drop["reason"] == reason
    for article, reason in {
        "pmc:PMC990000009.1": "licence_not_allowed",
        "pmc:PMC990000012.1": "not_human",
    }.items():
        drops = trace(workspace, article)["tables"]["visual_context.dropped"]
        assert {drop["reason"] for drop in drops} == {reason}
    dropped = pq.read_table([*workspace.stage("visual_context").glob("*/_dropped.parquet")]).to_pylist()
    figures = {drop["reason"] for drop in dropped if drop["unit"] == "figure" and drop["article_id"] in kept}
    assert sorted(figures) == sorted(
        {"third_party", "no_graphic", "image_missing", "no_caption", "vague_caption", "short_caption"}
    )


def test_one_article_from_bucket_to_load_dataset(demo: tuple[Path, dict[str, Any]]) -> None:
    """Known by hand: Figure 3 of PMC990000008 is cited in two passages that may answer and a third."""
    directory = task_in(demo)
    origins = {row["source_id"]: row for row in pq.read_table(directory / "provenance/queries").to_pylist()}
    query = origins["pmc:PMC990000008.1#fig3"]
    rows = {row["id"]: row for row in pq.read_table(directory / "queries").to_pylist()}
    released = rows[query["id"]]
    assert released["text"].startswith("Receiver operating characteristic curves for delayed conversion")
    assert released["license"] == "CC0-1.0"
    assert query["image_transform"] == "png to png, first frame"  # of a palette
    folder = Path(__file__).resolve().parent.parent / "sources/sample/bucket/PMC990000008.1"
    fitting = rows[origins["pmc:PMC990000008.1#fig2s1"]["id"]]
    source_image = folder / "msjid-e990008-fig2-figsupp1.jpg"
    assert fitting["image"]["bytes"] == source_image.read_bytes()  # byte for byte
    positives = {
        row["corpus-id"].split("#")[1]
        for row in pq.read_table(directory / "qrels").to_pylist()
        if row["query-id"] == query["id"]
    }
    assert positives == {"p7", "p8"}
    reasons = {
        row["corpus-id"].split("#")[1]: row["reason"]
        for row in pq.read_table(directory / "excluded").to_pylist()
        if row["query-id"] == query["id"]
    }
    assert reasons["p10"] == "many_figures"
    assert set(reasons.values()) == {"many_figures", "own_article"}


def undo(text: str, transforms: list[Mapping[str, Any]]) -> str:
    for transform in sorted(transforms, key=lambda item: item["start"], reverse=True):
        text = text[: transform["start"]] + transform["original"] + text[transform["end"] :]
    return text


def test_every_evidence_span_re_extracts_from_the_published_files(demo: tuple[Path, dict[str, Any]]) -> None:
    directory = task_in(demo)
    texts = {row["id"]: row["text"] for row in pq.read_table(directory / "corpus").to_pylist()}
    sources = {}
    for row in pq.read_table(directory / "provenance/corpus").to_pylist():
        sources[row["id"]] = undo(texts[row["id"]], row["transforms"])
        assert sha256_text(sources[row["id"]]) == row["text_sha256"]
    rows = pq.read_table(directory / "provenance/qrels").to_pylist()
    assert rows
    for row in rows:
        assert row["evidence"]
        for span in row["evidence"]:
            assert sources[span["text_id"]][span["start"] : span["end"]] == span["text"]


def test_the_vocabulary_is_the_same_wherever_it_is_made(
    demo: tuple[Path, dict[str, Any]], sample: Workspace
) -> None:
    """By the demo and by this process, which have other hash seeds."""
    made, again = (files_of(vocabulary_home(Workspace(root))) for root in (demo[0] / "ws", sample.root))
    assert any(name.startswith("indexes/") for name in made) and made.keys() == again.keys()
    assert [name for name in made if made[name] != again[name]] == []


KILLS = ((signal.SIGTERM, "work/cases/*/_manifest.json"), (signal.SIGKILL, "tmp/release/*"))
"""How, and as soon as what is there: among the shards of a stage, and while the release is made."""
PLANTED = frozenset({"audit.json", "audit.html"})
"""Files that tell what became of planted defects."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("kills", "starts"),
    [
        pytest.param(KILLS[1:], FEWER_HERE, id="slice"),
        pytest.param(KILLS, BY_TURNS_HERE, id="whole", marks=pytest.mark.campaign),
    ],
)
def test_killed_on_the_way_the_rerun_finishes_the_same_release(
    demo: tuple[Path, dict[str, Any]],
    kills: Sequence[tuple[signal.Signals, str]],
    starts: Sequence[str],
    tmp_path: Path,
) -> None:
    """The same bytes whatever the shards, workers, folder, hash seed and processor, too; and nothing stays.

    The demo makes one shard with two workers; here are eight shards, ended by one worker, and all is computed
    as the oldest x86-64 processor would. What a killed one had started ends by itself, what it had put into
    the temporary folder goes with the next. `make bench` kills it among the shards, too, and at every step
    (benchmarks/reliability), and plants the defects of every rule in the rerun as in the demo; here are those
    of a few, and what the audit says of the release itself is compared. The vocabulary is the demo's, and so
    is Prefect's database.
    """
    home, made = demo
    here = tmp_path / "shards of three, ünïcode"
    workspace = open_workspace(here / "ws", create=True)
    shutil.copytree(vocabulary_home(Workspace(home / "ws")), vocabulary_home(workspace))
    shutil.copytree(home / ".prefect", here / ".prefect")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    given = {
        **plain_environment(here),
        **opposite(),
        "MEDQRELS_SHARD_SIZE": "3",
        "PYTHONHASHSEED": "77",
        "TMPDIR": str(temporary),
    }
    for how, sign in kills:
        with (tmp_path / "said").open("w") as said:
            process = subprocess.Popen(
                [str(MEDQRELS), "demo", "--workspace", "ws"],
                env=given,
                cwd=here,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        end = time.monotonic() + 240
        while not list(workspace.root.glob(sign)) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        started = descendants(process.pid)  # its private Prefect server and workers
        process.send_signal(how)
        assert process.wait() == -how, (tmp_path / "said").read_text("utf-8")[-3000:]
        assert started and left_running(started) == []
    done = subprocess.run(
        [*starts, "demo", "--workspace", "ws", "--json"],
        env={**given, "MEDQRELS_WORKERS": "1"},
        cwd=here,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for mine, theirs in zip(json.loads(done.stdout)["releases"], made["releases"], strict=True):
        one, other = files_of(here / mine["path"]), files_of(home / theirs["path"])
        if starts is FEWER_HERE:
            again, first = ({**json.loads(files["audit.json"]), "canaries": []} for files in (one, other))
            assert again == first
            one, other = ({**files, **dict.fromkeys(PLANTED, b"")} for files in (one, other))
        assert [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)] == []
    assert not list((here / "ws").rglob("*.tmp"))
    assert not list(temporary.glob("medqrels*/*"))
    assert len(list((here / "ws" / "work" / "extract").iterdir())) == 9  # the chapters are one more


def test_a_killed_audit_leaves_nothing_that_the_next_run_does_not_remove(
    demo: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No workspace is near: the release is audited where it lies, as one that was downloaded."""
    home, made = demo
    release = shutil.copytree(home / made["releases"][0]["path"], tmp_path / "downloaded")
    (temporary := tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [str(MEDQRELS), "audit", str(release)],
        env={**plain_environment(tmp_path), "TMPDIR": str(temporary)},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    left: list[Path] = []
    end = time.monotonic() + 60
    while not left and process.poll() is None and time.monotonic() < end:
        left = list(temporary.glob("medqrels-*/run-*/medqrels-duckdb-*"))
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert left and list(temporary.glob("medqrels-*/run-*/medqrels-audit-*"))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with auditor():
        assert [path.suffix for path in temporary.glob("medqrels-*/*")].count("") == 1
    assert not list(temporary.glob("medqrels-*/*"))


def test_a_second_run_makes_nothing_and_fetches_nothing(sample: Workspace, tmp_path: Path) -> None:
    workspace = Workspace(shutil.copytree(sample.root, tmp_path / "ws"))
    per_article = {step.name for step in (*steps("extract"), *steps("ground"))} | set(TASKS)
    found = {stage.name: len(list(stage.iterdir())) for stage in workspace.work.iterdir()}
    assert {name: found[name] for name in per_article} == dict.fromkeys(per_article, found["crawl"])
    assert all(found[f"{name}_all"] == 1 for name in TASKS)
    before = files_of(workspace.work)
    again = crawl_bucket(workspace, sample_ids(), shard_size=SHARD_SIZE)
    assert sum(again.bodies().values()) == 0
    assert run_stages(workspace) == 0
    assert files_of(workspace.work) == before


def test_a_new_article_makes_a_new_shard_and_leaves_the_others(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "ws")
    first, rest = sample_ids()[:1], sample_ids()[1:3]
    crawl_bucket(workspace, rest)
    run_stages(workspace, ground=False)
    shard = next((workspace.stage("extract")).iterdir())
    stamp = {path.name: path.stat().st_mtime_ns for path in shard.iterdir()}
    crawl_bucket(workspace, [*rest, *first])
    made = len(steps("extract")) + len(steps("build", UNGROUNDED))
    assert run_stages(workspace, ground=False) == made
    assert {path.name: path.stat().st_mtime_ns for path in shard.iterdir()} == stamp


def test_a_release_is_refused_when_the_build_is_not_the_spec_s(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "ws")
    crawl_bucket(workspace, sample_ids()[:2])
    with pytest.raises(WorkspaceError, match="has not been built"):
        release_in(workspace)
    run_stages(workspace, ground=False)
    path = spec_path(DATASET)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    changed = read_spec(path, {"tasks.visual_context.min_words": "40"})
    with pytest.raises(WorkspaceError, match="min_words = 25; the spec says 40") as caught:
        release_task(session, TASKS[TASK], changed, path.parent, "1.0.0", {})
    assert caught.value.hint.startswith("medqrels build visual_context --spec")
    crawl_bucket(workspace, sample_ids()[:3])
    with pytest.raises(WorkspaceError, match="new shards of crawl"):
        release_in(workspace)
    assert not workspace.releases.exists()


@pytest.mark.usefixtures("fewer_defects")
def test_an_edited_release_is_found_out(
    demo: tuple[Path, dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(task_in(demo), copy)
    path = next((copy / "qrels").glob("*.parquet"))
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[0]["corpus-id"] = "pmc:PMC1.1#p1"
    pq.write_table(type(table).from_pylist(rows, schema=table.schema), path)
    assert run_cli(["audit", str(copy)]) == 1
    assert "pmc:PMC1.1#p1" in capsys.readouterr().out


def test_status_and_show_read_the_demo_workspace(
    demo: tuple[Path, dict[str, Any]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo[0])
    assert run_cli(["status", "--json", "--workspace", "ws"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert [stage["stage"] for stage in status["stages"]][:4] == ["crawl", "parse", "extract", "cases"]
    for stage in status["stages"]:
        for unit, counts in stage["units"].items():
            assert counts["in"] == counts["kept"] + counts["dropped"], (stage["stage"], unit)
    assert [item["audit"] for item in status["releases"]] == ["clean"] * len(LABELLED)
    assert run_cli(["show", "pmc:PMC990000001.1", "--workspace", "ws"]) == 0
    assert "pmc:PMC990000001.1#Fig3" in capsys.readouterr().out
    assert run_cli(["show", "pmc:PMC1.1", "--workspace", "ws"]) == 2
    assert "next: medqrels status" in capsys.readouterr().err
