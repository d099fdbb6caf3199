"""What a card shows of baseline runs: `runs/results.json` and `runs/derived.json` as checked text.

Both files may come from anyone: a value that is not what it should be is an error, never text on the page.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from curation.derived.diagnostics.conditions import CONDITIONS
from curation.evaluation.collection import FACETS
from curation.evaluation.measures import BPREF, CONDENSED, JUDGED, PRIMARY, primary_of
from curation.evaluation.page.render import FEW_ARTICLES
from schemas.errors import ReleaseError

FIGURE = "figures/results.svg"
LEVEL = 0.05
HEADINGS = {
    "nDCG@10": "nDCG@10",
    "R@10": "Recall@10",
    "R@100": "Recall@100",
    "AP@100": "MAP@100",
    "RR": "MRR",
    "R@1": "R@1",
    BPREF: "bpref",
    CONDENSED: "condensed nDCG@10",
    JUDGED: JUDGED,
}
"""Measures a card shows, and how they are called there."""
_HEADLINE = {"nDCG@10": ("nDCG@10", "Recall@100", "judged@10"), "R@1": ("R@1", "MRR")}
"""Those that it shows before all others, by the measure that counts."""
_CONDITIONS = {
    "text_only": "text alone",
    "image_only": "image alone",
    "text_and_image": "both",
    "shuffled_image": "both, image of another query",
    "caption_for_image": "text and the image's caption",
}
_RUNS = ("runs/results.json", "runs/derived.json")
_MAX_BYTES, _MOST_LETTERED = 64_000_000, 15

Summary = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One measured system; `cells` are text, in the order of the table's headings."""

    name: str
    is_shaped: bool
    cells: tuple[str, ...]
    group: str


@dataclass(frozen=True, slots=True)
class FacetTable:
    """The primary measure of the best system by the values of one facet: (value, queries, estimate).

    `gap` is None where fewer than two values are decided.
    """

    name: str
    rows: tuple[tuple[str, int, Summary], ...]
    macro: float | None
    gap: float | None


@dataclass(frozen=True, slots=True)
class Shown:
    """One split's results as a card shows them. Names and reasons are still to be escaped.

    `estimates` has what each measured system has of the `primary` measure, `best` the one with the highest;
    `settings` and `notes` have a line per system; `mined` what systems that mined pairs score without the
    positives that they alone found; `has_groups` says whether differences were tested and
    letters given.
    """

    split: str
    summary: Summary
    primary: str
    headings: tuple[str, ...]
    systems: tuple[SystemRow, ...]
    estimates: tuple[tuple[str, bool, Summary], ...]
    best: str
    is_best_shaped: bool
    facets: tuple[FacetTable, ...]
    not_run: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]
    mined: tuple[tuple[str, Summary], ...]
    has_groups: bool
    is_few: bool


