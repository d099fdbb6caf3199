"""Rules on diagnostics: one row per query, needs that follow from the columns, values computed again."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from curation.audit.checks import placed
from curation.audit.rule import SPLITS, Check, Collector, Context, Defect, NotCovered, Outcome, Rule, side
from curation.audit.rules.planting import GONE, add_row, drop_row, set_row
from curation.derived.diagnostics.conditions import CONDITIONS, NEEDS, PLACES, TOLERANCE
from curation.derived.diagnostics.shortcuts import CUTOFF, SHORTCUTS
from curation.derived.diagnostics.table import read_notes
from curation.evaluation.runs import SUFFIX, file_stem
from schemas.exact import log2
from schemas.tables import DIAGNOSTICS

SAMPLE = 200
"""Queries of each split whose values are computed again: the first by id, and ids are hashes of content."""
_TABLE = DIAGNOSTICS.name
_SHARES = (*CONDITIONS, "chance", "chance_first")
_KNOWN = ", ".join(f"'{name}'" for name in SHORTCUTS)
_BEST = "greatest(text_only, image_only, text_and_image)"
_NEEDS = f"""CASE WHEN text_only IS NULL OR image_only IS NULL OR text_and_image IS NULL THEN ''
    WHEN {_BEST} <= 0 THEN 'neither'
    WHEN by_text AND by_image THEN 'either' WHEN by_text THEN 'text' WHEN by_image THEN 'image'
    ELSE 'both' END"""
_REACHES = f"({{0}} > 0 AND round({_BEST} - {{0}}, {PLACES}) <= {TOLERANCE})"
_MARGIN = 2 * 10**-PLACES


_Q = '"query-id"'
_SCORES = f"(SELECT {_Q} AS q, unnest(shortcut_scores, recursive := true) FROM {_TABLE})"
_SCORED = "shortcut_scores = [{{shortcut: '{}', ndcg: {}}}]"
_PROPER = _SCORED.format("length/longest", 0.5)
FIT = (
    Check(
        "the query is not published",
        f"SELECT d.{_Q} AS q FROM {_TABLE} d ANTI JOIN queries o ON o.id = d.{_Q}",
        Defect("diagnostics of a query that is not published", set_row(_TABLE, f"{_Q} = '{GONE}'")),
    ),
    Check(
        "the query has no diagnostics",
        f"SELECT id AS q FROM queries ANTI JOIN {_TABLE} d ON d.{_Q} = id",
        Defect("a query without diagnostics", drop_row(_TABLE)),
    ),
    Check(
        "the query has several rows",
        f"SELECT {_Q} AS q FROM {_TABLE} GROUP BY {_Q} HAVING count(*) > 1",
        Defect("a query with two rows", add_row(_TABLE)),
    ),
    Check(
        "a value is outside 0 to 1",
        f"""SELECT {_Q} AS q FROM {_TABLE}
            WHERE {" OR ".join(f'NOT "{name}" BETWEEN 0 AND 1' for name in _SHARES)}""",
        (
            Defect("an nDCG above 1", set_row(_TABLE, "text_only = 1.5")),
            Defect("a chance below 0", set_row(_TABLE, "chance_first = -0.1")),
        ),
    ),
    Check(
        "the nDCG of a shortcut is outside 0 to 1",
        f"SELECT DISTINCT q FROM {_SCORES} WHERE ndcg IS NULL OR NOT ndcg BETWEEN 0 AND 1",
        (
            Defect("a shortcut's nDCG below 0", set_row(_TABLE, _SCORED.format("length/longest", -0.1))),
            Defect("a shortcut without nDCG", set_row(_TABLE, _SCORED.format("length/longest", "null"))),
        ),
    ),
    Check(
        "a shortcut is not a known one",
        f"SELECT DISTINCT q FROM {_SCORES} WHERE shortcut IS NULL OR shortcut NOT IN ({_KNOWN})",
        Defect("an unknown shortcut", set_row(_TABLE, _SCORED.format("canary", 0.5))),
    ),
    Check(
        "a shortcut is first that was not measured",
        f"""SELECT DISTINCT q FROM (SELECT {_Q} AS q, unnest(shortcuts) AS shortcut FROM {_TABLE})
            ANTI JOIN {_SCORES} USING (q, shortcut)""",
        Defect("a leading shortcut that was not measured", set_row(_TABLE, "shortcuts = ['canary']")),
    ),
    Check(
        "shortcuts are measured without chance or candidates",
        f"""SELECT {_Q} AS q FROM {_TABLE} WHERE (chance IS NULL) <> (chance_first IS NULL) OR candidates < 0
            OR (len(shortcut_scores) > 0 AND (chance IS NULL OR candidates < 2))""",
        (
            Defect(
                "a shortcut without chance",
                set_row(_TABLE, f"chance = null, chance_first = null, {_PROPER}"),
            ),
            Defect("one chance without the other", set_row(_TABLE, "chance = 0.5, chance_first = null")),
            Defect("a negative number of candidates", set_row(_TABLE, "candidates = -1")),
            Defect("a shortcut on one candidate", set_row(_TABLE, f"candidates = 1, {_PROPER}")),
        ),
    ),
)
_BY_TEXT, _BY_IMAGE = _REACHES.format("text_only"), _REACHES.format("image_only")
_MEASURED = "text_only = 0.2, image_only = 0.2, text_and_image = 0.9"
NEED = (
    Check(
        "needs is '{needs}', its columns say '{said}'",
        f"""SELECT {_Q} AS q, needs, said FROM (SELECT *, {_NEEDS} AS said FROM (
            SELECT *, {_BY_TEXT} AS by_text, {_BY_IMAGE} AS by_image FROM {_TABLE}))
            WHERE needs IS DISTINCT FROM said""",
        (
            Defect(
                "a query that needs both said to need text", set_row(_TABLE, f"needs = 'text', {_MEASURED}")
            ),
            Defect(
                "a need where an image was not tried",
                set_row(_TABLE, "needs = 'text', image_only = null, text_and_image = null"),
            ),
        ),
    ),
    Check(
        "both was measured, one of the two alone was not",
        f"""SELECT {_Q} AS q FROM {_TABLE}
            WHERE text_and_image IS NOT NULL AND (text_only IS NULL OR image_only IS NULL)""",
        Defect(
            "'both' where one was not run",
            set_row(_TABLE, "image_only = null, text_and_image = 0.5"),
        ),
    ),
    Check(
        "an image was exchanged that was not measured itself",
        f"SELECT {_Q} AS q FROM {_TABLE} WHERE shuffled_image IS NOT NULL AND text_and_image IS NULL",
        Defect(
            "a shuffled image measured without the image itself",
            set_row(_TABLE, "text_and_image = null, shuffled_image = 0.5"),
        ),
    ),
)


def _borne_out(context: Context) -> Outcome:
    """Compute the values of some queries again, from qrels, candidates and run files."""
    notes = read_notes(context.directory)
    found = Collector("diagnostics_values", "error")
    compared, looked_at = 0, {"chance"}
    for split, rows in _sampled(context):
        queries = [row["q"] for row in rows]
        grades = _grades(context, queries)
        told = notes.get(split, {})
        given = _published(context, queries, told)
        systems = {
            "bm25_solvable": "bm25",
            "text_only": told.get("conditions", {}).get("text_only", {}).get("system"),
        }
        runs = {
            column: dict(_read(path, queries))
            for column, system in systems.items()
            if system and (path := _run_file(context.directory, split, system)).is_file()
        }
        looked_at |= set(runs) | ({"candidates"} if given else set())
        for row in rows:
            compared += 1
            judged = grades.get(row["q"], {})
            for said in (*_chance(row, judged, given), *_ranked(row, judged, runs)):
                found.add(said, side("queries", row["q"]))
    if not compared:
        raise NotCovered("no query has diagnostics")
    return found.outcome(compared, f"computed again: {', '.join(sorted(looked_at))}")


def _sampled(context: Context) -> list[tuple[str, list[dict[str, Any]]]]:
    """The first rows of each split's files."""
    files = placed(context, _TABLE)
    text = f"""SELECT {_Q} AS q, text_only, bm25_solvable, candidates, chance, chance_first FROM {_TABLE}
        WHERE {_Q} IN (SELECT q FROM ({files}) WHERE split = '{{}}') ORDER BY q LIMIT {SAMPLE}"""
    return [(split, context.select(text.format(split))) for split in sorted(SPLITS) if files]


