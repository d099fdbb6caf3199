"""`medqrels vocabulary fill`: queries that a release holds as recipes, made from the vocabulary in use."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curation.release.filled import Filling, look_up, write_filled
from flows.engine.releases import task_directories
from flows.engine.session import Session, read_session
from flows.release.export import places
from flows.vocabulary import current
from flows.vocabulary.store import Vocabulary
from schemas.errors import UsageError
from schemas.name_tables import NAME_RECIPES
from schemas.string_tables import RECIPES
from schemas.wording import counted

_TOLD = 10
"""Missing recipes named one by one."""
_BUILD = "medqrels vocabulary build --umls META"


def fill(root: str | None, release: str, out: Path, *, dry_run: bool = False) -> list[dict[str, Any]]:
    """Fill the recipes of every task of a release; plain values of what was found and made.

    Args:
        root: workspace whose vocabulary is used.
        release: task or version folder, NAME@VERSION[/TASK].
        out: folder to make; one below it for each task where several have recipes.
        dry_run: look names up, write nothing.

    Raises:
        UsageError: no vocabulary is in use, or the release has no recipes.
    """
    session = read_session(root)
    vocabulary = current(session.workspace)
    if vocabulary is None:
        raise UsageError("no vocabulary is in use", file=str(session.workspace.root), hint=_BUILD)
    directories = [
        path
        for path in task_directories(release, session.workspace)
        if RECIPES.files(path) or NAME_RECIPES.files(path)
    ]
    if not directories:
        raise UsageError(
            "no task of the release has recipes",
            record=release,
            hint="see its table recipes/ or name_recipes/",
        )
    return [
        _filled(session, vocabulary, source, target, dry_run) for source, target in places(directories, out)
    ]


def _filled(
    session: Session, vocabulary: Vocabulary, source: Path, target: Path, dry_run: bool
) -> dict[str, Any]:
    ask = session.query
    filling = look_up(ask, source, vocabulary.table("names"), vocabulary.table("sources"))
    is_written = bool(filling.texts) and not dry_run
    if is_written:
        write_filled(ask, source, filling, target, vocabulary.fingerprint)
    return {
        "release": str(source),
        "recipes": len(filling.recipes),
        "filled": len(filling.texts),
        "languages": _by_language(filling),
        "reasons": filling.reasons(),
        "missing": [dataclasses.asdict(item) for item in filling.missing],
        "out": str(target) if is_written else "",
    }


def _by_language(filling: Filling) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in filling.recipes:
        if row["key"] in filling.texts:
            found[row["language"]] = found.get(row["language"], 0) + 1
    return dict(sorted(found.items()))


def describe(made: Sequence[dict[str, Any]]) -> str:
    """The same for people."""
    lines = []
    for item in made:
        by_language = ", ".join(f"{language} {count:,}" for language, count in item["languages"].items())
        where = f" in {item['out']}" if item["out"] else ""
        lines.append(
            f"{item['release']}: {item['filled']:,} of {counted(item['recipes'], 'recipe')} filled"
            + (f" ({by_language})" if by_language else "")
            + where
        )
        lines += [f"  {reason}: {count:,}" for reason, count in item["reasons"].items()]
        lines += [
            f"  {row['query']}: {row['reason']} ({row['source']} {row['atom']})".replace(" )", ")")
            for row in item["missing"][:_TOLD]
        ]
        if item["missing"]:
            lines.append(f"  next: {_BUILD}, of the release that the recipes are from")
    return "\n".join(lines)
