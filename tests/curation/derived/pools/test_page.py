"""The page on pools: its code runs on a release as published, and MTEB's loader can read top_ranked."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from datasets import Features, List, Value, load_dataset

from curation.derived.pools import PoolOptions, SplitRuns, make_pools
from schemas.tables import HARD_NEGATIVES, POOL_CHECKSUMS, QRELS, TOP_RANKED

PAGE = Path(__file__).resolve().parents[4] / "docs" / "pools.md"
_TABLES = ((TOP_RANKED, True), (HARD_NEGATIVES, True), (QRELS, True), (POOL_CHECKSUMS, False))


def _card(release: Path) -> None:
    """The part of a card that names the tables."""
    lines = ["---", "configs:"]
    for name, folder, splits in (
        *((table.name, table.folder, ("test", "dev") if split else ("test",)) for table, split in _TABLES),
        ("corpus", "corpus", ("test",)),
    ):
        lines += [f"- config_name: {name}", "  data_files:"]
        for split in splits:
            lines += [f"  - split: {split}", f"    path: {folder}/{split}-*.parquet"]
    (release / "README.md").write_text("\n".join([*lines, "---", ""]), encoding="utf-8")


def test_the_code_on_the_page_runs(
    release: Path, splits: list[SplitRuns], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    bare = [SplitRuns(part.collection, part.runs) for part in splits]
    assert make_pools(bare, PoolOptions(depth=3, hard_negatives=2), release)
    _card(release)
    given: dict[str, Any] = {"RELEASE": str(release)}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert len(blocks) == 3
    for block in blocks:
        exec(block, given)
    assert given["candidates"]["q1"] == ["d1", "d2", "d3", "d4", "d6"]
    assert given["positives"]["q1"] == {"d1": 2, "d2": 1}
    assert given["hard"]["q1"] == ["d3", "d6"]
    assert given["changed"] == []
    given["candidates"]["q1"].pop()
    exec(blocks[-1], given)
    assert given["changed"] == ["q1"]
    task = SimpleNamespace(dataset={"default": {"test": {"top_ranked": given["candidates"]}}})
    given["search_whole_corpus"](task)
    assert task.dataset["default"]["test"]["top_ranked"] is None
    both = {"query-id": Value("string"), "corpus-ids": List(Value("string"))}
    ranked = load_dataset(str(release), "top_ranked", split="dev").cast(Features(both))  # as MTEB does
    assert ranked.to_dict() == {"query-id": ["q5"], "corpus-ids": [["d1", "d2", "d4"]]}
