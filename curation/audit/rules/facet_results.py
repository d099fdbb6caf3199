"""The headline of questions on facets: nDCG among the passages about the concept, computed again.

Written apart from `curation.evaluation`: from labels, `hard_pool`, `strings` and the published run files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from curation.audit.rule import Check, Collector, Context, NotApplicable, Outcome, Rule, side
from curation.audit.rules.runs_expected import TOLERANCE
from curation.audit.rules.runs_looked import look_at, systems_of
from curation.audit.rules.runs_made import Damage, Runs, planted, run_name
from curation.evaluation.results import FACET_NDCG
from curation.published.query import Sandbox

_SPLIT, _DEPTH = "test", 10
_ABOUT = """
    WITH asked AS (SELECT s."query-id" AS q FROM strings s JOIN provenance_queries p ON p.id = s."query-id"
        WHERE s.kind <> 'human' AND p.split = 'test'),
    found AS (
        SELECT r."query-id" AS q, r."corpus-id" AS c, r.score, true AS is_label
        FROM qrels r SEMI JOIN asked a ON a.q = r."query-id"
        UNION ALL
        SELECT h."query-id", h."corpus-id", 0, false FROM hard_pool h SEMI JOIN asked a ON a.q = h."query-id"
        ANTI JOIN qrels r ON r."query-id" = h."query-id" AND r."corpus-id" = h."corpus-id")
    SELECT q, c, score, is_label FROM found
    QUALIFY max(score) OVER (PARTITION BY q) > 0 ORDER BY q, c"""
_PLACE = f"{_SPLIT}/{FACET_NDCG}"
_NAMES = ("query", "iteration", "document", "rank", "score", "tag")


@dataclass(frozen=True, slots=True)
class _About:
    """Query -> grades of the passages about its concept, of queries whose passages have several.

    `labels` are those with a label alone, from the highest; `of_one` counts the queries left out.
    """

    grades: Mapping[str, Mapping[str, int]]
    labels: Mapping[str, Sequence[int]]
    of_one: int


def _about(context: Context) -> _About:
    """The passages about each query's concept.

    Raises:
        NotApplicable: no query is a question on a named concept, or nothing was run.
    """
    if "strings" not in context.views:
        raise NotApplicable("no query is a question on a named concept")
    tables = ["strings", "provenance_queries", "qrels"]
    text = _ABOUT
    if "hard_pool" in context.views:
        tables.append("hard_pool")
    else:
        text = text.replace("FROM hard_pool h", "FROM (SELECT * FROM qrels WHERE false) h")
    grades: dict[str, dict[str, int]] = {}
    labels: dict[str, list[int]] = {}
    for row in context.rows(text, *tables):
        grades.setdefault(row["q"], {})[row["c"]] = row["score"]
        if row["is_label"]:
            labels.setdefault(row["q"], []).append(row["score"])
    kept = {query for query, found in grades.items() if len(set(found.values())) > 1}
    return _About(
        {query: found for query, found in grades.items() if query in kept},
        {query: sorted(found, reverse=True) for query, found in labels.items() if query in kept},
        len(grades) - len(kept),
    )


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:_DEPTH]))


def _mean(path: Path, about: _About) -> float | None:
    """The mean over queries of a run cut to these passages; None where it cannot be read."""
    wanted = pa.array(
        [f"{query} {name}" for query, found in about.grades.items() for name in found], pa.string()
    )
    try:
        table = csv.read_csv(
            path,
            read_options=csv.ReadOptions(column_names=_NAMES),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=["query", "document"],
                column_types={"query": pa.string(), "document": pa.string()},
            ),
        )
    except (OSError, pa.ArrowInvalid):
        return None  # rule run_files says so
    pairs = pc.binary_join_element_wise(table["query"], table["document"], " ")
    ranked: dict[str, list[int]] = {}
    for pair in pc.filter(pairs, pc.is_in(pairs, wanted)).to_pylist():
        query, _, name = pair.partition(" ")
        ranked.setdefault(query, []).append(about.grades[query][name])
    values = [_gain(ranked.get(query, ())) / _gain(about.labels[query]) for query in about.grades]
    return math.fsum(values) / len(values) if values else None


def _headline(context: Context) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What results.json says of facets, and the systems that ran."""
    summary = look_at(context).results.get(_SPLIT)
    ran = {name for name, item in systems_of(summary).items() if item.get("status") == "measured"}
    stated = summary.get(FACET_NDCG) if isinstance(summary, dict) else None
    return (stated if isinstance(stated, dict) else None), {
        name: run_name(_SPLIT, name) for name in sorted(ran)
    }


