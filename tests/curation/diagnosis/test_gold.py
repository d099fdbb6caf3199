"""The hand-checked gold of principal diagnoses still fits the articles it was read from."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.jats_speed import raw_of
from benchmarks.principal_diagnosis import gold_rows
from schemas.hashing import sha256_bytes
from sources import jats

FIELDS = {"article", "sha256", "split", "case", "passages", "concept", "accept", "span", "reason", "notes"}
REASONS = {"", "ambiguous", "not_named", "not_in_vocabulary"}
_CURIE = re.compile(r"(?:MONDO|HP):\d{7}|DOID:\d+|MESH:D\d{6,9}")


@pytest.mark.parametrize("split", ["dev", "test"])
def test_rows_are_whole_and_split_as_documented(split: str) -> None:
    rows = gold_rows(split)
    assert len(rows) == 36
    assert len({(row["article"], row["case"]) for row in rows}) == len(rows)
    for row in rows:
        assert set(row) == FIELDS and row["reason"] in REASONS
        digit = int(hashlib.sha256(row["article"].encode()).hexdigest()[0], 16)
        assert row["split"] == split == ("test" if digit % 2 else "dev")
        ids = [row["concept"], *row["accept"]] if row["concept"] else row["accept"]
        assert all(_CURIE.fullmatch(item) for item in ids) and len(set(ids)) == len(ids)
        assert bool(row["concept"]) != bool(row["reason"])
        assert row["passages"] and (row["span"] is not None or row["reason"])


def test_spans_lie_in_their_texts(gold: tuple[str, dict[str, Path]]) -> None:
    split, files = gold
    for row in gold_rows(split):
        if not row["article"].startswith("pmc:"):
            continue
        data = (path := files[row["article"].removeprefix("pmc:") + ".xml"]).read_bytes()
        assert sha256_bytes(data) == row["sha256"], row["article"]
        article = jats.parse(data, raw_of(path, data))
        texts = {item.id.removeprefix(article.id): item.text for item in article.passages}
        assert set(row["passages"]) <= set(texts), row["article"]
        if row["span"]:
            _check(row["span"], article.title, texts, row["article"])


def _check(span: dict[str, Any], title: str, texts: dict[str, str], where: str) -> None:
    text = title if span["place"] == "title" else texts[span["passage"]]
    start, end = span["start"], span["end"]
    assert 0 <= start < end <= len(text), where
    assert not text[start].isspace() and not text[end - 1].isspace(), where
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    assert not any(character.isalnum() for character in around), where
