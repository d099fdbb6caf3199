"""Balanced subsets: equally many per value, reasons where there are none, and how they are evaluated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.derived.subsets import facts, make_subsets
from curation.derived.subsets.balance import MINIMUM
from curation.evaluation.collection import Collection, open_collection
from schemas.tables import SUBSETS
from tests.curation.derived.subsets.conftest import PICTURED_DOCUMENTS, big
from tests.curation.release.known import run_sql

SHARD = "subsets/test-00000-of-00001.parquet"


def rows(directory: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(directory / SHARD).to_pylist()
    return found


def test_equally_many_queries_per_specialty(whole: Collection) -> None:
    (summary,) = make_subsets(whole, ("specialty",), whole.directory)
    assert summary.values == ("cardiology", "neurology", "urology") and summary.each == 12
    assert (summary.queries, summary.documents, summary.why_not) == (36, None, "")
    found = rows(whole.directory)
    specialty = {query.id: query.facets["specialty"] for query in whole.queries}
    assert Counter(specialty[row["id"]] for row in found) == dict.fromkeys(summary.values, 12)
    assert {row["kind"] for row in found} == {"query"} and "q00" not in {row["id"] for row in found}
    group = {query.id: query.group for query in whole.queries}
    cardiology = [group[row["id"]] for row in found if specialty[row["id"]] == "cardiology"]
    assert len(set(cardiology)) == 12, "different articles where there are enough"


def test_equally_many_with_and_without_image(whole: Collection) -> None:
    (summary,) = make_subsets(whole, ("modality",), whole.directory)
    assert summary.values == ("image", "text") and summary.each == 19 and summary.of == "query"
    pictured = {name for name, _ in whole.query_images()}
    chosen = [row["id"] for row in rows(whole.directory)]
    assert len(pictured.intersection(chosen)) == 19 and len(chosen) == 38


def test_documents_are_balanced_where_all_queries_are_alike(tmp_path: Path) -> None:
    release = big()
    for row in release.queries:
        row["image"] = None
    release.facets = ("specialty",)
    whole = open_collection(release.write(tmp_path))
    (summary,) = make_subsets(whole, ("modality",), whole.directory)
    assert summary.of == "document" and summary.each == PICTURED_DOCUMENTS and summary.documents == 80
    found = rows(whole.directory)
    documents = {row["id"] for row in found if row["kind"] == "document"}
    assert sum(int(name[1:]) < PICTURED_DOCUMENTS for name in documents) == PICTURED_DOCUMENTS
    queries = {row["id"] for row in found if row["kind"] == "query"}
    assert len(queries) == summary.queries
    assert {f"d{3 * int(name[1:]):03d}" for name in queries} <= documents, "no positive is lost"
    # 13 queries have a positive with an image, forty others fit
    assert summary.queries == 13 + 40
    assert found == sorted(found, key=lambda row: (row["subset"], row["kind"], row["id"]))
    release.seal(whole.directory)
    part = open_collection(whole.directory, "test", "modality")
    assert len(part.corpus_ids) == 80 == len(list(part.documents())) and len(part.qrels) == 53
    assert len(list(part.corpus_images())) == PICTURED_DOCUMENTS


def test_reasons_where_there_is_nothing_to_balance(tmp_path: Path) -> None:
    release = big()
    for row in (*release.queries, *release.documents):
        row["image"] = None
    release.queries[5]["specialty"] = "oncology"
    whole = open_collection(release.write(tmp_path))
    modality, region, specialty = make_subsets(whole, ("specialty", "region", "modality"), whole.directory)
    assert modality.why_not == "every measured query is of kind 'text', every document of kind 'text'"
    assert not region.why_not and region.each == 11 and region.values == ("head", "thorax")
    assert specialty.below == {"oncology": 1} and len(specialty.values) == 3
    assert {row["subset"] for row in rows(whole.directory)} == {"region", "specialty"}
    for row in release.queries[10:]:
        row["region"] = ""
    bare = open_collection(release.write(tmp_path / "bare"))
    (region,) = make_subsets(bare, ("region",), bare.directory)
    assert region.why_not == f"0 of 2 values have {MINIMUM} measured queries or more"
    assert region.below == {"head": 4, "thorax": 4} and not SUBSETS.files(bare.directory)
    assert make_subsets(bare, (), bare.directory) == ()
    with pytest.raises(ValueError, match="unknown subset 'colour'"):
        make_subsets(bare, ("colour",), bare.directory)


def test_a_subset_opens_as_a_collection(whole: Collection) -> None:
    make_subsets(whole, ("specialty", "modality"), whole.directory)
    big().seal(whole.directory)
    part = open_collection(whole.directory, "test", "specialty")
    assert part.variant == "specialty" and len(part.queries) == 36 == len(part.qrels)
    assert part.corpus_ids == whole.corpus_ids and set(part.left_out) == {query.id for query in part.queries}
    assert {name for name, _ in part.query_images()} < {query.id for query in part.queries}


def test_facts_count_what_is_published(whole: Collection) -> None:
    make_subsets(whole, ("specialty", "modality"), whole.directory)
    assert facts(whole.directory, run_sql)["subsets"] == [
        {"subset": "modality", "queries": 38, "documents": None, "values": []},
        {
            "subset": "specialty",
            "queries": 36,
            "documents": None,
            "values": [{"value": name, "queries": 12} for name in ("cardiology", "neurology", "urology")],
        },
    ]
