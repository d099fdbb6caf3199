"""Agreement figures beside their peers, and how often intervals hold the truth of simulated annotators.

The truth is the figure of the whole population of items: annotators have known confusion matrices, so every
possible row of ratings has a known probability.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.agreement.coefficients import (
    COEFFICIENTS,
    SCALE,
    Coefficient,
    Floats,
    Table,
    tabulate,
    values,
)
from annotation.agreement.drift import alarm_chance, chart, first_alarm
from annotation.agreement.intervals import PSEUDO_ITEMS, agreement, estimates
from annotation.agreement.planner import model, plan
from annotation.agreement.precision import Stratum, proportion
from benchmarks.measure import cpu_seconds, save

SEED = 20_261_121
SAMPLES, RESAMPLES = 400, 1_000
SIZES = (50, 100, 300)
_LARGE = 1e12


@dataclass(frozen=True, slots=True)
class Annotators:
    """Simulated annotators: their accuracy, the prevalence of grades, and the share of ratings not given."""

    accuracy: tuple[float, ...]
    prevalence: tuple[float, ...] = (0.4, 0.2, 0.2, 0.2)
    missing: float = 0.0

    def population(self) -> tuple[Table, Floats]:
        """Every possible row of ratings and its probability."""
        grades, raters = len(self.prevalence), len(self.accuracy)
        codes = np.asarray(list(itertools.product(range(-1, grades), repeat=raters)), dtype=np.int64)
        share = np.zeros(len(codes))
        for truth, prevalence in enumerate(self.prevalence):
            chance = np.full(len(codes), prevalence)
            for rater, accuracy in enumerate(self.accuracy):
                given = confusion(accuracy, grades)[truth] * (1 - self.missing)
                chance *= np.concatenate([[self.missing], given])[codes[:, rater] + 1]
            share += chance
        kept = (codes >= 0).any(1) & (share > 0)
        return Table(codes[kept], np.ones(int(kept.sum())), SCALE[:grades]), share[kept] / share[kept].sum()


WORLDS = {
    "three, fair": Annotators((0.80, 0.75, 0.85)),
    "three, good": Annotators((0.95, 0.93, 0.95)),
    "three, nearly perfect": Annotators((0.98, 0.98, 0.97)),
    "three, poor": Annotators((0.50, 0.55, 0.45), (0.25,) * 4),
    "three, a third of ratings missing": Annotators((0.80, 0.75, 0.85), (0.4, 0.3, 0.2, 0.1), 1 / 3),
    "three, 85 % of one grade": Annotators((0.90, 0.90, 0.88), (0.85, 0.08, 0.04, 0.03)),
    "two, good": Annotators((0.95, 0.93)),
    "two, 90 % of one grade": Annotators((0.93, 0.95), (0.90, 0.05, 0.03, 0.02)),
    "five, half of ratings missing": Annotators((0.85,) * 5, (0.5, 0.3, 0.2), 0.5),
}


def confusion(accuracy: float, grades: int) -> Floats:
    """(true grade, given grade) probabilities; four of five errors go to a neighbouring grade."""
    distance = np.abs(np.arange(grades)[:, None] - np.arange(grades)[None])
    weight = np.where(distance == 1, 0.8, 0.2) * (distance > 0)
    errors = (1 - accuracy) * weight / weight.sum(1, keepdims=True)
    return np.asarray(errors + accuracy * np.eye(grades), dtype=np.float64)


def coverage(
    world: Annotators, items: int, samples: int = SAMPLES, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Any]:
    """How often each interval holds the population's figure; `null` counts intervals that were not given."""
    table, share = world.population()
    truth = values(table, share[None] * _LARGE)[0]
    generator = np.random.Generator(np.random.PCG64(seed))
    held, given, width = (np.zeros(len(COEFFICIENTS)) for _ in range(3))
    for number in range(samples):
        counts = generator.multinomial(items, share).astype(np.float64)
        drawn = Table(table.codes[counts > 0], counts[counts > 0], table.scale)
        for column, found in enumerate(estimates(drawn, resamples=resamples, seed=number)):
            if found.low is not None and found.high is not None:
                given[column] += 1
                held[column] += found.low - 1e-12 <= truth[column] <= found.high + 1e-12
                width[column] += found.high - found.low
    return {
        name.value: {
            "covered": round(float(held[i] / given[i]), 4),
            "width": round(float(width[i] / given[i]), 4),
            "truth": round(float(truth[i]), 4),
            "null": int(samples - given[i]),
        }
        for i, name in enumerate(COEFFICIENTS)
    }


