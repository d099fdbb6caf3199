"""Other layouts become the canonical tables; whatever is broken in them is listed, nothing crashes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from curation.audit.dataset import Dataset
from curation.audit.layouts import open_dataset, problems, records
from schemas.errors import UsageError
from tests.curation.audit.foreign import (
    Beir,
    Mteb,
    encoded,
    picture,
    rows_of,
    words,
    write_languages,
    write_lines,
    write_parquet,
    write_r2med,
)


def opened(path: Path, tmp_path: Path) -> Dataset:
    return open_dataset(path, tmp_path / "scratch")


def table(dataset: Dataset, name: str) -> list[dict[str, Any]]:
    return rows_of(list(dataset.views[name]))


def listed(dataset: Dataset) -> list[tuple[str, str, int | None, str]]:
    return [(row["reason"], row["file"], row["line"], row["id"]) for row in table(dataset, "problems")]


@pytest.mark.parametrize("packed", [False, True])
def test_beir(tmp_path: Path, packed: bool) -> None:
    made = Beir()
    dataset = opened(made.write(tmp_path / "set", packed=packed), tmp_path)
    assert (dataset.kind, dataset.name, dataset.role, dataset.task) == ("beir", "set", "audited", "set")
    assert [row["id"] for row in table(dataset, "queries")] == [f"q{n}" for n in range(12)]
    assert table(dataset, "corpus")[3] == {
        "id": "d3", "title": "Title 3", "text": made.record("corpus", 3)["text"]
    }  # fmt: skip
    assert table(dataset, "qrels")[0] == {"query-id": "q0", "corpus-id": "d0", "score": 1}
    assert dataset.views["qrels"][0].name.startswith("test-")
    assert listed(dataset) == []


def test_mteb_with_images_and_configs(tmp_path: Path) -> None:
    made = Mteb()
    dataset = opened(made.write(tmp_path / "set"), tmp_path)
    assert dataset.kind == "mteb"
    assert {name: len(table(dataset, name)) for name in ("queries", "corpus", "qrels")} == {
        "queries": 10, "corpus": 24, "qrels": 10
    }  # fmt: skip
    assert table(dataset, "corpus")[7]["image"] == made.corpus[7]["image"]
    assert listed(dataset) == []


def test_qrels_are_known_by_their_columns_without_a_readme(tmp_path: Path) -> None:
    root = Mteb().write(tmp_path / "set")
    (root / "README.md").unlink()
    assert len(table(opened(root, tmp_path), "qrels")) == 10


def test_r2med_keeps_what_a_loader_would_leak(tmp_path: Path) -> None:
    dataset = opened(write_r2med(tmp_path / "set"), tmp_path)
    query = table(dataset, "queries")[2]
    assert (query["id"], json.loads(query["doc_id"])) == ("r2", ["p2"])
    assert query["answer"]
    assert table(dataset, "qrels")[2] == {"query-id": "r2", "corpus-id": "p2", "score": 1}


@pytest.mark.parametrize(
    "form", ["{language}-{name}", "{language}/{name}", "{name}/{language}", "{name}-{language}"]
)
def test_languages_get_their_own_ids(tmp_path: Path, form: str) -> None:
    root = write_languages(tmp_path / "set", lambda language, name: form.format(language=language, name=name))
    dataset = opened(root, tmp_path)
    assert [row["id"] for row in table(dataset, "queries")] == [
        f"{t}/{n}" for t in ("de", "fr") for n in range(4)
    ]
    assert {row["id"] for row in table(dataset, "corpus")} == {
        f"{t}/{n}" for t in ("de", "fr") for n in range(6)
    }
    assert table(dataset, "qrels")[5] == {"query-id": "fr/1", "corpus-id": "fr/1", "score": 1}
    assert listed(dataset) == []


def test_one_corpus_for_several_languages(tmp_path: Path) -> None:
    root = write_languages(tmp_path / "set", lambda language, name: f"{language}-{name}")
    (root / "de-corpus").rename(root / "corpus")
    (root / "fr-corpus" / "test-00000-of-00001.parquet").unlink()
    dataset = opened(root, tmp_path)
    assert table(dataset, "qrels")[5] == {"query-id": "fr/1", "corpus-id": "1", "score": 1}


def test_trec_qrels_and_tsv_without_header(tmp_path: Path) -> None:
    root = tmp_path / "set"
    root.mkdir()
    (root / "collection.tsv").write_text(f"7\t{words(1, 20)}\n8\t{words(2, 20)}\n", encoding="utf-8")
    (root / "queries.tsv").write_text(f"1\t{words(3, 9)}\n", encoding="utf-8")
    (root / "qrels.dev.txt").write_text("1 0 7 2\n1 0 8 0\n1 0 9\n", encoding="utf-8")
    dataset = opened(root, tmp_path)
    assert [row["id"] for row in table(dataset, "corpus")] == ["7", "8"]
    assert [row["score"] for row in table(dataset, "qrels")] == [2, 0]
    assert dataset.views["qrels"][0].name.startswith("dev-")
    assert listed(dataset) == [("wrong_columns", "qrels.dev.txt", 3, "qrels.dev.txt:3")]


@pytest.mark.parametrize("end", ["jsonl", "json", "csv", "parquet", "jsonl.gz"])
def test_question_items(tmp_path: Path, end: str) -> None:
    items = [
        {"question": words(n, 30), "options": words(50 + n, 12), "answer": "B", "meta": "step1"}
        for n in range(5)
    ]
    path = tmp_path / f"medqa-test.{end}"
    if end == "json":
        path.write_text(json.dumps(items), encoding="utf-8")
    elif end == "csv":
        rows = [",".join(items[0]), *(",".join(f'"{value}"' for value in item.values()) for item in items)]
        path.write_text("\n".join(rows), encoding="utf-8")
    elif end == "parquet":
        write_parquet(path, items)
    else:
        write_lines(path, items)
    dataset = opened(path, tmp_path)
    assert dataset.kind == "jsonl"
    queries, corpus = table(dataset, "queries"), table(dataset, "corpus")
    assert [row["text"] for row in queries] == [item["question"] for item in items]
    assert [row["answer"] for row in queries] == ["B"] * 5
    assert [row["id"] for row in corpus] == [f"{row['id']}#options" for row in queries]
    assert len({row["id"] for row in queries}) == 5
    assert listed(dataset) == []


def test_items_by_key_and_nested_texts(tmp_path: Path) -> None:
    path = tmp_path / "pubmedqa.json"
    item = {"QUESTION": words(1, 12), "CONTEXTS": [words(2, 40), words(3, 40)], "final_decision": "yes"}
    path.write_text(json.dumps({"21645374": item}, indent=1), encoding="utf-8")
    dataset = opened(path, tmp_path)
    assert [row["id"] for row in table(dataset, "queries")] == ["21645374"]
    assert table(dataset, "corpus") == [
        {"id": "21645374#contexts", "title": "", "text": "\n".join(item["CONTEXTS"])}
    ]


def test_several_item_files_have_no_common_ids(tmp_path: Path) -> None:
    for split in ("train", "test"):
        write_lines(tmp_path / "set" / f"{split}.jsonl", [{"question": words(len(split), 15)}])
    ids = [row["id"] for row in table(opened(tmp_path / "set", tmp_path), "queries")]
    assert ids == ["test.jsonl:1", "train.jsonl:1"]


def test_image_paths_inside_the_directory(tmp_path: Path) -> None:
    root = tmp_path / "set"
    (root / "Cardiology" / "images").mkdir(parents=True)
    data = encoded(picture(1))
    (root / "Cardiology" / "images" / "a.png").write_bytes(data)
    (tmp_path / "secret.png").write_bytes(data)
    rows = [
        {"_id": "1", "caption": words(1, 9), "image_path": "images/a.png"},
        {"_id": "2", "caption": words(2, 9), "image_path": "images/absent.png"},
        {"_id": "3", "caption": words(3, 9), "image_path": "../../secret.png"},
        {"_id": "4", "caption": words(4, 9), "image_path": str(tmp_path / "secret.png")},
    ]
    write_lines(root / "Cardiology" / "queries.jsonl", rows)
    dataset = opened(root, tmp_path)
    found = table(dataset, "queries")
    assert [row["image"]["bytes"] for row in found] == [data, None, None, None]
    name = "Cardiology/queries.jsonl"
    assert listed(dataset) == [
        ("image_missing", name, 2, "2"), ("image_outside", name, 3, "3"), ("image_outside", name, 4, "4")
    ]  # fmt: skip


def test_half_a_character_in_a_column_s_name_is_replaced(tmp_path: Path) -> None:
    root = Beir().write(tmp_path / "set")
    (root / "queries.jsonl").write_bytes(b'{"_id": "q", "text": "first", "\\ud800a": "kept"}\n')
    dataset = opened(root, tmp_path)
    (row,) = table(dataset, "queries")
    assert row["\ufffda"] == "kept"
    assert [reason for reason, *_ in listed(dataset)] == ["lone_surrogate"]


def test_broken_lines_are_listed_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_LINE", 5_000)
    root = Beir().write(tmp_path / "set")
    lines = [
        b'{"_id": "ok", "text": "first"}\r\n',
        b'{"_id": "cut", "text": "fir\n',
        b"[1, 2]\n",
        b"\xff\xfe\n",
        b'{"_id": "' + b"x" * 20_000 + b'"}\n',
        b"\n",
        b'{"text": "no id"}\n',
        b'{"_id": "sur", "text": "half \\ud800 char"}\n',
        b'{"_id": 12, "text": "a number"}\n',
        b'{"_id": 3.0, "text": null}\n',
        b'{"_id": "nothing"}\n',
        b"[" * 4_000 + b"\n",
        b'{"_id": ' + b"9" * 4_500 + b"}\n",
        b'{"_id": "last", "text": "no newline at the end"}',
    ]
    (root / "queries.jsonl").write_bytes(b"".join(lines))
    dataset = opened(root, tmp_path)
    rows = {row["id"]: row["text"] for row in table(dataset, "queries")}
    assert rows == {
        "ok": "first", "sur": "half \ufffd char", "12": "a number", "3": "", "nothing": "",
        "last": "no newline at the end",
    }  # fmt: skip
    found = [(reason, line) for reason, _, line, _ in listed(dataset)]
    assert found == [
        ("not_json", 2), ("not_an_object", 3), ("not_utf8", 4), ("line_too_long", 5), ("missing_id", 7),
        ("lone_surrogate", 8), ("dtype_drift", 9), ("missing_text", 11), ("not_json", 12), ("not_json", 13),
    ]  # fmt: skip


def test_scores(tmp_path: Path) -> None:
    made = Beir()
    made.qrels = [
        ("q0", "d0", 1),
        ("q1", "d1", "high"),
        ("q2", "d2", 0.5),
        ("q3", "d3", "1.0"),
        ("q4", "d4", "nan"),
    ]
    dataset = opened(made.write(tmp_path / "set"), tmp_path)
    assert [(row["query-id"], row["score"]) for row in table(dataset, "qrels")] == [
        ("q0", 1),
        ("q2", 1),
        ("q3", 1),
    ]
    assert [(reason, line) for reason, _, line, _ in listed(dataset)] == [
        ("score_not_a_number", 3), ("score_not_whole", 4), ("score_not_a_number", 6)
    ]  # fmt: skip


def test_type_drift_between_shards_and_lines(tmp_path: Path) -> None:
    made = Mteb()
    half = len(made.corpus) // 2
    schema = made.corpus_schema.set(0, pa.field("id", pa.int64()))
    for number, row in enumerate(made.corpus[half:]):
        row["id"] = number
    made.second_corpus_schema = schema
    dataset = opened(made.write(tmp_path / "set"), tmp_path)
    name = "corpus/test-00001-of-00002.parquet"
    assert listed(dataset) == [("dtype_drift", name, None, f"{name}#id")]
    assert table(dataset, "corpus")[half]["id"] == "0"


def test_columns_that_turn_up_late_are_in_every_file(tmp_path: Path) -> None:
    made = Beir()
    made.record("queries", 9)["Answer"] = {"a": [1, "zwei"]}
    made.record("queries", 10)["TEXT"] = "another"
    dataset = opened(made.write(tmp_path / "set"), tmp_path)
    rows = table(dataset, "queries")
    assert [row["answer"] for row in rows[8:10]] == [None, '{"a": [1, "zwei"]}']
    assert {tuple(row) for row in rows} == {("id", "text", "answer", "other_text")}


def test_thousands_of_columns_are_cut(tmp_path: Path) -> None:
    made = Beir()
    made.record("queries", 3).update({f"column {n}": "v" for n in range(3_000)})
    dataset = opened(made.write(tmp_path / "set"), tmp_path)
    assert len(table(dataset, "queries")[0]) == 64
    assert listed(dataset) == [("too_many_columns", "queries.jsonl", 4, "q3")]


def test_gzip_that_unpacks_to_too_much_or_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "RATIO_FROM", 1_000_000)
    root = Beir().write(tmp_path / "set")
    row = json.dumps({"_id": "x", "text": "y" * 100_000}) + "\n"
    (root / "corpus.jsonl").unlink()
    (root / "corpus.jsonl.gz").write_bytes(gzip.compress(row.encode() * 500))
    whole = gzip.compress((root / "queries.jsonl").read_bytes())
    (root / "queries.jsonl").unlink()
    (root / "queries.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    dataset = opened(root, tmp_path)
    assert [(reason, file) for reason, file, _, _ in listed(dataset)] == [
        ("file_too_large", "corpus.jsonl.gz"), ("file_unreadable", "queries.jsonl.gz")
    ]  # fmt: skip
    assert 0 < len(table(dataset, "corpus")) < 200


def test_a_broken_parquet_shard_costs_that_shard(tmp_path: Path) -> None:
    root = Mteb().write(tmp_path / "set")
    path = root / "corpus/test-00001-of-00002.parquet"
    path.write_bytes(path.read_bytes()[:200])
    dataset = opened(root, tmp_path)
    assert len(table(dataset, "corpus")) == 12
    assert [(reason, file) for reason, file, _, _ in listed(dataset)] == [
        ("file_unreadable", "corpus/test-00001-of-00002.parquet")
    ]


def test_an_empty_dataset(tmp_path: Path) -> None:
    root = tmp_path / "set"
    for name in ("corpus", "queries"):
        write_lines(root / f"{name}.jsonl", [])
    dataset = opened(root, tmp_path)
    assert table(dataset, "corpus") == table(dataset, "queries") == []
    assert "qrels" not in dataset.views


@pytest.mark.parametrize("kind", ["absent", "folder", "text", "archive", "qrels"])
def test_what_is_no_dataset_says_what_was_looked_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "thing"
    if kind == "text":
        path.write_text("hello", encoding="utf-8")
    elif kind == "archive":
        path = tmp_path / "set.zip"
        path.write_bytes(b"PK\x03\x04")
    elif kind != "absent":
        path.mkdir()
    if kind == "pictures":
        (path / "a.png").write_bytes(encoded(picture(1)))
    if kind == "qrels":
        (path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n", encoding="utf-8")
    with pytest.raises(UsageError, match="looked for: release"):
        opened(path, tmp_path)


def test_a_release_of_ours_is_read_where_it_lies(known: Path, tmp_path: Path) -> None:
    dataset = open_dataset(known, tmp_path / "scratch", "against")
    assert (dataset.kind, dataset.role, dataset.directory) == ("release", "against", known)


def test_a_release_of_several_tasks_is_not_read_as_one(known: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name one: visual_context"):
        open_dataset(known.parent, tmp_path / "scratch", "against")


def test_hostile_readme(tmp_path: Path) -> None:
    root = Beir().write(tmp_path / "set")
    bomb = "a: &a [x,x]\n" + "".join(
        f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    heads = (
        f"{bomb}configs: *i",
        "configs: [1, {config_name: 3}, {config_name: x, data_files: 4}]",
        "!!python/object/apply:os.system ['true']",
        ": : :",
    )
    for head in heads:
        (root / "README.md").write_text(f"---\n{head}\n---\n", encoding="utf-8")
        assert len(table(opened(root, tmp_path), "queries")) == 12


def test_hash_and_tables_do_not_depend_on_place_or_run(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from curation.audit.layouts import open_dataset\n"
        "d = open_dataset(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))\n"
        "from schemas.hashing import sha256_file\n"
        "print(d.sha256, [(n, sha256_file(p)) for n, v in sorted(d.views.items()) for p in v])\n"
    )
    seen = set()
    for number in range(2):
        root = write_r2med(tmp_path / f"place{number}" / "set")
        args = [sys.executable, "-c", code, str(root), str(tmp_path / f"s{number}")]
        done = subprocess.run(
            args, capture_output=True, text=True, env={"PYTHONHASHSEED": str(number), "PYTHONPATH": "."}
        )
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert len(seen) == 1
    (root / "corpus.jsonl").open("a").write("\n")
    assert opened(root, tmp_path).sha256 not in next(iter(seen))


def test_every_reason_is_explained() -> None:
    with pytest.raises(KeyError):
        problems.Problems(Path("never")).add("no such reason", "queries", "file")
