"""Components, keys and the reading of earlier releases, each alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.partition.components_sql import components, stars
from curation.partition.keys_sql import article_key, likenesses, patient_key
from curation.partition.published import PublishedTask, published_rows
from curation.partition.records import PublishedKey
from flows.engine.database import connect
from schemas.hashing import normalise_text
from schemas.ids import family_key
from schemas.record import columns


def ask(text: str, **tables: pa.Table) -> list[tuple[Any, ...]]:
    with connect("1GB") as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.execute(text).fetchall()


def roots(items: list[tuple[int, int]]) -> dict[int, int]:
    """Components of (node, item) pairs by the SQL."""
    tie = pa.table({"node": [node for node, _ in items], "item": [item for _, item in items]})
    tie = tie.cast(pa.schema([("node", pa.int64()), ("item", pa.int64())]))
    found = components("part", "SELECT DISTINCT node FROM tie", stars("tie", "node", "item"))
    return dict(ask(f"WITH RECURSIVE {found} SELECT node, root FROM part", tie=tie))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40))
def test_components_are_those_of_a_plain_search(items: list[tuple[int, int]]) -> None:
    expected = {node: node for node, _ in items}
    for _ in expected:
        for node, item in items:
            together = [other for other, on in items if on == item]
            least = min(expected[other] for other in together)
            expected[node] = min(expected[node], least)
    assert roots(items) == expected


@pytest.mark.parametrize("step", [1, 7_919])
def test_a_path_of_fifty_thousand_nodes_is_no_fifty_thousand_rounds(step: int) -> None:
    """In order of the path and in a scrambled one."""
    count = 50_000
    name = [at * step % count for at in range(count)]
    items = [(name[at], at) for at in range(count)] + [(name[at], at - 1) for at in range(1, count)]
    assert set(roots(items).values()) == {0}


def test_near_images_among_fifty_thousand(tmp_path: Path) -> None:
    """Few are alike: a plan that compared all with all would take an hour."""
    chance = random.Random(3)
    some = [sum(1 << bit for bit in chance.sample(range(64), 32)) for _ in range(50_000)]
    close = {
        bits: bits ^ sum(1 << bit for bit in chance.sample(range(64), n % 5))
        for n, bits in enumerate(some[:500])
    }
    far = {
        bits: bits ^ sum(1 << bit for bit in chance.sample(range(64), 5 + n % 3))
        for n, bits in enumerate(some[500:900])
    }
    hashes = [f"{bits:016x}" for bits in [*some, *close.values(), *far.values()]]
    names = [f"s{number}" for number in range(len(hashes))]
    rows = ask(
        likenesses(["summary"]),
        images=pa.table({"sha256": names, "phash": hashes}),
        published=pa.table({"dimension": [""], "key": [""]}),
        summary_queries=pa.table({"image": [{"sha256": name} for name in names]}),
        summary_qrels=pa.table({"query_id": [""], "corpus_id": [""], "score": [0]}),
        summary_documents=pa.table({"id": [""], "image": [{"sha256": ""}]}),
    )
    family: dict[int, set[str]] = {}
    for phash, key in rows:
        family.setdefault(int(phash, 16), set()).add(key)
    assert len(family) == len(set(hashes))
    assert all(family[one] & family[other] for one, other in close.items())
    assert not any(family[one] & family[other] for one, other in far.items())


ARTICLES = st.one_of(
    st.from_regex(r"(pmc|europepmc|doi|x):(PMC|pmc)?[0-9.]{0,5}", fullmatch=True),
    st.text(max_size=8).map(lambda text: "pmc:" + text),
    st.text(max_size=8),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ARTICLES.filter(lambda text: "\x00" not in text), min_size=1, max_size=30))
def test_article_keys_are_family_keys(names: list[str]) -> None:
    rows = ask(f"SELECT a, {article_key('a')} FROM t", t=pa.table({"a": names}))
    for name, key in rows:
        assert key == (family_key(name) if ":" in name else name)


def test_patient_keys_leave_out_the_version() -> None:
    names = ["pmc:PMC1.2#case1", "europepmc:PMC1#case1", "file:ab#case.1", "x", "pmc:PMC1.2#a#b.c"]
    rows = dict(ask(f"SELECT a, {patient_key('a')} FROM t", t=pa.table({"a": names})))
    assert [rows[name] for name in names] == [
        "pmc:PMC1#case1",
        "pmc:PMC1#case1",
        "file:ab#case.1",
        "x",
        "pmc:PMC1#a#b.c",
    ]


def test_sql_normalises_texts_as_python_does() -> None:
    texts = ["  A—b,\tC! ", "e\u0301tat", "État", "発熱。", "…", "", "5 \u00b5m", "ﬁbre", "Ａ\u2011b\u00a0c"]
    rows = dict(ask("SELECT a, normalise_text(a) FROM t", t=pa.table({"a": texts})))
    assert [rows[text] for text in texts[:6]] == ["a b c", "état", "état", "発熱", "", ""]
    assert all(rows[text] == normalise_text(text) for text in texts)
    assert ask("SELECT normalise_text(NULL)") == [(None,)]


def release(folder: Path, number: int, rows: list[tuple[str, str, str]]) -> dict[str, pa.Table]:
    """Tables of one task directory: (query, split, key) of dimension article."""
    keys = pa.table(
        {
            "query-id": [query for query, _, _ in rows],
            "dimension": ["article"] * len(rows),
            "key": [key for _, _, key in rows],
        }
    )
    splits = dict((query, split) for query, split, _ in rows)
    queries = pa.table({"id": list(splits), "split": list(splits.values()), "since": [""] * len(splits)})
    for name, table in (("keys", keys), ("queries", queries)):
        pq.write_table(table, folder / f"{name}_{number}.parquet")
    return {f"keys_{number}": keys, f"queries_{number}": queries}


def test_published_rows_tell_where_a_query_first_was(tmp_path: Path) -> None:
    tables = release(tmp_path, 0, [("a", "dev", "k1"), ("b", "test", "k2")])
    tables |= release(tmp_path, 1, [("a", "dev", "k1"), ("a", "dev", "k3"), ("c", "test", "k4")])
    tables |= release(tmp_path, 2, [("a", "test", "k9")])
    parts = [
        PublishedTask(0, "case_study", "1.0.0", 0),
        PublishedTask(1, "case_study", "1.1.0", 1),
        PublishedTask(2, "summary", "1.1.0", 1),
    ]
    names = [name for name, _, _ in columns(PublishedKey)]
    listed = ", ".join(f'"{name}"' for name in names)
    rows = ask(f"SELECT {listed} FROM ({published_rows(parts)}) ORDER BY ALL", **tables)
    assert [dict(zip(names, row, strict=True)) for row in rows] == [
        {"task": task, "query_id": query, "split": split, "since": since, "dimension": "article", "key": key,
         "order": order}
        for task, query, split, since, key, order in (
            ("case_study", "a", "dev", "1.0.0", "k1", 0),
            ("case_study", "a", "dev", "1.0.0", "k3", 0),
            ("case_study", "b", "test", "1.0.0", "k2", 0),
            ("case_study", "c", "test", "1.1.0", "k4", 1),
            ("summary", "a", "test", "1.1.0", "k9", 1),
        )
    ]  # fmt: skip


def test_no_earlier_release() -> None:
    assert ask(published_rows([])) == []