def _grades(context: Context, queries: Sequence[str]) -> dict[str, dict[str, int]]:
    text = f"""SELECT "query-id" AS q, "corpus-id" AS c, score FROM qrels
        WHERE "query-id" IN ({_listed(queries)}) AND score > 0"""
    grades: dict[str, dict[str, int]] = {}
    for row in context.rows(text, "qrels"):
        grades.setdefault(row["q"], {})[row["c"]] = row["score"]
    return grades


def _published(context: Context, queries: Sequence[str], told: Mapping[str, Any]) -> dict[str, set[str]]:
    """Candidates by query, where the notes say that shortcuts ranked those of top_ranked."""
    if told.get("shortcuts", {}).get("candidates") != "top_ranked" or "top_ranked" not in context.views:
        return {}
    text = f"""SELECT "query-id" AS q, "corpus-ids" AS documents FROM top_ranked
        WHERE "query-id" IN ({_listed(queries)})"""
    return {row["q"]: set(row["documents"]) for row in context.rows(text, "top_ranked")}


def _chance(
    row: Mapping[str, Any], judged: Mapping[str, int], given: Mapping[str, set[str]]
) -> Iterator[str]:
    """What is wrong with the number of candidates and with what chance would reach on them."""
    size = row["candidates"]
    if row["q"] in given and size != len(given[row["q"]] | set(judged)):
        yield f"{size} candidates are stated, {len(given[row['q']] | set(judged))} are published"
    if row["chance"] is None or row["chance_first"] is None:
        return
    if size < max(2, len(judged)):
        yield f"{size} candidates are stated for {len(judged)} positives"
        return
    mean = sum(judged.values()) / size
    random = mean * sum(_discount(rank) for rank in range(min(CUTOFF, size))) / (_ideal(judged) or 1.0)
    for name, value in (("chance", random), ("chance_first", len(judged) / size)):
        if abs(row[name] - value) > _MARGIN:
            yield f"{name} is {row[name]}, the labels and {size} candidates give {value:.{PLACES}f}"


