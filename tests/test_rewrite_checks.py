"""A slice of benchmarks/rewrite_checks.py, and the stages that read questions and check their rewrites."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.rewrite_checks import WRITTEN, is_right, open_world, outcomes
from curation.tasks.clinical_evidence.exams import CHECKED, EXAMS
from curation.tasks.clinical_evidence.records import Rewrite, Vignette
from flows.engine.progress import SilentReporter
from flows.engine.runner import run_records
from flows.engine.workspace import Workspace
from flows.vocabulary.indexes import index_in_use
from schemas.article import Licence
from schemas.question import Option, Question

ITEMS: list[dict[str, Any]] = tomllib.loads(WRITTEN.read_text("utf-8"))["item"]
LOST = {"thyroid"}
"""Whose faithful rewrite is dropped: it puts on kilograms where the question gains weight."""


@pytest.fixture(scope="module")
def resources(sample: Workspace) -> Mapping[str, Path]:
    """Files of the default vocabulary by name."""
    index = index_in_use(sample, "native", SilentReporter())
    tables = {name: index.vocabulary.table(name) for name in ("names", "types", "relations")}
    return {"vocabulary": index.path, **tables}


def question(item: Mapping[str, Any], **changes: Any) -> Question:
    given: dict[str, Any] = {
        "id": f"questions:ours/{item['id']}",
        "collection": "questions:ours",
        "number": 1,
        "language": "en",
        "text": item["question"],
        "options": tuple(
            Option(letter=letter, text=text) for letter, text in zip("ABCD", item["options"], strict=True)
        ),
        "correct": (item["correct"],),
        "licence": Licence(spdx="CC0-1.0", evidence="ours"),
        "is_synthetic": True,
    }
    return Question(**{**given, **changes})


def read(resources: Mapping[str, Path], *questions: Question) -> tuple[list[Vignette], dict[str, str]]:
    """Vignettes of questions, and why others make none, by the end of their id."""
    tables = {"questions.questions": list(questions)}
    kept, drops, _ = run_records(EXAMS, tables, {**EXAMS.params, "min_words": 25}, resources)
    return kept["vignettes"], {drop.id.rpartition("/")[2]: str(drop.reason) for drop in drops}


def check(
    resources: Mapping[str, Path], vignettes: list[Vignette], texts: Mapping[str, str]
) -> tuple[list[Vignette], dict[str, str]]:
    """What is kept of rewrites by the end of their question's id, and why the others are not."""
    rewrites = [
        Rewrite(unit=item.unit, text=texts[name], model="scripted", served_model="", prompt_sha256="0" * 64)
        for item in vignettes
        if (name := item.unit.rpartition("/")[2]) in texts
    ]
    tables: dict[str, list[Any]] = {
        "clinical_evidence_questions.vignettes": vignettes,
        "clinical_evidence_rewrites.rewrites": rewrites,
    }
    kept, drops, _ = run_records(CHECKED, tables, CHECKED.params, resources)
    return kept["vignettes"], {drop.id.rpartition("/")[2]: str(drop.reason) for drop in drops}


def test_planted_defects_are_dropped_for_their_reason(sample: Workspace) -> None:
    found: dict[str, list[bool]] = {}
    reasons: dict[str, set[str]] = {}
    for group, reason, item in outcomes(open_world(sample.root), 12):
        found.setdefault(group, []).append(is_right(group, reason, item))
        reasons.setdefault(group, set()).add(reason)
    assert len(found) == 11 and min(map(len, found.values())) == 12
    missed = {group: right.count(False) for group, right in found.items() if not all(right)}
    assert all(count <= 1 for count in missed.values()), (missed, reasons)


def test_a_written_question_is_asked_as_it_was_rewritten_unless_that_is_spoilt(
    resources: Mapping[str, Path],
) -> None:
    vignettes, dropped = read(resources, *map(question, ITEMS))
    assert len(vignettes) + len(dropped) == len(ITEMS) == 16 and not dropped
    assert all(item.targets and item.scenario == "" and item.is_synthetic for item in vignettes)
    kept, lost = check(resources, vignettes, {item["id"]: item["rewrite"] for item in ITEMS})
    assert set(lost) == LOST and set(lost.values()) == {"concept_lost"}
    texts = {item["id"]: item["rewrite"] for item in ITEMS}
    assert {item.unit.rpartition("/")[2]: item.text for item in kept} == {
        name: text for name, text in texts.items() if name not in LOST
    }
    kept, lost = check(resources, vignettes, {item["id"]: item["spoilt"] for item in ITEMS})
    assert not kept and lost == {item["id"]: item["fault"] for item in ITEMS}
    _, lost = check(resources, vignettes, {})
    assert set(lost.values()) == {"not_run"}


def test_a_question_that_cannot_be_asked_is_dropped_for_its_reason(resources: Mapping[str, Path]) -> None:
    item = ITEMS[0]
    given = {
        "language_not_read": question(item, id="q/language_not_read", language="pl"),
        "licence_not_allowed": question(
            item, id="q/licence_not_allowed", licence=Licence(spdx="CC-BY-NC-4.0", evidence="ours")
        ),
        "several_answers": question(item, id="q/several_answers", correct=("A", "B")),
        "no_target": question(
            item, id="q/no_target", options=(Option(letter="A", text="Waiting"), Option(letter="B", text="x"))
        ),
    }
    given["names_answer"] = question(
        {**item, "question": f"Hypothyroidism is known. {item['question']}"}, id="q/names_answer"
    )
    kept, lost = read(resources, *given.values())
    assert not kept and lost == {reason: reason for reason in given}
