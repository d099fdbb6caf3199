"""The command grammar: exit codes, errors that say what to do, JSON, dry runs that change nothing."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

from curation.tasks.registry import TASKS
from flows.cli import app
from flows.cli.app import run_cli
from flows.cli.common import DEFAULT, _Plain, emit
from flows.crawl.locators import read_ids
from flows.engine.database import connect, sql_failed
from flows.engine.workspace import Workspace
from flows.pipeline import steps
from flows.specs import parse_overrides
from schemas.errors import MedqrelsError, UsageError
from sources.sample import ids_path
from tests.fewer import EVERY
from tests.pipeline import LABELLED

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def built(sample: Workspace) -> Path:
    """A workspace with the sample built; read-only."""
    return sample.root


def test_usage_errors_exit_2_and_say_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["crawl", "pmc"],
        ["no-such-verb"],
        ["build", "no_such_task", "--workspace", str(tmp_path / "none")],
        ["audit"],
        ["audit", "nothing@1.0.0", "--workspace", str(tmp_path)],
        ["release", "no-such-dataset", "--version", "1.0.0"],
        ["crawl", "pmc", "--ids", str(tmp_path / "absent.txt"), "--workspace", str(tmp_path / "none")],
        ["crawl", "folder", str(tmp_path / "absent"), "--workspace", str(tmp_path / "none")],
        ["build", "--set", "nonsense", "--workspace", str(tmp_path)],
    ):
        assert run_cli(arguments) in (2, 3), arguments
        error = capsys.readouterr().err
        assert error.startswith("error: "), arguments
        assert "Traceback" not in error
    assert not (tmp_path / "none").exists()
    assert run_cli(["show", "pmc:PMC1.1", "--workspace", str(tmp_path)]) == 3
    assert "next: " in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["status"], ["crawl", "folder", "{}"], ["extract"]])
def test_an_error_of_the_machine_is_told_as_one(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = str(tmp_path / ("a" * 300))
    assert run_cli([*(word.format(long) for word in verb), "--workspace", long]) == 3
    error = capsys.readouterr().err
    assert "name too long" in error and "next: name a shorter path" in error and "defect" not in error


def test_too_little_memory_says_which_setting() -> None:
    with connect("1MB") as connection, pytest.raises(duckdb.Error) as caught:
        connection.sql("SELECT list(range) FROM range(9000000)").fetchall()
    made = sql_failed(caught.value)
    assert "needs more memory" in made.message and "MEDQRELS_MEMORY_LIMIT" in made.hint


def test_prose_that_is_missing_is_told_before_anything_is_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "cards" / "spec.toml"
    spec.parent.mkdir()
    spec.write_text('name = "a-b"\ntitle = "A title"\n[tasks.summary]\n', encoding="utf-8")
    for verb in (["run", "--spec", str(spec)], ["release", str(spec), "--version", "1.0.0"]):
        workspace = tmp_path / verb[0]
        assert run_cli([*verb, "--workspace", str(workspace)]) == 3
        error = capsys.readouterr().err
        missing = error.replace("\n", "")
        assert f"write {spec.parent / 'summary' / 'summary.md'}" in missing
        assert str(spec.with_name("collection.md")) in missing
        assert not list(workspace.rglob("*.parquet"))


@pytest.mark.parametrize(
    "verb",
    [
        ["run", "--spec", "{spec}"],
        ["run", "--spec", "{spec}", "--dry-run"],
        ["extract", "--spec", "{spec}"],
        ["build", "--spec", "{spec}"],
        ["build", "--spec", "{spec}", "--dry-run"],
        ["release", "{spec}"],
        ["release", "{spec}", "--version", "1.0.0", "--dry-run"],
    ],
    ids=" ".join,
)
def test_a_spec_with_a_task_that_nobody_can_build_is_refused_before_any_work(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    """There is no code for `chart_reading`."""
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'name = "a-b"\ntitle = "A title"\n[tasks.visual_context]\n[tasks.chart_reading]\n', "utf-8"
    )
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*") if path.is_file()}
    assert run_cli([word.format(spec=spec) for word in verb] + ["--workspace", str(built)]) == 2
    error = capsys.readouterr().err
    assert "chart_reading" in error and "next: tasks: visual_context" in error
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*") if path.is_file()} == before


def test_errors_are_json_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["status", "--json", "--workspace", str(tmp_path / "none")]) == 3
    error = json.loads(capsys.readouterr().err)
    assert error["error"] == "WorkspaceError"
    assert error["hint"]


@pytest.mark.parametrize(
    ("words", "verb"),
    [
        (["build", "--nothing"], "medqrels build --help"),
        (["review", "push", "a-b/summary", "--nothing"], "medqrels review push --help"),
        (["nothing"], "medqrels --help"),
    ],
)
def test_a_wrong_option_points_to_the_help_of_its_verb(
    capsys: pytest.CaptureFixture[str], words: list[str], verb: str
) -> None:
    assert run_cli(words) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"  next: {verb}"


def test_an_empty_workspace_asks_for_a_crawl_before_anything_else(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["build", "--workspace", str(workspace.root)]) == 3
    error = capsys.readouterr().err
    assert "nothing is crawled yet" in error and "next: medqrels run --spec SPEC, or medqrels crawl" in error


def test_a_defect_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(settings: object, *, ask_servers: bool) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("flows.inspect.doctor.examine", broken)
    assert run_cli(["doctor"]) == 3
    error = capsys.readouterr().err
    assert "ZeroDivisionError: planted" in error
    assert "Traceback" not in error


def test_a_defect_inside_a_flow_is_shown_where_it_is_when_asked(built: Path) -> None:
    """Prefect sets up logging anew when a flow begins."""
    options = [str(ROOT / "data_cards" / "medqrels-sample" / "spec.toml"), "--workspace", str(built)]
    code = (
        "import sys; from flows.cli.app import run_cli; import flows.release.flow as flow\n"
        "def broken(*_): raise ZeroDivisionError('planted')\n"
        "flow.check_built = broken\n"
        "for level in ('WARNING', 'DEBUG'):\n"
        "    assert run_cli(['release', *sys.argv[1:], '--log-level', level]) == 3\n"
        "    print('==', file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", code, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT, check=False)
    quiet, loud, _ = done.stderr.split("==\n")
    assert "error: ZeroDivisionError: planted" in quiet and "error: ZeroDivisionError: planted" in loud
    assert "in broken" not in quiet and "in broken" in loud


def test_doctor_names_every_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run_cli(["doctor", "--json", "--workspace", str(tmp_path / "ws")])
    results = json.loads(capsys.readouterr().out)
    assert {"python", "package prefect", "workspace", "clock", "pmc"} <= {item["check"] for item in results}
    assert code == (
        0 if all(item["ok"] is not False for item in results if item["check"] != "contact") else 1
    )


def test_dry_runs_change_nothing(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*") if path.is_file()}
    shards = len(list((built / "work" / "crawl").iterdir()))
    assert shards == 6  # two dozen articles by five, and the book
    where = ["--workspace", str(built), "--json", "--dry-run"]
    expected = {
        "extract": [step.name for step in steps("extract")],
        "ground": [step.name for step in steps("ground")],
        "build": [step.name for step in steps("build") if step.stage is not None],
    }
    own = {stage.name for task in TASKS.values() for stage in task.stages[1:-1]}
    for verb, stages in expected.items():
        assert run_cli([verb, *where]) == 0
        result = json.loads(capsys.readouterr().out)
        assert [item["stage"] for item in result] == stages
        assert all(item["to_do"] == 0 for item in result)
        usual = [item for item in result if item["stage"] not in own]
        assert all(item["done"] == (1 if item["stage"].endswith("_all") else shards) for item in usual)
    assert run_cli(["crawl", "pmc", "--ids", str(ids_path()), *where]) == 0
    assert json.loads(capsys.readouterr().out) == {"new": 0, "known": 24}
    assert run_cli(["release", "medqrels-sample", "--version", "1.0.0", *where]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"] == sorted(LABELLED)
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*") if path.is_file()} == before


def test_a_changed_parameter_makes_the_stage_stale(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = str(ROOT / "data_cards/medqrels-sample/spec.toml")
    change = ["--spec", spec, "--set", "tasks.visual_context.min_words=40"]
    assert run_cli(["build", *change, "--workspace", str(built), "--json", "--dry-run"]) == 0
    result = json.loads(capsys.readouterr().out)
    to_do = {item["stage"]: item["to_do"] for item in result if item["to_do"]}
    stages = ("visual_context", *(f"visual_context_{name}" for name in ("images", "panels", "parts")))
    assert to_do == dict.fromkeys(stages, 6)
    wrong = ["--spec", spec, "--set", "tasks.visual_context.no_such=1"]
    assert run_cli(["build", *wrong, "--workspace", str(built), "--dry-run"]) in (2, 3)
    assert "no_such" in capsys.readouterr().err


def test_id_files(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text("# a comment\nPMC12 # why\n\n 7 \npmc9\n", "utf-8")
    assert read_ids(path) == ["PMC12", "PMC7", "PMC9"]
    path.write_bytes(b"\xef\xbb\xbfPMC12\r\n\r\nPMC9\r\n")
    assert read_ids(path) == ["PMC12", "PMC9"]
    path.write_bytes(b"PMC12\nPMC\xff")
    with pytest.raises(UsageError, match="not UTF-8 from byte 9 on"):
        read_ids(path)
    path.write_text("PMC12\n10.1000/x\n", "utf-8")
    with pytest.raises(UsageError, match="line 2"):
        read_ids(path)
    path.write_text("# nothing\n", "utf-8")
    with pytest.raises(UsageError, match="contains no article id"):
        read_ids(path)


def test_overrides() -> None:
    assert parse_overrides(("a.b=1", "c = x=y")) == {"a.b": "1", "c": "x=y"}
    with pytest.raises(UsageError):
        parse_overrides(("a",))


def test_a_real_server_needs_a_contact_address(tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("PMC1\n", "utf-8")
    plain = {key: value for key, value in os.environ.items() if not key.startswith("MEDQRELS_")}
    done = subprocess.run(
        [
            Path(sys.executable).with_name("medqrels"),
            "crawl",
            "pmc",
            "--ids",
            ids,
            "--workspace",
            tmp_path / "ws",
        ],
        env={**plain, "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 2
    assert "contact" in done.stderr
    assert "Traceback" not in done.stderr


def test_light_verbs_do_not_import_prefect(built: Path) -> None:
    where = ["--workspace", str(built)]
    verbs = [["status", *where], ["show", "pmc:PMC990000001.1", *where], ["doctor", *where]]
    verbs += [["audit", str(built), *where], ["--help"]]
    code = (
        "import json, sys; from flows.cli.app import run_cli; from curation.audit import defects\n"
        "whole = defects.run\n"
        f"defects.run = lambda rules, *rest: whole(rules[::{EVERY}], *rest)  # all take twenty seconds\n"
        "for verb in json.loads(sys.argv[1]):\n"
        "    try: run_cli(verb)\n"
        "    except SystemExit: pass\n"
        "    found = {'prefect', 'datasets'} & set(sys.modules)\n"
        "    assert not found, f'{verb} imports {found}'\n"
    )
    subprocess.run([sys.executable, "-c", code, json.dumps(verbs)], check=True, timeout=240, cwd=ROOT)


def test_a_pipe_that_closes_early_is_no_error() -> None:
    """`medqrels … | head` ends quietly."""
    program = (
        "import sys\nfrom flows.cli.common import DEFAULT, _Plain, emit\n"
        "sys.stdin.readline()\nemit(DEFAULT, None, 'line\\n' * 100_000)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdin and started.stdout and started.stderr
        started.stdout.close()
        started.stdin.write(b"go\n")
        started.stdin.close()
        said = started.stderr.read()
    assert (started.returncode, said) == (0, b"")


def test_a_place_where_nothing_can_be_made_is_no_defect_of_ours(
    sample: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    for place in ("/proc/x", "/proc/self/x", str(tmp_path / "one/x")):
        arguments = ["ground", "--input", __file__, "--output", place, "--workspace", str(sample.root)]
        assert run_cli([*arguments, "--json"]) in (2, 3)
        told = json.loads(capsys.readouterr().err.strip().splitlines()[-1])
        assert told["hint"] and "defect" not in told["hint"], told


def test_what_libraries_log_is_shown_without_passwords_and_commands() -> None:
    shown = _Plain("%(name)s: %(message)s")
    record = logging.LogRecord("lib", 10, "", 1, "asking %s", ("http://me:secret@host/\x1b[2J",), None)
    assert shown.format(record) == "lib: asking http://host/\\u001b[2J"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_names_of_others_cannot_command_the_terminal(
    form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run_cli(["audit", "/nowhere/\x1b[2J\x9b31m", *form]) == 2
    said = capsys.readouterr()
    shown = said.out + said.err
    assert "nowhere" in shown and not {"\x1b", "\x9b"} & set(shown)
    emit(DEFAULT, {}, "a caption \x1b]0;title\x07")
    assert capsys.readouterr().out == "a caption \\u001b]0;title\\u0007\n"


def test_below_the_message_of_a_failure_stands_nothing() -> None:
    """A library that speaks while the interpreter is taken down, as DuckDB's does of what errors hold."""
    code = """if True:
        import atexit, os, sys
        from flows.cli import app
        atexit.register(os.write, 2, b"leaked")
        sys.argv = ["medqrels", *sys.argv[1:]]
        app.main()
    """
    for arguments, last in ((["audit", "/nowhere"], b"NAME@VERSION\n"), (["--version"], b"leaked")):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False)
        assert done.stderr.endswith(last), done.stderr


