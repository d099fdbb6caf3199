"""Whether passages on the facet asked come first among those about the right concept, and what a name tells.

The concept's name alone finds most passages about it, so a measure over the whole corpus mixes two things.
Here each system ranks the same passages and nothing else: those about the query's concept, labelled or on a
far facet (0 here, as nobody judged them). What it does not rank shares the places that are left: their gain
is the mean over all orders (McSherry and Najork 2008). Beside the systems stand the exact name, which ranks
by how often the English name is in a passage, and a lot; their ties are treated so too. Queries whose
passages all have one grade tell nothing and are left out.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curation.evaluation import fairness, measures
from curation.evaluation.collection import Collection, restricted
from curation.evaluation.labels import LeftOut
from curation.evaluation.ranking import EMPTY, Ranking, Run, keys_of, ranking_of, without
from curation.evaluation.reading import positions_of
from curation.evaluation.statistics import Values, codes, estimates
from schemas.benchmark import CORE_LANGUAGES
from schemas.hashing import normalise_text
from schemas.string_tables import STRING_ORIGINS
from schemas.tables import HARD_POOL

EXACT, LOT = "exact name", "by lot"
FOLDER = "runs/facets"
"""Run files of rankings of these passages alone."""
DEPTH = 100
_TOP = 10
_NDCG, _RECALL = "nDCG@10", "R@10"
_LANGUAGE = "en"
Groups = Iterable[Sequence[int]]
"""Grades of the passages of a query, best first; those of one group share its places."""


@dataclass(frozen=True, slots=True)
class FacetPool:
    """The questions on facets of named concepts, and the passages about the concept of each.

    Attributes:
        whole: all these questions, over the whole corpus.
        part: those whose passages have several grades, each ranked among its passages alone.
        grades: query of `part` -> position -> grade.
        names: query -> English name of its concept.
        of_one: how many questions have passages of one grade.
    """

    whole: Collection
    part: Collection
    grades: Mapping[str, Mapping[int, int]]
    names: Mapping[str, str]
    of_one: int

    @property
    def deepest(self) -> int:
        """The most passages that a question has."""
        return max((len(found) for found in self.grades.values()), default=0)


def facet_pool(collection: Collection) -> FacetPool | None:
    """What is measured; None for a task whose queries do not ask for a facet of a named concept.

    Args:
        collection: one split.
    """
    directory = collection.directory
    if collection.variant or not STRING_ORIGINS.files(directory):
        return None
    whole = _questions(collection, directory)
    about = _about(whole, directory)
    grades = {query: found for query, found in about.items() if len(set(found.values())) > 1}
    sets = {query: np.array(sorted(found), np.int32) for query, found in grades.items()}
    part = replace(restricted(whole, grades.keys()), left_out=LeftOut({}, sets, len(whole.corpus_ids)))
    names = _names(directory, whole)
    return FacetPool(whole, part, grades, names, len(about) - len(grades))


def facet_report(
    pool: FacetPool,
    runs: Mapping[str, Run],
    pooled: Mapping[str, Run],
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """What is said of facets.

    Args:
        pool: of one split.
        runs: rankings of the corpus by system.
        pooled: rankings of the passages about each query's concept by system. One of `runs` that is not among
            them was given as a file: of it only the queries count whose passages it ranks all.
        files: system -> where the file of its pooled run is, and its hash.

    Returns:
        By system the facet nDCG over all questions, over the parallel core and by language, its fairness gap
        and, over the whole corpus, nDCG@10 and R@10.
    """
    named = exact_names(pool.whole, pool.names)
    asked = pool.part.queries
    queries = [query.id for query in asked]
    core = set(fairness.core_families([query.family for query in asked], [query.language for query in asked]))
    found = {}
    for name, run in sorted(runs.items()):
        ranked = pooled.get(name)
        chosen = queries
        if ranked is None:
            ranked, chosen = run, [query for query in queries if _is_whole(pool, run, query)]
        values = [expected_ndcg(_in_order(pool.grades[q], ranked.get(q, EMPTY))) for q in chosen]
        found[name] = {
            **_of_corpus(pool.whole, run),
            **_of_facets(pool, chosen, values),
            **(files or {}).get(name, {}),
        }
    of_name = [expected_ndcg(_in_ties(pool.grades[q], named.get(q, EMPTY))) for q in queries]
    by_lot = [expected_ndcg([list(pool.grades[q].values())]) for q in queries]
    found[EXACT] = {**_of_corpus(pool.whole, named), **_of_facets(pool, queries, of_name)}
    found[LOT] = _of_facets(pool, queries, by_lot)
    sizes = [len(pool.grades[query]) for query in queries]
    return {
        "measure": f"{_NDCG} among passages about the concept",
        "queries": len(queries),
        "queries_of_one_grade": pool.of_one,
        "queries_without_name": sum(query not in pool.names for query in pool.whole.qrels),
        "passages": round(float(np.mean(sizes)), 3) if sizes else 0.0,
        "core": {"families": len(core), "languages": list(CORE_LANGUAGES)},
        "systems": found,
    }


def expected_ndcg(groups: Groups) -> float:
    """nDCG@10 of a ranking with ties: the mean over all orders within the groups.

    Args:
        groups: grades, best group first; not all 0.
    """
    groups = [list(group) for group in groups]
    ideal = sorted(itertools.chain.from_iterable(groups), reverse=True)
    discounts = 1 / np.log2(np.arange(2, len(ideal) + 2))
    discounts[_TOP:] = 0.0
    gain, place = 0.0, 0
    for group in groups:
        if group:
            gain += sum(group) / len(group) * float(discounts[place : place + len(group)].sum())
        place += len(group)
    return gain / float((np.array(ideal) * discounts).sum())


def _in_order(grades: Mapping[int, int], ranking: Ranking) -> list[list[int]]:
    """The passages as ranked, each at a place of its own; those that are not ranked share the rest."""
    ranked = [place for place in ranking.documents.tolist() if place in grades]
    rest = grades.keys() - set(ranked)
    return [*([grades[place]] for place in ranked), [grades[place] for place in sorted(rest)]]


def _in_ties(grades: Mapping[int, int], ranking: Ranking) -> list[list[int]]:
    """The same, where passages of equal scores share their places too."""
    pairs = zip(ranking.scores.tolist(), ranking.documents.tolist(), strict=True)
    ranked = [(score, place) for score, place in pairs if place in grades]
    rest = grades.keys() - {place for _, place in ranked}
    tied = itertools.groupby(ranked, key=lambda pair: pair[0])
    return [*([grades[place] for _, place in group] for _, group in tied),
            [grades[place] for place in sorted(rest)]]  # fmt: skip


def _is_whole(pool: FacetPool, run: Run, query: str) -> bool:
    """Whether a run ranks every passage about a query's concept."""
    return pool.grades[query].keys() <= set(run.get(query, EMPTY).documents.tolist())


