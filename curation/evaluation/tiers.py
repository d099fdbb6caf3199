"""Whether tiers get harder: error by tier of encoders by family, and of rankings blind to the query.

Only dense encoders are evidence: shared words are what tiers 1 and 2 are made of, so BM25 and fusions with it
are shown beside them. Encoders of one family count once. Tiers hold when the mean error of the families rises
from each tier to the next with the 95 % interval of the difference above 0 (whole articles are drawn), and
also when any one family is left out; the same test must fail on tiers that were dealt out at random.
They fail where a ranking that does not look at the query finds the gold document more often or less than a
lot would: such sets give it away. Queries in another language than their documents have no tier.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from curation.evaluation.collection import Collection
from curation.evaluation.labels import RELEVANT
from curation.evaluation.ranking import EMPTY, Run
from curation.evaluation.statistics import Codes, Values, codes, estimates, holm, resampled
from curation.evaluation.systems import System
from schemas.confusion_table import CONFUSIONS
from schemas.tables import CORPUS

FAMILIES_NEEDED, SHUFFLES, SEED, MAY_PASS = 4, 100, 20_261, 0.05
_KNOWN = re.compile(r"(e5|minilm|bge|gte|sapbert|mpnet|medcpt|labse|biolord|nomic|jina)(?![a-z0-9])")
_FIRST_WORD = re.compile(r"[a-z]+|.+")
BLIND: Mapping[str, tuple[str, int]] = {
    "frequency": ("articles", -1),
    "rarity": ("articles", 1),
    "length": ("words", -1),
    "brevity": ("words", 1),
    "depth": ("depth", 1),
    "depth from below": ("depth", -1),
    "names per concept": ("names", -1),
    "fewest names": ("names", 1),
    "languages": ("languages", -1),
    "fewest languages": ("languages", 1),
}
"""Ranking that does not look at the query -> column of the set's documents, and the sign it is sorted by."""
SURE, DRAWS = 0.05, 10_000


@dataclass(frozen=True, slots=True)
class Tiered:
    """Queries of a split that have a tier and a positive, with tiers in order and articles as numbers."""

    queries: tuple[str, ...]
    names: tuple[str, ...]
    tiers: Codes
    groups: Codes

    @classmethod
    def of(cls, collection: Collection) -> Tiered:
        """Those of a collection."""
        measured = (query for query in collection.queries if query.id in collection.qrels)
        found = [query for query in measured if query.facets.get("tier") and _is_english(query.language)]
        names = tuple(sorted({query.facets["tier"] for query in found}))
        tiers = np.array([names.index(query.facets["tier"]) for query in found], np.int64)
        groups = codes([query.group for query in found])
        return cls(tuple(query.id for query in found), names, tiers, groups)


def _is_english(language: str) -> bool:
    """Whether a query is in the language of the documents."""
    return language.partition("-")[0] == "en"


def family_of(system: System) -> str:
    """Family of a dense encoder; '' for a system that is no evidence.

    Models that are not known are of one family where their names begin with the same word: sizes and versions
    of a model are not told from other models, so that too few families may be counted, and never too many.
    """
    if system.reranker or system.kind not in ("dense", "st"):
        return ""
    if system.kind == "dense":
        return "universal-sentence-encoder"
    name = Path(system.model).name.lower()
    known = _KNOWN.search(name)
    found = known or _FIRST_WORD.match(name)
    return found.group() if found else ""


def tier_report(
    collection: Collection, directory: Path, systems: Sequence[tuple[System, Run]]
) -> dict[str, Any] | None:
    """What a release says of its tiers; None where its queries are not ranked among sets of their own.

    Args:
        collection: one split.
        directory: the task directory, for the table of sets.
        systems: those that ran, with their rankings.
    """
    data = Tiered.of(collection)
    if not collection.sets or len(data.names) < 2:
        return None
    errors = {system.name: 1.0 - first_is_right(collection, run, data.queries) for system, run in systems}
    families: dict[str, list[Values]] = {}
    for system, _ in systems:
        if family := family_of(system):
            families.setdefault(family, []).append(errors[system.name])
    means = {name: np.mean(found, axis=0) for name, found in sorted(families.items())}
    blind = _blind(collection, directory, data)
    others = Counter(query.language for query in collection.queries if not _is_english(query.language))
    return {
        "tiers": {name: int(np.count_nonzero(data.tiers == place)) for place, name in enumerate(data.names)},
        "articles": len(set(data.groups.tolist())),
        "error": {name: _by_tier(values, data) for name, values in sorted(errors.items())},
        "evidence": sorted(name for system, _ in systems if family_of(system) for name in [system.name]),
        "families": sorted(means),
        "family": {system.name: family for system, _ in systems if (family := family_of(system))},
        "other_languages": dict(sorted(others.items())),
        **_verdict(means, data, _not_by_lot(blind)),
        "blind": blind,
    }


