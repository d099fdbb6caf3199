"""docs/faq.md: every class of error has an entry, and every message it quotes is raised somewhere."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from schemas import errors

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("schemas", "sources", "curation", "annotation", "flows")


def error_classes() -> list[str]:
    """Names of the public errors of schemas/errors.py."""
    classes = {name: item for name, item in vars(errors).items() if isinstance(item, type)}
    own = (name for name, item in classes.items() if item.__module__ == errors.__name__)
    return [name for name in own if not name.startswith("_")]


def entries() -> dict[str, list[str]]:
    """Class -> messages quoted in its part of the page."""
    text = (ROOT / "docs/faq.md").read_text("utf-8")
    parts = re.split(r"(?m)^#{2,3} (\w+)$", text)[1:]
    quoted = re.compile(r"(?m)^\| `(.+?)` \| \S.{20,} \|$")
    return {name: quoted.findall(part) for name, part in zip(parts[::2], parts[1::2], strict=True)}


@cache
def raised() -> dict[str, set[str]]:
    """Class -> messages it, or a class made of it, is made with, with `…` for what is filled in."""
    found: dict[str, set[str]] = {}
    made_of: dict[str, str] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                    found.setdefault(node.func.id, set()).add(template(node.args[0]))
                elif isinstance(node, ast.ClassDef):
                    made_of.update((node.name, base.id) for base in node.bases if isinstance(base, ast.Name))
    for name, base in made_of.items():
        found.setdefault(base, set()).update(found.get(name, set()))
    return found


def template(node: ast.expr) -> str:
    """A string literal as it reads, its expressions and their quotes as `…`."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    said = (str(one.value) if isinstance(one, ast.Constant) else "…" for one in parts)
    return re.sub("…+", "…", "".join(said))


def test_every_error_has_an_entry_with_messages() -> None:
    assert len(error_classes()) >= 8
    assert {name for name, messages in entries().items() if messages} == set(error_classes())


def test_every_quoted_message_is_raised_by_the_class_it_stands_under() -> None:
    for name, messages in entries().items():
        lost = [message for message in messages if message not in raised()[name]]
        assert not lost, f"{name} is never raised with: {lost}"


def test_a_message_that_nobody_raises_is_found() -> None:
    assert "no workspace here" in raised()["WorkspaceError"]
    assert "no workspace there" not in raised()["WorkspaceError"]
    assert template(ast.parse("f'stage {name!r} has not run'", mode="eval").body) == "stage … has not run"
