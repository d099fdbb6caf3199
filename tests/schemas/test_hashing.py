"""Hashes are of content, whatever the order it is written in."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.hashing import canonical_json, normalise_text, sha256_bytes, sha256_file, sha256_text

QUICK = settings(deadline=None, max_examples=200)
ANY_TEXT = st.text(st.characters(), max_size=30)  # lone surrogates included


@QUICK
@given(ANY_TEXT, ANY_TEXT)
def test_different_texts_have_different_hashes(one: str, two: str) -> None:
    assert (sha256_text(one) == sha256_text(two)) == (one == two)


def test_files_hash_as_their_bytes(tmp_path: Path) -> None:
    data = bytes(range(256)) * 9000
    path = tmp_path / "x"
    path.write_bytes(data)
    assert sha256_file(path) == sha256_bytes(data) == hashlib.sha256(data).hexdigest()


@QUICK
@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4) | st.none(), max_size=6))
def test_canonical_json_forgets_insertion_order(value: dict[str, object]) -> None:
    backwards = dict(reversed(value.items()))
    assert canonical_json(value) == canonical_json(backwards)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Figure 2: CT-scan", "figure 2  ct scan"),
        ("e\u0301tude", "\u00e9tude"),
        ("ﬁbrosis", "fibrosis"),
        ("ＣＴ", "ct"),
        ("Straße", "STRASSE"),
        ("a_b", "a b"),
        (" (x) ", "x"),
    ],
)
def test_texts_that_count_as_the_same(one: str, two: str) -> None:
    assert normalise_text(one) == normalise_text(two)


@pytest.mark.parametrize(
    ("one", "two"), [("type 1", "type 2"), ("hypo", "hyper"), ("ab", "a b"), ("éa", "ea")]
)
def test_texts_that_do_not(one: str, two: str) -> None:
    assert normalise_text(one) != normalise_text(two)
