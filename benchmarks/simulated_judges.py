"""Judges of known bias, order effect and family beside people: are they flagged, do intervals hold the truth?

Each simulation makes a pool of mined pairs whose support is known, lets people and a judge grade it, draws a
calibration sample as `review push --calibration` does, and compares the estimate with the same figure of all
pairs of the pool, which only a simulation knows.

    .venv/bin/python -m benchmarks.simulated_judges
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.candidates import Facets
from annotation.judge.circularity import circular
from annotation.judge.order import Orders, order_effect
from annotation.judge.sampling import NOT_JUDGED, UNSTABLE, Mined, draw_pairs
from annotation.judge.weighted import Both, Pool
from benchmarks.measure import RESULTS, save
from curation.tasks.clinical_evidence.cells import conclusion
from curation.tasks.shared.judging.stage import UNSTABLE as OTHER_ORDER

SEED, SIMULATIONS, RESAMPLES = 20_261_125, 200, 500
SCALE = (0, 1, 2)
_SAYS = np.asarray([[0.94, 0.04, 0.015, 0.005], [0.25, 0.5, 0.2, 0.05], [0.03, 0.09, 0.4, 0.48]])
"""Support of a pair (none, background, whole) -> chances of the scores 0 to 3, on either axis."""
_PEOPLE = np.asarray([[0.94, 0.05, 0.01], [0.12, 0.76, 0.12], [0.01, 0.07, 0.92]])


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of known habits.

    `lenient` is the chance of one score more (below 0: less), `turned` that of one more in the other order
    alone, `care` that a score is not drawn by lot.
    """

    name: str
    lenient: float = 0.0
    turned: float = 0.0
    care: float = 1.0


JUDGES = (
    Judge("plain"),
    Judge("lenient", lenient=0.25),
    Judge("severe", lenient=-1.0),
    Judge("order", turned=0.2),
    Judge("careless", care=0.6),
)


@dataclass(frozen=True, slots=True)
class Design:
    """How large pool and sample are; `per_cell` as in `review push`."""

    queries: int
    per_query: tuple[int, int]
    sample: int
    per_cell: int


DESIGNS = (Design(100, (15, 35), 300, 10),)


@dataclass(frozen=True, slots=True)
class World:
    """A pool in which everything is known: drawable pairs, people's grades, scores in both orders."""

    mined: tuple[Mined, ...]
    people: dict[tuple[str, str], int]
    orders: tuple[Orders, ...]


def world(judge: Judge, design: Design, generator: np.random.Generator) -> World:
    """One pool. Queries differ in how many of their passages support them, and in how hard they are."""
    sizes = generator.integers(*design.per_query, size=design.queries)
    owner = np.repeat(np.arange(design.queries), sizes)
    support = _drawn(generator.dirichlet([6.0, 1.2, 1.8], size=design.queries)[owner], generator)
    people = _drawn(_PEOPLE[support], generator)
    care = judge.care * generator.beta(12, 1, size=design.queries)[owner]
    forward, backward = (part.tolist() for part in _scores(judge, support, care, generator))
    is_asked = (generator.random(len(owner)) > 0.02).tolist()
    mined, told, orders = [], {}, []
    for number, (query, grade) in enumerate(zip(owner.tolist(), people.tolist(), strict=True)):
        key = (f"q{query:03}", f"d{number:05}")
        told[key] = grade
        stratum, level = NOT_JUDGED, None
        if is_asked[number]:
            said = (tuple(forward[number]), tuple(backward[number]))
            made = conclusion(said)
            is_stable = made != OTHER_ORDER
            stratum = " ".join(map(str, said[0])) if is_stable else UNSTABLE
            level = made if isinstance(made, int) else 1 if is_stable else None
            orders.append(Orders(key[0], *said, is_stable))
        mined.append(Mined(*key, stratum, level, Facets()))
    return World(tuple(mined), told, tuple(orders))


def _drawn(chances: Any, generator: np.random.Generator) -> Any:
    """One number for each row of chances."""
    return (chances.cumsum(-1) < generator.random((len(chances), 1))).sum(-1)


def _scores(judge: Judge, support: Any, care: Any, generator: np.random.Generator) -> tuple[Any, Any]:
    """(pairs, 2) scores forward and reversed. A judge mostly repeats itself in the other order."""
    shape = (len(support), 2)
    said = np.stack([_drawn(_SAYS[support], generator) for _ in range(2)], axis=1)
    said = np.where(generator.random(shape) < care[:, None], said, generator.integers(4, size=shape))
    said = said + np.sign(judge.lenient).astype(int) * (generator.random(shape) < abs(judge.lenient))
    said = np.clip(said, 0, 3)
    other = said + (generator.random(shape) < judge.turned)
    other = other + generator.choice([-1, 0, 1], p=[0.02, 0.96, 0.02], size=shape)
    return said, np.clip(other, 0, 3)


def pairs_of(made: World, chosen: Sequence[tuple[str, str]]) -> Iterator[Both]:
    """Those of the chosen pairs that the judge concluded."""
    known = {(one.query_id, one.corpus_id): one for one in made.mined}
    for key in chosen:
        if (level := known[key].judge) is not None:
            yield Both(key[0], known[key].stratum, level, made.people[key])


def pool_of(made: World, rows: Sequence[Both]) -> Pool:
    """The answered pairs with the pool they stand for."""
    judged = [one for one in made.mined if one.judge is not None]
    conclusions = {one.stratum: one.judge for one in judged if one.judge is not None}
    return Pool(rows, Counter(one.stratum for one in judged), conclusions, SCALE)


