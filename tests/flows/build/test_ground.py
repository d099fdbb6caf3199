"""Texts grounded without a crawl: one line, a file, unreadable lines; and what a new vocabulary touches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flows.cli.app import run_cli
from flows.engine.progress import SilentReporter
from flows.engine.workspace import Workspace
from flows.inspect.texts import annotated, ground_file, ground_text
from flows.vocabulary import commands
from flows.vocabulary.indexes import Index, index_for_texts, index_in_use
from schemas.errors import UsageError
from tests.pipeline import new_workspace

TERMS = {
    "MADE:1": ("inflamed elbow", ["elbow inflammation"]),
    "MADE:2": ("fever", []),
    "MADE:3": ("cardiac", []),
}


def obo(folder: Path, terms: dict[str, tuple[str, list[str]]], version: str = "1") -> Path:
    lines = ["format-version: 1.4", f"data-version: {version}", "ontology: made", ""]
    for concept, (name, synonyms) in terms.items():
        lines += ["[Term]", f"id: {concept}", f"name: {name}"]
        lines += [f'synonym: "{synonym}" EXACT []' for synonym in synonyms]
        lines.append("")
    folder.mkdir(exist_ok=True)
    path = folder / "made.obo"
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = new_workspace(tmp_path / "ws")
    commands.add([commands.obo_reading(obo(tmp_path, TERMS))], str(made.root))
    return made


@pytest.fixture
def index(workspace: Workspace) -> Index:
    return index_in_use(workspace, "native", SilentReporter())


def test_one_text(index: Index) -> None:
    text = "No fever, but an inflamed elbow (IE); IE went on. Elbow inflammations are rare."
    found = ground_text(text, index)
    assert [(row["text"], row["concept"], row["rule"], row["negated"]) for row in found] == [
        ("fever", "MADE:2", "exact", True),
        ("inflamed elbow", "MADE:1", "exact", False),
        ("IE", "MADE:1", "short_form", False),
        ("IE", "MADE:1", "short_form", False),
        ("Elbow inflammations", "MADE:1", "form", False),
    ]
    assert annotated(text, found).startswith(
        "No [fever | MADE:2 fever; negated], but an [inflamed elbow | MADE:1 "
    )


def test_mentions_that_share_words_are_shown_in_each_other() -> None:
    def mention(start: int, end: int, name: str) -> dict[str, Any]:
        return {"start": start, "end": end, "concept": "T:1", "name": name, "negated": name == "b"}

    found = [mention(0, 14, "a"), mention(10, 14, "b"), mention(16, 20, "c")]
    assert (
        annotated("hands and feet; skin", found)
        == "[hands and [feet | T:1 b; negated] | T:1 a]; [skin | T:1 c]"
    )


def test_short_english_names_are_not_looked_for_in_other_languages(
    workspace: Workspace, tmp_path: Path
) -> None:
    terms = {"MADE:1": ("sao", ["das", "sarcoid"])}
    commands.add([commands.obo_reading(obo(tmp_path, terms, "3"))], str(workspace.root))
    made = index_in_use(workspace, "native", SilentReporter())
    text = "As licenças são das casas; sarcoid"
    assert [row["text"] for row in ground_text(text, made, "pt")] == ["sarcoid"]


def test_a_file_keeps_its_order_and_loses_no_line(index: Index, tmp_path: Path) -> None:
    good = [{"id": number, "text": f"fever {number}"} for number in range(1_200)]
    lines = [json.dumps(row).encode() for row in good]
    bad = [
        b"{",
        b"[1]",
        b'{"id": 1}',
        b'{"id": true, "text": "x"}',
        b'{"id": 1, "text": "\xff"}',
        b"[" * 100_000,
    ]
    lines[700:700] = bad
    lines[3:3] = [b"", b"   "]
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    counts = ground_file(source, one, index, workers=1)
    assert counts == {"texts": 1_200, "mentions": 1_200, "dropped": len(bad)}
    assert ground_file(source, two, index, workers=2) == counts
    assert one.read_bytes() == two.read_bytes()
    rows = [json.loads(line) for line in one.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == list(range(1_200))
    drops = [
        json.loads(line) for line in (tmp_path / "one.jsonl.dropped.jsonl").read_text("utf-8").splitlines()
    ]
    assert [row["line"] for row in drops] == list(range(703, 703 + len(bad)))
    assert all(row["error"] for row in drops)
    source.write_bytes(b'{"id": "a", "text": "fever"}')
    ground_file(source, one, index)
    assert not (tmp_path / "one.jsonl.dropped.jsonl").exists() and not list(tmp_path.glob(".*.part"))


def test_the_command(workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--workspace", str(workspace.root)]
    assert run_cli(["ground", "--text", "Her fever rose.", "--json", *at]) == 0
    assert json.loads(capsys.readouterr().out)["mentions"][0]["concept"] == "MADE:2"
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "x", "text": "fever"}\nnonsense\n', "utf-8")
    assert run_cli(["ground", "--input", str(source), "--output", str(tmp_path / "out"), *at]) == 1
    assert "1 line dropped" in capsys.readouterr().out
    assert run_cli(["ground", "--input", str(source), *at]) == 2
    assert run_cli(["ground", "--text", "x", "--input", str(source), "--output", "y", *at]) == 2
    assert run_cli(["ground", "--input", str(tmp_path / "none"), "--output", str(tmp_path / "out"), *at]) == 2


def test_without_a_workspace_the_index_is_kept_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made of the default vocabularies: which these are is test_vocabulary's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    readings = [commands.obo_reading(obo(tmp_path / "files", TERMS))]
    monkeypatch.setattr(commands, "default_readings", lambda: readings)
    index = index_for_texts(None, tmp_path / "none", "native")
    assert index.path.is_relative_to(tmp_path / "cache") and not (tmp_path / "none").exists()
    assert [row["concept"] for row in ground_text("He had a fever.", index)] == ["MADE:2"]
    assert index_for_texts(None, tmp_path / "none", "native") == index
    with pytest.raises(UsageError, match="no backend"):
        index_for_texts(None, tmp_path / "none", "other")
