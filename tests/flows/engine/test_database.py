"""SQL over Parquet: always ordered, bounded, offline, and in the declared schema."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.engine.connection import query
from flows.engine.database import ROW_GROUP, add_view, conform, connect, run_set_stage, select, write_select
from flows.engine.manifest import write_parquet
from schemas.errors import ConservationError, MedqrelsError
from schemas.record import arrow_schema, column, from_table, record, to_table
from schemas.stages import Drop, SetAccount, SetStage, Sql
from tests.flows.toy import POOL, ToyTotal, ToyWord


@record
class ToyLeaf:
    """The innermost record."""

    name: str = column("name")
    size: int | None = column("size", default=None)


@record
class ToyBranch:
    """A record with everything nested in it."""

    leaf: ToyLeaf = column("leaf")
    maybe: ToyLeaf | None = column("maybe", default=None)
    leaves: tuple[ToyLeaf, ...] = column("leaves", default=())
    names: tuple[str, ...] = column("names", default=())


@record
class ToyTree:
    """A keyed row."""

    id: int = column("id")
    branch: ToyBranch = column("branch")
    other: ToyBranch | None = column("other", default=None)
    branches: tuple[ToyBranch, ...] = column("branches", default=())


LEAVES = st.builds(ToyLeaf, name=st.text(max_size=3), size=st.none() | st.integers(0, 9))
BRANCHES = st.builds(
    ToyBranch,
    leaf=LEAVES,
    maybe=st.none() | LEAVES,
    leaves=st.lists(LEAVES, max_size=2).map(tuple),
    names=st.lists(st.text(max_size=2), max_size=2).map(tuple),
)
TREES = st.lists(
    st.tuples(BRANCHES, st.none() | BRANCHES, st.lists(BRANCHES, max_size=2).map(tuple)), max_size=6
).map(lambda parts: [ToyTree(id=i, branch=b, other=o, branches=m) for i, (b, o, m) in enumerate(parts)])


def words(count: int, repeat: int = 1) -> list[ToyWord]:
    return [
        ToyWord(
            id=f"a{number // 100:05d}#w{number:06d}",
            article_id=f"a{number // 100:05d}",
            word=f"word{number // repeat}",
            tags=tuple(f"t{tag}" for tag in range(number % 3)),
        )
        for number in range(count)
    ]


def parquet(path: Path, rows: list[Any], kind: type) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(path, to_table(kind, rows))
    return path


def loosened(kind: pa.DataType) -> pa.DataType:
    """The type as DuckDB gives it: everything nested may be null."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, loosened(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(loosened(kind.value_type))
    return kind


@settings(deadline=None, max_examples=100)
@given(TREES, st.data())
def test_conform_keeps_every_value_of_every_slice(rows: list[ToyTree], data: st.DataObject) -> None:
    schema = arrow_schema(ToyTree)
    plain = [{"id": row["id"], **row} for row in to_table(ToyTree, rows).to_pylist()]
    loose = pa.schema([pa.field(field.name, loosened(field.type)) for field in schema])
    batch = pa.RecordBatch.from_pylist(plain, schema=loose)
    start = data.draw(st.integers(0, len(rows)))
    length = data.draw(st.integers(0, len(rows) - start))
    made = conform(batch.slice(start, length), schema)
    made.validate(full=True)
    assert made.schema.equals(schema)
    assert from_table(ToyTree, pa.Table.from_batches([made], schema=schema)) == rows[start : start + length]


NULLS: list[tuple[str, Any]] = [
    ("id", None),
    ("branch", None),
    ("branch", {"leaf": None, "maybe": None, "leaves": [], "names": []}),
    ("branch", {"leaf": {"name": None, "size": 1}, "maybe": None, "leaves": [], "names": []}),
    (
        "branch",
        {"leaf": {"name": "a", "size": 1}, "maybe": {"name": None, "size": 1}, "leaves": [], "names": []},
    ),
    ("branch", {"leaf": {"name": "a", "size": 1}, "maybe": None, "leaves": None, "names": []}),
    ("branch", {"leaf": {"name": "a", "size": 1}, "maybe": None, "leaves": [None], "names": []}),
    ("branch", {"leaf": {"name": "a", "size": 1}, "maybe": None, "leaves": [], "names": [None]}),
    ("branches", None),
    ("branches", [None]),
]


