"""Exports read back: every column of every row is what the Parquet files say, in every format."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import ir_measures
import pyarrow.parquet as pq
import pytest
import yaml

from curation.changes.difference import difference
from curation.evaluation.collection import open_collection
from curation.export import beir
from curation.export.run import FORMATS, NAME, export, plan
from curation.export.source import OWN, open_source
from curation.export.tables import total
from flows.engine.connection import query
from schemas.errors import ReleaseError, UsageError
from schemas.tables import CORPUS, EXCLUDED, QRELS, QUERIES
from tests.curation.export import rows
from tests.releases import manifest, seal

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]


def of_parquet(directory: Path) -> Tables:
    """Rows of the four tables, each with its split; an image is its bytes."""
    found: Tables = {}
    for table in (CORPUS, QUERIES, QRELS, EXCLUDED):
        found[table.name] = [
            {"split": path.name.partition("-")[0] if table.has_splits else "", **plain(row)}
            for path in table.files(directory)
            for row in pq.read_table(path).to_pylist()
        ]
    return {name: in_order(of) for name, of in found.items()}


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    image = row.get("image")
    return {**row, **({"image": image["bytes"] if image else None} if "image" in row else {})}


def in_order(of: Rows) -> Rows:
    return sorted(of, key=lambda row: (row.get("id", ""), row.get("query-id", ""), row.get("corpus-id", "")))


def objects(path: Path) -> Rows:
    """JSON Lines, split at line feeds alone and at every line end that Python knows: both must do."""
    text = path.read_text("utf-8")
    assert text.count("\n") == len(text.splitlines())
    return [json.loads(line) for line in text.splitlines()]


def pictured(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    name = row.pop("image", None)
    return {**row, "image": (folder / name).read_bytes() if name else None}


def excluded(lines: Iterator[str], split: str, names: Mapping[str, str] | None = None) -> Rows:
    """Stated pairs; the query's own record is no row of the table."""
    next(lines)
    found = []
    for line in lines:
        query, document, reason = line.split("\t")
        names = names or {}
        pair = {"query-id": names.get(query, query), "corpus-id": names.get(document, document)}
        if reason != OWN:
            found.append({"split": split, **pair, "reason": reason})
    return found


def told(path: Path, split: str) -> Rows:
    return [{"split": split, **row} for row in objects(path)]


def read_beir(folder: Path, splits: list[str]) -> Tables:
    corpus = [
        {
            "split": "",
            "id": row["_id"],
            "title": row["title"],
            "text": row["text"],
            **pictured(row["metadata"], folder),
        }
        for row in objects(folder / "corpus.jsonl")
    ]
    queries = [
        {"id": row["_id"], "text": row["text"], **pictured(row["metadata"], folder)}
        for row in objects(folder / "queries.jsonl")
    ]
    labels: Rows = []
    pairs: Rows = []
    for split in splits:
        mine = told(folder / f"labels/{split}.jsonl", split)
        labels += mine
        lines = (folder / f"qrels/{split}.tsv").read_text("utf-8").splitlines()
        assert [line.split("\t") for line in lines[1:]] == [
            [row["query-id"], row["corpus-id"], str(row["score"])] for row in mine
        ]
        pairs += excluded(iter((folder / f"excluded/{split}.tsv").read_text("utf-8").splitlines()), split)
    return {"corpus": corpus, "queries": queries, "qrels": labels, "excluded": pairs}


def read_trec(folder: Path, splits: list[str]) -> Tables:
    corpus = [
        {"split": "", "id": row.pop("docno"), **pictured(row, folder)}
        for row in objects(folder / "docs.jsonl")
    ]
    found: Tables = {"corpus": corpus, "queries": [], "qrels": [], "excluded": []}
    for split in splits:
        found["queries"] += [
            {"split": split, "id": row.pop("number"), **pictured(row, folder)}
            for row in objects(folder / f"topics.{split}.jsonl")
        ]
        mine = told(folder / f"labels.{split}.jsonl", split)
        read: Any = ir_measures.read_trec_qrels(str(folder / f"qrels.{split}.txt"))  # type: ignore[no-untyped-call]
        assert [tuple(row[:3]) for row in read] == [(r["query-id"], r["corpus-id"], r["score"]) for r in mine]
        found["qrels"] += mine
        lines = (folder / f"excluded.{split}.tsv").read_text("utf-8").splitlines()
        found["excluded"] += excluded(iter(lines), split)
    return found