def all_coverage(samples: int) -> dict[str, Any]:
    """Every world and size, and the means over them by coefficient and by size."""
    found = {
        f"{name}; {items} items": coverage(world, items, samples)
        for items in SIZES
        for name, world in WORLDS.items()
    }
    by_coefficient = {
        name.value: round(float(np.mean([part[name.value]["covered"] for part in found.values()])), 4)
        for name in COEFFICIENTS
    }
    by_size = {
        str(items): round(
            float(
                np.mean(
                    [
                        cell["covered"]
                        for key, part in found.items()
                        if key.endswith(f" {items} items")
                        for cell in part.values()
                    ]
                )
            ),
            4,
        )
        for items in SIZES
    }
    cells = [(cell["covered"], key, name) for key, part in found.items() for name, cell in part.items()]
    return {
        "samples": samples,
        "resamples": RESAMPLES,
        "pseudo_items": PSEUDO_ITEMS,
        "mean": round(float(np.mean([cell[0] for cell in cells])), 4),
        "cells": len(cells),
        "cells_at_least_93_percent": sum(cell[0] >= 0.93 for cell in cells),
        "lowest": sorted(cells)[:8],
        "by_coefficient": by_coefficient,
        "by_size": by_size,
        "worlds": found,
    }


def random_ratings(generator: np.random.Generator, missing: float = 0.3) -> Floats:
    """A made-up (items, raters) array."""
    items, raters = int(generator.integers(5, 60)), int(generator.integers(2, 6))
    same = generator.random((items, raters)) < 0.6
    grades = np.where(same, generator.integers(0, 4, (items, 1)), generator.integers(0, 4, (items, raters)))
    return np.where(generator.random((items, raters)) < missing, np.nan, grades.astype(np.float64))


def largest_differences(arrays: int = 300) -> dict[str, Any]:
    """Largest difference from each peer that is installed, over made-up arrays with missing ratings."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    made = [random_ratings(generator) for _ in range(arrays)]
    complete = [array for array in made if (~np.isnan(array)).any(1).all()]
    found: dict[str, Any] = {"arrays": arrays}
    for peer, compare, used in (
        ("krippendorff", _beside_krippendorff, made),
        ("irrCAC", _beside_irrcac, complete),
    ):
        try:
            module = importlib.import_module("irrCAC.raw" if peer == "irrCAC" else peer)
        except ImportError:
            found[peer] = "not_run"
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[peer] = max(compare(module, array) for array in used)
    return found


def _beside_krippendorff(module: Any, array: Floats) -> float:
    ours = dict(zip(COEFFICIENTS, values(tabulate(array))[0], strict=True))
    levels = {
        "nominal": Coefficient.ALPHA_NOMINAL,
        "ordinal": Coefficient.ALPHA_ORDINAL,
        "interval": Coefficient.ALPHA_INTERVAL,
    }
    gaps = []
    for level, name in levels.items():
        alpha = module.alpha(reliability_data=array.T, value_domain=list(SCALE), level_of_measurement=level)
        gaps.append(abs(float(ours[name]) - float(alpha)))
    return max(gaps)


def _beside_irrcac(module: Any, array: Floats) -> float:
    pandas = importlib.import_module("pandas")
    ours = dict(zip(COEFFICIENTS, values(tabulate(array))[0], strict=True))
    names = {
        "identity": Coefficient.AC1,
        "linear": Coefficient.AC2_LINEAR,
        "quadratic": Coefficient.AC2_QUADRATIC,
    }
    gaps = []
    for weights, name in names.items():
        peer = module.CAC(pandas.DataFrame(array), weights=weights, categories=list(SCALE), digits=14)
        gaps.append(abs(float(ours[name]) - float(peer.gwet()["est"]["coefficient_value"])))
    return max(gaps)


def speed() -> dict[str, Any]:
    """CPU seconds of 10,000 items with three raters: all figures with intervals, and a peer's one alpha."""
    table, share = WORLDS["three, fair"].population()
    generator = np.random.Generator(np.random.PCG64(SEED))
    ratings = table.codes[generator.choice(len(share), 10_000, p=share)].astype(np.float64)
    work: dict[str, Callable[[], object]] = {"all ten figures with intervals": lambda: agreement(ratings)}
    try:
        module = importlib.import_module("krippendorff")
        work["krippendorff, ordinal alpha without interval"] = lambda: module.alpha(
            reliability_data=ratings.T, level_of_measurement="ordinal"
        )
    except ImportError:
        pass
    started = time.perf_counter()
    agreement(ratings)
    wall = time.perf_counter() - started
    cpu = {name: round(min(cpu_seconds(one) for _ in range(3)), 4) for name, one in work.items()}
    return {"items": 10_000, "raters": 3, "wall_seconds": round(wall, 3), "cpu_seconds": cpu}


