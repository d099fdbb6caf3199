"""A slice of benchmarks/rewrite_checks.py, and the stages that read questions and check their rewrites."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchmarks.principal_diagnosis import mentions_of, told
from benchmarks.rewrite_checks import WRITTEN, is_right, open_world, outcomes
from curation.concepts.opening import open_backend
from curation.tasks.clinical_evidence.asking import (
    CLOSED_BOOK,
    INTENT,
    PATH,
    REWRITE,
    Asking,
    answers,
    prompts,
)
from curation.tasks.clinical_evidence.difficulty import Difficulty, difficulties
from curation.tasks.clinical_evidence.exams import CHECKED, EXAMS
from curation.tasks.clinical_evidence.records import Rewrite, Vignette
from curation.tasks.clinical_evidence.vignettes import VIGNETTES
from flows.engine.progress import SilentReporter
from flows.engine.runner import run_records
from flows.engine.workspace import Workspace
from flows.vocabulary.indexes import index_in_use
from schemas.article import Licence
from schemas.prompt import ModelAnswer, Prompt
from schemas.question import Option, Question
from schemas.stages import Drop
from tests.curation.cases.stories import report

GOLD: dict[str, list[dict[str, Any]]] = tomllib.loads(WRITTEN.read_text("utf-8"))
ITEMS = GOLD["item"]
BY = Licence(spdx="CC-BY-4.0", evidence="ours")
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
        "correct": tuple(item["correct"]),
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
    assert all(12 * count <= len(found[group]) for group, count in missed.items()), (missed, reasons)


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


def answer(prompt: Prompt, text: str, model: str = "scripted") -> ModelAnswer:
    return ModelAnswer(
        prompt_id=prompt.id,
        subject=prompt.subject,
        model=model,
        served_model="",
        state="answered",
        text=text,
        mode="plain",
        tokens_in=None,
        tokens_out=1,
    )


def put(
    asking: Asking,
    vignettes: Sequence[Vignette],
    say: Callable[[Vignette, Prompt], str | None],
    model: str = "able",
) -> tuple[list[Any], dict[str, list[str]]]:
    """Rows and drops by unit of what a script says to every prompt of a kind; None says nothing."""
    rows: list[Any] = []
    drops: dict[str, list[str]] = {}
    for one in vignettes:
        asked = [row for row in prompts(asking, one) if isinstance(row, Prompt)]
        said = [(row, say(one, row)) for row in asked]
        given = [answer(row, text, model) for row, text in said if text is not None]
        for row in answers(asking, one, asked, given):
            if isinstance(row, Drop):
                drops.setdefault(row.id.rpartition("/")[2], []).append(str(row.reason))
            else:
                rows.append(row)
    return rows, drops


def test_scripted_answers_take_questions_all_the_way(resources: Mapping[str, Path]) -> None:
    """Right and wrong answers written by hand: what each stage keeps, what it drops and why."""
    of = {item["id"]: item for item in ITEMS}
    vignettes, broken = read(resources, *map(question, [*ITEMS, *GOLD["broken"]]))
    assert broken == {item["id"]: item["reason"] for item in GOLD["broken"]} and len(vignettes) == 16

    def own(one: Vignette) -> dict[str, Any]:
        return of[one.unit.rpartition("/")[2]]

    def sorted_as(one: Vignette, prompt: Prompt) -> str | None:
        scenario = {"gout": "other", "celiac": None, "stroke": "prognosis"}.get(
            own(one)["id"], own(one)["scenario"]
        )
        return None if scenario is None else json.dumps({"scenario": scenario, "asks": "what comes next"})

    intents, lost = put(INTENT, vignettes, sorted_as)
    assert lost == {"gout": ["not_clinical"], "celiac": ["not_run"], "stroke": ["invalid"]}
    assert {row.unit.rpartition("/")[2]: row.scenario for row in intents} == {
        name: item["scenario"] for name, item in of.items() if name not in lost
    }
    sure = {row.unit for row in intents}
    left = [one for one in vignettes if one.unit in sure]

    def knows(one: Vignette, prompt: Prompt) -> str:
        number = int(prompt.form.rpartition("-")[2])
        return json.dumps({"answer": one.answer if number <= own(one)["known"] else own(one)["options"][1]})

    able, lost = put(CLOSED_BOOK, left, knows)
    toy, _ = put(CLOSED_BOOK, left, lambda one, prompt: json.dumps({"answer": "A"}), "toy")
    assert len(able) == len(toy) == 3 * len(left) and not lost
    found = difficulties([*able, *toy], sure, Fraction(9, 10))
    by_kind = {
        kind: {unit.rpartition("/")[2] for unit, item in found.items() if item.difficulty is kind}
        for kind in Difficulty
    }
    assert by_kind[Difficulty.KEY_SUSPECT] == {"porphyria"} and not by_kind[Difficulty.NOT_RUN]
    assert by_kind[Difficulty.TOO_EASY] == {item["id"] for item in ITEMS if item["known"] >= 3}
    alone = difficulties(toy, sure, Fraction(9, 10))
    assert {item.difficulty for item in alone.values()} == {Difficulty.NOT_RUN}

    hard = [one for one in left if found[one.unit].difficulty is Difficulty.HARD_ENOUGH]
    said = {
        name: item["spoilt" if name in ("kawasaki", "addison") else "rewrite"] for name, item in of.items()
    }
    rewrites, lost = put(REWRITE, hard, lambda one, prompt: json.dumps({"text": said[own(one)["id"]]}))
    assert len(rewrites) == len(hard) and not lost
    asked, lost_rewrites = check(resources, hard, {row.unit.rpartition("/")[2]: row.text for row in rewrites})
    assert lost_rewrites == {"kawasaki": "unit_changed", "addison": "number_changed"}
    assert {own(one)["id"] for one in asked} == {"embolism", "myasthenia"}
    assert all(one.text == own(one)["rewrite"] for one in asked)

    def reasons(one: Vignette, prompt: Prompt) -> str:
        quote = (
            "a mass in the anterior mediastinum"
            if own(one)["id"] == "embolism"
            else "intact. A mass in the anterior"
        )
        return json.dumps({"path": own(one)["path"], "quotes": [quote]})

    paths, lost = put(PATH, asked, reasons)
    assert lost == {"embolism": ["quote_missing"]}
    (path,) = paths
    text = of["myasthenia"]["rewrite"]
    assert path.quotes and all(text[quote.start : quote.end] == quote.text for quote in path.quotes)
    again = put(PATH, asked, reasons)
    assert again == (paths, lost)


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
        for one in VIGNETTES.inputs:
            tables.setdefault(one.table, [])
        files = {name: resources[name] for name in VIGNETTES.resources}
        params = {**VIGNETTES.params, "one_per_patient": False}
        kept, _, _ = run_records(VIGNETTES, tables, params, files)
        of = {one.scenario: one for one in kept["vignettes"]}
        assert set(of) == {"examination", "treatment"}, item["id"]
        for scenario, words in zip(("examination", "treatment"), item["answers"], strict=True):
            assert words in of[scenario].answer, item["id"]
            assert words.lower() not in of[scenario].text.lower(), item["id"]
            assert item["texts"][0] in of[scenario].text
