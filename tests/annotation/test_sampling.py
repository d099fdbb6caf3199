"""The calibration sample: every stratum drawn from, chances recorded, larger samples hold smaller ones."""

from __future__ import annotations

from collections import Counter

import pytest

from annotation.candidates import Facets
from annotation.judge.sampling import NOT_JUDGED, UNJUDGED, UNSTABLE, Mined, draw_pairs

SIZES = {"0 0": 400, "2 2": 60, "3 3": 5, "1 2": 40, UNSTABLE: 20, NOT_JUDGED: 10, UNJUDGED: 300}
POOL = [
    Mined(f"q{number % 97}", f"d{name}{number}", name, 0 if name == "0 0" else None, Facets("cardiology"))
    for name, size in SIZES.items()
    for number in range(size)
]


def test_each_stratum_is_drawn_from_and_its_chance_is_recorded() -> None:
    drawn = draw_pairs(POOL, 300, 20, "seed")
    counts = Counter(row.stratum for row in drawn)
    assert counts.total() == 300 and counts["3 3"] == 5 and counts[NOT_JUDGED] == 10
    assert all(counts[name] >= min(20, size) for name, size in SIZES.items())
    assert counts["0 0"] > counts[UNJUDGED] > counts["2 2"]
    for row in drawn:
        assert (row.population, row.drawn) == (SIZES[row.stratum], counts[row.stratum])
        assert row.specialty == "cardiology" and row.judge == (0 if row.stratum == "0 0" else None)


@pytest.mark.parametrize(("small", "large"), [(7, 50), (50, 135), (135, 400), (400, 900)])
def test_a_larger_sample_holds_a_smaller_one_whatever_the_order(small: int, large: int) -> None:
    less, more = draw_pairs(POOL, small, 20, "s"), draw_pairs(POOL[::-1], large, 20, "s")
    assert {row.corpus_id for row in less} <= {row.corpus_id for row in more}
    assert len(less) == small and len(more) == min(large, len(POOL))


def test_another_seed_draws_others_and_every_pair_has_its_chance() -> None:
    hits = Counter(
        row.corpus_id for seed in range(200) for row in draw_pairs(POOL[400:460], 15, 0, str(seed))
    )
    assert len(hits) == 60 and min(hits.values()) >= 25 and max(hits.values()) <= 80