ENDING = """
import atexit, sys, time
from flows.cli import app

@atexit.register
def end():
    print("ending", flush=True)
    sys.stdin.readline()

sys.argv = ["medqrels", "--version"]
app.main()
"""


def test_ctrl_c_after_the_work_is_done_changes_nothing() -> None:
    """Prefect's private server takes a moment to end."""
    with subprocess.Popen(
        [sys.executable, "-c", ENDING],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as started:
        assert started.stdin and started.stdout and started.stderr
        assert started.stdout.readline() and started.stdout.readline() == b"ending\n"
        started.send_signal(signal.SIGINT)
        time.sleep(0.2)
        _, said = started.communicate(b"go\n", timeout=30)
    assert (started.returncode, said) == (0, b"")


def test_a_worker_that_ctrl_c_ended_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def died(*_: object, **__: object) -> None:
        app._SIGINT.set()
        raise MedqrelsError("a worker process died")

    monkeypatch.setattr(app, "_SIGINT", threading.Event())
    monkeypatch.setattr(app, "_FAILED", threading.Event())
    monkeypatch.setattr(app, "app", died)
    assert app.run_cli(["status"]) == 130
    assert capsys.readouterr().err.startswith("error: interrupted\n")


STOPPED = """
import flows.cli.app as cli

def stopped(*_, **__):
    raise RuntimeError("Query interrupted")

cli.app = stopped
cli.run_cli(["status"])
"""


def test_a_sigterm_while_duckdb_runs_is_no_defect() -> None:
    """DuckDB puts an error of its own, this one, in place of what the signal's handler raises."""
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", "")


@pytest.mark.parametrize("number", [1, 2])
def test_a_service_may_start_it_without_a_place_to_print(number: int, tmp_path: Path) -> None:
    """The next file opened would get the number, and what is printed."""
    code = f"""if True:
        import os, sys
        os.close({number})
        os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], *sys.argv[2:]])
    """
    program = "from flows.cli.app import main; main()"
    arguments = ["crawl", "pmc", "--ids", str(ids_path()), "--workspace", str(tmp_path / "w"), "--dry-run"]
    done = subprocess.run(
        [sys.executable, "-c", code, program, *arguments], cwd=ROOT, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_work_goes_on_when_nobody_reads_its_progress() -> None:
    program = (
        "import sys\nfrom flows.engine.progress import PlainReporter\nsys.stdin.readline()\n"
        "for _ in range(9): PlainReporter().line('line ' * 100_000)\nprint('done')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdin and started.stdout and started.stderr
        started.stderr.close()
        started.stdin.write(b"go\n")
        started.stdin.close()
        said = started.stdout.read()
    assert (started.returncode, said) == (0, b"done\n")


def test_a_place_whose_name_is_not_utf8_is_told_as_one(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """DuckDB opens no such path."""
    place = tmp_path / os.fsdecode(b"w\xff")
    place.symlink_to(built)
    assert run_cli(["show", "pmc:PMC990000001.1", "--workspace", str(place)]) == 3
    error = capsys.readouterr().err
    assert "is not UTF-8" in error and "defect" not in error


def test_what_is_wrong_with_the_words_of_a_command_is_plain(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, said in (
        (["status", "more"], "the command takes no 'more'"),
        (["release", "medqrels-sample", "--version", "1.0"], "not a version: '1.0'"),
        (["audit", str(built)], "this holds releases and is none itself"),
    ):
        assert run_cli([*arguments, "--workspace", str(built)]) == 2
        assert said in capsys.readouterr().err
