"""Rules on diagnostics: one row per query, needs that follow from the columns, values computed again."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from curation.audit.rule import Collector, Context, NotApplicable, NotCovered, Outcome, Rule, SqlCheck, side
from curation.audit.rules import diagnostics_canaries as planted
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


def _there(context: Context) -> None:
    if _TABLE not in context.views:
        raise NotApplicable("the files hold no diagnostics")


def _outside(context: Context) -> Outcome:
    _there(context)
    wrong = " OR ".join(f'NOT "{name}" BETWEEN 0 AND 1' for name in _SHARES)
    scores = f'(SELECT "query-id" AS q, unnest(shortcut_scores, recursive := true) FROM {_TABLE})'
    hits = f'(SELECT "query-id" AS q, unnest(shortcuts) AS shortcut FROM {_TABLE})'
    text = f"""
        SELECT d."query-id" AS q, 'the query is not published' AS said FROM {_TABLE} d
            ANTI JOIN queries o ON o.id = d."query-id"
        UNION ALL SELECT id, 'the query has no diagnostics' FROM queries
            ANTI JOIN {_TABLE} d ON d."query-id" = id
        UNION ALL SELECT "query-id", 'the query has several rows' FROM {_TABLE}
            GROUP BY "query-id" HAVING count(*) > 1
        UNION ALL SELECT "query-id", 'a value is outside 0 to 1' FROM {_TABLE} WHERE {wrong}
        UNION ALL SELECT DISTINCT q, 'the nDCG of a shortcut is outside 0 to 1' FROM {scores}
            WHERE ndcg IS NULL OR NOT ndcg BETWEEN 0 AND 1
        UNION ALL SELECT DISTINCT q, 'a shortcut is not a known one' FROM {scores}
            WHERE shortcut IS NULL OR shortcut NOT IN ({_KNOWN})
        UNION ALL SELECT DISTINCT q, 'a shortcut is first that was not measured'
            FROM {hits} ANTI JOIN {scores} USING (q, shortcut)
        UNION ALL SELECT "query-id", 'shortcuts are measured without chance or candidates' FROM {_TABLE}
            WHERE (chance IS NULL) <> (chance_first IS NULL) OR candidates < 0
                OR (len(shortcut_scores) > 0 AND (chance IS NULL OR candidates < 2))"""
    return _found(context, "diagnostics", text, (_TABLE, "queries"))


def _needs(context: Context) -> Outcome:
    _there(context)
    by_text, by_image = _REACHES.format("text_only"), _REACHES.format("image_only")
    told = f"SELECT *, {by_text} AS by_text, {by_image} AS by_image FROM {_TABLE}"
    text = f"""
        SELECT "query-id" AS q, concat('needs is ''', needs, ''', its columns say ''', said, '''') AS said
            FROM (SELECT *, {_NEEDS} AS said FROM ({told})) WHERE needs IS DISTINCT FROM said
        UNION ALL SELECT "query-id", 'both was measured, one of the two alone was not' FROM {_TABLE}
            WHERE text_and_image IS NOT NULL AND (text_only IS NULL OR image_only IS NULL)
        UNION ALL SELECT "query-id", 'an image was exchanged that was not measured itself' FROM {_TABLE}
            WHERE shuffled_image IS NOT NULL AND text_and_image IS NULL"""
    return _found(context, "diagnostics_needs", text, (_TABLE,))


def _found(context: Context, rule: str, text: str, tables: Sequence[str]) -> Outcome:
    check = SqlCheck(
        rule,
        "error",
        tuple(tables),
        f"SELECT count(*) AS n FROM {_TABLE}",
        f"SELECT * FROM ({text})",
        "q, said",
        lambda row: (row["said"], (side("queries", row["q"]),)),
    )
    return check(context)


def _borne_out(context: Context) -> Outcome:
    """Compute the values of some queries again, from qrels, candidates and run files."""
    _there(context)
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
    text = f"""SELECT "query-id" AS q, text_only, bm25_solvable, candidates, chance, chance_first FROM rows
        ORDER BY q LIMIT {SAMPLE}"""
    files: dict[str, list[Path]] = {}
    for path in context.views[_TABLE]:
        files.setdefault(path.name.split("-")[0], []).append(path)
    return [
        (split, [row for batch in context.query(text, {"rows": paths}) for row in batch.to_pylist()])
        for split, paths in sorted(files.items())
    ]


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


RULES = (
    Rule(
        "diagnostics",
        1,
        "Diagnostics fit their queries",
        (
            "Every query has one row of diagnostics and every row a query; values are from 0 to 1; shortcuts "
            "are known ones, measured against chance."
        ),
        "error",
        "queries",
        _outside,
        canaries=planted.FIT,
    ),
    Rule(
        "diagnostics_needs",
        1,
        "Needs follow from what was measured",
        (
            f"What a query needs ({', '.join(NEEDS)}) is what its columns text_only, image_only and "
            f"text_and_image give, with a tolerance of {TOLERANCE}, and '' where one was not run."
        ),
        "error",
        "queries",
        _needs,
        canaries=planted.NEEDS,
    ),
    Rule(
        "diagnostics_values",
        1,
        "Diagnostics can be computed again",
        (
            f"For the first {SAMPLE} queries of each split: chance follows from labels and candidates, "
            "text_only and bm25_solvable from the published run files, the number of candidates from "
            "top_ranked, where these are published."
        ),
        "error",
        "queries",
        _borne_out,
        canaries=planted.VALUES,
    ),
)
