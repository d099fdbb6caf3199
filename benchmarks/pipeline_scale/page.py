"""The figures as Markdown: put into docs/scale.md between two marks, so that none is typed by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from benchmarks.pipeline_scale.world import Mix, World

PAGE = ROOT / "docs" / "scale.md"
STEPS = ("generate", "build", "release", "audit", "evaluate")
_COLUMNS = (
    ("clock", "seconds", "{:,.0f} s"),
    ("CPU", "cpu_seconds", "{:,.0f} s"),
    ("memory, resident", "peak_rss_mb", "{:,.0f} MB"),
    ("read", "io_read_mb", "{:,.0f} MB"),
    ("written", "io_write_mb", "{:,.0f} MB"),
    ("kept", "written_mb", "{:,.0f} MB"),
    ("scratch", "scratch_mb", "{:,.0f} MB"),
)
_MOVED = ("io_read_mb", "io_write_mb", "written_mb")
MILLION = 1_000_000


def sizes_of(result: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Documents -> figures by step, of a results file."""
    return {
        int(name.partition("_")[0]): value for name, value in result.items() if name.endswith("_documents")
    }


def lines(result: Mapping[str, Any]) -> list[str]:
    """One table of steps, one of what came out, one of the growth."""
    sizes = sizes_of(result)
    made = [
        "| documents | articles | step | " + " | ".join(name for name, _, _ in _COLUMNS) + " |",
        "|---:|---:|---|" + "---:|" * len(_COLUMNS),
    ]
    for size, steps in sorted(sizes.items()):
        for step in STEPS:
            if step in steps:
                cells = [_cell(steps[step].get(key), form) for _, key, form in _COLUMNS]
                made.append(f"| {size:,} | {articles(size):,} | {step} | " + " | ".join(cells) + " |")
    return [*made, *_million(sizes), "", *_released(sizes), "", *_growth(result)]


def articles(documents: int) -> int:
    """Articles that are generated for so many documents."""
    return World.of(documents).shards * Mix().articles


def _million(sizes: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """A million articles, from what the largest size took more than the one before."""
    if len(sizes) < 2:
        return []
    (small, before), (large, after) = sorted(sizes.items())[-2:]
    more = MILLION / (articles(large) - articles(small))
    made = []
    for step in STEPS:
        rows = before.get(step, {}), after.get(step, {})
        found = [
            (rows[1][key] - rows[0][key]) * more if all(key in row for row in rows) else None
            for key in ("cpu_seconds", *_MOVED)
        ]
        if any(value is not None for value in found):
            hours, *moved = found
            cells = [_cell(hours and hours / 3600, "{:,.1f} h"), ""]
            cells += [_cell(value and value / 1000, "{:,.1f} GB") for value in moved]
            made.append(f"| | {MILLION:,}, projected | {step} | | " + " | ".join(cells) + " | |")
    return made


def _cell(value: Any, form: str) -> str:
    return "" if value is None else form.format(value)


def _released(sizes: Mapping[int, Mapping[str, Any]]) -> list[str]:
    made = [
        "| documents | task | corpus | queries | qrels | excluded | size | audit |",
        "|---:|---|---:|---:|---:|---:|---:|---|",
    ]
    for size, steps in sorted(sizes.items()):
        for task, found in steps.get("release", {}).get("tasks", {}).items():
            rows = " | ".join(
                f"{found['rows'][name]:,}" for name in ("corpus", "queries", "qrels", "excluded")
            )
            made.append(f"| {size:,} | {task} | {rows} | {found['mb']:,.0f} MB | {found['audit']} |")
    return made


def _growth(result: Mapping[str, Any]) -> list[str]:
    made = ["Growth between neighbouring sizes, as an exponent (1 is linear):", ""]
    made += ["| from–to | step | CPU | memory | kept |", "|---|---|---:|---:|---:|"]
    for span, found in result.get("growth", {}).items():
        for step in STEPS:
            keys = [f"{step}.{name}" for name in ("cpu_seconds", "peak_rss_mb", "written_mb")]
            if any(key in found for key in keys):
                cells = " | ".join(_cell(found.get(key), "{:.2f}") for key in keys)
                made.append(f"| {span} | {step} | {cells} |")
    return made


def write(result: Mapping[str, Any], page: Path = PAGE) -> None:
    """Replace the figures of all sizes on a page."""
    put("figures", lines(result), page)


def put(name: str, made: Sequence[str], page: Path = PAGE) -> None:
    """Replace what stands on a page between the marks of a name.

    Raises:
        ValueError: the page has no place for it.
    """
    between = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    text = page.read_text("utf-8")
    if not between.search(text):
        raise ValueError(f"{page.name} has no {name} to replace")
    body = "\n".join(made)
    page.write_text(between.sub(lambda found: f"{found[1]}{body}\n{found[2]}", text), encoding="utf-8")