@pytest.mark.parametrize(("name", "value"), NULLS)
def test_conform_refuses_a_null_where_none_may_be(name: str, value: Any) -> None:
    schema = arrow_schema(ToyTree)
    loose = pa.schema([pa.field(field.name, loosened(field.type)) for field in schema])
    good = {"id": 1, "branch": {"leaf": {"name": "a", "size": 1}, "maybe": None, "leaves": [], "names": []}}
    row = {**good, "other": None, "branches": []}
    assert conform(pa.RecordBatch.from_pylist([row], schema=loose), schema).num_rows == 1
    batch = pa.RecordBatch.from_pylist([row, {**row, name: value}], schema=loose)
    with pytest.raises(MedqrelsError, match="null"):
        conform(batch, schema)
    assert conform(batch.slice(0, 1), schema).num_rows == 1  # what a slice leaves out does not count


def test_nested_values_survive_the_whole_way(tmp_path: Path) -> None:
    leaf = ToyLeaf(name="é🫀", size=None)
    branch = ToyBranch(leaf=leaf, maybe=leaf, leaves=(leaf, leaf), names=("a", ""))
    rows = [
        ToyTree(id=i, branch=replace(branch, maybe=None if i % 2 else leaf), other=branch if i % 3 else None)
        for i in range(3000)
    ]
    source = parquet(tmp_path / "in.parquet", rows, ToyTree)
    with connect() as connection:
        add_view(connection, "trees", [source], ToyTree)
        write_select(connection, Sql("SELECT * FROM trees", ToyTree, ("id",)), tmp_path / "out.parquet")
    assert from_table(ToyTree, pq.read_table(tmp_path / "out.parquet")) == rows


def test_unordered_sql_gives_ordered_bytes_every_time(tmp_path: Path) -> None:
    rows = words(60_000)
    random.Random(1).shuffle(rows)
    files = [parquet(tmp_path / f"{i}.parquet", rows[i::3], ToyWord) for i in range(3)]
    results = []
    for run, order in enumerate((files, files[::-1])):
        with connect() as connection:
            connection.execute("SET threads = 4; SET preserve_insertion_order = false")
            add_view(connection, "words", order, ToyWord)
            path = tmp_path / f"out{run}.parquet"
            output = write_select(connection, Sql("SELECT * FROM words", ToyWord, ("id",)), path)
        assert output.rows == 60_000
        results.append(path.read_bytes())
    assert results[0] == results[1]
    ids = pq.read_table(path)["id"].to_pylist()
    assert ids == sorted(ids)


def test_the_order_inside_the_sql_does_not_win(tmp_path: Path) -> None:
    source = parquet(tmp_path / "in.parquet", words(100), ToyWord)
    with connect() as connection:
        add_view(connection, "words", [source], ToyWord)
        write_select(
            connection, Sql("SELECT * FROM words ORDER BY id DESC", ToyWord, ("id",)), tmp_path / "o.parquet"
        )
    assert from_table(ToyWord, pq.read_table(tmp_path / "o.parquet")) == words(100)


@pytest.mark.parametrize(
    "count", [0, 1, ROW_GROUP - 1, ROW_GROUP, ROW_GROUP + 1, 2 * ROW_GROUP, 2 * ROW_GROUP + 5]
)
def test_bytes_do_not_depend_on_how_batches_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    table = to_table(ToyWord, words(count))
    results: list[bytes] = []
    for sizes in ((ROW_GROUP,), (977,), (1, 40_000, 7), (ROW_GROUP - 1, 2)):

        def batches(connection: Any, sql: Sql, sizes: tuple[int, ...] = sizes) -> Any:
            start, turn = 0, 0
            while start < count:
                step = sizes[turn % len(sizes)]
                yield from table.slice(start, step).combine_chunks().to_batches()
                start, turn = start + step, turn + 1

        path = tmp_path / f"{len(results)}.parquet"
        with monkeypatch.context() as patched, connect() as connection:
            patched.setattr("flows.engine.database.select", batches)
            assert write_select(connection, Sql("", ToyWord, ("id",)), path).rows == count
        results.append(path.read_bytes())
    assert len(set(results)) == 1
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    assert sum(groups) == count and all(size == ROW_GROUP for size in groups[:-1])
    assert pq.read_table(path).equals(table)


def test_no_rows_and_no_files_give_empty_tables(tmp_path: Path) -> None:
    outputs, units, dropped = run_set_stage(POOL, {"words": []}, tmp_path, "1GB")
    assert {name: output.rows for name, output in outputs.items()} == {
        "chosen": 0,
        "totals": 0,
        "_dropped": 0,
    }
    assert units == {"word": {"in": 0, "kept": 0, "dropped": 0}} and dropped == {}
    assert from_table(ToyTotal, pq.read_table(tmp_path / "totals.parquet")) == []
    assert from_table(Drop, pq.read_table(tmp_path / "_dropped.parquet")) == []


