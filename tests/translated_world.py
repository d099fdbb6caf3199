"""The sample with invented questions, their translations by hand, and some of these made wrong."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.multilingual.back import known_pairs
from curation.prompts.material import read_block
from curation.tasks.multilingual_evidence.settings import NAME
from flows.engine.runner import read_rows, table_files
from flows.engine.workspace import Workspace
from schemas.prompt import Prompt
from sources.sample import questions_path

_SAID: dict[str, list[dict[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "gold/translations.toml").read_text("utf-8")
)
LANGUAGES = ("de", "es", "fr", "ja", "pt", "zh")
BY_PEOPLE = ("de", "es", "ja")
"""Languages whose recorded answers say that people wrote them."""
NEGATED = {
    "id": "no-fever",
    "question": "Why may a person without fever have a lung abscess all the same?",
    "answer": "Because necrosis needs about eight days to break into a bronchus.",
    "citations": [{"pmid": "990000023"}],
    "snippets": [
        {
            "document": {"pmid": "990000023"},
            "text": "since necrosis needs about eight days to break into a bronchus",
        }
    ],
}
"""A question that denies something: the sample's own have none."""
SPEC = f"""
name = "translated"
title = "Translated questions for a test"
[baselines]
systems = ["bm25"]
nano_queries = 0
[prompts]
model = "by-hand"
is_trial = true
[tasks.{NAME}]
languages = {json.dumps(LANGUAGES)}
"""


def questions_in(folder: Path) -> Path:
    """The sample's questions and one more, as a collection."""
    made = folder / "asked.jsonl"
    lines = questions_path().read_text("utf-8").strip()
    made.write_text(f"{lines}\n{json.dumps(NEGATED)}\n", "utf-8")
    sidecar = questions_path().with_name(f"{questions_path().name}.meta.toml")
    shutil.copyfile(sidecar, made.with_name(f"{made.name}.meta.toml"))
    return made


def translations() -> dict[tuple[str, str], str]:
    """(question, language) -> its translation."""
    return {(row["question"], code): row[code] for row in _SAID["translation"] for code in LANGUAGES}


def wrong_ones() -> dict[tuple[str, str], tuple[str, str]]:
    """(question, language) -> what is wrong, and a translation that is wrong so."""
    return {
        (row["question"], code): (row["what"], row[code])
        for row in _SAID["wrong"]
        for code in LANGUAGES
        if code in row
    }


def recorded(workspace: Workspace, said: Mapping[tuple[str, str], str], file: Path) -> Sequence[Prompt]:
    """Write answers to the prompts that stand as `answer --answers` reads them; the prompts."""
    prompts = read_rows(Prompt, table_files(workspace, f"{NAME}_translation.prompts"))
    names = question_of(workspace)
    rows = [
        {"model": "by-hand", "prompt_id": prompt.id, "answer": {"text": said[key]}}
        | ({"by": "human"} if prompt.form in BY_PEOPLE else {})
        for prompt in prompts
        if (key := (names[prompt.subject.rpartition("/")[0]], prompt.form)) in said
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return prompts


def recorded_back(workspace: Workspace, languages: Sequence[str], file: Path) -> None:
    """Write back-translations: the sources themselves, and of the first language copies of the input."""
    prompts = read_rows(Prompt, table_files(workspace, f"{NAME}_back_translation.prompts"))
    english = {row["id"]: row["text"] for row in read_tables(workspace, f"{NAME}_wanted.queries")}
    rows = []
    for prompt in prompts:
        first, _, last = prompt.subject.rpartition("/")
        if prompt.form not in languages:
            continue
        known = (
            known_pairs(prompt.form)[int(last) - 1][0]
            if first.startswith("known/")
            else english.get(first, "")
        )
        said = read_block(prompt, "query") if prompt.form == languages[0] else known
        rows.append({"model": "by-hand", "prompt_id": prompt.id, "answer": {"text": said}})
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def question_of(workspace: Workspace) -> dict[str, str]:
    """English query -> the question in its file."""
    rows: list[Any] = read_tables(workspace, f"{NAME}_wanted.queries")
    return {row["id"]: row["source_id"].rpartition("/")[2] for row in rows}


def read_tables(workspace: Workspace, table: str) -> list[dict[str, Any]]:
    """Rows of a table of all shards."""
    import pyarrow.parquet as pq

    return [row for path in table_files(workspace, table) for row in pq.read_table(path).to_pylist()]