def planned() -> list[dict[str, Any]]:
    """Half-widths reached by samples as large as the planner says."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    found = []
    for measure, prior, raters, half in (
        (Coefficient.KAPPA, 0.6, 2, 0.05),
        (Coefficient.KAPPA_QUADRATIC, 0.8, 2, 0.05),
        (Coefficient.ALPHA_ORDINAL, 0.7, 3, 0.05),
        (Coefficient.AC1, 0.8, 2, 0.05),
        (Coefficient.AC2_LINEAR, 0.6, 4, 0.10),
        (Coefficient.PERCENT, 0.8, 2, 0.05),
    ):
        items = plan(half, prior=prior, measure=measure, per_item=raters, annotators=raters).items
        reached = mean_half_width(generator, measure, prior, raters, items)
        found.append(
            {"measure": measure.value, "prior": prior, "raters": raters, "wanted": half}
            | {"items": items, "reached": round(reached, 4)}
        )
    return found


def mean_half_width(
    generator: np.random.Generator,
    measure: Coefficient,
    prior: float,
    raters: int,
    items: int,
    times: int = 40,
) -> float:
    """Mean half-width of the intervals of simulated samples."""
    table, share = model(measure, prior, (0.4, 0.2, 0.2, 0.2), raters)
    widths = []
    for number in range(times):
        rows = table.codes[generator.choice(len(share), items, p=share / share.sum())]
        found = agreement(rows, table.scale, [measure], resamples=RESAMPLES, seed=number)[0]
        if found.low is not None and found.high is not None:
            widths.append((found.high - found.low) / 2)
    return float(np.mean(widths))


DESIGNS: dict[str, tuple[tuple[int, float, int], ...]] = {
    "one stratum, precision .97": ((5_000, 0.97, 150),),
    "one stratum, precision .90": ((5_000, 0.90, 100),),
    "half of a small rule": ((120, 0.95, 60),),
    "two tiers": ((4_000, 0.98, 120), (1_000, 0.85, 60)),
    "rank bands": ((500, 0.20, 60), (2_000, 0.04, 80), (2_500, 0.01, 60)),
    "rank bands, rare": ((500, 0.04, 60), (2_000, 0.01, 60), (5_000, 0.002, 100)),
}
"""Strata as (items, share of positives, reviewed)."""


def proportion_coverage(
    strata: Sequence[tuple[int, float, int]], samples: int, seed: int = SEED
) -> dict[str, float]:
    """How often both intervals hold the population's share, and how often their lower bounds lie above it."""
    generator = np.random.Generator(np.random.PCG64(seed))
    totals = [(items, round(items * share), drawn) for items, share, drawn in strata]
    truth = sum(positive for _, positive, _ in totals) / sum(items for items, _, _ in totals)
    held = {"clopper_pearson": 0, "wilson": 0}
    above = dict(held)
    for _ in range(samples):
        parts = [
            Stratum(str(i), items, drawn, int(generator.hypergeometric(positive, items - positive, drawn)))
            for i, (items, positive, drawn) in enumerate(totals)
        ]
        for name, found in (
            ("clopper_pearson", proportion(parts)),
            ("wilson", proportion(parts, method="wilson")),
        ):
            low, high = found.low or 0.0, found.high or 0.0
            held[name] += low - 1e-12 <= truth <= high + 1e-12
            above[name] += low > truth + 1e-12
    return {f"{name} covered": round(count / samples, 4) for name, count in held.items()} | {
        f"{name} low above truth": round(count / samples, 4) for name, count in above.items()
    }


def alarms(runs: int) -> dict[str, Any]:
    """The drift chart: false alarms within its horizon, simulated and exact, and answers until an alarm."""
    limits = chart()
    generator = np.random.Generator(np.random.PCG64(SEED))
    false = [first_alarm(row, limits) for row in generator.random((runs, limits.horizon)) < 0.10]
    late = [first_alarm(row, limits) for row in generator.random((runs, 1_000)) < 0.30]
    return {
        "step": limits.step,
        "limit": limits.limit,
        "false_alarm_exact": round(limits.false_alarm, 4),
        "false_alarm_simulated": round(sum(found is not None for found in false) / runs, 4),
        "median_answers_to_alarm_at_30_percent_errors": float(np.median([f[1] + 1 for f in late if f])),
        "found_within_60_at_30_percent": round(alarm_chance(0.30, limits.step, limits.limit, 60), 4),
    }


def main() -> int:
    """Run all and write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=SAMPLES)
    samples = parser.parse_args().samples
    result: Mapping[str, Any] = {
        "seed": SEED,
        "largest_difference": largest_differences(),
        "speed": speed(),
        "plans": planned(),
        "proportions": {name: proportion_coverage(parts, samples * 10) for name, parts in DESIGNS.items()},
        "drift": alarms(samples * 10),
        "coverage": all_coverage(samples),
    }
    print(json.dumps(result, indent=1))
    if samples == SAMPLES:
        print(save("agreement", result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
