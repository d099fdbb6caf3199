"""The nano variant: rows of the whole, judged and hard documents in it, the same again, loadable."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.derived.subsets import NanoOptions, NanoSummary, facts, make_nano
from curation.evaluation.collection import Collection, open_collection, restricted
from schemas.errors import ReleaseError, UsageError
from schemas.tables import MAIN, NANO
from tests.curation.derived.subsets.conftest import big, ranked
from tests.curation.release.known import run_sql

OPTIONS = NanoOptions(queries=10, documents=40, hard_depth=3)
SHARD = "test-00000-of-00001.parquet"


def made(whole: Collection, options: NanoOptions = OPTIONS) -> NanoSummary:
    return make_nano(
        whole, {"bm25": ranked(whole, 100), "dense": ranked(whole, 150)}, options, whole.directory
    )


def table(directory: Path, name: str) -> pa.Table:
    return pq.read_table(directory / name / SHARD)


def ids(directory: Path, name: str) -> list[str]:
    found: list[str] = table(directory, name).column("id").to_pylist()
    return found


def test_queries_are_in_proportion_and_of_many_articles(whole: Collection) -> None:
    summary = made(whole)
    drawn = ids(whole.directory, "nano/queries")
    assert len(drawn) == summary.queries == 10 and drawn == sorted(drawn) and "q00" not in drawn
    specialties = table(whole.directory, "nano/queries").column("specialty").to_pylist()
    assert Counter(specialties) == {"cardiology": 5, "neurology": 3, "urology": 2}
    assert summary.articles == 10 and summary.queries_of_whole == 59


def test_documents_are_judged_then_hard_then_excluded_then_by_lot(whole: Collection) -> None:
    summary = made(whole)
    drawn = ids(whole.directory, "nano/queries")
    held = ids(whole.directory, "nano/corpus")
    numbers = [int(name[1:]) for name in drawn]
    judged = {f"d{3 * number:03d}" for number in numbers}
    hard = {f"d{number:03d}" for number in (100, 101, 102, 150, 151, 152)}
    excluded = {f"d{3 * number + 1:03d}" for number in numbers}
    assert judged | excluded <= set(held) and held == sorted(held)
    assert len(hard - set(held)) == 0
    assert summary.documents == len(held) == 10 + 40, "forty beside the judged ones"
    parts = (summary.judged, summary.hard, summary.excluded, summary.sampled)
    assert parts[0] == 10 and sum(parts) == 50 and all(parts)
    assert summary.shaped_by == ("bm25", "dense")


def test_without_room_the_judged_ones_and_the_highest_stay(whole: Collection) -> None:
    runs = {"bm25": ranked(whole, 190)}
    summary = make_nano(whole, runs, NanoOptions(queries=10, documents=1, hard_depth=5), whole.directory)
    assert (summary.judged, summary.hard, summary.excluded, summary.sampled) == (10, 1, 0, 0)
    assert "d190" in ids(whole.directory, "nano/corpus"), "the first of every ranking before any second"
    assert not summary.excluded_pairs or summary.excluded_pairs < 10


def test_rows_are_those_of_the_whole(whole: Collection) -> None:
    summary = made(whole)
    for declared in MAIN:
        name = declared.name
        small, all_ = table(whole.directory, f"nano/{name}"), table(whole.directory, name)
        assert small.schema.equals(declared.only(all_.schema.names).schema, check_metadata=True)
        rows = all_.to_pylist()
        assert small.num_rows and all(row in rows for row in small.to_pylist())
    held = set(ids(whole.directory, "nano/corpus"))
    drawn = set(ids(whole.directory, "nano/queries"))
    for name, count in (("qrels", summary.qrels), ("excluded", summary.excluded_pairs)):
        expected = [
            row
            for row in table(whole.directory, name).to_pylist()
            if row["query-id"] in drawn and row["corpus-id"] in held
        ]
        assert table(whole.directory, f"nano/{name}").to_pylist() == expected and len(expected) == count
    assert {row["bytes"] for row in table(whole.directory, "nano/queries").column("image").to_pylist() if row}


def test_the_same_again_whatever_the_row_groups(whole: Collection, tmp_path: Path) -> None:
    made(whole)
    first = {path.name: _hash(path) for path in sorted((whole.directory / "nano").rglob("*.parquet"))}
    path = whole.directory / "corpus" / SHARD
    pq.write_table(pq.read_table(path), path, row_group_size=7)
    big().seal(whole.directory)
    made(open_collection(whole.directory))
    assert {path.name: _hash(path) for path in sorted((whole.directory / "nano").rglob("*.parquet"))} == first


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_it_opens_as_a_collection(whole: Collection) -> None:
    summary = made(whole)
    big().seal(whole.directory)
    nano = open_collection(whole.directory, "test", "nano")
    assert nano.variant == "nano" and len(nano.queries) == 10 == len(nano.qrels)
    assert len(nano.corpus_ids) == summary.documents == len(list(nano.documents()))
    assert [name for name, _ in nano.query_images()] == [
        name for name in ids(whole.directory, "nano/queries") if int(name[1:]) % 3 == 0
    ]
    out = {query: [nano.corpus_ids[place] for place in places] for query, places in nano.left_out.items()}
    assert out == {query.id: [f"d{3 * int(query.id[1:]) + 1:03d}"] for query in nano.queries}
    assert nano.queries[0].group.startswith("a"), "articles are known from the whole's provenance"
    with pytest.raises(UsageError, match="subsets are of split 'test'"):
        open_collection(whole.directory, "dev", "nano")
    with pytest.raises(UsageError, match="no subset 'micro'; it has: nano"):
        open_collection(whole.directory, "test", "micro")


def test_no_variant_where_it_would_be_the_whole_or_nothing(whole: Collection) -> None:
    for options, said in (
        (
            NanoOptions(queries=59, documents=200),
            "no larger: 59 measured queries, 200 documents",
        ),
        (NanoOptions(queries=0), "no nano variant"),
    ):
        summary = make_nano(whole, {}, options, whole.directory)
        assert not summary.is_made and said in summary.why_not and summary.documents == 0
    assert not any(item.files(whole.directory) for item in NANO)
    assert make_nano(whole, {}, NanoOptions(queries=58, documents=200), whole.directory).is_made
    with pytest.raises(ValueError, match="whole of split test"):
        make_nano(restricted(whole, {"q00"}), {}, OPTIONS, whole.directory)


def test_what_is_not_there_is_said(whole: Collection) -> None:
    with pytest.raises(UsageError, match="no subset 'nano'; it has: none"):
        open_collection(whole.directory, "test", "nano")


def test_facts_count_what_is_published(whole: Collection) -> None:
    assert facts(whole.directory, run_sql)["nano"] is None
    summary = made(whole)
    assert facts(whole.directory, run_sql)["nano"] == {
        "queries": 10,
        "corpus": 50,
        "positives": 10,
        "excluded": summary.excluded_pairs,
    }


def test_a_part_of_a_collection(whole: Collection) -> None:
    part = restricted(whole, {"q01", "q03"}, {"d003", "d004", "d010", "d030"})
    assert part.corpus_ids == ("d003", "d004", "d010", "d030")
    assert part.qrels == {"q01": {"d003": 2}}, "q03 has lost its positive"
    assert {query: places.tolist() for query, places in part.left_out.items()} == {"q01": [1], "q03": [2]}
    assert [document.id for document in part.documents()] == list(part.corpus_ids)
    assert [name for name, _ in part.corpus_images()] == ["d003", "d004", "d010", "d030"]
    assert [name for name, _ in part.query_images()] == ["q03"]
    with pytest.raises(ReleaseError, match="an id that is not there"):
        restricted(whole, {"q01", "gone"})
    with pytest.raises(ReleaseError, match="an id that is not there"):
        restricted(whole, {"q01"}, {"gone"})
