"""Which of a concept's names stands for it, in Python and in SQL alike."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import pytest

from curation.tasks.shared.names import IS_NAME_SQL, RANK_SQL, is_serial, rank
from schemas.record import to_table
from schemas.vocabulary import ConceptName

_ROWS: tuple[tuple[str, str, str, Any, bool], ...] = (
    ("Odd lung fibrosis", "MESH", "MH", "open", True),
    ("odd lung disease 2", "MONDO", "PT", "open", True),
    ("a synonym", "MONDO", "EXACT", "open", False),
    ("a restricted label", "SNOMEDCT_US", "PT", "restricted", True),
)
NAMES = [
    ConceptName(concept="MADE:1", name=name, source=source, term_type=kind, tier=tier, is_preferred=is_label)
    for name, source, kind, tier, is_label in _ROWS
]


def test_a_label_without_the_number_of_a_series_stands_first() -> None:
    mixed = random.Random(3).sample(NAMES, len(NAMES))
    assert sorted(mixed, key=rank) == NAMES
    made = to_table(ConceptName, mixed)
    rows = (
        duckdb.connect().execute(f"SELECT name FROM made WHERE {IS_NAME_SQL} ORDER BY {RANK_SQL}").fetchall()
    )
    assert len(made) == 4 and [name for (name,) in rows] == [row.name for row in NAMES]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("interstitial lung disease 2", True),
        ("ptosis, hereditary congenital, 1", True),
        ("deafness, autosomal recessive 1A", True),
        ("multiple endocrine neoplasia type 2A", False),
        ("CADASIL", False),
        ("HbA1c", False),
    ],
)
def test_numbers_of_a_series(name: str, expected: bool) -> None:
    assert is_serial(name) is expected