def read_mbeir(folder: Path, splits: list[str]) -> Tables:
    def whole(row: Mapping[str, Any], content: str, image: str) -> dict[str, Any]:
        held = json.loads(row[content])
        data = (folder / row[image]).read_bytes() if row[image] else None
        return {**held, "image": data}

    names = {
        line.split("\t")[1] + line[0]: line.split("\t")[2]
        for line in (folder / "ids.tsv").read_text("utf-8").splitlines()
    }
    (pool,) = (folder / "cand_pool").iterdir()
    corpus = [{"split": "", **whole(row, "src_content", "img_path")} for row in objects(pool)]
    assert [names[row["did"] + "d"] for row in objects(pool)] == [row["id"] for row in corpus]
    found: Tables = {"corpus": corpus, "queries": [], "qrels": [], "excluded": []}
    for split in splits:
        (path,) = (folder / "query" / split).iterdir()
        listed = objects(path)
        found["queries"] += [
            {"split": split, **whole(row, "query_src_content", "query_img_path")} for row in listed
        ]
        mine = told(folder / f"labels/{split}.jsonl", split)
        judged = {
            (names[r["qid"] + "q"], names[d + "d"], kind)
            for r in listed
            for kind in (0, 1)
            for d in r[("neg", "pos")[kind] + "_cand_list"]
        }
        assert judged == {(r["query-id"], r["corpus-id"], int(r["score"] > 0)) for r in mine}
        found["qrels"] += mine
        lines = (folder / f"excluded/{split}.tsv").read_text("utf-8").splitlines()
        both = {key[:-1]: name for key, name in names.items() if key.endswith("q")}
        documents = {key[:-1]: name for key, name in names.items() if key.endswith("d")}
        found["excluded"] += [
            {**row, "query-id": both[row["query-id"]], "corpus-id": documents[row["corpus-id"]]}
            for row in excluded(iter(lines), split)
        ]
    return found


def read_webdataset(folder: Path, splits: list[str]) -> Tables:
    def samples(name: str) -> Rows:
        found: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob(f"{name}-*.tar")):
            with tarfile.open(path) as archive:
                for entry in archive:
                    key, _, ending = entry.name.partition(".")
                    file = archive.extractfile(entry)
                    assert file is not None
                    data = file.read()
                    sample = found.setdefault(key, {"image": None})
                    if ending == "json":
                        sample |= json.loads(data)
                    else:
                        sample |= {"text": data.decode()} if ending == "txt" else {"image": data}
        return list(found.values())

    found: Tables = {
        "corpus": [{"split": "", **row} for row in samples("corpus")],
        "queries": [],
        "qrels": [],
        "excluded": [],
    }
    for split in splits:
        found["queries"] += [{"split": split, **row} for row in samples(f"queries-{split}")]
        found["qrels"] += told(folder / f"qrels-{split}.jsonl", split)
        pairs = told(folder / f"excluded-{split}.jsonl", split)
        found["excluded"] += [row for row in pairs if row["reason"] != OWN]
    return found


def read_mteb(folder: Path, splits: list[str]) -> Tables:
    return of_parquet(folder)


READERS: dict[str, Callable[[Path, list[str]], Tables]] = {
    "beir": read_beir,
    "trec": read_trec,
    "mteb": read_mteb,
    "mbeir": read_mbeir,
    "webdataset": read_webdataset,
}


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rows.release(tmp_path_factory.mktemp("task") / "clinical_case")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("is_empty", [False, True])
def test_every_column_of_every_row_comes_back(tmp_path: Path, form: str, is_empty: bool) -> None:
    directory = rows.release(tmp_path / "task", is_empty=is_empty)
    source = open_source(directory)
    out = tmp_path / "out"
    made = export(source, out, form)
    read = {name: in_order(of) for name, of in READERS[form](out, list(source.splits)).items()}
    stated = of_parquet(directory)
    assert stated["queries"] or is_empty
    for name, of in stated.items():
        for row in of:
            row.setdefault("image", None) if name in ("corpus", "queries") else None
        for row in read[name]:
            row.setdefault("image", None) if name in ("corpus", "queries") else None
        assert read[name] == of, name
    assert made.is_new and any("xcluded pairs stand in" in note for note in made.content["notes"])


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_bytes_again_and_an_equal_export_stands(task: Path, tmp_path: Path, form: str) -> None:
    source = open_source(task)
    told: list[int] = []
    first = export(source, tmp_path / "a", form, told.append)
    again = export(source, tmp_path / "b", form)
    assert first.content == again.content and sum(told) >= total(source) == 13
    assert not export(source, tmp_path / "a", form).is_new
    (tmp_path / "a" / next(iter(first.content["files"]))).write_text("damaged", "utf-8")
    assert export(source, tmp_path / "a", form).content == first.content


