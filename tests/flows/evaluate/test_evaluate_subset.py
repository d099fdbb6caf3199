"""`medqrels evaluate --subset`: parts of a release measured, their results kept apart and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.derived.subsets import NanoOptions, make_nano, make_subsets
from curation.evaluation import values, variants
from curation.evaluation.collection import open_collection
from schemas.errors import UsageError
from tests.curation.derived.subsets.conftest import big, ranked


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with a nano variant and a subset; read-only."""
    release = big()
    folder = release.write(tmp_path_factory.mktemp("parted"))
    whole = open_collection(folder)
    make_nano(whole, {"bm25": ranked(whole, 100)}, NanoOptions(10, 40, 3), folder)
    make_subsets(whole, ("specialty",), folder)
    release.seal(folder)
    return folder


def test_one_value_alone_and_both_means_beside_each_other(
    parted: Path, tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="no subset 'specialty=cardiology'; it has: nano, specialty"):
        run(str(parted), "--subset", "specialty=cardiology", "--system=bm25")
    for module in (variants, values):
        monkeypatch.setattr(module, "MINIMUM", 12)
    found = variants.queries_by_value(parted, "specialty")
    enough = {value: queries for value, queries in found.items() if value and len(queries) >= 12}
    assert len(enough) > 1 and variants.variants(parted)[2:] == [f"specialty={one}" for one in sorted(enough)]
    whole = run(str(parted), "--system=bm25", "--out", str(tmp_path / "whole"))[0]
    told = whole["by_value"]["facets"]["specialty"]
    assert told["values"] == {value: len(queries) for value, queries in sorted(enough.items())}
    assert not set(told["below"]) & set(enough)
    means = {}
    for value, queries in enough.items():
        one = run(
            str(parted), "--subset", f"specialty={value}", "--system=bm25", "--out", str(tmp_path / value)
        )[0]
        assert (one["queries"], one["corpus"]) == (len(queries), whole["corpus"])
        means[value] = one["systems"][0]["overall"]["nDCG@10"]["mean"]
    both = told["systems"]["bm25"]["nDCG@10"]
    assert both["macro"] == pytest.approx(sum(means.values()) / len(means))
    total = sum(len(queries) for queries in enough.values())
    micro = sum(means[value] * len(queries) for value, queries in enough.items()) / total
    assert both["micro"] == pytest.approx(micro)
    page = (tmp_path / "whole" / "results.html").read_text()
    assert "Each specialty alike" in page and f">{both['macro']:.3f}</td>" in page


@pytest.mark.parametrize(("subset", "queries", "documents"), [("nano", 10, 50), ("specialty", 36, 200)])
def test_a_part_is_measured(
    parted: Path, tmp_path: Path, run: Callable[..., Any], subset: str, queries: int, documents: int
) -> None:
    (summary,) = run(
        str(parted), "--subset", subset, "--system=bm25", "--system=image", "--out", str(tmp_path / "out")
    )
    assert (summary["subset"], summary["queries"], summary["corpus"]) == (subset, queries, documents)
    assert summary["queries_measured"] == queries
    assert summary["systems"][0]["overall"]["nDCG@10"]["queries"] == queries
    assert summary["systems"][0]["overall"]["R@100"]["mean"] > 0.5
    assert all(system["status"] == "measured" for system in summary["systems"])
    page = (tmp_path / "out" / "results.html").read_text(encoding="utf-8")
    assert f"subset <code>{subset}</code>" in page


def test_results_of_a_part_have_a_folder_of_their_own(
    parted: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, folder in (((), "toy"), (("--subset", "nano"), "toy-nano")):
        (planned,) = run(str(parted), "--dry-run", *arguments)
        assert Path(planned["out"]).name == folder


def test_an_unknown_part_is_told_before_anything_runs(parted: Path, run: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="no subset 'region'; it has: nano, specialty"):
        run(str(parted), "--subset", "region", "--dry-run")
    with pytest.raises(UsageError, match="not of 'dev'"):
        run(str(parted), "--subset", "nano", "--split", "dev", "--dry-run")