def _questions(collection: Collection, directory: Path) -> Collection:
    """Without what is no question on a named concept: human text that has to find its translation."""
    others = {
        row["query-id"]
        for path in STRING_ORIGINS.files(directory)
        for row in pq.read_table(path, columns=["query-id", "kind"]).to_pylist()
        if row["kind"] == "human"
    }
    return restricted(collection, {query.id for query in collection.queries} - others)


def _names(directory: Path, collection: Collection) -> dict[str, str]:
    """Query -> English name of its concept, as English queries on the concept quote it."""
    by_concept: dict[str, str] = {}
    concepts: dict[str, str] = {}
    for path in STRING_ORIGINS.files(directory):
        table = pq.read_table(path, columns=["query-id", "language", "concept", "name"])
        for row in table.to_pylist():
            concepts[row["query-id"]] = row["concept"]
            if row["language"] == _LANGUAGE:
                by_concept[row["concept"]] = row["name"]
    asked = ((query.id, concepts.get(query.id, "")) for query in collection.queries)
    return {query: by_concept[concept] for query, concept in asked if concept in by_concept}


def _about(collection: Collection, directory: Path) -> dict[str, dict[int, int]]:
    """Query with a positive -> positions and grades of the passages about its concept."""
    places = {name: place for place, name in enumerate(collection.corpus_ids)}
    found = {
        query: {places[name]: grade for name, grade in grades.items()}
        for query, grades in collection.qrels.items()
    }
    ids = pa.array(collection.corpus_ids, pa.string())
    for path in HARD_POOL.files(directory):
        table = pq.read_table(path, columns=["query-id", "corpus-id"])
        for query, place in zip(
            table.column("query-id").to_pylist(), positions_of(table, ids, path).tolist(), strict=True
        ):
            if query in found:
                found[query].setdefault(place, 0)
    return found


