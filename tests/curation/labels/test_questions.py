"""Questions are labelled by their own words: short ones by what they ask, stories by what fills them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from curation.labels.questions import LABEL_EXERCISES, LABEL_QUESTIONS, label_questions
from flows.engine.runner import run_records
from schemas.article import Licence
from schemas.concept import Mention
from schemas.label import Label, RecordLabels
from schemas.question import Option, Question, QuestionCollection

LICENCE = Licence(spdx="CC0-1.0", url="", evidence="", statement="")
FILE = QuestionCollection(
    id="questions:invented", name="invented", language="en", licence=LICENCE, records=1, questions=1,
    raw_sha256="0" * 64,
)  # fmt: skip
STORY = (
    "A 58-year-old man wakes at night with a painful toe. He has a cough, sleeps badly, and takes "
    "hydrochlorothiazide. He has never been ill before, works in an office and lives with his brother. What "
    "is most likely, and what should be done first? "
)


def question(name: str, text: str, **more: object) -> Question:
    return Question(
        id=f"{FILE.id}/{name}", collection=FILE.id, number=1, language="en", text=text, licence=LICENCE,
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


def of(*questions: Question, mentions: tuple[Mention, ...] = ()) -> dict[str, RecordLabels]:
    rows = list(label_questions(FILE, questions, mentions))
    assert all(isinstance(row, Label | RecordLabels) for row in rows)
    return {row.id.rpartition("/")[2]: row for row in rows if isinstance(row, RecordLabels)}


def test_a_short_question_is_about_what_it_names() -> None:
    found = of(question("a", "What distinguishes constrictive pericarditis from restrictive cardiomyopathy?"))
    assert found["a"].unit == "question" and found["a"].article_id == FILE.id
    assert found["a"].specialties == ("cardiology",) and found["a"].body_systems == ("cardiovascular",)
    assert found["a"].body_system_confidence >= 0.6


def test_a_story_is_not_about_all_that_it_names() -> None:
    told = of(question("once", STORY), question("often", f"{STORY} COPD, asthma, wheezing and pneumonia."))
    assert told["once"].body_systems == () and told["once"].specialties == ()
    assert told["often"].body_systems[:1] == ("respiratory",)
    undecided = [
        row for row in label_questions(FILE, [question("once", STORY)], ()) if isinstance(row, Label)
    ]
    assert {row.reason for row in undecided} <= {"weak_evidence", "no_evidence"} and len(undecided) == 2


def test_answers_and_options_decide_nothing() -> None:
    plain = question("a", "Which of these is right in this patient?")
    told = replace(
        plain, options=(Option(letter="A", text="Asthma and pneumonia"),), correct=("A",),
        answer="Asthma and pneumonia of the lung", explanation="Asthma, asthma, pneumonia",
    )  # fmt: skip
    found = list(label_questions(FILE, [told], ()))
    assert found == list(label_questions(FILE, [plain], ()))
    assert {row.value for row in found if isinstance(row, Label)} == {""}


def test_every_question_has_its_rows_and_exercises_the_same() -> None:
    asked = [question("a", "What causes asthma?"), question("b", "Why?")]
    given: dict[str, Sequence[Any]] = {
        "questions.collections": [FILE],
        "questions.questions": asked,
        "ground_questions.mentions": [],
    }
    kept, drops, counts = run_records(LABEL_QUESTIONS, given, {}, {})
    assert not drops and counts["question"] == {"in": 2, "kept": 2, "dropped": 0}
    other: dict[str, Sequence[Any]] = {
        name.replace("ground_questions", "ground_exercises").replace("questions.", "exercises.", 1)
        if not name.startswith("ground") else "ground_exercises.mentions": rows
        for name, rows in given.items()
    }  # fmt: skip
    assert run_records(LABEL_EXERCISES, other, {}, {})[0] == kept
