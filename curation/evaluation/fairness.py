"""The fairness gap: best minus worst language on families of translations that every core language has.

After MMed-Bench-IR, which reports max - min over languages of unequal queries. Here each language has the
same families, and whole families are drawn for the interval: a hard concept is hard in every language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from curation.evaluation.statistics import RESAMPLES, SEED, Values
from schemas.benchmark import CORE_LANGUAGES
from schemas.exact import product

FEWEST = 2
"""Families below which there is no interval."""


def core_families(
    families: Sequence[str], languages: Sequence[str], core: Sequence[str] = CORE_LANGUAGES
) -> list[str]:
    """Families with a query in every core language, sorted.

    Args:
        families: of each query, '' for none.
        languages: of each query.
        core: the core languages.
    """
    held: dict[str, set[str]] = {}
    for family, language in zip(families, languages, strict=True):
        if family:
            held.setdefault(family, set()).add(language)
    return sorted(family for family, found in held.items() if found.issuperset(core))


def gaps(
    values: Values,
    names: Sequence[str],
    families: Sequence[str],
    languages: Sequence[str],
    resamples: int = RESAMPLES,
    seed: int = SEED,
    core: Sequence[str] = CORE_LANGUAGES,
) -> dict[str, Any]:
    """The gap of one system in each measure, with its 95 % interval; {} without a parallel core.

    A measure that is undefined for some query of the core has none.

    Args:
        values: (queries, measures); NaN where a measure is undefined.
        names: of the measures.
        families: of each query.
        languages: of each query.
        resamples: how often families are drawn with replacement.
        seed: of the draws.
        core: languages that every family is asked in.
    """
    whole = core_families(families, languages, core)
    if not whole:
        return {}
    rows: Mapping[tuple[str, str], int] = {
        pair: row for row, pair in enumerate(zip(families, languages, strict=True))
    }
    table = np.array(
        [[values[rows[family, language]] for language in core] for family in whole]
    )  # (families, languages, measures)
    spread = _spread(table, resamples, seed)
    found = {}
    for place, name in enumerate(names):
        if np.isnan(table[:, :, place]).any():
            continue
        found[name] = _gap(table[:, :, place], spread[:, place], core)
    return found


def _gap(scores: Values, spread: Values, core: Sequence[str]) -> dict[str, Any]:
    """The gap in one measure: `scores` by family and language, `spread` of each resample."""
    by_language = dict(zip(core, scores.mean(axis=0).tolist(), strict=True))
    low, high = np.percentile(spread, [2.5, 97.5]).tolist()
    is_known = len(scores) >= FEWEST
    return {
        "gap": _rounded(max(by_language.values()) - min(by_language.values())),
        "low": _rounded(low) if is_known else None,
        "high": _rounded(high) if is_known else None,
        "best": max(sorted(by_language), key=by_language.__getitem__),
        "worst": min(sorted(by_language), key=by_language.__getitem__),
        "families": len(scores),
        "languages": {language: _rounded(mean) for language, mean in by_language.items()},
    }


def _spread(table: Values, resamples: int, seed: int) -> Values:
    """Best minus worst language in each resample of families, (resamples, measures)."""
    count = len(table)
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = generator.integers(0, count, (resamples, count))
    weights = np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(np.float64)
    sums = product(weights, np.nan_to_num(table.reshape(count, -1)))
    means = (sums / count).reshape(resamples, *table.shape[1:])
    return np.asarray(means.max(axis=1) - means.min(axis=1), dtype=np.float64)


def _rounded(value: float) -> float:
    """To nine places: the last bits differ between machines."""
    return round(value, 9)
