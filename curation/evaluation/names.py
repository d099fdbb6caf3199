"""How systems do on confusion sets whose documents are names in other languages, and how unequally.

Measured is R@1, chance being one eighth. The gap is the best minus the worst language on the queries that
have confirmed names in each of them: the same sets, so that no language has the easier ones. English has
definitions in the place of names, and is not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from curation.evaluation import fairness
from curation.evaluation.collection import Collection
from curation.evaluation.ranking import Run
from curation.evaluation.statistics import Values, codes, estimates
from curation.evaluation.tiers import first_is_right
from curation.evaluation.variants import SPLIT
from schemas.benchmark import CORE_LANGUAGES
from schemas.name_tables import NAMED_QUERIES

FIRST = "R@1"
NAMED = "names"
"""Key of derived.json."""
OFFICIAL = "official"
FOLDER = "runs/names"
"""Run files, in a folder for each language."""


def names_report(
    directory: Path,
    parts: Mapping[str, tuple[Collection, Mapping[str, Run]]],
    files: Mapping[str, Mapping[str, Mapping[str, str]]],
) -> dict[str, Any] | None:
    """What a release says of names in other languages; None where it has none.

    Args:
        directory: the task folder.
        parts: language -> its part of split test, and the runs of systems on it.
        files: language -> system -> where its run file is, and its hash.
    """
    if not parts:
        return None
    confirmed = _confirmed(directory)
    systems = sorted({name for _, runs in parts.values() for name in runs})
    found: dict[str, Any] = {}
    right: dict[tuple[str, str], Mapping[str, float]] = {}
    for language, (collection, runs) in sorted(parts.items()):
        asked = [query for query in collection.queries if query.id in collection.qrels]
        groups = codes([query.group for query in asked])
        told = {}
        for name in sorted(runs):
            values = first_is_right(collection, runs[name], [query.id for query in asked])
            right[name, language] = dict(zip((query.id for query in asked), values.tolist(), strict=True))
            told[name] = {**_estimate(values, groups), **files[language][name]}
        found[language] = {
            "queries": len(asked),
            OFFICIAL: sum((query.id, language) in confirmed for query in asked),
            "systems": told,
        }
    core = [
        language
        for language in CORE_LANGUAGES
        if language in found and any(spoken == language for _, spoken in confirmed)
    ]
    pairs = sorted(confirmed & {(query, spoken) for (_, spoken), values in right.items() for query in values})
    return {
        "chance": 0.125,
        "languages": found,
        "core": core,
        "core_queries": len(
            fairness.core_families([query for query, _ in pairs], [spoken for _, spoken in pairs], core)
        ),
        "fairness": {name: gap for name in systems if (gap := _gap(name, right, pairs, core))},
    }


def _gap(
    system: str,
    right: Mapping[tuple[str, str], Mapping[str, float]],
    pairs: Sequence[tuple[str, str]],
    core: Sequence[str],
) -> dict[str, Any]:
    """The gap of a system over the core; {} where there are not two languages with queries in common."""
    known = [
        (query, spoken)
        for query, spoken in pairs
        if spoken in core and query in right.get((system, spoken), {})
    ]
    if len(core) < fairness.FEWEST or not known:
        return {}
    values = np.array([[right[system, spoken][query]] for query, spoken in known])
    families, languages = [query for query, _ in known], [spoken for _, spoken in known]
    gaps = fairness.gaps(values, [FIRST], families, languages, core=core)
    return dict(gaps.get(FIRST, {}))


def _estimate(values: Values, groups: Any) -> dict[str, Any]:
    """Mean and interval, whole articles drawn."""
    (made,) = estimates(values[:, None], groups)
    return {
        name: None if value is None or np.isnan(value) else round(float(value), 6)
        for name, value in (("mean", made.mean), ("low", made.low), ("high", made.high))
    }


def _confirmed(directory: Path) -> set[tuple[str, str]]:
    """(query, language) of the sets all of whose names are confirmed."""
    found: set[tuple[str, str]] = set()
    for path in NAMED_QUERIES.files(directory, SPLIT):
        for row in pq.read_table(path, columns=["id", "document_language", "status"]).to_pylist():
            if row["status"] == OFFICIAL:
                found.add((row["id"], row["document_language"]))
    return found
