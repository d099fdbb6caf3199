"""Licences of strings quoted from a vocabulary: Python and SQL say the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.tasks.shared.quoted import LICENCE_SQL, licence_of
from flows.engine.connection import query
from schemas.licences import is_allowed
from schemas.record import to_table
from schemas.vocabulary import Tier, VocabularySource


@pytest.mark.parametrize(
    ("tier", "licence", "expected"),
    [
        ("open", "CC-BY-4.0", "CC-BY-4.0"),
        ("open", "CC0-1.0", "CC0-1.0"),
        ("open", "public domain", "LicenseRef-terms-INV"),
        ("terms", "CC-BY-4.0", "LicenseRef-terms-INV"),
        ("terms", "HPO terms", "LicenseRef-terms-INV"),
    ],
)
def test_a_licence_of_its_own_or_the_name_of_its_terms(
    tmp_path: Path, tier: Tier, licence: str, expected: str
) -> None:
    source = VocabularySource(
        source="INV", title="Inventions", release="1", licence=licence, tier=tier, sha256="0" * 64
    )
    pq.write_table(to_table(VocabularySource, [source]), tmp_path / "sources.parquet")
    views = {"v": [tmp_path / "sources.parquet"]}
    (batch,) = query("1GB")(f"SELECT {LICENCE_SQL} AS said FROM v", views)
    assert licence_of(source) == batch.to_pylist()[0]["said"] == expected
    assert is_allowed(expected, "open")
