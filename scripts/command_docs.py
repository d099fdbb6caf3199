"""The commands as Markdown, from the command line itself: docs/commands.md, and README's tables by role."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args, get_origin

from cyclopts import App

from flows.cli.app import app
from flows.cli.common import Common

GROUPS = {
    "maintainer": "Maintainer: build and release a dataset",
    "review": "Maintainer: have it reviewed by annotators",
    "consumer": "Consumer: measure retrieval systems",
    "auditor": "Auditor: check a release",
}
"""Who runs a command, and to what end. Annotators work in the browser and run none."""
_ROLES = {
    "demo": "maintainer",
    "run": "maintainer",
    "crawl": "maintainer",
    "extract": "maintainer",
    "vocabulary": "maintainer",
    "ground": "maintainer",
    "build": "maintainer",
    "answer": "maintainer",
    "release": "maintainer",
    "publish": "maintainer",
    "rebuild": "maintainer",
    "serve": "maintainer",
    "sweep": "maintainer",
    "takedown": "maintainer",
    "status": "maintainer",
    "show": "maintainer",
    "doctor": "maintainer",
    "review": "review",
    "evaluate": "consumer",
    "export": "consumer",
    "diff": "consumer",
    "audit": "auditor",
}
"""Group of each top-level command; within a group commands stand in this order."""
DRY_RUN = "dry-run"
COMMON = frozenset(f"--{field.name.replace('_', '-')}" for field in dataclasses.fields(Common))
"""Options that every command has."""


def commands(parent: App = app, prefix: str = "medqrels") -> Iterator[tuple[str, App]]:
    """Every command that does something, with its full name."""
    for name in parent:
        if name.startswith("-"):
            continue
        child = parent[name]
        has_parts = any(not part.startswith("-") for part in child)
        if not has_parts or child.default_command is not None:
            yield f"{prefix} {name}", child
        if has_parts:
            yield from commands(child, f"{prefix} {name}")


def grouped() -> dict[str, list[tuple[str, App]]]:
    """Commands by group, in the order of a dataset's life.

    Raises:
        KeyError: a command has no role yet.
    """
    order = list(_ROLES)
    found: dict[str, list[tuple[str, App]]] = {group: [] for group in GROUPS}
    for name, command in sorted(commands(), key=lambda item: order.index(item[0].split()[1])):
        found[_ROLES[name.split()[1]]].append((name, command))
    return found


def usage(name: str, command: App) -> str:
    """A command with its arguments and required options; brackets mean optional, … repeatable."""
    parts = [name]
    for argument in command.assemble_argument_collection():
        word = argument.name.lstrip("-").upper()
        if argument.show and argument.index is not None:
            many = get_origin(argument.hint) is tuple
            word = f"{word}…" if many else word
            parts.append(word if argument.required else f"[{word}]")
        elif argument.show and argument.required:
            parts.append(f"{argument.name} {word}")
    return " ".join(parts)


def summary(command: App) -> str:
    """The first sentence or two of a command's help: its first paragraph."""
    return inspect.cleandoc(command.help).partition("\n\n")[0].replace("\n", " ")


def table(commands_of: Sequence[tuple[str, App]]) -> list[str]:
    """README's table of some commands."""
    rows = [f"| `{usage(name, command)}` | {summary(command)} |" for name, command in commands_of]
    return ["| command | what it does |", "|---|---|", *rows]


def commands_page() -> str:
    """docs/commands.md."""
    groups = grouped()
    reading = [name for name, command in commands() if not _has_dry_run(command)]
    lines = [
        "# Commands",
        "",
        "In a usage line, words in capitals stand for values, what is in brackets may be left out, and … may",
        "be repeated. Results go to stdout, progress and errors to stderr.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | done, nothing found |",
        "| 1 | a finding: an audit found errors, answers conflict, lines were dropped, prompts unanswered, "
        "articles not delivered |",
        "| 2 | usage: the command or a file it names cannot be carried out as written |",
        "| 3 | failure: the work could not be finished; the message says what to do next |",
        "| 130 | interrupted; the same command continues where it stopped |",
        "",
        "## Options of every command",
        "",
        "| option | values | meaning |",
        "|---|---|---|",
    ]
    some = next(command for _, command in groups["maintainer"] if _has_dry_run(command))
    for argument in some.assemble_argument_collection():
        if argument.name in COMMON or argument.name == f"--{DRY_RUN}":
            lines.append(f"| `{argument.name}` | {_values(argument.hint)} | {argument.parameter.help} |")
    lines += [
        "",
        f"`--{DRY_RUN}` is an option of every command that writes. These read, or write a report, and have "
        "none: " + ", ".join(f"`{name}`" for name in reading) + ".",
        "",
    ]
    for group, title in GROUPS.items():
        lines += [f"## {title}", ""]
        for name, command in groups[group]:
            lines += _section(name, command)
    return "\n".join(lines)


def _section(name: str, command: App) -> list[str]:
    lines = [f"### {name}", "", inspect.cleandoc(command.help), "", "```", usage(name, command), "```", ""]
    own = [
        argument
        for argument in command.assemble_argument_collection()
        if argument.show and argument.name not in COMMON and argument.name != f"--{DRY_RUN}"
    ]
    if own:
        lines += ["| argument | values | meaning | default |", "|---|---|---|---|"]
        for argument in own:
            default = "required" if argument.required else _default(argument.field_info.default)
            meaning = argument.parameter.help or ""
            lines.append(f"| `{argument.name}` | {_values(argument.hint)} | {meaning} | {default} |")
        lines.append("")
    return lines


def _has_dry_run(command: App) -> bool:
    return any(argument.name == f"--{DRY_RUN}" for argument in command.assemble_argument_collection())


def _values(hint: Any) -> str:
    """What an argument takes, in words: choices as they are typed, nothing for a switch."""
    if get_origin(hint) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(hint))
    if get_origin(hint) is tuple:
        return f"{_values(get_args(hint)[0])}, repeatable"
    known = {bool: "switch", int: "whole number", float: "number", str: "text"}
    return known.get(hint, "path")


def _default(default: Any) -> str:
    """A default as one would type it; '' where there is none or the switch is off."""
    if default is inspect.Parameter.empty or default in (None, (), "", False):
        return ""
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
