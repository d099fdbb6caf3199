from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement.coefficients import Coefficient, Rating
from annotation.agreement.groups import GroupEstimate, ItemGroups, by_group
from annotation.agreement.intervals import agreement
from schemas.errors import InputError

ITEMS = [
    ItemGroups(f"i{number:03d}", "case_study" if number < 60 else "summary", *groups)
    for number in range(90)
    for groups in [(("cardiology", "neurology", "")[number % 3], ("en", "de")[number % 2], "tier1")]
]
CHOSEN = (Coefficient.KAPPA, Coefficient.ALPHA_ORDINAL)


@pytest.fixture(scope="module")
def ratings() -> list[Rating]:
    """A and B grade everything, C the odd items of one task; C is careless."""
    generator = np.random.default_rng(8)
    rows = []
    for number, item in enumerate(ITEMS):
        truth = int(generator.integers(0, 3))
        for annotator, accuracy in (("A", 0.9), ("B", 0.9), ("C", 0.2)):
            if annotator == "C" and (item.task != "case_study" or number % 2 == 0):
                continue
            is_right = generator.random() < accuracy
            rows.append(Rating(item.item_id, annotator, truth if is_right else int(generator.integers(0, 3))))
    return rows


@pytest.fixture(scope="module")
def found(ratings: list[Rating]) -> list[GroupEstimate]:
    return by_group(ratings, ITEMS, {"case_study": (0, 1, 2)}, CHOSEN, resamples=300)


def one(found: list[GroupEstimate], task: str, dimension: str, value: str = "") -> list[GroupEstimate]:
    return [part for part in found if (part.task, part.dimension, part.value) == (task, dimension, value)]


def test_every_group_once_in_order(found: list[GroupEstimate]) -> None:
    keys = [(part.task, part.dimension, part.value) for part in found[::2]]
    assert keys == [
        (task, dimension, value)
        for task, pairs in (("case_study", ("A|B", "A|C", "B|C")), ("summary", ("A|B",)))
        for dimension, values in (
            ("all", ("",)),
            ("specialty", ("cardiology", "neurology", "unknown")),
            ("language", ("de", "en")),
            ("tier", ("tier1",)),
            ("annotator_pair", pairs),
        )
        for value in values
    ]
    assert [part.estimate.coefficient for part in found[:2]] == list(CHOSEN)


def test_groups_of_a_dimension_hold_every_item(found: list[GroupEstimate]) -> None:
    for task, items in (("case_study", 60), ("summary", 30)):
        for dimension in ("all", "specialty", "language", "tier"):
            parts = [part for part in found[::2] if (part.task, part.dimension) == (task, dimension)]
            assert sum(part.estimate.items for part in parts) == items


def test_a_careless_annotator_shows_in_their_pairs(found: list[GroupEstimate]) -> None:
    good, bad = (one(found, "case_study", "annotator_pair", pair)[0].estimate for pair in ("A|B", "A|C"))
    assert good.items == 60
    assert bad.items == 30
    assert good.low is not None and bad.high is not None and bad.high < good.low


def test_a_group_is_its_part_of_the_ratings(ratings: list[Rating], found: list[GroupEstimate]) -> None:
    chosen = {item.item_id for item in ITEMS if item.task == "summary" and item.language == "de"}
    by_item = {name: [row.grade for row in ratings if row.item_id == name] for name in sorted(chosen)}
    rows = np.asarray(list(by_item.values()), dtype=np.float64)
    expected = agreement(rows, chosen=CHOSEN, resamples=300)
    assert [part.estimate for part in one(found, "summary", "language", "de")] == expected


def test_order_of_rows_does_not_matter(ratings: list[Rating], found: list[GroupEstimate]) -> None:
    again = by_group(ratings[::-1], ITEMS[::-1], {"case_study": (0, 1, 2)}, CHOSEN, resamples=300)
    assert again == found


def test_an_item_without_groups_is_named() -> None:
    with pytest.raises(InputError) as error:
        by_group([Rating("other", "A", 1)], ITEMS)
    assert error.value.record == "other"
    assert by_group([], ITEMS) == []
