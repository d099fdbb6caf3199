"""Recipes of named benchmarks, on small files of their form with words and pictures of our own."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit.executor import SerialExecutor
from curation.audit.layouts import RECIPES, open_by_recipe, open_hash_list, recipe_of, write_hash_list
from curation.audit.report import run_rule
from curation.audit.rule import Context
from curation.audit.rules import contamination
from schemas.errors import UsageError
from tests.curation.audit import small
from tests.curation.audit.foreign import IMAGE, encoded, picture, write_lines
from tests.curation.audit.test_pictures import archive, files
from tests.curation.release.known import run_sql

ASKED = "Which organ grows paler when a lighthouse keeper stays up for nine nights in a row?"
OPTION = "The liver, because it keeps the time of the tides"
ANSWER = "It is the liver which loses its colour after the ninth night without sleep"
PASSAGE = "Keepers who stayed awake were weighed every morning and their livers were painted by hand"
IMAGE_BYTES = encoded(picture(3))
OPTIONS = {"A": OPTION, "B": "The heart"}


def _csv(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _json(path: Path, value: Any, indent: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=indent), "utf-8")


def _pictured(path: Path, **columns: str) -> None:
    table = pa.table({name: [value] for name, value in columns.items()})
    images = pa.array([{"bytes": IMAGE_BYTES, "path": "x.png"}], IMAGE)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.append_column("image", images), path)


def _medqa(root: Path) -> None:
    row = {"question": ASKED, "answer": ANSWER, "options": OPTIONS, "meta_info": "step1", "answer_idx": "A"}
    write_lines(root / "phrases_no_exclude_train.jsonl", [row])


def _medmcqa(root: Path) -> None:
    row = {"id": "a-1", "question": ASKED, "opa": OPTION, "opb": "heart", "opc": "lung", "opd": "skin"}
    write_lines(root / "train.json", [row | {"cop": 1, "choice_type": "single", "exp": ANSWER}])


def _pubmedqa(root: Path) -> None:
    row = {"QUESTION": ASKED, "CONTEXTS": [PASSAGE, "x"], "LABELS": ["A"], "LONG_ANSWER": ANSWER}
    _json(root / "ori_pqal.json", {"123": row, "124": {**row, "QUESTION": "Why?"}})


def _pubmedqa_parquet(root: Path) -> None:
    row = {"pubid": 123, "question": ASKED, "context": {"contexts": [PASSAGE], "labels": ["A"]}}
    (root / "pqa_labeled").mkdir(parents=True)
    table = pa.Table.from_pylist([row | {"long_answer": ANSWER, "final_decision": "yes"}])
    pq.write_table(table, root / "pqa_labeled" / "train-00000-of-00001.parquet")


def _bioasq(root: Path) -> None:
    row: dict[str, Any] = {"id": "5a", "body": ASKED, "documents": ["http://example.org/1"]}
    row |= {"type": "summary"}
    row |= {"snippets": [{"text": PASSAGE, "beginSection": "abstract"}], "ideal_answer": [ANSWER]}
    _json(root / "training13b.json", {"questions": [row]}, indent=1)


def _mirage(root: Path) -> None:
    row = {"question": ASKED, "options": OPTIONS, "answer": "A"}
    _json(root / "benchmark.json", {"medqa": {"0000": row}, "bioasq": {"5a": row | {"question": "Is it?"}}})


def _r2med(root: Path) -> None:
    write_lines(root / "query.jsonl", [{"id": "q1", "text": ASKED}])
    write_lines(root / "corpus.jsonl", [{"id": "d1", "text": PASSAGE}, {"id": "d2", "text": OPTION}])
    (root / "qrels.txt").write_text("q1 0 d1 1\n", "utf-8")


def _vqa_rad(root: Path) -> None:
    files(root, {"VQA_RAD Image Folder/synpic1.jpg": IMAGE_BYTES})
    row = {"qid": 1, "image_name": "synpic1.jpg", "question": ASKED, "answer": ANSWER, "answer_type": "OPEN"}
    _json(root / "VQA_RAD Dataset Public.json", [row], indent=1)


def _vqa_rad_parquet(root: Path) -> None:
    _pictured(root / "data" / "train-00000-of-00001-eb88.parquet", question=ASKED, answer=ANSWER)


def _slake(root: Path) -> None:
    files(root, {"imgs/xmlab1/source.jpg": IMAGE_BYTES})
    row = {"img_id": 1, "img_name": "xmlab1/source.jpg", "question": ASKED, "answer": ANSWER, "q_lang": "en"}
    _json(root / "train.json", [row | {"qid": 0, "triple": ["vhead", "_", "_"]}])


def _slake_zip(root: Path) -> None:
    _slake(root)
    archive(root / "imgs.zip", {"imgs/xmlab1/source.jpg": IMAGE_BYTES})
    (root / "imgs" / "xmlab1" / "source.jpg").unlink()


def _pathvqa(root: Path) -> None:
    _pictured(root / "data" / "test-00000-of-00003.parquet", question=ASKED, answer=ANSWER)


def _pmc_vqa(root: Path) -> None:
    archive(root / "images.zip", {"images/PMC1_F1.jpg": IMAGE_BYTES})
    row = {"Figure_path": "PMC1_F1.jpg", "Question": ASKED, "Answer": ANSWER, "Choice A": f"A:{OPTION}"}
    _csv(root / "train.csv", [row | {"Choice B": "B:x", "Choice C": "C:y", "Choice D": "D:z"}])


def _roco(root: Path) -> None:
    files(root, {"all_data/train/radiology/images/PMC1_F1.jpg": IMAGE_BYTES})
    row = {"id": "ROCO_1", "name": "PMC1_F1.jpg", "caption": ASKED}
    _csv(root / "all_data" / "train" / "radiologytraindata.csv", [row])


def _rocov2(root: Path) -> None:
    _pictured(root / "data" / "train-00000-of-00027.parquet", image_id="ROCOv2_1", caption=ASKED)


def _rocov2_csv(root: Path) -> None:
    files(root, {"train/ROCOv2_1.jpg": IMAGE_BYTES})
    _csv(root / "train_captions.csv", [{"ID": "ROCOv2_1", "Caption": ASKED}])


Write = Callable[[Path], None]
CASES: tuple[tuple[str, Write, set[str], bool], ...] = (
    ("medqa", _medqa, {OPTION, ANSWER}, False),
    ("medmcqa", _medmcqa, {OPTION, ANSWER}, False),
    ("pubmedqa", _pubmedqa, {PASSAGE, ANSWER}, False),
    ("pubmedqa", _pubmedqa_parquet, {PASSAGE, ANSWER}, False),
    ("bioasq", _bioasq, {PASSAGE, ANSWER}, False),
    ("mirage", _mirage, {OPTION}, False),
    ("r2med", _r2med, {PASSAGE}, False),
    ("vqa-rad", _vqa_rad, {ANSWER}, True),
    ("vqa-rad", _vqa_rad_parquet, {ANSWER}, True),
    ("slake", _slake, {ANSWER}, True),
    ("slake", _slake_zip, {ANSWER}, True),
    ("pathvqa", _pathvqa, {ANSWER}, True),
    ("pmc-vqa", _pmc_vqa, {f"A:{OPTION}", ANSWER}, True),
    ("roco", _roco, set(), True),
    ("roco", _rocov2, set(), True),
    ("roco", _rocov2_csv, set(), True),
)


@pytest.mark.parametrize(("name", "write", "beside", "has_image"), CASES)
def test_every_recipe_reads_its_form_and_its_hash_list_finds_copies(
    name: str, write: Write, beside: set[str], has_image: bool, tmp_path: Path
) -> None:
    root = tmp_path / "download"
    root.mkdir()
    write(root)
    opened = open_by_recipe(root, recipe_of(name), tmp_path / "read")
    assert opened.name == name and not pq.read_table(opened.views["problems"]).num_rows
    tables = {table: pq.read_table(opened.views[table]).to_pylist() for table in opened.views}
    asked = "corpus" if name == "roco" else "queries"
    assert ASKED in {row["text"] for row in tables[asked]}
    assert beside <= {row["text"] for row in tables.get("corpus", ())}
    write_hash_list(opened, tmp_path / "list.parquet", SerialExecutor())
    rows = small.queries(("q1", f"(1) {ASKED.upper()}"[4:]), ("q2", ANSWER), image=None)
    rows[0]["image"] = {"bytes": IMAGE_BYTES, "path": "q.png"}
    subject = small.dataset(tmp_path / "own", {"queries": rows}, "mteb")
    context = Context(
        subject, run_sql, tmp_path, SerialExecutor(), against=(open_hash_list(tmp_path / "list.parquet"),)
    )
    texts, _ = run_rule(small.rule_of(contamination.RULES, "contaminated_queries"), context)
    assert "q1" in small.named(texts) and ("q2" in small.named(texts)) == (ANSWER in beside)
    images, _ = run_rule(small.rule_of(contamination.RULES, "contaminated_images"), context)
    assert (images.status, images.found) == (("failed", 1) if has_image else ("not_covered", 0))


def test_every_recipe_has_a_case_and_names_its_source() -> None:
    assert {name for name, *_ in CASES} == {recipe.name for recipe in RECIPES}
    for recipe in RECIPES:
        assert recipe.source.startswith("http") and (
            recipe.layout or all(form.needed for form in recipe.forms)
        )


def test_a_missing_field_says_what_was_expected_and_found(tmp_path: Path) -> None:
    write_lines(tmp_path / "a" / "train.jsonl", [{"question": ASKED, "choices": ["x"], "answer": "y"}])
    with pytest.raises(UsageError) as caught:
        open_by_recipe(tmp_path / "a", recipe_of("medqa"), tmp_path / "read")
    assert "train.jsonl lacks the field 'options'; found: question, choices, answer" in str(caught.value)
    assert "question, options: https://" in str(caught.value.hint)
    write_lines(tmp_path / "b" / "train.jsonl", [{"stem": ASKED}])
    with pytest.raises(
        UsageError, match=r"expected \(JSON Lines: question, options\); found: train.jsonl: stem"
    ):
        open_by_recipe(tmp_path / "b", recipe_of("medqa"), tmp_path / "read")
    (tmp_path / "c").mkdir()
    with pytest.raises(UsageError, match="found: no data file"):
        open_by_recipe(tmp_path / "c", recipe_of("medqa"), tmp_path / "read")
    with pytest.raises(UsageError, match="no recipe 'medqq'"):
        recipe_of("medqq")
    with pytest.raises(UsageError, match="no dataset at"):
        open_by_recipe(tmp_path / "d", recipe_of("medqa"), tmp_path / "read")
    with pytest.raises(UsageError, match=r"recipe r2med: expected query\(id, text\)"):
        open_by_recipe(tmp_path / "b", recipe_of("r2med"), tmp_path / "read")


def test_files_of_another_form_are_named_and_a_single_file_is_enough(tmp_path: Path) -> None:
    _medqa(tmp_path / "a")
    write_lines(tmp_path / "a" / "extra.jsonl", [{"name": "a map"}])
    opened = open_by_recipe(tmp_path / "a", recipe_of("medqa"), tmp_path / "read")
    problems = pq.read_table(opened.views["problems"]).to_pylist()
    assert [(row["reason"], row["file"]) for row in problems] == [("file_not_recognised", "extra.jsonl")]
    one = tmp_path / "a" / "phrases_no_exclude_train.jsonl"
    assert (
        pq.read_table(open_by_recipe(one, recipe_of("MedQA"), tmp_path / "read").views["queries"]).num_rows
        == 1
    )
