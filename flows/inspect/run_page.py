"""The page of one run, and the tables on it, from the run's record: what it did, changed and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

Row = dict[str, Any]
_BAR, _ROW, _LABEL = 420, 22, 190
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
)


def page(run: Mapping[str, Any]) -> str:
    """The page of a run: its record with `changes`, as HTML that needs no other file."""
    tables = (
        ("Releases", releases(run["releases"])),
        ("Changed since the last run", run["changes"]),
        ("Retention", retention(run["stages"])),
        ("Cost of what was made now", costs(run["stages"])),
    )
    drawn = Markup(chart(run["stages"]))
    return _ENVIRONMENT.get_template("run_page.html.jinja").render(
        run=run, tables=tables, chart=drawn, uri=_uri
    )


def _uri(path: str) -> str:
    return Path(path).absolute().as_uri()


def retention(stages: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Per stage and unit: entered, kept, dropped, and the reasons."""
    return [
        {
            "stage": stage["stage"],
            "unit": unit,
            "entered": counts["in"],
            "kept": counts["kept"],
            "dropped": counts["dropped"],
            "reasons": ", ".join(f"{why} {count:,}" for why, count in stage["dropped"].items())
            if counts["dropped"]
            else "",
        }
        for stage in stages
        for unit, counts in stage["units"].items()
    ]


def costs(stages: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Per stage what was made now and what it cost; stages that were up to date are left out."""
    return [
        {
            "stage": stage["stage"],
            "shards made": stage["shards"]["made"],
            "shards kept": stage["shards"]["reused"],
            "seconds": round(stage["seconds"], 2),
            "CPU seconds": round(stage["cpu_seconds"], 2),
            "peak MiB": stage["peak_mib"],
            "MiB written": round(stage["bytes"] / 2**20, 2),
        }
        for stage in stages
        if stage["shards"]["made"]
    ]


def releases(made: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Each released task: version, what its audit says, where its page is, and why that version.

    The reasons come last: they are long, and Prefect's table shows what fits.
    """
    return [
        {
            "task": row["task"],
            "version": row["version"],
            "audit": row["audit"],
            "publishable": "yes" if row["publishable"] else "no",
            "page": row["audit_page"],
            "because": row["why"],
        }
        for row in made
    ]


def changes(run: Mapping[str, Any], before: Mapping[str, Any] | None) -> list[Row]:
    """Rows of each table now and after the run before, where they differ; all of them for a first run."""
    then = _rows(before["stages"]) if before else {}
    now = _rows(run["stages"])
    found = [
        {
            "table": name,
            "before": then.get(name, 0),
            "now": now.get(name, 0),
            "difference": now.get(name, 0) - then.get(name, 0),
        }
        for name in {**then, **now}
        if then.get(name, 0) != now.get(name, 0)
    ]
    if before and not found:
        return [
            {"table": stage["stage"], "before": "same rows", "now": "shards made anew", "difference": 0}
            for stage in run["stages"]
            if stage["shards"]["made"]
        ]
    return found


def _rows(stages: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Rows of each table, `stage.table`; a crawl of several sources counts as one."""
    found: dict[str, int] = {}
    for stage in stages:
        for table, count in stage["rows"].items():
            name = f"{stage['stage']}.{table}"
            found[name] = found.get(name, 0) + count
    return found


def chart(stages: Sequence[Mapping[str, Any]]) -> str:
    """Seconds of each stage by the clock and of the processor, as bars in SVG."""
    shown = [stage for stage in stages if stage["seconds"] >= 0.005]
    most = max((max(stage["seconds"], stage["cpu_seconds"]) for stage in shown), default=1.0)
    bars = [
        {
            "stage": stage["stage"],
            "y": place * _ROW,
            "clock": round(_BAR * stage["seconds"] / most, 1),
            "cpu": round(_BAR * stage["cpu_seconds"] / most, 1),
            "told": f"{stage['seconds']:.2f} s, CPU {stage['cpu_seconds']:.2f} s, {stage['peak_mib']:,} MiB",
        }
        for place, stage in enumerate(shown)
    ]
    size = {"width": _LABEL + _BAR + 240, "height": len(bars) * _ROW + 26, "label": _LABEL}
    return _ENVIRONMENT.get_template("run_chart.svg.jinja").render(bars=bars, **size)