def truth(made: World) -> tuple[float, float]:
    """κ and bias of the whole pool."""
    table = np.zeros((3, 3))
    for row in pairs_of(made, [(one.query_id, one.corpus_id) for one in made.mined]):
        table[row.judge, row.people] += 1
    table /= table.sum()
    apart = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    chance = np.outer(table.sum(1), table.sum(0))
    bias = float((table * np.subtract.outer(np.arange(3), np.arange(3))).sum())
    return 1 - float((table * apart).sum() / (chance * apart).sum()), bias


def simulate(judge: Judge, design: Design, simulations: int, resamples: int, seed: int) -> dict[str, Any]:
    """How often intervals hold the truth, and how often a judge is flagged."""
    counts: Counter[str] = Counter()
    truths, widths, raw, biases = [], [], [], []
    for number in range(simulations):
        generator = np.random.Generator(np.random.PCG64([seed, number]))
        made = world(judge, design, generator)
        drawn = draw_pairs(made.mined, design.sample, design.per_cell, f"{seed} {number}")
        rows = list(pairs_of(made, [(row.query_id, row.corpus_id) for row in drawn]))
        found = pool_of(made, rows).agreement(rows, resamples=resamples)
        kappa, bias = truth(made)
        truths.append(kappa)
        biases.append(bias)
        for name, figure, value in (("kappa", found.kappa, kappa), ("bias", found.bias, bias)):
            assert figure.value is not None and figure.low is not None and figure.high is not None
            counts[f"{name}_held"] += figure.low <= value <= figure.high
            counts[f"{name}_below"] += figure.low <= value  # one-sided: what a floor is compared with
            if name == "kappa":
                widths.append(figure.high - figure.low)
                raw.append(figure.value - value)
        counts["bias_flagged"] += found.is_biased
        counts["order_flagged"] += order_effect(made.orders, resamples=resamples).is_flagged
    shares = {name: round(count / simulations, 4) for name, count in sorted(counts.items())}
    return {
        "judge": judge.name, "queries": design.queries, "sample": design.sample, "simulations": simulations,
        "mean_truth": round(float(np.mean(truths)), 4), "mean_error": round(float(np.mean(raw)), 4),
        "mean_bias": round(float(np.mean(biases)), 4), "mean_width": round(float(np.mean(widths)), 4),
        **shares,
    }  # fmt: skip


FAMILIES = (
    ("gpt-5-mini", ("bm25", "openai/text-embedding-3-large"), True),
    ("qwen3-32b", ("bm25", "Alibaba/gte-Qwen2-7B-instruct"), True),
    ("llama-3.3-70b", ("bm25", "repllama-v1"), True),
    ("claude-sonnet-4", ("bm25", "concepts"), False),
    ("mistral-large", ("bm25", "BAAI/bge-m3"), False),
    ("gpt-5-mini", ("claude-opus-4",), False),
)
"""Judge, systems or models that shaped the pool, and whether they are of one family."""


def families() -> list[dict[str, Any]]:
    """Whether a judge of the family of a system is flagged, and one of another family is not."""
    return [
        {
            "judge": judge,
            "systems": list(systems),
            "same_family": same,
            "flagged": bool(circular(judge, systems)),
        }
        for judge, systems, same in FAMILIES
    ]


def section() -> list[str]:
    """How often intervals hold the truth, and which judges are flagged."""
    found: dict[str, Any] = json.loads((RESULTS / "simulated_judges.json").read_text("utf-8"))
    rows, pairs = found["judges"], found["families"]
    simulations = sum(row["simulations"] for row in rows)
    held = {
        name: sum(row[name] * row["simulations"] for row in rows) / simulations
        for name in ("kappa_held", "bias_held")
    }
    right = sum(pair["flagged"] == pair["same_family"] for pair in pairs)
    return [
        "## Simulated judges",
        "",
        f"{simulations:,} pools of {rows[0]['queries']} queries, judged and graded with known habits; "
        f"{rows[0]['sample']} pairs of each drawn as `review push --calibration` draws them. Intervals "
        f"(95 %) hold the figure of the whole pool: weighted κ {held['kappa_held']:.1%}, "
        f"bias {held['bias_held']:.1%}. A judge counts as biased from 0.1 grades on. "
        f"Family: {right} of {len(pairs)} named pairs of judge and system told rightly. "
        "`python -m benchmarks.simulated_judges`",
        "",
        "| judge | n | κ | bias | error of κ | width | κ held | bias held | told biased | told of order |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {row['judge']} | {row['simulations']} | {row['mean_truth']:.3f} | {row['mean_bias']:+.3f} "
            f"| {row['mean_error']:+.4f} | {row['mean_width']:.3f} | {row['kappa_held']:.1%} "
            f"| {row['bias_held']:.1%} | {row['bias_flagged']:.1%} | {row['order_flagged']:.1%} |"
            for row in rows
        ),
        "",
    ]


def main() -> None:
    """Run every judge in every design and store the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    parser.add_argument("--dry", action="store_true", help="print only")
    given = parser.parse_args()
    rows = []
    for design in DESIGNS:
        for judge in JUDGES:
            rows.append(simulate(judge, design, given.simulations, RESAMPLES, SEED))
            print(rows[-1], flush=True)
    if not given.dry:
        save(
            "simulated_judges", {"seed": SEED, "resamples": RESAMPLES, "judges": rows, "families": families()}
        )


if __name__ == "__main__":
    main()
