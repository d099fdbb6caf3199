"""The marked labels themselves: their records are split by hash and name labels that exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.labels.country import countries
from curation.labels.taxonomy import load
from schemas.hashing import sha256_text

GOLD = Path(__file__).resolve().parents[2] / "gold"


def half(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLD / f"labels_{name}.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize(("name", "bit"), [("dev", 0), ("test", 1)])
def test_halves_are_cut_by_the_hash_of_the_article_id(name: str, bit: int) -> None:
    gold = half(name)
    ids = [entry["id"] for kind in ("articles", "figures") for entry in gold[kind]]
    assert len(ids) == len(set(ids))
    assert {int(sha256_text(item.partition("#")[0]), 16) % 2 for item in ids} == {bit}


def test_there_are_enough_of_them() -> None:
    gold = [half(name) for name in ("dev", "test")]
    assert sum(len(part["articles"]) for part in gold) >= 150
    assert sum(len(part["figures"]) for part in gold) >= 150


@pytest.mark.parametrize("name", ["dev", "test"])
def test_every_label_exists(name: str) -> None:
    gold = half(name)
    for entry in gold["articles"]:
        for facet in ("specialty", "body_system", "domain"):
            assert set(entry[facet]) <= set(load(facet).labels), entry["id"]
        assert len(entry["domain"]) >= 1
        assert entry.get("country", "") in {"", *countries().who}
        assert set(entry) <= {"id", "specialty", "body_system", "domain", "country"}
    for entry in gold["figures"]:
        exist(entry)
        assert set(entry) - {"round"} == {"id", "modality", "region"}


def test_invented_captions_have_labels_that_exist() -> None:
    captions = json.loads((GOLD / "labels_captions.json").read_text("utf-8"))["captions"]
    assert len({entry["caption"] for entry in captions}) == len(captions) >= 100
    for entry in captions:
        exist(entry)


def exist(entry: dict[str, Any]) -> None:
    """Every modality and region of a row is a label, under the one it is said to stand under."""
    for facet in ("modality", "region"):
        labels = load(facet).labels
        for group, _, leaf in (item.partition("/") for item in entry[facet]):
            assert not labels[group].parent, entry
            assert not leaf or leaf == group or labels[leaf].parent == group, entry
