"""Property tests: the same examples in every run of the tests, others in the campaign."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from benchmarks.properties import run

CONFTEST = """
from hypothesis import settings
settings.register_profile("drawn", database=None, deadline=None)
"""
TESTS = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_holds(number):
    assert number == number

@given(st.integers())
def test_breaks(number):
    assert number < 100

def test_without_examples():
    raise AssertionError("is not of the campaign")
"""


def test_examples_are_the_same_in_every_run() -> None:
    assert settings.default is not None
    assert settings.default.derandomize and settings.default.database is None


def test_the_campaign_names_what_failed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, "utf-8")
    (tmp_path / "test_small.py").write_text(TESTS, "utf-8")
    found = run(3, tmp_path)
    assert found["passed"] == 1
    assert [name.rsplit("::", 1)[-1] for name in found["failed"]] == ["test_breaks"]
    assert "number=100" in found["output"]


def test_a_campaign_that_does_not_run_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("raise OSError('on the way')\n", "utf-8")
    with pytest.raises(RuntimeError, match="did not finish"):
        run(1, tmp_path)