def exact_names(collection: Collection, names: Mapping[str, str]) -> Run:
    """Documents in which a name stands, those that have it more often first; by query.

    Args:
        collection: one split.
        names: query -> English name.
    """
    wanted: dict[str, list[str]] = collections.defaultdict(list)
    for query, name in sorted(names.items()):
        wanted[_words(name)].append(query)
    counts: dict[str, dict[int, int]] = {name: {} for name in wanted}
    for place, document in enumerate(collection.documents()):
        text = _words(document.text)
        for name, held in counts.items():
            if said := text.count(name):
                held[place] = said
    run = {}
    for name, queries in wanted.items():
        held = counts[name]
        steps = np.array(list(held.values()), np.int64)
        keys = np.flip(np.sort(keys_of(steps, np.array(list(held), np.int64)))) if held else steps
        for query in queries:
            run[query] = without(ranking_of(keys, 1.0), collection.left_out.get(query), len(keys))
    return run


def _words(text: str) -> str:
    """The words of a text, each with a space of its own on both sides: names are counted whole."""
    return f" {normalise_text(text)} ".replace(" ", "  ").removeprefix(" ").removesuffix(" ")


def _of_corpus(collection: Collection, run: Run) -> dict[str, Any]:
    """What a system has over the whole corpus."""
    whole = measures.evaluate(run, collection, DEPTH)
    columns = measures.names(DEPTH, knows_zeros=measures.knows_zeros(collection))
    queries = measures.measured(collection)
    return {name: _told(whole[:, columns.index(name)], collection, queries) for name in (_NDCG, _RECALL)}


def _of_facets(pool: FacetPool, queries: Sequence[str], found: Sequence[float]) -> dict[str, Any]:
    """The facet nDCG of a system over some queries: overall, on whole families of the core, by language."""
    values = np.array(found, np.float64)
    asked = {query.id: query for query in pool.part.queries}
    families, languages = (
        [getattr(asked[query], name) for query in queries] for name in ("family", "language")
    )
    core = set(fairness.core_families(families, languages))
    inside = np.array([
        family in core and language in CORE_LANGUAGES
        for family, language in zip(families, languages, strict=True)
    ], np.bool_)  # fmt: skip
    spoken = np.array(languages, dtype=object)
    return {
        "queries": len(queries),
        "facet": _told(values, pool.part, queries),
        "core": _told(
            values[inside], pool.part, [query for query, kept in zip(queries, inside, strict=True) if kept]
        ),
        "fairness": fairness.gaps(values[:, None], [_NDCG], families, languages).get(_NDCG, {}),
        "languages": {
            language: round(float(values[spoken == language].mean()), 6)
            for language in sorted(set(languages))
        },
    }


def _told(values: Values, collection: Collection, queries: Sequence[str]) -> dict[str, float | None]:
    """Mean and interval over articles."""
    if not queries:
        return {"mean": None, "low": None, "high": None}
    groups = {query.id: query.group for query in collection.queries}
    (made,) = estimates(values[:, None], codes([groups[query] for query in queries]))
    return {name: _rounded(getattr(made, name)) for name in ("mean", "low", "high")}


def _rounded(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), 6)
