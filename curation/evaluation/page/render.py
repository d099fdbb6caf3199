"""The page of an evaluation's results, from the content of results.json alone; same content, same text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from curation.evaluation.measures import primary_of
from curation.evaluation.page.plots import Bar, Row, bars
from curation.evaluation.results import FACET_NDCG

FEW_ARTICLES = 30
"""Below this the page warns that percentile intervals are too narrow."""
_FACET_TITLES = {
    "specialty": "By specialty",
    "modality": "By imaging modality",
    "language": "By language of the query",
    "tier": "By difficulty tier",
    "scenario": "By what is looked for",
    "region": "By anatomical region",
    "label_status": "By who judged the positives",
}


def render(summary: Mapping[str, Any]) -> str:
    """One HTML document that loads nothing and runs no script; everything shown is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(score=score, spread=spread, probability=probability, pretty=pretty)
    systems = [system for system in summary["systems"] if system["status"] == "measured"]
    primary = primary_of(summary)
    return environment.get_template("results.html.jinja").render(
        summary=summary,
        release=summary["release"],
        systems=systems,
        places={system["name"]: place for place, system in _numbered(systems)},
        not_run=[system for system in summary["systems"] if system["status"] != "measured"],
        asking=[system for system in systems if system.get("models")],
        by_value=summary.get("by_value", {"facets": {}}),
        truncation=summary.get("truncation"),
        facet_ndcg=summary.get(FACET_NDCG),
        mined=[system for system in systems if system.get("without_own_positives")],
        circular=any(system.get("circular") for system in systems),
        primary=primary,
        few=FEW_ARTICLES,
        best=_best(systems, summary["measures"]),
        overall=_overall(systems, summary["measures"]),
        facets=_facets(systems, summary["facets"], primary),
    )


def score(value: float | None) -> str:
    """Three places, a dash for none."""
    return "–" if value is None else f"{value:.3f}"


def spread(found: Mapping[str, Any]) -> str:
    """The interval of an estimate, '' when it has none."""
    return "" if found["low"] is None else f"{found['low']:.3f} to {found['high']:.3f}"


def probability(value: float) -> str:
    """A p-value, never as zero."""
    return "< .001" if value < 0.001 else f"{value:.3f}"


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)


def _best(systems: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> dict[str, float]:
    """The highest mean per measure, to three places as they are shown."""
    found = {}
    for measure in measures:
        means = [system["overall"][measure]["mean"] for system in systems]
        known = [round(mean, 3) for mean in means if mean is not None]
        if known:
            found[measure] = max(known)
    return found


def _overall(systems: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> str:
    rows = [
        Row(
            measure,
            [_bar(place, system["name"], system["overall"][measure]) for place, system in _numbered(systems)],
        )
        for measure in measures
    ]
    return bars(rows, "Every measure by system, with 95 % intervals")


def _facets(
    systems: Sequence[Mapping[str, Any]], counts: Mapping[str, Mapping[str, int]], primary: str
) -> list[dict[str, Any]]:
    """Facets with more than one value: their chart and counts."""
    found = []
    for facet, values in counts.items():
        if len(values) < 2:
            continue
        order = sorted(values, key=lambda value: (value == "", -values[value], value))
        rows = [
            Row(
                f"{value or 'undecided'} ({values[value]})",
                [
                    _bar(place, system["name"], system["facets"][facet][value][primary])
                    for place, system in _numbered(systems)
                ],
            )
            for value in order
        ]
        title = _FACET_TITLES.get(facet, facet)
        found.append(
            {
                "name": facet,
                "title": title,
                "values": order,
                "counts": values,
                "plot": bars(rows, title),
                "is_few": _is_few(systems, facet, primary),
            }
        )
    return found


def _is_few(systems: Sequence[Mapping[str, Any]], facet: str, primary: str) -> bool:
    """Whether any interval of a facet is of fewer articles than it takes."""
    return any(
        found[primary]["low"] is not None and found[primary]["groups"] < FEW_ARTICLES
        for system in systems
        for found in system["facets"][facet].values()
    )


def _numbered(systems: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    return list(enumerate(systems))


def _bar(series: int, name: str, found: Mapping[str, Any]) -> Bar:
    title = f"{name}: {score(found['mean'])} {spread(found)} ({found['queries']} queries)"
    return Bar(series, found["mean"], found["low"], found["high"], title)