def test_hostile_paths(tmp_path: Path) -> None:
    rows = words(5)
    hostile = [
        "it's",
        'a"b',
        "a b",
        "ä🫀",
        "semi;colon",
        "--x",
        "$1",
        "[1]",
        "per%cent",
        "back\\slash",
        "star*",
        "q?",
    ]
    files = [
        parquet(tmp_path / name / "words.parquet", [replace(rows[0], id=name)], ToyWord) for name in hostile
    ]
    decoy = parquet(tmp_path / "1" / "words.parquet", rows, ToyWord)  # what [1] would match as a pattern
    decoys = [decoy, parquet(tmp_path / "starfish" / "words.parquet", rows, ToyWord)]
    with connect() as connection:
        add_view(connection, "words", files, ToyWord)
        found = connection.execute("SELECT id FROM words ORDER BY id").fetchall()
    assert [name for (name,) in found] == sorted(hostile) and all(path.is_file() for path in decoys)


def test_a_stage_runs_in_a_hostile_folder(tmp_path: Path) -> None:
    folder = tmp_path / "it's [1] a*b"
    source = parquet(folder / "in.parquet", words(10, repeat=2), ToyWord)
    outputs, units, dropped = run_set_stage(POOL, {"words": [source]}, folder, "1GB")
    assert units["word"] == {"in": 10, "kept": 5, "dropped": 5} and dropped == {"duplicate_document": 5}
    assert outputs["chosen"].rows == 5


def test_a_key_that_is_not_unique_is_refused(tmp_path: Path) -> None:
    source = parquet(tmp_path / "in.parquet", words(10, repeat=2), ToyWord)
    stage = SetStage(
        "loose", 1, {"words": ("x.words", ToyWord)}, {"rows": Sql("SELECT * FROM words", ToyWord, ("word",))}
    )
    with pytest.raises(MedqrelsError, match=r"table rows: two rows have the key \('word0',\)"):
        run_set_stage(stage, {"words": [source]}, tmp_path, "1GB")


CHOSEN = POOL.outputs["chosen"]


def without_a_drop(outputs: dict[str, Sql]) -> dict[str, Sql]:
    text = outputs["drops"].text + " AND id <> 'a00000#w000003'"
    return {**outputs, "drops": replace(outputs["drops"], text=text)}


def with_a_ghost(outputs: dict[str, Sql]) -> dict[str, Sql]:
    ghost = "UNION ALL SELECT 'ghost' AS id, 'a' AS article_id, 'x' AS word, []::VARCHAR[] AS tags"
    return {**outputs, "chosen": replace(CHOSEN, text=f"({CHOSEN.text}) {ghost}")}


def kept_and_dropped(outputs: dict[str, Sql]) -> dict[str, Sql]:
    return {**outputs, "chosen": replace(CHOSEN, text="SELECT * FROM words")}


@pytest.mark.parametrize(
    ("plant", "record"),
    [(without_a_drop, "a00000#w000003"), (with_a_ghost, "ghost"), (kept_and_dropped, "a00000#w000001")],
)
def test_an_unaccounted_unit_of_a_set_stage_is_named(
    tmp_path: Path, plant: Callable[[dict[str, Sql]], dict[str, Sql]], record: str
) -> None:
    source = parquet(tmp_path / "in.parquet", words(10, repeat=2), ToyWord)
    stage = replace(POOL, outputs=plant(dict(POOL.outputs)))
    with pytest.raises(ConservationError, match="10 in") as caught:
        run_set_stage(stage, {"words": [source]}, tmp_path, "1GB")
    assert caught.value.record == record


def test_counts_that_agree_do_not_hide_a_swap(tmp_path: Path) -> None:
    source = parquet(tmp_path / "in.parquet", words(10, repeat=2), ToyWord)
    swapped = CHOSEN.text.replace("SELECT *", "SELECT * REPLACE (replace(id, '#w000004', '#w900000') AS id)")
    stage = replace(POOL, outputs={**POOL.outputs, "chosen": replace(CHOSEN, text=swapped)})
    with pytest.raises(ConservationError, match="10 in, 5 kept, 5 dropped") as caught:
        run_set_stage(stage, {"words": [source]}, tmp_path, "1GB")
    assert caught.value.record in {"a00000#w000004", "a00000#w900000"}


def test_units_may_have_quotes(tmp_path: Path) -> None:
    source = parquet(tmp_path / "in.parquet", words(3), ToyWord)
    stage = replace(
        POOL, outputs={"chosen": CHOSEN}, accounts=(SetAccount("author's", "words", "id", "chosen", "id"),)
    )
    _, units, _ = run_set_stage(stage, {"words": [source]}, tmp_path, "1GB")
    assert units == {"author's": {"in": 3, "kept": 3, "dropped": 0}}


