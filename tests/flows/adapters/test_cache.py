"""The store of model answers: a damaged file is named, wherever the damage is, with what helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.adapters.cache import AnswerCache
from schemas.errors import WorkspaceError

HELD = {f"{number:03}".encode(): bytes([number]) * 300 for number in range(120)}
PAGE = 4096


@pytest.mark.parametrize("ask", ["get", "put", "keys", "delete"])
def test_damage_anywhere_says_so(tmp_path: Path, ask: str) -> None:
    with AnswerCache(tmp_path, "whole") as cache:
        cache.put(HELD)
    content = cache.path.read_bytes()
    assert len(content) > 8 * PAGE
    told = 0
    for start in range(0, len(content), PAGE):
        (tmp_path / f"at{start}.sqlite").write_bytes(
            content[:start] + b"\xa5" * PAGE + content[start + PAGE :]
        )
        try:
            with AnswerCache(tmp_path, f"at{start}") as cache:
                if ask == "get":
                    cache.get(HELD)
                elif ask == "put":
                    cache.put({b"new" + key: answer for key, answer in HELD.items()})
                elif ask == "keys":
                    cache.keys()
                else:
                    cache.delete(HELD)
        except WorkspaceError as error:
            assert error.file == str(tmp_path / f"at{start}.sqlite") and error.hint == "delete it"
            told += 1
    assert told >= 2  # keys are an index of their own
