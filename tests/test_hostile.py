"""A slice of the hostile campaign (the whole one: benchmarks/hostile), its checks, and what it found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from annotation.layouts.answers import answer
from annotation.sync.answers import task_answers
from benchmarks.hostile.__main__ import KINDS, mutants
from benchmarks.measure import ROOT
from curation.prompts.answers import read_answer
from curation.published.manifest import NAME, read_manifest
from flows.adapters.llm import _completion
from flows.vocabulary.connection import opened
from flows.vocabulary.umls_files import stage_file
from schemas.errors import InputError, ReleaseError, UsageError
from schemas.spec import load_spec
from sources.pmc.metadata import parse_metadata

SLICED = ("babelon", "label_studio", "metadata", "model_answers", "obo", "specs")
"""Kinds whose files take a millisecond; the other formats have slices beside their readers' tests."""
SLICE = """
import sys
from benchmarks.hostile import confined
from benchmarks.hostile.__main__ import mutants
cases = {name: list(mutants(name, 60, 5)) for name in sys.argv[2:]}
confined.begin(sys.argv[2:], sys.argv[1])
for name, damaged in cases.items():
    found = confined.run(name, [data for _, _, data in damaged])
    bad = [item for item in found if item[2] or not item[0].startswith(("read", "quarantined"))]
    print(name, len(found), *bad[:3])
"""
PROVE = """
import sys, socket
from pathlib import Path
from benchmarks.hostile import confined
class Kind:
    @staticmethod
    def seeds(): return []
    @staticmethod
    def outcome(data): return eval(data)
sys.modules["benchmarks.hostile.planted"] = Kind
confined.begin(["planted"], sys.argv[1])
cases = [
    b"'read: 7 rows'", b"1 / 0", b"socket.create_connection(('127.0.0.1', 9))", b"open('../out', 'w')",
    b"Path('/etc/hostname').read_text()", b"open('in', 'w').close() or 'read'", b"bytes(8 * 1024 ** 3)",
]
for result in confined.run("planted", [b"__import__('socket') and None", *cases])[1:]:
    print(result[0].partition(" at ")[0][:90], bool(result[2]), sep="|")
"""


def test_a_slice_of_every_quick_kind_is_read_or_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SLICE, str(tmp_path), *SLICED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [f"{name} 60" for name in SLICED]


def test_what_reaches_out_crashes_or_needs_too_much_is_noticed(tmp_path: Path) -> None:
    (box := tmp_path / "box").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PROVE, str(box)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    out = "CRASH PermissionError: hostile input reached outside: "
    expected = (
        ("read", False),
        ("CRASH ZeroDivisionError", False),
        (f"{out}socket.", True),
        (f"{out}open writes", True),
        (f"{out}open reads '/etc/hostname'", True),
        ("read", False),
        ("CRASH MemoryError", False),
    )
    for line, (told, is_breach) in zip(done.stdout.splitlines(), expected, strict=True):
        assert line.startswith(told) and line.endswith(f"|{is_breach}")
    assert not (tmp_path / "out").exists()


def test_a_seed_gives_the_same_files_of_every_kind() -> None:
    for name in KINDS:
        first, again = (list(mutants(name, 12, 3)) for _ in range(2))
        assert first == again, name


DEEP = "[" * 100_000


@pytest.mark.parametrize("text", ['{"a":' * 60_000, "{" * 60_000, '{"' * 60_000])
def test_an_answer_of_brackets_alone_is_none_at_once(text: str) -> None:
    schema = {"required": ["text"], "properties": {"text": {"type": "string"}}}
    assert read_answer(text, schema) is None
    assert read_answer('{"text": "so"} ' + text, schema) == {"text": "so"}


def test_replies_nested_without_end_are_no_completion() -> None:
    assert _completion(DEEP.encode(), "json_schema").detail == "no_completion"


def test_counts_of_tokens_that_no_column_holds_are_no_counts() -> None:
    reply = {
        "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10**30, "completion_tokens": 1},
    }
    found = _completion(json.dumps(reply).encode(), "json_schema")
    assert (found.text, found.billed, found.tokens_in) == ("yes", "unknown", None)


def test_halves_of_characters_in_metadata_are_replaced() -> None:
    written = b'{"pmcid": "PMC7", "version": 2, "is_pmc_openaccess": true, "is_retracted": false, '
    written += b'"is_historical_ocr": false, "is_manuscript": false, "doi": "10.1/\\ud800x", "license_code": '
    found = parse_metadata(written + b'"CC \xed\xa0\x80 BY"}', "PMC7", 2)
    assert found.doi == "10.1/\ufffd\ufffd\ufffdx" and found.license_code == "CC \ufffd\ufffd\ufffd BY"


def test_a_spec_nested_without_end_is_refused(tmp_path: Path) -> None:
    (path := tmp_path / "spec.toml").write_text(f"name = {DEEP}", "utf-8")
    with pytest.raises(UsageError, match="not TOML"):
        load_spec(path)


def test_answers_of_a_server_that_are_none_are_told_apart() -> None:
    for field in ("text", 7, None, ["x"]):
        with pytest.raises(InputError, match="not an answer"):
            answer([field])  # type: ignore[list-item]
    for item in ({"from_name": "x", "value": {}}, {"from_name": "grade", "type": "textarea", "value": {}}):
        with pytest.raises(InputError, match="unknown field"):
            answer([item])
    lone = {"from_name": "comment", "type": "textarea", "value": {"text": ["a\ud800"]}}
    grade = {"from_name": "grade", "type": "choices", "value": {"choices": ["1"]}}
    assert answer([grade, lone]).comment == "a\ufffd\ufffd\ufffd"
    for lead in (float("nan"), float("inf"), -1, 10**400, "12", None):
        row = {"id": 1, "data": {}, "annotations": [{"id": 2, "completed_by": 3, "lead_time": lead}]}
        assert task_answers(row).answers[0].seconds == 0.0
    assert task_answers({**row, "annotations": [{"id": 2, "lead_time": 1.26}]}).answers[0].seconds == 1.3


def test_a_short_line_of_the_sources_is_quarantined_and_not_lost(tmp_path: Path) -> None:
    (path := tmp_path / "MRSAB.RRF").write_text(
        "||HPO2026||\n||X2026|HPO|Title|HPO|2026|||2026AA||||0|\n", "utf-8"
    )
    with opened("500MB", tmp_path) as connection:
        drops = stage_file(connection, "MRSAB", [path], tmp_path / "staged.parquet")
    assert [drop.id for drop in drops] == ["MRSAB.RRF:1"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"stages": 5}, "stages"),
        ({"files": {"x": None}}, "files"),
        ({"counts": [1]}, "counts"),
        ({"expert_minimum": True}, "expert_minimum"),
        ({"siblings": [["x"]]}, "siblings"),
    ],
)
def test_a_manifest_with_values_of_another_type_is_refused(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    from benchmarks.hostile.releases import whole

    stated = json.loads(whole()[3][NAME])
    (tmp_path / NAME).write_text(json.dumps(stated), "utf-8")
    assert read_manifest(tmp_path).task == "visual_context"
    (tmp_path / NAME).write_text(json.dumps({**stated, **change}), "utf-8")
    with pytest.raises(ReleaseError, match=f"another type: {told}"):
        read_manifest(tmp_path)
    (tmp_path / NAME).write_text(DEEP, "utf-8")
    with pytest.raises(ReleaseError, match="cannot be read"):
        read_manifest(tmp_path)
