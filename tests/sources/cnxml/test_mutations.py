"""A fixed-seed slice of damaged modules and collections: read or quarantined, never a crash."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.hostile.cnxml import OWN, mutants, outcome, seeds
from benchmarks.mutations import MUTATIONS


def test_damaged_books_are_read_or_quarantined() -> None:
    seen: dict[str, Counter[str]] = {}
    for kind, _, data in mutants(seeds(), 78, seed=3):
        seen.setdefault(kind, Counter())[outcome(data)] += 1
    assert set(seen) == {each.__name__ for each in (*MUTATIONS, *OWN)}
    for kind in ("entity_bomb", "external_entity", "bomb_in_para"):
        assert set(seen[kind]) == {"quarantined: xml_hostile"}
    total = sum(seen.values(), Counter[str]())
    assert total["read"] > 20
    assert total["quarantined: xml_invalid"] + total["quarantined: not_an_article"] > 0


def test_whole_seeds_are_read() -> None:
    assert [outcome(data) for data in seeds()] == ["read", "read", "read"]


def test_a_crash_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("sources.cnxml.book.load_module", broken)
    with pytest.raises(RuntimeError, match="planted"):
        outcome(seeds()[0])
