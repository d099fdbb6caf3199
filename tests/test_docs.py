"""Documentation is part of the product: generated pages are current, every command is shown."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from curation.tasks.registry import TASKS
from flows.cli.app import app
from scripts import make_docs, task_docs
from scripts.command_docs import commands, grouped

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
COMMAND = re.compile(r"medqrels ((?:crawl |review |vocabulary (?:add )?)?[a-z0-9]+)")


def test_generated_pages_are_current() -> None:
    for path, content in make_docs.pages().items():
        assert path.read_text("utf-8") == content, f"{path.name}: run python -m scripts.make_docs"


def test_every_command_is_documented_and_has_help() -> None:
    page = (ROOT / "docs/commands.md").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    names = [name for name, _ in commands()]
    assert len(names) >= 12 and sorted(names) == sorted(
        name for group in grouped().values() for name, _ in group
    )
    for name, command in commands():
        assert f"### {name}\n" in page
        assert re.search(rf"^\| `{name}[ `]", readme, re.M), name
        assert command.help.strip(), name
        for argument in command.assemble_argument_collection():
            assert not argument.show or argument.parameter.help, f"{name} {argument.name} has no help"


def test_no_command_has_an_option_that_only_says_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    for name, _ in commands():
        app.help_print(name.split()[1:])
        said = capsys.readouterr().out
        assert "Usage: medqrels" in said and not re.search(r"--(?:no|empty)-", said), name


def test_tables_of_commands_are_sound_markdown() -> None:
    """No cell breaks its row, and no default or choice is shown as Python writes it."""
    for name in ("README.md", "docs/commands.md"):
        text = (ROOT / name).read_text("utf-8")
        assert not re.search(r"<class|inspect\._empty|typing\.|PosixPath|<factory>", text), name
        for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
            widths = {len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(widths) == 1, f"{name}: {block.splitlines()[0]}"
    page = (ROOT / "docs/commands.md").read_text("utf-8")
    head, _, rest = page.partition("## Maintainer")
    for option in ("--json", "--workspace", "--log-level", "--dry-run"):
        assert f"| `{option}` |" in head and f"| `{option}` |" not in rest


def test_every_command_named_in_the_documentation_exists() -> None:
    groups = {"crawl", "review", "vocabulary", "vocabulary add"}
    known = {name.removeprefix("medqrels ") for name, _ in commands()} | groups
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        blocks = re.findall(r"```(?:\w*)\n(.*?)```|`([^`\n]+)`", path.read_text("utf-8"), re.S)
        spoken = [code for _, code in blocks if re.match(r"(?:\S+=\S+ |\S*/)?medqrels ", code)]
        for block in [fenced for fenced, _ in blocks if fenced] + spoken:
            for found in COMMAND.findall(block):
                words = found.split()
                name = found if found in known else words[0]
                assert name in known, f"{path.name}: medqrels {found}"


def test_every_relative_link_leads_somewhere() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks/README.md"]:
        for target in LINK.findall(path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_the_task_pages_say_what_the_code_says() -> None:
    page = (ROOT / "docs/tasks.md").read_text("utf-8")
    for name in TASKS:
        assert re.search(rf"^\| `{name}` \| .*(Retrieval|Discrimination): ", page, re.M), (
            f"{name}: no source is stated"
        )
        own, _, declared = (ROOT / f"docs/tasks/{name}.md").read_text("utf-8").partition(task_docs.BEGIN)
        assert own.startswith(f"# {name}\n\n*Given ") and len(own) > 400, f"{name}: nobody wrote what it asks"
        task = TASKS[name]
        assert all(f"| {grade.score} | {grade.name} |" in declared for grade in task.choices)
        assert all(f"| `{code}` | {text} |" in declared for code, text in task.exclusions.items())
        assert all(
            f"`{code}`" in declared
            for code in (*task.reasons, *task.settings.model_fields.keys() - {"licence_profile"})
        )


def test_readme_shows_the_two_commands_and_the_makefile_has_them() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in ("demo", "test", "setup"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, re.M)
    assert "make test" in (ROOT / ".ci/run").read_text("utf-8")


@pytest.mark.parametrize("arguments", [["--help"], ["crawl", "--help"], ["--version"]])
def test_help_works_as_installed(arguments: list[str]) -> None:
    command = Path(sys.executable).with_name("medqrels")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout.strip()
