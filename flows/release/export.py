"""Exports of every task of a release, with progress."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curation.export.run import export, plan, rows
from curation.export.source import open_source
from flows.engine.progress import Reporter
from schemas.errors import UsageError
from schemas.wording import counted

Places = Sequence[tuple[Path, Path]]


def places(directories: Sequence[Path], out: Path) -> Places:
    """(task folder, folder to make): `out` itself for one task.

    Raises:
        UsageError: an export would go into a release.
    """
    inside = [path for path in directories if out.resolve().is_relative_to(path.resolve())]
    if inside:
        raise UsageError("an export cannot go into a release", file=str(out), hint="name another folder")
    if len(directories) == 1:
        return [(directories[0], out)]
    return [(path, out / path.name) for path in directories]


def planned(pairs: Places, form: str) -> list[dict[str, Any]]:
    """What would be exported, as plain values."""
    return [{**plan(open_source(source), form), "out": str(target)} for source, target in pairs]


def export_all(pairs: Places, form: str, reporter: Reporter) -> list[dict[str, Any]]:
    """Export each task; plain values of what was made."""
    made = []
    for directory, target in pairs:
        source = open_source(directory)
        with reporter.stage(f"export {directory.name}", rows(source), "rows") as steps:
            done = export(source, target, form, steps.advance)
        named = {name: value for name, value in done.content.items() if name != "files"}
        files = len(done.content["files"])
        made.append({**named, "files": files, "out": str(target), "is_new": done.is_new})
    return made


def describe(made: Sequence[dict[str, Any]]) -> str:
    """The same for people."""
    lines = []
    for item in made:
        stands = "" if item["is_new"] else "; it stood already"
        counts = ", ".join(f"{count:,} {table}" for table, count in item["counts"].items())
        name = f"{item['dataset']}@{item['version']}/{item['task']}"
        lines.append(
            f"{name} as {item['format']}: {counts}; {counted(item['files'], 'file')} in {item['out']}{stands}"
        )
        lines += [f"  {note}" for note in item["notes"]]
    return "\n".join(lines)
