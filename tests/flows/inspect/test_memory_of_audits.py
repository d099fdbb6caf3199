"""What the database of an audit may hold beside those of its other processes."""

from __future__ import annotations

import pytest

from flows.engine.settings import kib_of
from flows.inspect import audit


@pytest.mark.parametrize(
    ("limit", "workers", "left"),
    [
        ("256MB", 2, "256MB"),
        ("1GB", 2, "500MB"),
        ("2GB", 2, "524MB"),
        ("16GB", 2, "7692MB"),
        ("2GB", 8, "500MB"),
    ],
)
def test_half_of_what_the_others_leave_and_never_less_than_they_have(
    monkeypatch: pytest.MonkeyPatch, limit: str, workers: int, left: str
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(audit, "Auditor", lambda others, memory, *rest: asked.append(memory))
    with audit.auditor(memory_limit=limit, workers=workers):
        pass
    assert [kib_of(memory) for memory in asked] == [kib_of(left)]


def test_alone_it_has_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(audit, "Auditor", lambda others, memory, *rest: asked.append(memory))
    with audit.auditor(memory_limit="2GB"):
        pass
    assert asked == ["2GB"]
