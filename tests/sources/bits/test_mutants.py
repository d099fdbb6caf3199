"""A fixed-seed slice of the mutation campaign over chapters."""

from __future__ import annotations

import collections

import pytest

from benchmarks.hostile import bits as campaign


def test_damaged_chapters_are_read_or_quarantined() -> None:
    seen: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for kind, _, data in campaign.mutants(65, seed=20261121):
        seen[kind][campaign.outcome(data)] += 1
    assert len(seen) == len(campaign.DAMAGES)
    for kind in ("entity_bomb", "external_entity"):
        assert set(seen[kind]) <= {"quarantined: xml_hostile"}, seen[kind]
    assert any("recovered" in name for name in seen["flip_bits"] | seen["drop_span"])
    assert "quarantined: not_an_article" in seen["other_envelope"]


def test_undamaged_chapters_are_read_and_contents_refused() -> None:
    contents = [b'content-type="toc"' in data for data in campaign.seeds()]
    expected = ["quarantined: not_an_article" if toc else "read" for toc in contents]
    assert [campaign.outcome(data) for data in campaign.seeds()] == expected
    assert True in contents and False in contents


def test_a_crash_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("benchmarks.hostile.bits.bits.parse", broken)
    with pytest.raises(RuntimeError, match="planted"):
        campaign.outcome(campaign.seeds()[0])