def _ranked(
    row: Mapping[str, Any], judged: Mapping[str, int], runs: Mapping[str, Mapping[str, _Ranked]]
) -> Iterator[str]:
    """What the published rankings do not bear out."""
    if not judged:
        return
    if "text_only" in runs and row["text_only"] is not None:
        documents = [name for name, _ in runs["text_only"].get(row["q"], ())][:CUTOFF]
        gained = sum(judged.get(name, 0) * _discount(rank) for rank, name in enumerate(documents))
        value = gained / _ideal(judged)
        if abs(row["text_only"] - value) > _MARGIN:
            yield f"text_only is {row['text_only']}, the published run gives {value:.{PLACES}f}"
    if "bm25_solvable" in runs and row["bm25_solvable"] is not None:
        first = list(_equal(runs["bm25_solvable"].get(row["q"], ())))
        is_solved = bool(first) and all(name in judged for name in first)
        if is_solved != row["bm25_solvable"]:
            yield f"bm25_solvable is {row['bm25_solvable']}, the published run says {is_solved}"


_Ranked = Sequence[tuple[str, float]]


def _equal(ranked: _Ranked) -> Iterator[str]:
    """Documents of the highest score. Written scores of equal documents fall by one 32-bit step each."""
    last = None
    for name, score in ranked:
        value = np.float32(score)
        if last is not None and value != np.nextafter(last, np.float32(-np.inf)):
            return
        yield name
        last = value


def _run_file(directory: Path, split: str, system: str) -> Path:
    return directory / "runs" / split / f"{file_stem(system)}{SUFFIX}"


def _read(path: Path, queries: Sequence[str]) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """(query, documents and scores in order) of some queries; reading ends behind the last of them."""
    wanted, found = set(queries), dict[str, list[tuple[str, float]]]()
    last = max(queries, default="")
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                query, _, document, _, score, _ = line.split()
                if query > last:
                    break
                if query in wanted:
                    found.setdefault(query, []).append((document, float(score)))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise NotCovered(f"a run file cannot be read: {type(error).__name__}") from error
    yield from found.items()


def _ideal(judged: Mapping[str, int]) -> float:
    best = sorted(judged.values(), reverse=True)[:CUTOFF]
    return sum(grade * _discount(rank) for rank, grade in enumerate(best))


def _discount(rank: int) -> float:
    return 1 / log2(rank + 2)


def _listed(values: Sequence[str]) -> str:
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values) or "NULL"


def _other_run(directory: Path, queries: Sequence[str]) -> None:
    """A BM25 run that finds one unlabelled document for some queries."""
    for split in SPLITS:
        path = _run_file(directory, split, "bm25")
        path.parent.mkdir(parents=True)
        lines = "".join(f"{query} Q0 {GONE} 1 9.5 bm25\n" for query in queries)
        path.write_bytes(gzip.compress(lines.encode(), mtime=0))


VALUES = (
    Check(
        "values are not those that labels, candidates and runs give",
        _borne_out,
        (
            Defect(
                "chance put too high",
                set_row(_TABLE, "candidates = 50, chance = 0.99, chance_first = 0.02"),
            ),
            Defect(
                "a first place by chance put too high",
                set_row(_TABLE, "candidates = 50, chance = 0.1, chance_first = 0.9"),
            ),
            Defect(
                "a query solved that the run does not solve",
                set_row(_TABLE, "bm25_solvable = true"),
                files=_other_run,
            ),
        ),
    ),
)
_rule = partial(Rule, severity="error", unit="queries", about=(_TABLE,), holds="diagnostics")
RULES = (
    _rule(
        "diagnostics",
        1,
        "Diagnostics fit their queries",
        (
            "Every query has one row of diagnostics and every row a query; values are from 0 to 1; shortcuts "
            "are known ones, measured against chance."
        ),
        checks=FIT,
        tables=("queries",),
        compared=f"FROM {_TABLE}",
    ),
    _rule(
        "diagnostics_needs",
        1,
        "Needs follow from what was measured",
        (
            f"What a query needs ({', '.join(NEEDS)}) is what its columns text_only, image_only and "
            f"text_and_image give, with a tolerance of {TOLERANCE}, and '' where one was not run."
        ),
        checks=NEED,
        compared=f"FROM {_TABLE}",
    ),
    _rule(
        "diagnostics_values",
        1,
        "Diagnostics can be computed again",
        (
            f"For the first {SAMPLE} queries of each split: chance follows from labels and candidates, "
            "text_only and bm25_solvable from the published run files, the number of candidates from "
            "top_ranked, where these are published."
        ),
        checks=VALUES,
    ),
)