def test_what_a_ranking_may_not_hold_is_beside_it(task: Path, tmp_path: Path) -> None:
    """The stated pair, and the document that is the query's own record, as `medqrels evaluate` has it."""
    assert open_source(task).left_out("test") == [
        ("q-1", "pmc:PMC5.1#p1", "near_copy"),
        ("q-1", "pmc:PMC6.1#p1", OWN),
    ]
    export(open_source(task), tmp_path / "out", "mteb")
    held = pq.read_table(tmp_path / "out/left_out/test.parquet").to_pylist()
    assert [row["corpus-id"] for row in held] == ["pmc:PMC5.1#p1", "pmc:PMC6.1#p1"]
    assert "top_ranked" not in (tmp_path / "out/README.md").read_text("utf-8")


def test_generated_code_is_python(task: Path, tmp_path: Path) -> None:
    for form in ("mteb", "trec"):
        export(open_source(task), tmp_path / form, form)
        for path in (tmp_path / form).glob("*.py"):
            compile(path.read_text("utf-8"), str(path), "exec")


def test_a_killed_export_leaves_nothing(task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(beir, "_qrels", killed)
    with pytest.raises(KeyboardInterrupt):
        export(open_source(task), tmp_path / "out", "beir")
    assert not list(tmp_path.iterdir())


def test_a_folder_of_something_else_is_not_touched(task: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="holds something else"):
        export(open_source(task), tmp_path, "beir")
    export(open_source(task), tmp_path / "out", "beir")
    with pytest.raises(UsageError, match="holds something else"):
        export(open_source(task), tmp_path / "out", "trec")
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine" and (tmp_path / "out" / NAME).is_file()
    with pytest.raises(UsageError, match="no format 'csv'"):
        plan(open_source(task), "csv")


def test_a_changed_release_is_not_exported(tmp_path: Path) -> None:
    directory = rows.release(tmp_path / "task")
    next((directory / "corpus").iterdir()).write_bytes(b"other")
    with pytest.raises(ReleaseError, match="not what release"):
        open_source(directory)


def test_a_file_that_is_not_listed_or_leads_out_ends_the_export(tmp_path: Path) -> None:
    """Evaluation opens releases by the same look at their files."""
    directory = rows.release(tmp_path / "task")
    corpus = next((directory / "corpus").iterdir())
    more = corpus.with_name("more.parquet")
    more.write_bytes(corpus.read_bytes())
    with pytest.raises(ReleaseError, match="is not listed") as caught:
        open_source(directory)
    assert caught.value.file == str(more)
    more.unlink()
    outside = (directory / "corpus").rename(tmp_path / "outside")
    (directory / "corpus").symlink_to(outside)
    for opened in (open_source, open_collection, lambda path: difference(path, path, query())):
        with pytest.raises(UsageError, match=r"leads out of the dataset: 'corpus'"):
            opened(directory)


def test_an_id_that_a_format_cannot_hold_is_named(tmp_path: Path) -> None:
    directory = rows.release(tmp_path / "task")
    path = next((directory / "qrels").glob("dev*"))
    table = pq.read_table(path)
    at = table.column_names.index("query-id")
    pq.write_table(table.set_column(at, table.schema.field(at), [["q 3"]]), path)
    seal(directory, manifest())
    with pytest.raises(ReleaseError, match="white space") as caught:
        export(open_source(directory), tmp_path / "out", "beir")
    assert caught.value.record == "q 3"


def test_mteb_has_a_subset_per_language_over_one_corpus(tmp_path: Path) -> None:
    """A language without a test split has none: MTEB would measure its dev split in its place."""
    directory = rows.release(tmp_path / "task", languages={"q-1": "es", "q-2": "fr", "q-3": "es"})
    made = export(open_source(directory), tmp_path / "out", "mteb")
    head = yaml.safe_load((tmp_path / "out/README.md").read_text("utf-8").split("---")[1])
    configs = {item["config_name"]: item["data_files"] for item in head["configs"]}
    assert {name for name in configs if "-" in name} == {
        f"{language}-{table}" for language in ("es", "fr") for table in ("corpus", "queries", "qrels")
    }
    held = {
        (name, item["split"]): sorted(
            row["id"]
            for path in (tmp_path / "out").glob(item["path"])
            for row in pq.read_table(path, columns=["id"]).to_pylist()
        )
        for name, files in configs.items()
        if name.endswith("queries")
        for item in files
    }
    assert held == {
        ("queries", "test"): ["q-1", "q-2"],
        ("queries", "dev"): ["q-3"],
        ("es-queries", "test"): ["q-1"],
        ("es-queries", "dev"): ["q-3"],
        ("fr-queries", "test"): ["q-2"],
    }
    definition = (tmp_path / "out/mteb_tasks.py").read_text("utf-8")
    assert "eval_langs={'es': ['spa-Latn'], 'fr': ['fra-Latn']}" in definition
    assert "eval_splits=['test']" in definition, "fr has no dev split"
    assert 'prompt={"query": ' + repr(manifest().task_description) + "}" in definition
    assert "mteb_tasks.py" in made.content["files"]
