"""The headline of questions on facets: nDCG among the passages about the concept, computed again.

Written apart from `curation.evaluation`: from labels, `hard_pool`, `strings` and the published run files.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.audit.rule import Check, Collector, Context, NotApplicable, Outcome, Rule, side
from curation.audit.rules.runs_expected import TOLERANCE
from curation.audit.rules.runs_looked import facet_file, facet_files, look_at, systems_of
from curation.audit.rules.runs_made import SYSTEMS, Damage, Runs, planted
from curation.evaluation.facets import LOT
from curation.evaluation.results import FACET_NDCG
from curation.published.query import Sandbox
from schemas.benchmark import CORE_LANGUAGES
from schemas.hashing import sha256_bytes, sha256_file

_SPLIT, _DEPTH = "test", 10
_ABOUT = """
    WITH asked AS (SELECT s."query-id" AS q, u.language, coalesce(p.family, '') AS family
        FROM strings s JOIN provenance_queries p ON p.id = s."query-id" JOIN queries u ON u.id = p.id
        WHERE s.kind <> 'human' AND p.split = 'test'),
    found AS (
        SELECT r."query-id" AS q, r."corpus-id" AS c, r.score
        FROM qrels r SEMI JOIN asked a ON a.q = r."query-id"
        UNION ALL
        SELECT h."query-id", h."corpus-id", 0 FROM hard_pool h SEMI JOIN asked a ON a.q = h."query-id"
        ANTI JOIN qrels r ON r."query-id" = h."query-id" AND r."corpus-id" = h."corpus-id")
    SELECT q, c, score, language, family FROM found JOIN asked USING (q)
    QUALIFY max(score) OVER (PARTITION BY q) > 0 ORDER BY q, c"""
_PLACE = f"{_SPLIT}/{FACET_NDCG}"


@dataclass(frozen=True, slots=True)
class _About:
    """Query -> grades of the passages about its concept, of queries whose passages have several.

    `asked` has the family and language of each; `of_one` counts the queries left out.
    """

    grades: Mapping[str, Mapping[str, int]]
    asked: Mapping[str, tuple[str, str]]
    of_one: int

    @property
    def core(self) -> dict[str, list[str]]:
        """Family -> its queries in the core languages, where every one of these has it."""
        found: dict[str, dict[str, str]] = {}
        for query, (family, language) in self.asked.items():
            if family and language in CORE_LANGUAGES:
                found.setdefault(family, {})[language] = query
        return {
            family: [held[language] for language in CORE_LANGUAGES]
            for family, held in found.items()
            if len(held) == len(CORE_LANGUAGES)
        }


def _about(context: Context) -> _About:
    """The passages about each query's concept.

    Raises:
        NotApplicable: no query is a question on a named concept, or nothing was run.
    """
    if "strings" not in context.views:
        raise NotApplicable("no query is a question on a named concept")
    tables = ["strings", "provenance_queries", "queries", "qrels"]
    text = _ABOUT
    if "hard_pool" in context.views:
        tables.append("hard_pool")
    else:
        text = text.replace("FROM hard_pool h", "FROM (SELECT * FROM qrels WHERE false) h")
    grades: dict[str, dict[str, int]] = {}
    asked: dict[str, tuple[str, str]] = {}
    for row in context.rows(text, *tables):
        grades.setdefault(row["q"], {})[row["c"]] = row["score"]
        asked[row["q"]] = row["family"], row["language"]
    kept = {query: found for query, found in grades.items() if len(set(found.values())) > 1}
    return _About(kept, {query: asked[query] for query in kept}, len(grades) - len(kept))


def _gain(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:_DEPTH]))


def _value(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    """nDCG@10 of one query: what is not ranked has the mean grade of all that is not, at every place left."""
    own = [float(grades[name]) for name in ranked if name in grades]
    rest = [grade for name, grade in grades.items() if name not in set(ranked)]
    shared = [sum(rest) / len(rest)] * len(rest) if rest else []
    return _gain([*own, *shared]) / _gain(sorted(grades.values(), reverse=True))


def _values(path: Path | None, about: _About) -> dict[str, float] | None:
    """The measure of each query by a run file, of a lot without one; None where it cannot be read."""
    ranked: dict[str, list[tuple[int, str]]] = {}
    try:
        if path is not None:
            with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
                for query, _, document, rank, *_ in csv.reader(lines, delimiter=" ", quoting=csv.QUOTE_NONE):
                    ranked.setdefault(query, []).append((int(rank), document))
    except (OSError, EOFError, ValueError):
        return None  # the check of files says so
    return {
        query: _value([name for _, name in sorted(ranked.get(query, []))], grades)
        for query, grades in about.grades.items()
    }


def _wanted(about: _About, values: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """(place, number) of all that follows from the measure of each query."""
    if values:
        yield "facet/mean", math.fsum(values.values()) / len(values)
    core = list(about.core.values())
    if core:
        means = [
            math.fsum(values[query] for query in column) / len(core) for column in zip(*core, strict=True)
        ]
        yield "core/mean", math.fsum(means) / len(means)
        yield "fairness/gap", max(means) - min(means)


def _headline(context: Context) -> tuple[dict[str, Any] | None, list[str]]:
    """What results.json says of facets, and the systems that ran."""
    summary = look_at(context).results.get(_SPLIT)
    ran = sorted(name for name, item in systems_of(summary).items() if item.get("status") == "measured")
    stated = summary.get(FACET_NDCG) if isinstance(summary, dict) else None
    return (stated if isinstance(stated, dict) else None), ran


def _missing(context: Context) -> Outcome:
    """Results that say nothing of facets, or leave out a system."""
    found = Collector("facet_results", "error")
    about = _about(context)
    stated, ran = _headline(context)
    if not about.grades:
        return found.outcome(0)
    if stated is None and ran:
        found.add("results.json does not say how systems do on the facet asked", side("results.json", _PLACE))
    for name in ran if stated is not None else ():
        if not isinstance(_at(stated, f"systems/{name}"), dict):
            message = "results.json leaves a system out of those on the facet asked"
            found.add(message, side("results.json", f"{_PLACE}/systems/{name}"))
    return found.outcome(0)


def _files(context: Context) -> Outcome:
    """Run files on facets that are lost, elsewhere, or others."""
    found, about = Collector("facet_results", "error"), _about(context)
    listed = facet_files(look_at(context).results) if about.grades else {}
    for name, said in sorted(listed.items()):
        path = context.directory / name
        if said.get("run_file") != name or not path.is_file():
            found.add("the run file on facets is missing, or another is named", side("runs", name))
        elif sha256_file(path) != said.get("run_sha256"):
            found.add("the run file on facets is not the one whose hash is stated", side("runs", name))
    return found.outcome(len(listed))


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
        "core/families": len(about.core),
    }
    for name, value in wanted.items():
        _compare(found, f"{_PLACE}/{name}", _at(stated, name), value)
    return found.outcome(len(wanted))


def _means(context: Context) -> Outcome:
    """The facet nDCG of every system that ran and of a lot, overall and on the parallel core, and the gap."""
    found, compared = Collector("facet_results", "error"), 0
    about = _about(context)
    stated, ran = _headline(context)
    if stated is None or not about.grades:
        return found.outcome(0)
    paths = {name: context.directory / facet_file(name) for name in ran}
    for name, path in (*paths.items(), (LOT, None)):
        values = _values(path, about)
        for place, value in _wanted(about, values) if values is not None else ():
            compared += 1
            place = f"systems/{name}/{place}"
            _compare(found, f"{_PLACE}/{place}", _at(stated, place), value)
    return found.outcome(compared, "not computed again: exact name, languages, intervals")


def _at(stated: Any, place: str) -> Any:
    """What stands at a place below an object; None for nothing."""
    for step in place.split("/"):
        stated = stated.get(step) if isinstance(stated, dict) else None
    return stated


def _compare(found: Collector, place: str, stated: Any, value: float) -> None:
    """Report a number that is not the one computed."""
    is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
    # The file rounds to six digits, or three for passages.
    if not is_number or abs(stated - value) > max(TOLERANCE, 6e-4 * place.endswith("passages")):
        message = f"results.json says {stated} among passages about the concept, the files give {value:.6f}"
        found.add(message, side("results.json", place, str(stated)), side("data", place, f"{value:.6f}"))


_SYSTEM = "bm25"
_FAMILY = "canary:facets"
"""Family of the planted questions."""
_QUESTION = """
    INSERT INTO queries BY NAME SELECT '{q}' AS id, '{language}' AS language;
    INSERT INTO provenance_queries BY NAME SELECT '{q}' AS id, 'test' AS split, '{family}' AS family;
    INSERT INTO strings BY NAME SELECT '{q}' AS "query-id", 'template' AS kind;
    INSERT INTO qrels BY NAME SELECT '{q}' AS "query-id", '{right}' AS "corpus-id", 2 AS score;
    INSERT INTO hard_pool BY NAME SELECT '{q}' AS "query-id", '{far}' AS "corpus-id", 1 AS rank"""
_CLEARED = """
    DELETE FROM strings;
    DELETE FROM queries WHERE starts_with(id, '{family}');
    DELETE FROM provenance_queries WHERE starts_with(id, '{family}');
    DELETE FROM qrels WHERE starts_with("query-id", '{family}');
    DELETE FROM hard_pool WHERE starts_with("query-id", '{family}')"""


def _planted(place: str, wrong: object, *, lost: bool = False) -> Damage:
    """The question of a family in all core languages with right results, one place of which is made wrong.

    Each has a passage of grade 2 and a far one; the right one comes first in all languages but the last:
    there the gap is. With `lost` the run file is not there. Named is the place, or the run file.
    """

    def damage(made: Runs, sandbox: Sandbox) -> Sequence[str] | None:
        pair = next(_open_pairs(made), None)
        if pair is None:
            return None
        labelled = next(iter(made.data.qrels[pair[0]]))
        sandbox.run(_CLEARED.format(family=_FAMILY))
        lines = []
        for number, language in enumerate(CORE_LANGUAGES):
            query = f"{_FAMILY}:{language}"
            sandbox.run(
                _QUESTION.format(
                    q=query,
                    language=language,
                    family=_FAMILY,
                    right=labelled.replace("'", "''"),
                    far=pair[1].replace("'", "''"),
                )
            )
            is_last = number == len(CORE_LANGUAGES) - 1
            for rank, name in enumerate((pair[1], labelled) if is_last else (labelled, pair[1]), 1):
                lines.append(f"{query} Q0 {name} {rank} {9 - rank}.0 planted\n")
        content = gzip.compress("".join(lines).encode(), mtime=0)
        made.files |= {facet_file(name): content for name in SYSTEMS}
        said = _right(content)
        *above, last = place.split("/")
        held: Any = {"": said} if place == "" else said
        for step in above:
            held = held[step]
        held[last] = wrong
        made.summary[FACET_NDCG] = said if place else None
        if lost:
            made.files[facet_file(_SYSTEM)] = None
        if lost or last.startswith("run_"):
            return [facet_file(_SYSTEM)]
        return [f"{_PLACE}/{place}".removesuffix("/")]

    return damage


def _right(content: bytes) -> dict[str, Any]:
    """What is right of the planted questions and their run."""
    late = 1 / math.log2(3)
    lot, many = (1 + late) / 2, len(CORE_LANGUAGES)
    mean = (many - 1 + late) / many
    return {
        "queries": many,
        "queries_of_one_grade": 0,
        "passages": 2.0,
        "core": {"families": 1},
        "systems": {
            **{
                name: {
                    "facet": {"mean": mean},
                    "core": {"mean": mean},
                    "fairness": {"gap": 1 - late},
                    "run_file": facet_file(name),
                    "run_sha256": sha256_bytes(content),
                }
                for name in SYSTEMS
            },
            LOT: {"facet": {"mean": lot}, "core": {"mean": lot}, "fairness": {"gap": 0.0}},
        },
    }


def _open_pairs(made: Runs) -> Iterator[tuple[str, str]]:
    """Ranked pairs without label of queries that have a positive."""
    for query, lines in made.lines().items():
        held = made.data.qrels.get(query, {})
        if max(held.values(), default=0) > 0:
            yield from ((query, line[2]) for line in lines if line[2] not in held)


_BM25 = f"systems/{_SYSTEM}"
RULES = (
    Rule(
        "facet_results",
        2,
        "The headline on facets can be computed again",
        "Where queries ask for a facet of a named concept, results.json leads with the nDCG@10 among the "
        "passages about the concept: those with a label and those of `hard_pool`, which count 0. Every "
        "system that ran has a run file of its ranking of these passages, with its hash; what it does not "
        "rank shares the places left. Means over all queries and over the parallel core, the gap between "
        "its best and worst language, those of a lot, and counts follow from tables and run files, to "
        f"{TOLERANCE}. The exact name and intervals are not computed again.",
        "error",
        "values",
        checks=(
            Check(
                "results.json does not say how systems do on the facet asked",
                _missing,
                (
                    planted("no headline on facets", _planted("", None)),
                    planted("a system left out of the headline", _planted(_BM25, None)),
                ),
            ),
            Check(
                "a run file on facets",
                _files,
                (
                    planted("a run file on facets that is lost", _planted(f"{_BM25}/low", 0.0, lost=True)),
                    planted("another run file on facets", _planted(f"{_BM25}/run_sha256", "0" * 64)),
                ),
            ),
            Check(
                "a count of queries or passages",
                _counts,
                (
                    planted("queries that were not asked", _planted("queries", -1)),
                    planted("a parallel core of more families", _planted("core/families", 9)),
                ),
            ),
            Check(
                "the facet nDCG of a system, or its gap",
                _means,
                (
                    planted("an inflated facet nDCG", _planted(f"{_BM25}/facet/mean", 1.5)),
                    planted("an inflated facet nDCG of the core", _planted(f"{_BM25}/core/mean", 1.5)),
                    planted("a gap between languages made small", _planted(f"{_BM25}/fairness/gap", 0.0)),
                    planted("a lot made bad", _planted(f"systems/{LOT}/facet/mean", 0.1)),
                ),
            ),
        ),
    ),
)