def read(directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(results by split, what was derived) of a task directory; empty where there is no such file.

    Raises:
        ReleaseError: a file is no JSON object, or too large to be one of ours.
    """
    results, derived = (_object(directory, name) for name in _RUNS)
    return results, derived


def _object(directory: Path, name: str) -> dict[str, Any]:
    path = directory / name
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ValueError(f"more than {_MAX_BYTES} bytes")
        found = json.loads(path.read_bytes(), parse_constant=_no_constant)
        json.dumps(found, ensure_ascii=False).encode()  # no lone surrogates
    except (OSError, ValueError, RecursionError) as error:
        raise ReleaseError(f"not readable as JSON: {type(error).__name__}: {error}", file=name) from error
    if not isinstance(found, dict):
        raise ReleaseError("not a JSON object", file=name)
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def shown(results: Mapping[str, Any]) -> tuple[Shown, ...]:
    """Results by split in the order of the card: test, then the others.

    Raises:
        ReleaseError: the content is not of the form that `summarise` gives.
    """
    try:
        return tuple(_shown(split, results[split]) for split in sorted(results, reverse=True))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ReleaseError(f"not of the form expected: {error!r}", file=_RUNS[0]) from error


def _shown(split: str, summary: Summary) -> Shown:
    measured = [system for system in summary["systems"] if system["status"] == "measured"]
    names = [name for name in HEADINGS if name in summary["measures"]]
    primary = primary_of(summary)
    letters = groups(measured, summary["comparisons"], primary)
    columns = {name: [system["overall"][name] for system in measured] for name in names}
    best = {name: max((_rounded(item) for item in found), default=-1.0) for name, found in columns.items()}
    rows = tuple(
        SystemRow(
            _text(system["name"]),
            system["shaped_the_benchmark"] is True,
            tuple(_cell(name, system["overall"][name], best[name], primary) for name in names),
            letters.get(system["name"], ""),
        )
        for system in measured
    )
    top = max(measured, key=lambda item: (_rounded(item["overall"][primary]), item["name"]), default=None)
    return Shown(
        split=_text(split),
        summary=summary,
        primary=primary,
        headings=tuple(HEADINGS[name] for name in names),
        systems=rows,
        estimates=tuple(
            (row.name, row.is_shaped, item) for row, item in zip(rows, columns[primary], strict=True)
        ),
        best=_text(top["name"]) if top else "",
        is_best_shaped=top is not None and top["shaped_the_benchmark"] is True,
        facets=tuple(_facets(top, summary["facets"], primary)) if top else (),
        not_run=tuple(
            (_text(system["name"]), _text(system["why_not"]))
            for system in summary["systems"]
            if system["status"] != "measured"
        ),
        settings=tuple((_text(system["name"]), one_line(system["config"])) for system in measured),
        notes=tuple((_text(system["name"]), _text(note)) for system in measured for note in system["notes"]),
        mined=tuple(
            (_text(system["name"]), system["without_own_positives"])
            for system in measured
            if "without_own_positives" in system
        ),
        has_groups=bool(letters),
        is_few=_int(summary["statistics"]["articles"]) < FEW_ARTICLES,
    )


def _cell(name: str, found: Summary, best: float, primary: str) -> str:
    """An estimate as a cell; bold where it is the highest as shown, with its interval if primary."""
    text = score(found["mean"])
    if found["mean"] is not None and _rounded(found) == best and name != JUDGED:
        text = f"**{text}**"
    return text + spread(found) if name == primary else text


def _rounded(found: Summary) -> float:
    return -1.0 if found["mean"] is None else round(_float(found["mean"]), 3)


def _facets(system: Summary, counts: Mapping[str, Mapping[str, int]], primary: str) -> list[FacetTable]:
    """Facets with more than one value, the most frequent value first, undecided last."""
    found = []
    for facet in FACETS:
        values = counts.get(facet, {})
        if len(values) < 2:
            continue
        order = sorted(values, key=lambda value: (value == "", -_int(values[value]), value))
        estimates = system["facets"][facet]
        macro = system["macro"][facet][primary]
        rows = tuple(
            (_text(value) or "undecided", _int(values[value]), estimates[value][primary]) for value in order
        )
        gap = macro["gap"] if _int(macro["values"]) > 1 else None
        found.append(FacetTable(facet, rows, macro["mean"], gap))
    return found


def groups(
    measured: Sequence[Summary], comparisons: Sequence[Summary], primary: str = PRIMARY
) -> dict[str, str]:
    """System -> letters: two systems share one exactly when no difference in the measure was shown.

    Insert and absorb, after Piepho 2004 ("An algorithm for a letter-based representation of all-pairwise
    comparisons"). Letters run from the best system down. Empty below two systems, above 15, or where a pair
    was not compared.
    """
    order = sorted(measured, key=lambda item: (-_rounded(item["overall"][primary]), item["name"]))
    names = [item["name"] for item in order]
    found = [item for item in comparisons if item["measure"] == primary]
    pairs = {frozenset((item["a"], item["b"])) for item in found}
    if not 2 <= len(names) <= _MOST_LETTERED or len(pairs) != len(names) * (len(names) - 1) // 2:
        return {}
    columns = [frozenset(names)]
    for item in found:
        if _float(item["p_holm"]) < LEVEL:
            columns = _split(columns, item["a"], item["b"])
    columns.sort(key=lambda column: sorted(names.index(name) for name in column))
    return {
        name: "".join(chr(ord("a") + place % 26) for place, column in enumerate(columns) if name in column)
        for name in names
    }


def _split(columns: Sequence[frozenset[str]], one: str, other: str) -> list[frozenset[str]]:
    """Columns in which two systems no longer meet, none of them part of another."""
    made: set[frozenset[str]] = set()
    for column in columns:
        made |= {column - {one}, column - {other}} if {one, other} <= column else {column}
    return [column for column in made if not any(column < wider for wider in made)]


def one_line(config: Mapping[str, Any]) -> str:
    """Settings as `key=value`, in order of their keys; of what has parts the names of the parts.

    Hashes and counts of embeddings are left to results.json; the share of texts that were cut is not.
    """
    found = []
    for key, value in sorted(config.items()):
        if key == "embeddings":
            cut = [f"{side} {share(made['share_of_texts_cut'])}" for side, made in sorted(value.items())]
            found.append(f"texts cut: {' and '.join(cut)}")
        elif isinstance(value, Mapping):
            found.append(f"{key}: {' '.join(sorted(value))}")
        elif value not in (None, ""):
            found.append(
                f"{key}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            )
    return ", ".join(found)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"not a text: {value!r}")
    return value


def _int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"not a whole number: {value!r}")
    return value


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"not a number: {value!r}")
    return float(value)


def whole(value: Any) -> str:
    """A count with thousands separators."""
    return f"{_int(value):,}"


def score(value: Any) -> str:
    """Three places, a dash for none."""
    return "–" if value is None else f"{_float(value):.3f}"


def spread(found: Summary) -> str:
    """The 95 % interval of an estimate, '' when it has none."""
    return "" if found["low"] is None else f" ({score(found['low'])} to {score(found['high'])})"


def estimate(found: Summary) -> str:
    """A mean with its interval."""
    return score(found["mean"]) + spread(found)


def difference(found: Summary) -> str:
    """A signed mean with its interval."""
    sign = "" if found["low"] is None else f" ({_float(found['low']):+.3f} to {_float(found['high']):+.3f})"
    return f"{_float(found['mean']):+.3f}{sign}"


def share(found: Any) -> str:
    """A share in percent, with its interval where it is an estimate that has one."""
    if not isinstance(found, Mapping):
        return "–" if found is None else f"{100 * _float(found):.1f} %"
    text = share(found["mean"])
    if found["low"] is None:
        return text
    return f"{text} ({100 * _float(found['low']):.1f} to {100 * _float(found['high']):.1f})"


def plain(value: object) -> str:
    """Text anywhere in Markdown: no line break, no cell border, no HTML, no link, no image, no emphasis."""
    text = " ".join(str(value).split())
    for mark in "\\`*[]|~":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") or "—"


def code(value: object) -> str:
    """Text as a code span in a table's cell or a line: nothing in it is Markdown or HTML."""
    text = " ".join(str(value).split()).replace("`", "'").replace("|", "¦")
    return f"`{text}`" if text else "—"


FILTERS = {item.__name__: item for item in (whole, score, estimate, difference, share, spread, plain, code)}


def section(environment: jinja2.Environment, facts: Mapping[str, Any]) -> str:
    """The page of a card on baseline runs and what was made of them, as Markdown.

    Raises:
        ReleaseError: a published file on runs is not of the form expected.
    """
    return _rendered(environment, "results.md.jinja", facts, "../")


def headline(environment: jinja2.Environment, facts: Mapping[str, Any], *, is_of_candidates: bool) -> str:
    """What the card itself says of baseline runs: each system's main measures, as Markdown.

    Raises:
        ReleaseError: a published file on runs is not of the form expected.
    """
    return _rendered(environment, "headline.md.jinja", {**facts, "is_of_candidates": is_of_candidates}, "")


def _rendered(environment: jinja2.Environment, template: str, facts: Mapping[str, Any], up: str) -> str:
    """A template on runs, for a page from which `up` leads to the task's folder."""
    splits = shown(facts["results"])
    primary = splits[0].primary if splits else PRIMARY
    context = {
        **facts,
        "splits": splits,
        "figure": f"{up}{FIGURE}" if has_figure(splits) else "",
        "primary": primary,
        "shown_first": _HEADLINE[primary],
        "conditions": [(name, _CONDITIONS[name]) for name in CONDITIONS],
    }
    try:
        text = environment.get_template(template).render(context)
    except (jinja2.TemplateError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise ReleaseError(
            f"what runs/ says is not of the form expected: {error}", file=" or ".join(_RUNS)
        ) from error
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def has_figure(splits: Sequence[Shown]) -> bool:
    """Whether there is anything to draw: a system that was measured on a query."""
    return bool(splits) and any(item["mean"] is not None for _, _, item in splits[0].estimates)
