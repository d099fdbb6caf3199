"""Whether passages on the facet asked come first among those about the right concept, and what a name tells.

The concept's name alone finds most passages about it, so a measure over the whole corpus mixes two things.
Here a ranking is cut to the passages about the concept: the labelled ones, and those of a far facet (grade 0
here, as nobody judged them). Beside the systems stand the exact name, which ranks by how often the English
name is in a passage, and a lot. Queries whose passages all have one grade tell nothing and are left out.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curation.evaluation import measures
from curation.evaluation.collection import Collection
from curation.evaluation.ranking import EMPTY, Ranking, Run, keys_of, ranking_of, without
from curation.evaluation.reading import positions_of
from curation.evaluation.statistics import Estimate, Values, codes, estimates
from schemas.hashing import normalise_text
from schemas.string_tables import STRING_ORIGINS
from schemas.tables import HARD_POOL

EXACT, LOT = "exact name", "by lot"
LOTS, SEED, DEPTH = 20, 20_261, 100
_NDCG, _RECALL = "nDCG@10", "R@10"
_LANGUAGE = "en"


def facet_report(collection: Collection, directory: Path, runs: Mapping[str, Run]) -> dict[str, Any] | None:
    """What a release says of facets; None for a task whose queries do not ask for a facet of a named concept.

    Args:
        collection: one split.
        directory: the task directory, for the table of strings and that of far facets.
        runs: rankings by system.

    Returns:
        By system the facet nDCG (also by language) and, over the whole corpus, nDCG@10 and R@10.
    """
    if not STRING_ORIGINS.files(directory):
        return None
    collection = _questions(collection, directory)
    names = _names(directory, collection)
    about = _about(collection, directory)
    chosen = [
        query for query in measures.measured(collection)
        if len({collection.qrels[query].get(collection.corpus_ids[at], 0) for at in about[query]}) > 1
    ]  # fmt: skip
    every = {**runs, EXACT: exact_names(collection, names)}
    kept = set(chosen)
    part = replace(
        collection,
        qrels={query: grades for query, grades in collection.qrels.items() if query in kept},
    )
    found = {name: _measured(collection, part, run, about) for name, run in sorted(every.items())}
    return {
        "measure": f"{_NDCG} among passages about the concept",
        "queries": len(chosen),
        "queries_of_one_grade": len(collection.qrels) - len(chosen),
        "queries_without_name": sum(query not in names for query in collection.qrels),
        "passages": round(float(np.mean([len(about[query]) for query in chosen])), 3) if chosen else 0.0,
        "systems": {**found, LOT: {"facet": _lot(part, about), "languages": {}}},
    }


def _questions(collection: Collection, directory: Path) -> Collection:
    """Without what is no question on a named concept: human text that has to find its translation."""
    others = {
        row["query-id"]
        for path in STRING_ORIGINS.files(directory)
        for row in pq.read_table(path, columns=["query-id", "kind"]).to_pylist()
        if row["kind"] == "human"
    }
    kept = tuple(query for query in collection.queries if query.id not in others)
    qrels = {query: grades for query, grades in collection.qrels.items() if query not in others}
    return replace(collection, queries=kept, qrels=qrels)


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


def _about(collection: Collection, directory: Path) -> dict[str, set[int]]:
    """Query -> positions of the passages about its concept that may stand in a ranking."""
    places = {name: place for place, name in enumerate(collection.corpus_ids)}
    found = {query: {places[name] for name in grades} for query, grades in collection.qrels.items()}
    ids = pa.array(collection.corpus_ids, pa.string())
    for path in HARD_POOL.files(directory):
        table = pq.read_table(path, columns=["query-id", "corpus-id"])
        for query, place in zip(
            table.column("query-id").to_pylist(), positions_of(table, ids, path).tolist(), strict=True
        ):
            if query in found:
                found[query].add(place)
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
            run[query] = without(ranking_of(keys, 1.0), collection.left_out.get(query), DEPTH)
    return run


def _words(text: str) -> str:
    """The words of a text, each with a space of its own on both sides: names are counted whole."""
    return f" {normalise_text(text)} ".replace(" ", "  ").removeprefix(" ").removesuffix(" ")


def _cut(run: Run, about: Mapping[str, set[int]], queries: Sequence[str]) -> Run:
    """Rankings with the passages about the concept alone."""
    found = {}
    for query in queries:
        ranking = run.get(query, EMPTY)
        kept = np.isin(ranking.documents, sorted(about[query]))
        found[query] = Ranking(ranking.documents[kept], ranking.scores[kept])
    return found


def _measured(
    collection: Collection, part: Collection, run: Run, about: Mapping[str, set[int]]
) -> dict[str, Any]:
    """The facet nDCG of a system and, beside it, what it has over the whole corpus."""
    whole = measures.evaluate(run, collection, DEPTH)
    columns = measures.names(DEPTH)
    made: dict[str, Any] = {
        name: _told(whole[:, columns.index(name)], collection) for name in (_NDCG, _RECALL)
    }
    queries = measures.measured(part)
    values = _facet(_cut(run, about, queries), part)
    languages = {query.id: query.language for query in collection.queries}
    spoken = sorted({languages[query] for query in queries})
    return {
        **made,
        "facet": _told(values, part),
        "languages": {
            language: round(float(np.mean([value for query, value in zip(queries, values, strict=True)
                                           if languages[query] == language])), 6)
            for language in spoken
        },
    }  # fmt: skip


def _facet(run: Run, part: Collection) -> Values:
    return np.asarray(measures.evaluate(run, part, 10)[:, measures.names(10).index(_NDCG)], np.float64)


def _told(values: Values, collection: Collection) -> dict[str, float | None]:
    """Mean and interval over articles."""
    groups = {query.id: query.group for query in collection.queries}
    queries = measures.measured(collection)
    if not queries:
        return {"mean": None, "low": None, "high": None}
    made: Estimate = estimates(values[:, None], codes([groups[query] for query in queries]))[0]
    return {name: _rounded(getattr(made, name)) for name in ("mean", "low", "high")}


def _rounded(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), 6)


def _lot(part: Collection, about: Mapping[str, set[int]]) -> dict[str, float | None]:
    """The mean over orders drawn at random."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    queries = measures.measured(part)
    total = np.zeros(len(queries))
    for _ in range(LOTS):
        drawn = {}
        for query in queries:
            places = generator.permutation(np.array(sorted(about[query]), np.int32))
            drawn[query] = Ranking(places, np.arange(len(places), 0, -1).astype(np.float64))
        total += _facet(drawn, part)
    return _told(total / LOTS, part)