def first_is_right(collection: Collection, run: Run, queries: Sequence[str]) -> Values:
    """Whether the first document of each query is a positive."""
    found = np.zeros(len(queries))
    for place, query in enumerate(queries):
        ranked = run.get(query, EMPTY).documents[:1].tolist()
        grades = collection.qrels[query]
        found[place] = bool(ranked) and grades.get(collection.corpus_ids[ranked[0]], 0) >= RELEVANT
    return found


def _columns(values: Values, tiers: Codes, count: int) -> Values:
    """(queries, tiers): each value in the column of its query's tier, undefined in the others."""
    spread = np.full((len(values), count), np.nan)
    spread[np.arange(len(values)), tiers] = values
    return spread


def _by_tier(values: Values, data: Tiered) -> dict[str, dict[str, float | None]]:
    """Mean and interval of each tier."""
    made = estimates(_columns(values, data.tiers, len(data.names)), data.groups)
    return {
        name: {"mean": _rounded(item.mean), "low": _rounded(item.low), "high": _rounded(item.high)}
        for name, item in zip(data.names, made, strict=True)
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else round(value, 6)


def rises(values: Values, tiers: Codes, groups: Codes) -> bool:
    """Whether the mean rises from each tier to the next, the 95 % interval of the difference above 0.

    Args:
        values: (queries,) error.
        tiers: (queries,) tier, numbers from 0 without a gap.
        groups: (queries,) article; whole ones are drawn.
    """
    drawn = resampled(_columns(values, tiers, int(tiers.max()) + 1), groups)
    steps = np.diff(drawn, axis=1)
    known = ~np.isnan(steps).any(axis=1)
    return bool(known.any()) and bool((np.percentile(steps[known], 2.5, axis=0) > 0).all())


def _verdict(families: Mapping[str, Values], data: Tiered, given_away: Sequence[str]) -> dict[str, Any]:
    """Status and why; a set that gives its answer away fails whatever encoders ran."""
    if len(families) < FAMILIES_NEEDED:
        listed = ", ".join(families) or "none"
        few = f"{FAMILIES_NEEDED} families of dense encoders are needed, {len(families)} ran: {listed}"
        return {"status": "failed" if given_away else "not_run", "why": "; ".join([few, *given_away])}
    every = np.stack([families[name] for name in sorted(families)])
    holds = rises(every.mean(axis=0), data.tiers, data.groups)
    without = {
        name: rises(np.delete(every, place, axis=0).mean(axis=0), data.tiers, data.groups)
        for place, name in enumerate(sorted(families))
    }
    generator = np.random.Generator(np.random.PCG64(SEED))
    shuffled = sum(
        rises(every.mean(axis=0), generator.permutation(data.tiers), data.groups) for _ in range(SHUFFLES)
    )
    faults = [
        *([] if holds else ["the error does not rise from tier to tier"]),
        *(f"it does not rise without {name}" for name, still in without.items() if not still),
        *([] if shuffled <= MAY_PASS * SHUFFLES else [f"{shuffled} of {SHUFFLES} shuffled tiers pass, too"]),
        *given_away,
    ]
    return {
        "status": "failed" if faults else "passed",
        "why": "; ".join(faults),
        "without": without,
        "shuffled_that_pass": shuffled,
    }


def _blind(collection: Collection, directory: Path, data: Tiered) -> dict[str, Any]:
    """How often rankings that do not look at the query put the gold document first, by tier."""
    sets = _sets(directory, set(data.queries))
    golds = codes([_gold(sets.get(query, []), query) for query in data.queries])
    found = {}
    for name, (column, sign) in BLIND.items():
        if any(column not in row for rows in sets.values() for row in rows):
            continue  # of an older layout
        firsts = [first_of(sets.get(query, []), column, sign) for query in data.queries]
        means = np.array([(1 / size if is_gold else 0.0) if size else np.nan for is_gold, size, _ in firsts])
        made = _by_tier(means, data)
        for place, row in enumerate(made.values()):
            chosen = np.flatnonzero((data.tiers == place) & ~np.isnan(means))
            row["p"] = by_lot([firsts[i] for i in chosen], golds[chosen])
            row["at_chance"] = None if row["p"] is None else float(row["p"] >= SURE)
        found[name] = made
    return found


def _not_by_lot(blind: Mapping[str, Any]) -> list[str]:
    """Rankings that find the gold document otherwise than a lot, after Holm's correction over all of them."""
    cells = [
        (name, tier, row)
        for name, made in blind.items()
        for tier, row in made.items()
        if row["p"] is not None
    ]
    adjusted = holm(np.array([row["p"] for _, _, row in cells], np.float64))
    return [
        f"a ranking by {name} alone finds {row['mean']:.3f} of tier {tier}, where a lot finds 0.125"
        for (name, tier, row), p in zip(cells, adjusted, strict=True)
        if p < SURE
    ]


def by_lot(firsts: Sequence[tuple[bool, int, int]], golds: Codes) -> float | None:
    """How likely a share as far from chance is where any document of a set could as well be the gold one.

    Sets of one gold concept have much the same members, so one lot is drawn for all of them.

    Args:
        firsts: of each query, whether the gold document is among those that come first, how many these are,
            and how many the set has.
        golds: of each query, its gold concept as a number.

    Returns:
        The share of lots, two-sided; None without a query.
    """
    if not firsts:
        return None
    _, golds = np.unique(golds, return_inverse=True)
    generator = np.random.Generator(np.random.PCG64(SEED))
    drawn = generator.random((DRAWS, int(golds.max()) + 1))
    total, seen, expected = np.zeros(DRAWS), 0.0, 0.0
    for (is_gold, size, of), gold in zip(firsts, golds.tolist(), strict=True):
        total += (drawn[:, gold] * of < size) / size
        seen += is_gold / size
        expected += 1 / of
    as_far = np.abs(total - expected) >= abs(seen - expected) - 1e-9
    return round((int(as_far.sum()) + 1) / (DRAWS + 1), 4)


def _sets(directory: Path, queries: set[str]) -> dict[str, list[dict[str, Any]]]:
    """Rows of each query's set, with the words of their documents."""
    columns = ["query-id", "corpus-id", "concept", "role", "articles", "depth", "names", "languages"]
    texts: dict[str, int] = {}
    for path in CORPUS.files(directory):
        table = pq.read_table(path, columns=["id", "text"])
        words = (text.count(" ") + 1 for text in table.column("text").to_pylist())
        texts.update(zip(table.column("id").to_pylist(), words, strict=True))
    found: dict[str, list[dict[str, Any]]] = {}
    for path in CONFUSIONS.files(directory):
        held = [name for name in columns if name in pq.read_schema(path).names]
        for row in pq.read_table(path, columns=held).to_pylist():
            if row["query-id"] in queries:
                found.setdefault(row["query-id"], []).append({**row, "words": texts.get(row["corpus-id"], 0)})
    return found


def _gold(rows: Sequence[Mapping[str, Any]], query: str) -> str:
    """The gold concept of a set; the query itself where none is said."""
    return next((row["concept"] for row in rows if row["role"] == "gold" and row["concept"]), query)


def first_of(rows: Sequence[Mapping[str, Any]], column: str, sign: int) -> tuple[bool, int, int]:
    """Whether the gold document is among those that come first, how many these are, and how many all."""
    if not rows:
        return False, 0, 0
    best = min(sign * row[column] for row in rows)
    roles = [row["role"] for row in rows if sign * row[column] == best]
    return "gold" in roles, len(roles), len(rows)