def _missing(context: Context) -> Outcome:
    """Results that say nothing of facets."""
    found = Collector("facet_results", "error")
    about = _about(context)
    stated, ran = _headline(context)
    if stated is None and ran and about.grades:
        found.add("results.json does not say how systems do on the facet asked", side("results.json", _PLACE))
    return found.outcome(0)


def _counts(context: Context) -> Outcome:
    """Counts of queries and passages."""
    found = Collector("facet_results", "error")
    about = _about(context)
    stated, _ = _headline(context)
    if stated is None:
        return found.outcome(0)
    sizes = [len(held) for held in about.grades.values()]
    wanted = {
        "queries": len(sizes),
        "queries_of_one_grade": about.of_one,
        "passages": sum(sizes) / len(sizes) if sizes else 0.0,
    }
    for name, value in wanted.items():
        _compare(found, f"{_PLACE}/{name}", stated.get(name), value)
    return found.outcome(len(wanted))


def _means(context: Context) -> Outcome:
    """The facet nDCG of every system that ran."""
    found, compared = Collector("facet_results", "error"), 0
    about = _about(context)
    stated, ran = _headline(context)
    if stated is None:
        return found.outcome(0)
    systems = stated.get("systems")
    for name, path in ran.items():
        said = systems.get(name) if isinstance(systems, dict) else None
        said = said.get("facet") if isinstance(said, dict) else None
        value = _mean(context.directory / path, about)
        if value is not None:
            compared += 1
            mean = said.get("mean") if isinstance(said, dict) else None
            _compare(found, f"{_PLACE}/systems/{name}", mean, value)
    return found.outcome(compared, "not computed again: exact name, by lot, languages, intervals")


def _compare(found: Collector, place: str, stated: Any, value: float) -> None:
    """Report a number that is not the one computed."""
    is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
    # The file rounds to six digits, or three for passages.
    if not is_number or abs(stated - value) > max(TOLERANCE, 6e-4 * place.endswith("passages")):
        message = f"results.json says {stated} among passages about the concept, the files give {value:.6f}"
        found.add(message, side("results.json", place, str(stated)), side("data", place, f"{value:.6f}"))


def _said(place: str, change: Mapping[str, Any] | None) -> Damage:
    """A question whose passages have two grades, and a headline that is wrong in one place; it is named."""

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
        for query, document in _open_pairs(made):
            sandbox.run(_PLANTED.format(q=query.replace("'", "''"), c=document.replace("'", "''")))
            if change is not None:
                made.summary[FACET_NDCG] = dict(change)
            return [place]
        return None

    return damage


_PLANTED = """
    DELETE FROM hard_pool WHERE "query-id" = '{q}' AND "corpus-id" = '{c}';
    INSERT INTO hard_pool BY NAME SELECT '{q}' AS "query-id", '{c}' AS "corpus-id", 1 AS rank;
    DELETE FROM strings WHERE "query-id" = '{q}';
    INSERT INTO strings BY NAME SELECT '{q}' AS "query-id", 'template' AS kind"""


def _open_pairs(made: Runs) -> Iterator[tuple[str, str]]:
    """Ranked pairs without label of queries that have a positive."""
    for query, lines in made.lines().items():
        held = made.data.qrels.get(query, {})
        if max(held.values(), default=0) > 0:
            yield from ((query, line[2]) for line in lines if line[2] not in held)


RULES = (
    Rule(
        "facet_results",
        1,
        "The headline on facets can be computed again",
        "Where queries ask for a facet of a named concept, results.json leads with the nDCG@10 among the "
        "passages about the concept: those with a label and those of `hard_pool`, which count 0. Its means "
        f"and counts follow from tables and run files, to {TOLERANCE}. The exact name, the lot and intervals "
        "are not computed again.",
        "error",
        "values",
        checks=(
            Check(
                "results.json does not say how systems do on the facet asked",
                _missing,
                planted("no headline on facets", _said(_PLACE, None)),
            ),
            Check(
                "a count of queries or passages",
                _counts,
                planted("queries that were not asked", _said(f"{_PLACE}/queries", {"queries": -1})),
            ),
            Check(
                "the facet nDCG of a system",
                _means,
                planted(
                    "an inflated facet nDCG",
                    _said(f"{_PLACE}/systems/bm25", {"systems": {"bm25": {"facet": {"mean": 1.5}}}}),
                ),
            ),
        ),
    ),
)
