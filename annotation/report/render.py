"""The report as one self-contained HTML page, from the summary's JSON alone; same summary, same text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from annotation.report import plots, words
from schemas.wording import counted

MAX_PAIRS = 12
"""Heat maps shown; of more pairs those that agree least. The JSON holds all."""


def render(summary: Mapping[str, Any], figures: str = "agreement.json") -> str:
    """One HTML document that loads nothing and runs no script; everything shown is escaped.

    Args:
        summary: see `annotation.report.summary.summarise`.
        figures: name of the JSON file beside the page.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=words.number,
        percent=words.percent,
        cannot=words.reason_of_ungraded,
        coefficient=words.COEFFICIENTS.__getitem__,
        reason=lambda code: words.REASONS.get(code, code),
    )
    environment.globals.update(
        interval=words.interval, group_name=words.group_name, counted=counted, stacked=plots.stacked
    )
    axis = plots.agreement_axis([row["low"] for row in summary["figures"] if row["low"] is not None])
    return environment.get_template("report.html.jinja").render(
        summary=summary,
        figures=figures,
        counts=summary["counts"],
        sentences=words.opening(summary),
        scale_svg=plots.scale_of(axis),
        sections=[_section(summary, axis, *item) for item in _plotted(summary)],
        heat=_heat(summary),
        left_out_pairs=len(summary["confusions"]) - MAX_PAIRS,
        gold=[_gold(row, summary["gold"]) for row in summary["gold"]["annotators"]],
        people=[_person(row, summary["scale"]) for row in summary["annotators"]],
        ungraded=_ungraded(summary["annotators"]),
        times=_times(summary["annotators"]),
        tables=_tables(summary["figures"]),
    )


def _plotted(summary: Mapping[str, Any]) -> list[tuple[str, str, list[Mapping[str, Any]]]]:
    """Sections of dots and whiskers: every figure of all items, then the main figure by group."""
    figures = summary["figures"]
    whole = [row for row in figures if row["dimension"] == "all"]
    found = [("all", "Every figure, all items", whole)] if whole else []
    for dimension, title in words.DIMENSIONS.items():
        rows = [
            row for row in figures if row["dimension"] == dimension and row["coefficient"] == summary["main"]
        ]
        if len(rows) > 1:
            found.append((dimension, title, rows))
    return found


def _section(
    summary: Mapping[str, Any],
    axis: plots.Axis,
    dimension: str,
    title: str,
    rows: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    shown = []
    for row in rows:
        name = (
            words.COEFFICIENTS[row["coefficient"]]
            if dimension == "all"
            else words.group_name(dimension, row["group"])
        )
        shown.append(
            {
                "name": name,
                "plot": plots.whisker(axis, row["value"], row["low"], row["high"]),
                "value": words.number(row["value"]),
                "reach": words.interval(row["low"], row["high"]),
                "why": words.SHORT_REASONS.get(row["reason"] or "", ""),
                "items": row["items"],
            }
        )
    figure = "" if dimension == "all" else words.COEFFICIENTS[summary["main"]]
    return {"id": dimension, "title": title, "rows": shown, "figure": figure}


def _heat(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Confusion matrices of those pairs that agree least, in order of their names."""
    kept = sorted(summary["confusions"], key=lambda item: (_agreeing(item["rows"]), item["first"]))[
        :MAX_PAIRS
    ]
    labels = [*(str(grade) for grade in summary["scale"]), "none"]
    made = []
    for item in sorted(kept, key=lambda item: (item["first"], item["second"])):
        cells = [
            [{"count": count, "shade": plots.shade(count, item["items"])} for count in row]
            for row in item["rows"]
        ]
        rows = list(zip(labels, cells, strict=True))
        made.append({**item, "labels": labels, "cells": rows, "same": _agreeing(item["rows"])})
    return made


def _agreeing(rows: Sequence[Sequence[int]]) -> float:
    """Share of equal grades among items that both graded; 0 when there are none."""
    graded = [row[:-1] for row in rows[:-1]]
    total = sum(map(sum, graded))
    return sum(row[place] for place, row in enumerate(graded)) / total if total else 0.0


def _gold(row: Mapping[str, Any], gold: Mapping[str, Any]) -> dict[str, Any]:
    alarm = next((place for place, count in enumerate(row["course"]) if count >= gold["limit"]), None)
    state = "no alarm" if alarm is None else f"alarm at gold item {alarm + 1}"
    label = (
        f"{row['annotator']}: count of errors over {len(row['course'])} gold items, highest "
        f"{max(row['course'], default=0)}, limit {gold['limit']}; {state}"
    )
    plot = plots.drift(row["course"], gold["limit"], alarm, label) if row["course"] else ""
    return {**row, "plot": plot, "alarm_place": None if alarm is None else alarm + 1}


def _person(row: Mapping[str, Any], scale: Sequence[int]) -> dict[str, Any]:
    ungraded = sum(row["cannot_judge"].values())
    counts = [row["grades"][str(grade)] for grade in scale]
    return {**row, "counts": counts, "ungraded": ungraded, "plot": plots.stacked([*counts, ungraded])}


def _ungraded(annotators: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Reasons for which items were left without a grade, with counts of each annotator."""
    codes = sorted({code for row in annotators for code in row["cannot_judge"]})
    return [
        {"code": code, "counts": [row["cannot_judge"].get(code, 0) for row in annotators]} for code in codes
    ]


def _times(annotators: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Medians and quartiles on one axis; None when no time is known."""
    known = [row for row in annotators if row["seconds"]["known"]]
    if not known:
        return None
    axis = plots.seconds_axis(max(row["seconds"]["third_quartile"] for row in known))
    rows = []
    for row in known:
        times = row["seconds"]
        plot = plots.whisker(axis, times["median"], times["first_quartile"], times["third_quartile"])
        rows.append({"annotator": row["annotator"], "plot": plot, **times})
    return {"scale": plots.scale_of(axis, digits=0), "rows": rows}


def _tables(figures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every figure: one table for each dimension, with a group of rows for each of its values."""
    made = []
    for dimension, title in {"all": "All items", **words.DIMENSIONS}.items():
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for row in figures:
            if row["dimension"] == dimension:
                groups.setdefault(row["group"], []).append(row)
        if groups:
            named = [(words.group_name(dimension, group), rows) for group, rows in groups.items()]
            made.append({"id": dimension, "title": title, "groups": named})
    return made
