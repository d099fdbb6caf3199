"""A slice of benchmarks/simulated_judges.py with a fixed seed: habits are told, intervals hold the truth."""

from __future__ import annotations

from benchmarks.simulated_judges import JUDGES, Design, families, simulate

SMALL = Design(queries=40, per_query=(8, 16), sample=200, per_cell=8)
EACH = 5


def test_known_habits_are_told_and_intervals_hold_the_truth() -> None:
    found = {judge.name: simulate(judge, SMALL, EACH, 120, 20_261_126) for judge in JUDGES}
    assert {name for name, row in found.items() if row["order_flagged"] == 1} == {"order"}
    assert sum(row["order_flagged"] for row in found.values()) == 1  # nobody else, not once
    for name, mean in (("lenient", 0.3), ("severe", -0.19), ("careless", 0.3)):
        assert found[name]["bias_flagged"] == 1 and abs(found[name]["mean_bias"] - mean) < 0.08
    assert found["plain"]["bias_flagged"] < 0.5
    held = [round(row[figure] * EACH) for row in found.values() for figure in ("kappa_held", "bias_held")]
    assert len(held) == 10 and sum(held) >= 0.93 * 10 * EACH, found
    assert found["careless"]["mean_truth"] < found["plain"]["mean_truth"] - 0.2


def test_families_of_judge_and_system_are_told() -> None:
    assert all(row["flagged"] is row["same_family"] for row in families())
