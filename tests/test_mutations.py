"""A fixed-seed slice of the mutation campaign, on the embedded sample and on real articles where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.jats_mutations import campaign, outcome
from benchmarks.mutations import MUTATIONS, mutants
from sources.sample import bucket_dir

SLICE = 200


@pytest.fixture(scope="module")
def sample() -> list[Path]:
    return sorted(bucket_dir().glob("*/*.xml"))


def check(files: list[Path], seed: int) -> None:
    result = campaign(files, SLICE, seed)
    assert result["failures"] == []
    assert result["slowest_seconds"] < 10
    assert set(result["outcomes"]) == {mutation.__name__ for mutation in MUTATIONS}
    for kind in ("entity_bomb", "external_entity"):
        assert set(result["outcomes"][kind]) == {"quarantined: xml_hostile"}
    assert any("recovered" in name for name in result["outcomes"]["flip_bits"])


def test_damaged_sample_articles_are_read_or_quarantined(sample: list[Path]) -> None:
    check(sample, seed=7)


@pytest.mark.sibling("test_damaged_sample_articles_are_read_or_quarantined")
def test_damaged_real_articles_are_read_or_quarantined(shared_data: Path) -> None:
    check(sorted((shared_data / "pmc-bucket").glob("*/*.xml"))[::8], seed=11)


def test_a_seed_gives_the_same_damage(sample: list[Path]) -> None:
    files = [path.read_bytes() for path in sample]
    first, again, other = (list(mutants(files, 40, seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(data != files[index] for kind, index, data in first if kind != "change_encoding")


def test_a_crash_would_be_counted(sample: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("benchmarks.jats_mutations.jats.parse", broken)
    assert outcome(sample[0], sample[0].read_bytes())[0] == "CRASH RuntimeError: planted"
