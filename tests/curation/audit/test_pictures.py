"""Pictures of question sets: in rows, in folders, in archives; what is not compared is said."""

from __future__ import annotations

import base64
import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit.executor import SerialExecutor
from curation.audit.layouts import open_dataset, open_hash_list, write_hash_list
from curation.audit.report import run_rule
from curation.audit.rule import Context
from curation.audit.rules import contamination
from schemas.audit import RuleResult
from tests.curation.audit import small
from tests.curation.audit.foreign import IMAGE, encoded, picture, write_lines
from tests.curation.release.known import run_sql

RULE = small.rule_of(contamination.RULES, "contaminated_images")
OURS, THEIRS = encoded(picture(1)), encoded(picture(1), "jpeg", quality=95)
OTHER = encoded(picture(2))
QUESTIONS = [
    {"qid": 1, "question": "Which organ is bright here?", "answer": "the liver"},
    {"qid": 2, "question": "Is there any fluid?", "answer": "no"},
]


def said(other: Path, tmp_path: Path, *, by_hashes: bool = False) -> RuleResult:
    """What the rule says of one picture of ours and another benchmark."""
    rows = small.queries(("q1", "What does this show?"), image={"bytes": OURS, "path": "q1.png"})
    subject = small.dataset(tmp_path / "own", {"queries": rows}, "mteb")
    opened = open_dataset(other, tmp_path / "read", "against")
    if by_hashes:
        write_hash_list(opened, tmp_path / "list.parquet", SerialExecutor())
        opened = open_hash_list(tmp_path / "list.parquet")
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    return run_rule(RULE, Context(subject, run_sql, scratch, SerialExecutor(), against=(opened,)))[0]


def named(names: list[str], column: str) -> list[dict[str, Any]]:
    return [row | {column: name} for row, name in zip(QUESTIONS, names, strict=True)]


def archive(path: Path, members: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)


def files(folder: Path, members: dict[str, bytes]) -> None:
    for name, data in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _json_and_folder(root: Path) -> None:
    files(root, {"imgs/case1/source.jpg": THEIRS, "imgs/case2/source.jpg": OTHER})
    rows = named(["case1/source.jpg", "case2/source.jpg"], "img_name")
    (root / "train.json").write_text(json.dumps(rows), "utf-8")


