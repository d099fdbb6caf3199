"""A slice of benchmarks/rewrite_checks.py, and the stages that read questions and check their rewrites."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.principal_diagnosis import mentions_of, told
from benchmarks.rewrite_checks import is_right, open_world, outcomes
from curation.concepts.opening import open_backend
from curation.tasks.clinical_evidence.exams import CHECKED, QUESTIONS
from curation.tasks.clinical_evidence.records import Intent, Rewrite, Vignette
from curation.tasks.clinical_evidence.vignettes import PER_ARTICLE
from flows.engine.progress import SilentReporter
from flows.engine.runner import run_records
from flows.engine.workspace import Workspace
from flows.vocabulary.indexes import index_in_use
from schemas.article import Licence
from schemas.question import Option, Question, QuestionCollection
from tests.curation.cases.stories import report
from tests.exam_files import GOLD, ITEMS

BY = Licence(spdx="CC-BY-4.0", evidence="ours")
LOST = {"thyroid"}
"""Whose faithful rewrite is dropped: it puts on kilograms where the question gains weight."""


@pytest.fixture(scope="module")
def resources(sample: Workspace) -> Mapping[str, Path]:
    """Files of the default vocabulary by name."""
    index = index_in_use(sample, "native", SilentReporter())
    tables = {name: index.vocabulary.table(name) for name in ("names", "types", "relations", "definitions")}
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
        "correct": tuple(item["correct"]),
        "licence": Licence(spdx="CC0-1.0", evidence="ours"),
        "is_synthetic": True,
    }
    return Question(**{**given, **changes})


def read(resources: Mapping[str, Path], *questions: Question) -> tuple[list[Vignette], dict[str, str]]:
    """Vignettes of questions, and why others make none, by the end of their id."""
    collection = QuestionCollection(
        id="questions:ours", name="ours", language="en", licence=BY, records=len(questions),
        questions=len(questions), raw_sha256="0" * 64, is_synthetic=True,
    )  # fmt: skip
    tables: dict[str, list[Any]] = {
        "questions.collections": [collection],
        "questions.questions": list(questions),
    }
    given = {name: resources[name] for name in QUESTIONS.resources}
    kept, drops, _ = run_records(QUESTIONS, tables, {**QUESTIONS.params, "min_words": 25}, given)
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
    made_by = {"asks": "it", "model": "scripted", "served_model": "", "prompt_sha256": "0" * 64}
    tables: dict[str, list[Any]] = {
        "clinical_evidence_exams.vignettes": vignettes,
        "clinical_evidence_rewrites.rewrites": rewrites,
        "clinical_evidence_intents.intents": [
            Intent(unit=item.unit, scenario="diagnosis", **made_by) for item in vignettes
        ],
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
    assert all(12 * count <= len(found[group]) for group, count in missed.items()), (missed, reasons)


def test_a_written_question_is_asked_as_it_was_rewritten_unless_that_is_spoilt(
    resources: Mapping[str, Path],
) -> None:
    vignettes, dropped = read(resources, *map(question, ITEMS))
    assert len(vignettes) + len(dropped) == len(ITEMS) == 29 and not dropped
    assert all(item.targets and item.scenario == "" and item.is_synthetic for item in vignettes)
    kept, lost = check(resources, vignettes, {item["id"]: item["rewrite"] for item in ITEMS})
    assert set(lost) == LOST and set(lost.values()) == {"concept_lost"}
    texts = {item["id"]: item["rewrite"] for item in ITEMS}
    assert {item.unit.rpartition("/")[2]: item.text for item in kept} == {
        name: text for name, text in texts.items() if name not in LOST
    }
    kept, lost = check(resources, vignettes, {item["id"]: item["spoilt"] for item in ITEMS})
    assert not kept and lost == {item["id"]: item["fault"] for item in ITEMS}


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


def test_written_reports_are_cut_before_their_decisions(
    resources: Mapping[str, Path], sample: Workspace
) -> None:
    matcher = open_backend("native", resources["vocabulary"])
    for item in GOLD["report"]:
        made = told(report([("Case presentation", item["texts"])], title="An unusual illness", licence=BY))
        tables: dict[str, list[Any]] = {
            "extract.sources": [made.source],
            "cases.cases": list(made.cases),
            "extract.passages": list(made.passages),
            "ground.mentions": mentions_of(made, matcher),
        }
        for one in PER_ARTICLE.inputs:
            tables.setdefault(one.table, [])
        files = {name: resources[name] for name in PER_ARTICLE.resources}
        params = {**PER_ARTICLE.params, "one_per_patient": False}
        kept, _, _ = run_records(PER_ARTICLE, tables, params, files)
        of = {one.scenario: one for one in kept["vignettes"]}
        assert set(of) == {"examination", "treatment"}, item["id"]
        for scenario, words in zip(("examination", "treatment"), item["answers"], strict=True):
            assert words in of[scenario].answer, item["id"]
            assert words.lower() not in of[scenario].text.lower(), item["id"]
            assert item["texts"][0] in of[scenario].text
