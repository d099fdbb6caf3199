"""The figures as Markdown: put into docs/scale.md between two marks, so that none is typed by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

PAGE = ROOT / "docs" / "scale.md"
STEPS = ("generate", "build", "release", "audit", "evaluate")
_COLUMNS = (
    ("clock", "seconds", "{:,.0f} s"),
    ("CPU", "cpu_seconds", "{:,.0f} s"),
    ("memory", "peak_rss_mb", "{:,.0f} MB"),
    ("written", "written_mb", "{:,.0f} MB"),
    ("scratch", "scratch_mb", "{:,.0f} MB"),
)


def sizes_of(result: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Documents -> figures by step, of a results file."""
    return {
        int(name.partition("_")[0]): value for name, value in result.items() if name.endswith("_documents")
    }


def lines(result: Mapping[str, Any]) -> list[str]:
    """One table of steps, one of what came out, one of the growth."""
    sizes = sizes_of(result)
    made = [
        "| documents | step | " + " | ".join(name for name, _, _ in _COLUMNS) + " |",
        "|---:|---|" + "---:|" * len(_COLUMNS),
    ]
    for size, steps in sorted(sizes.items()):
        for step in STEPS:
            if step in steps:
                cells = [_cell(steps[step].get(key), form) for _, key, form in _COLUMNS]
                made.append(f"| {size:,} | {step} | " + " | ".join(cells) + " |")
    return [*made, "", *_released(sizes), "", *_growth(result)]


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
    made += ["| from–to | step | CPU | memory | written |", "|---|---|---:|---:|---:|"]
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