def _csv_and_zip(root: Path) -> None:
    archive(root / "images.zip", {"images/A_1.jpg": THEIRS, "images/A_2.jpg": OTHER})
    rows = named(["A_1.jpg", "A_2.jpg"], "Figure_path")
    with (root / "test.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _lines_without_suffix(root: Path) -> None:
    files(root, {"train/pic_01.jpg": THEIRS, "train/pic_02.jpg": OTHER})
    write_lines(root / "qa.jsonl", named(["pic_01", "pic_02"], "image"))


def _parquet_structs(root: Path) -> None:
    images = [{"bytes": THEIRS, "path": "x.jpg"}, {"bytes": OTHER, "path": "y.png"}]
    table = pa.Table.from_pylist(QUESTIONS).append_column("image", pa.array(images, IMAGE))
    pq.write_table(table, root / "train-00000-of-00001.parquet")


def _parquet_bytes(root: Path) -> None:
    table = pa.Table.from_pylist(QUESTIONS).append_column("image", pa.array([THEIRS, OTHER], pa.binary()))
    pq.write_table(table, root / "train.parquet")


def _base64_and_lists(root: Path) -> None:
    packed = [base64.b64encode(OTHER).decode(), "data:image/jpeg;base64," + base64.b64encode(THEIRS).decode()]
    write_lines(root / "qa.jsonl", [QUESTIONS[0] | {"images": packed}])


def _no_link(root: Path) -> None:
    files(root, {"pictures/1.jpg": THEIRS, "pictures/2.png": OTHER})
    write_lines(root / "qa.jsonl", QUESTIONS)


def _pictures_alone(root: Path) -> None:
    files(root, {"deep/1.jpg": THEIRS, "deep/deeper/2.png": OTHER, "notes.md": b"no data"})


def _zip_in_folder(root: Path) -> None:
    archive(root / "all.zip", {"1.jpg": THEIRS, "2.png": OTHER, "__MACOSX/._1.jpg": b"x"})


@pytest.mark.parametrize("by_hashes", [False, True])
@pytest.mark.parametrize(
    "layout",
    [
        _json_and_folder,
        _csv_and_zip,
        _lines_without_suffix,
        _parquet_structs,
        _parquet_bytes,
        _base64_and_lists,
        _no_link,
        _pictures_alone,
        _zip_in_folder,
    ],
)
def test_pictures_are_read_wherever_a_question_set_has_them(
    layout: Callable[[Path], None], by_hashes: bool, tmp_path: Path
) -> None:
    root = tmp_path / "theirs"
    root.mkdir()
    layout(root)
    result = said(root, tmp_path, by_hashes=by_hashes)
    assert (result.status, result.found, result.compared) == ("failed", 1, 2), result.note


def test_a_single_file_names_pictures_beside_it_and_a_zip_is_a_collection(tmp_path: Path) -> None:
    root = tmp_path / "theirs"
    files(root, {"imgs/1.jpg": THEIRS, "imgs/2.png": OTHER})
    write_lines(root / "qa.jsonl", named(["imgs/1.jpg", "imgs/2.png"], "image"))
    assert said(root / "qa.jsonl", tmp_path).found == 1
    archive(tmp_path / "set.zip", {"a/1.jpg": THEIRS})
    assert said(tmp_path / "set.zip", tmp_path).found == 1


def test_nothing_compared_is_not_covered(tmp_path: Path) -> None:
    write_lines(tmp_path / "texts" / "qa.jsonl", QUESTIONS)
    result = said(tmp_path / "texts", tmp_path)
    assert (result.status, result.compared, result.note) == ("not_covered", 0, "texts has no image")
    write_lines(tmp_path / "named" / "qa.jsonl", named(["gone/1.jpg", "gone/2.jpg"], "image"))
    result = said(tmp_path / "named", tmp_path)
    assert result.status == "not_covered" and result.compared == 0
    assert result.note == "named: 2 images its rows name could not be read"
    assert result.coverage[0].compared == 0
    files(tmp_path / "named", {"gone/1.jpg": OTHER})
    result = said(tmp_path / "named", tmp_path)
    assert result.status == "not_covered" and result.compared == 1


def test_names_that_lead_out_or_fit_several_files_are_not_read(tmp_path: Path) -> None:
    root = tmp_path / "theirs"
    files(root, {"a/x.png": OURS, "b/x.png": OTHER})
    files(tmp_path, {"out.png": OURS})
    names = ["../out.png", str(tmp_path / "out.png"), "https://example.org/x.png", "x.png", "b/x.png"]
    rows = [{"qid": at, "question": "Which is it?", "image": name} for at, name in enumerate(names)]
    write_lines(root / "qa.jsonl", rows)
    opened = open_dataset(root, tmp_path / "read", "audited")
    problems = pq.read_table(opened.views["problems"]).to_pylist()
    assert [(row["reason"], row["line"]) for row in problems] == [
        ("image_outside", 1),
        ("image_outside", 2),
        ("image_outside", 3),
        ("image_missing", 4),
    ]
    read = pq.read_table(opened.views["queries"]).to_pylist()
    assert [row["image"]["bytes"] == OTHER for row in read] == [False] * 4 + [True]
    assert "corpus" not in opened.views


def test_damaged_and_swollen_archives_cost_their_pictures_only(tmp_path: Path) -> None:
    root = tmp_path / "theirs"
    archive(root / "bomb.zip", {"huge.png": b"\0" * (8 << 20)})
    files(root, {"broken.zip": b"PK\x03\x04 nothing", "1.jpg": THEIRS})
    write_lines(root / "qa.jsonl", named(["huge.png", "1.jpg"], "image"))
    opened = open_dataset(root, tmp_path / "read", "against")
    reasons = [row["reason"] for row in pq.read_table(opened.views["problems"]).to_pylist()]
    assert reasons == ["image_too_large"]
    assert said(root, tmp_path).found == 1


def test_an_image_collection_can_be_audited_and_its_hash_depends_on_its_files(tmp_path: Path) -> None:
    root = tmp_path / "theirs"
    files(root, {"1.jpg": THEIRS, "2.png": OTHER})
    one = open_dataset(root, tmp_path / "read", "audited")
    assert (one.kind, sorted(one.views)) == ("images", ["corpus", "problems"])
    assert [row["id"] for row in pq.read_table(one.views["corpus"]).to_pylist()] == ["1.jpg", "2.png"]
    files(root, {"2.png": OURS})
    assert open_dataset(root, tmp_path / "read", "audited").sha256 != one.sha256