BAD_SQL = [
    "SELECT nonsense FROM nowhere",
    "SELEC",
    "SELECT 1 AS word",
    "SELECT 'w' || i AS word, 1 AS times, [NULL] AS articles FROM range(3) t(i)",
    "SELECT 'w' || i AS word, NULL::BIGINT AS times, ['a'] AS articles FROM range(3) t(i)",
    "SELECT 'w' || i AS word, 'many' AS times, ['a'] AS articles FROM range(3) t(i)",
    "SELECT 'w' || i AS word, (CASE WHEN i = 99999 THEN 'x' ELSE '1' END)::BIGINT AS times, ['a'] AS articles"
    " FROM range(100000) t(i)",
    "SELECT 'w' || i AS word, 10::HUGEINT ** 30 AS times, ['a'] AS articles FROM range(3) t(i)",
    "SELECT 'w' || i AS word, 1.5 AS times, ['a'] AS articles FROM range(3) t(i)",
]


@pytest.mark.parametrize("text", BAD_SQL)
def test_bad_sql_is_an_error_of_ours(text: str) -> None:
    with pytest.raises(MedqrelsError), connect() as connection:
        list(select(connection, Sql(text, ToyTotal, ("word",))))


def test_sums_come_back_as_integers() -> None:
    text = "SELECT 'w' AS word, sum(i) AS times, ['a'] AS articles FROM range(10) t(i)"
    with connect() as connection:
        batches = list(select(connection, Sql(text, ToyTotal, ("word",))))
    assert batches[0]["times"].to_pylist() == [45] and batches[0].schema.equals(arrow_schema(ToyTotal))


def test_memory_is_bounded_and_sorting_spills(tmp_path: Path) -> None:
    """Sorting 400 MB under 200 MB succeeds by spilling; without a place to spill to it does not."""
    columns = "repeat(md5(i::VARCHAR), 12) AS word, i AS times, [i::VARCHAR] AS articles"
    text = f"SELECT {columns} FROM range(1000000) t(i)"
    with connect("200MB") as connection:
        connection.execute("SET threads = 2")
        assert (
            sum(batch.num_rows for batch in select(connection, Sql(text, ToyTotal, ("word", "times"))))
            == 1_000_000
        )
    with connect("200MB") as connection:
        connection.execute("SET threads = 2; SET max_temp_directory_size = '0KiB'")
        with pytest.raises(MedqrelsError, match=r"(?i)memory|temp"):
            for _ in select(connection, Sql(text, ToyTotal, ("word", "times"))):
                pass


@pytest.mark.parametrize("limit", ["lots", "", "4 bananas"])
def test_a_senseless_memory_limit_is_an_error_of_ours(limit: str) -> None:
    with pytest.raises(MedqrelsError, match="memory limit"), connect(limit):
        pass


def test_the_network_is_never_reached(tmp_path: Path) -> None:
    """An address in the SQL, and the extension it needs, lead nowhere; a listening server hears nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        heard = threading.Event()

        def listen() -> None:
            while not heard.is_set():
                try:
                    server.accept()[0].close()
                    heard.set()
                except TimeoutError:
                    return

        listener = threading.Thread(target=listen)
        listener.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x.parquet"
        with connect() as connection:
            for text in (f"SELECT * FROM read_parquet('{address}')", f"SELECT * FROM '{address}'"):
                with pytest.raises(MedqrelsError, match="SQL failed"):
                    list(select(connection, Sql(text, ToyTotal, ("word",))))
            with pytest.raises(duckdb.Error):
                connection.execute("LOAD httpfs")
            loaded = connection.execute(
                "SELECT extension_name FROM duckdb_extensions() "
                "WHERE loaded AND install_mode <> 'STATICALLY_LINKED'"
            ).fetchall()
        listener.join()
    assert loaded == [] and not heard.is_set()


def test_queries_for_code_that_opens_no_database(tmp_path: Path) -> None:
    source = parquet(tmp_path / "in's.parquet", words(50), ToyWord)
    ask = query("1GB")
    batches = list(ask("SELECT count(*) AS n FROM words", {"words": [source]}))
    assert batches[0].to_pylist() == [{"n": 50}]
    with pytest.raises(MedqrelsError, match="no files for the view words"):
        list(ask("SELECT 1", {"words": []}))
    with pytest.raises(MedqrelsError, match="SQL failed"):
        list(ask("SELECT * FROM absent", {"words": [source]}))


def test_scratch_space_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with connect("100MB") as connection:
        connection.execute("SELECT * FROM range(3000000) t(i) ORDER BY hash(i)").fetchone()
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())
