"""docs/security.md: each promise names tests that exist; promises on the whole of the code are held here."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from flows.review.label_studio import HOST, _environment
from flows.schedule.report import _text
from scripts.command_docs import commands

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("schemas", "sources", "curation", "annotation", "flows")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
RUNS_WHAT_IT_READS = {
    "eval",
    "exec",
    "os.system",
    "os.popen",
    "pickle.load",
    "pickle.loads",
    "pickle.Unpickler",
    "marshal.load",
    "marshal.loads",
    "dill.loads",
    "joblib.load",
    "torch.load",
    "yaml.load",
    "yaml.full_load",
    "yaml.unsafe_load",
    "shelve.open",
}
OF_OURS = {
    "curation/concepts/index.py": "what this process wrote a moment ago, into a folder of its own",
    "schemas/record.py": "makes constructors of fields that the code declares",
    "sources/sample/bookshelf.py": "what a server of the sample answers, as LitArch writes it",
}
"""Where such a call reads nothing from outside, and why."""
UNSAFE_ARGUMENTS = {"trust_remote_code", "allow_pickle", "shell"}
NOT_HTML = {
    ROOT / "curation/export/templating.py",
    ROOT / "curation/release/card.py",
    ROOT / "curation/release/plots.py",
}
"""Templates of Python, Markdown and pictures, which have filters of their own."""
WRITES_CSV = {"csv.writer", "csv.DictWriter", "csv.write_csv"}
SECRET = re.compile(r"token(?!s)|password|secret|api.?key|credential", re.IGNORECASE)


@cache
def nodes() -> tuple[tuple[Path, ast.AST], ...]:
    """Everything in the modules that are installed: calls, functions, imports and literals."""
    wanted = (ast.Call, ast.FunctionDef, ast.ImportFrom, ast.Constant)
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            found += [(path, node) for node in ast.walk(tree) if isinstance(node, wanted)]
    return tuple(found)


def calls() -> Iterator[tuple[Path, ast.Call]]:
    """Calls with their modules."""
    for path, node in nodes():
        if isinstance(node, ast.Call) and path.relative_to(ROOT).as_posix() not in OF_OURS:
            yield path, node


def dotted(node: ast.expr) -> str:
    """A name as it is written, `` for what is more than a name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def unsafe(call: ast.Call) -> bool:
    """Whether a call may run what it reads."""
    asked = [word.value for word in call.keywords if word.arg in UNSAFE_ARGUMENTS]
    return dotted(call.func) in RUNS_WHAT_IT_READS or any(
        not (isinstance(value, ast.Constant) and value.value is False) for value in asked
    )


def test_every_promise_names_tests_that_exist() -> None:
    text = (ROOT / "docs/security.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| threat |")]
    assert len(rows) > 25
    for row in rows:
        threat, promise, tests = (cell.strip() for cell in row.strip("|").split(" | "))
        named = NAMED.findall(tests)
        assert threat and promise and named, row
        for file, name in named:
            tree = ast.parse((ROOT / file).read_text("utf-8"))
            found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert name in found, f"{file} has no {name}"


def test_nothing_that_is_read_is_run() -> None:
    wrong = [f"{path.relative_to(ROOT)}:{call.lineno}" for path, call in calls() if unsafe(call)]
    assert not wrong, wrong
    for text in ("yaml.load(text)", "np.load(path, allow_pickle=yes)", "run(line, shell=True)"):
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call) and unsafe(call)


def test_no_csv_is_written() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path, call in calls()
        if dotted(call.func) in WRITES_CSV or dotted(call.func).endswith(".to_csv")
    ]
    assert not wrong, wrong


def test_no_option_takes_a_secret() -> None:
    options = [
        f"{name} {argument.name}"
        for name, command in commands()
        for argument in command.assemble_argument_collection()
    ]
    assert len(options) > 100 and not [option for option in options if SECRET.search(option)]


def test_prefect_is_told_names_alone() -> None:
    """Tasks are given the names of shards, flows nothing that is secret; one module makes artifacts."""
    tasks = 0
    for path, node in nodes():
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("prefect"):
            is_told = "artifact" in f"{node.module} {[item.name for item in node.names]}"
            assert not is_told or path == ROOT / "flows/schedule/report.py", path
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            kinds = {ast.unparse(item).partition("(")[0] for item in node.decorator_list}
            given = [(item.arg, ast.unparse(item.annotation or item)) for item in node.args.args]
            assert "task" not in kinds or given in ([], [("shard", "str")], [("shards", "str")]), path
            assert "flow" not in kinds or not SECRET.search(str(given)), f"{path}: {node.name}"
            tasks += "task" in kinds
    assert tasks == 3


def test_what_a_summary_for_prefect_quotes_is_text() -> None:
    """Of an error that quotes a source, and of what a sweep noted."""
    hostile = "<img src=x onerror=alert(1)> [click](https://example.org) `code`\n# heading"
    told = {"flow": "sweep", "dataset": "a", "id": "1", "stages": [], "releases": [], "changes": []}
    why = {"message": hostile, "record": hostile, "file": "", "hint": hostile}
    text = _text({**told, "why": why, "notes": [hostile]}, Path("index.html"))
    assert text.count("example") == 4
    marks = [found.group() for found in re.finditer(r".?[<\[#`]", text) if not found.group().startswith("\\")]
    assert marks == [" `", "1`", " `", "l`"], "those of the run's id and page, which are ours"


def test_every_page_that_is_written_forbids_scripts_and_escapes() -> None:
    pages = [path for package in PACKAGES for path in (ROOT / package).rglob("*.html.jinja")]
    assert len(pages) >= 5
    for page in pages:
        text = page.read_text("utf-8")
        is_part = not text.lower().startswith("<!doctype html>")
        assert is_part or "default-src 'none'" in text.partition("<style")[0], page
        assert not re.search(r"<script|\bon\w+=|\|\s*safe\b|autoescape", text), page
    for path, node in nodes():
        if isinstance(node, ast.Call) and dotted(node.func).endswith("Environment"):
            asked = {word.arg: ast.unparse(word.value) for word in node.keywords}
            assert asked.get("autoescape") == "True" or path in NOT_HTML, path


def test_nothing_reports_home(tmp_path: Path) -> None:
    code = """if True:
        import flows.engine.orchestration, flows.adapters.hub, os
        from prefect.settings import get_current_settings
        from huggingface_hub import constants
        own = get_current_settings()
        print(own.server.analytics_enabled, own.logging.to_api.enabled)
        print(os.environ["DO_NOT_TRACK"], constants.HF_HUB_DISABLE_TELEMETRY)
    """
    own = {"HOME": str(tmp_path), "PREFECT_HOME": str(tmp_path), "PREFECT_API_URL": "http://127.0.0.1:1/api"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=own,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.stdout.split() == ["False", "False", "1", "True"], done.stderr
    server = _environment(tmp_path, dict.fromkeys(("login", "password", "token"), "x"))
    off = ("COLLECT_ANALYTICS", "LATEST_VERSION_CHECK")
    assert {server[name] for name in off} == {"False"}
    assert server["SENTRY_DSN"] == server["FRONTEND_SENTRY_DSN"] == ""


def test_servers_are_started_on_loopback() -> None:
    assert HOST == "127.0.0.1"
    said = [
        node.value for _, node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not [text for text in said if text == "0.0.0.0" or "--host 0" in text]
    served = [text for text in said if re.search(r"--host\s+\S", text)]
    assert served and all("--host 127.0.0.1" in text for text in served), served
