"""Candidates of a review, put to the judge that labels their task in its build."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.prompts import support, support_review
from curation.tasks.registry import TASKS
from curation.tasks.shared.judging.stage import MIDDLE, UNSTABLE, conclude_of
from schemas.hashing import canonical_json
from schemas.prompt import ModelAnswer, Prompt
from schemas.review import ReviewCandidate, ShownItem

QUESTION, GOUT = "What swells the toe?", "gout"
PASSAGE = "Uric acid crystals in the joint fluid prove gout. Colchicine within a day shortens an attack."
WORDS = "crystals in the joint fluid"


def item(name: str, kind: str = "relevance_text", **shown: str) -> ReviewCandidate:
    given = {"query_text": QUESTION, "answer": GOUT, "document_text": PASSAGE, **shown}
    return ReviewCandidate(
        id=name,
        dataset="d",
        task="reference_qa",
        kind=kind,  # type: ignore[arg-type]
        query_id="q",
        corpus_id="c",
        shown=tuple(ShownItem(name=key, value=value) for key, value in given.items()),
        origin="pool",
    )


def said(prompt: Prompt, state: str = "answered", **values: Any) -> ModelAnswer:
    return ModelAnswer(
        prompt_id=prompt.id, subject=prompt.subject, model="m", served_model="m", state=state,  # type: ignore[arg-type]
        text=canonical_json(values), mode="json_schema", tokens_in=1, tokens_out=1,
    )  # fmt: skip


def test_what_is_asked_is_what_the_build_asked() -> None:
    made = support_review.prompts([item("a")], support.ANSWER)
    built = support.ask("pair of the build", "reference_qa", QUESTION, GOUT, PASSAGE)
    asked = [(row.system, row.parts, row.answer_schema, row.max_tokens) for row in made.rows]
    assert asked == [(row.system, row.parts, row.answer_schema, row.max_tokens) for row in built]
    both = support_review.prompts([item("a", reasoning="Crystals are seen.")], support.ANSWER_REASONING)
    assert {row.kind for row in both.rows} == {"answer-reasoning@1"}
    assert {
        row.max_tokens for row in support_review.prompts([item("a")], support.ANSWER, max_tokens=99).rows
    } == {99}


def test_candidates_that_cannot_be_judged_are_named() -> None:
    items = [
        item("a"), item("b", answer=""), item("c", kind="relevance_image"), item("d", query_image="0" * 64),
        item("e", kind="answer_key"), item("f", document_text="crystal " * 300_000),
    ]  # fmt: skip
    made = support_review.prompts(items, support.ANSWER)
    assert {row.subject for row in made.rows} == {"a", "c"}
    assert made.skipped == {"b": "no_answer", "d": "needs_images", "e": "kind_not_judged", "f": "too_long"}
    none = support_review.prompts(items[:2], support.ANSWER_REASONING)
    assert not none.rows and none.skipped == {"a": "no_reasoning", "b": "no_answer"}


def drawn(orders: Any) -> tuple[int | None, str]:
    conclude = conclude_of(TASKS["reference_qa"])
    assert conclude is not None
    found = conclude(orders)
    return (found, "") if isinstance(found, int) else (None, found)


@pytest.mark.parametrize(
    ("forward", "turned", "expected"),
    [
        ((3, [WORDS]), (2, [WORDS]), (2, "", "answer 3; answer 2")),
        ((0, []), (0, []), (0, "", "answer 0; answer 0")),
        ((1, []), (1, []), (None, MIDDLE, "answer 1; answer 1")),
        ((3, [WORDS]), (1, []), (None, UNSTABLE, "answer 3; answer 1")),
        ((3, ["words that are nowhere"]), (3, [WORDS]), (None, "quote_missing", "")),
        ((3, [WORDS]), (2, []), (None, "no_quote", "")),
    ],
)
def test_two_orders_come_to_one_row(forward: Any, turned: Any, expected: Any) -> None:
    rows = support_review.prompts([item("a")], support.ANSWER).rows
    answers = [
        said(row, answer=score, answer_quotes=quotes)
        for row, (score, quotes) in zip(rows, (forward, turned), strict=True)
    ]
    [row] = support_review.judged(rows, answers, "m", drawn)
    assert (row.grade, row.reason, row.comment) == expected
    assert (row.annotator, row.role, row.candidate_id) == ("judge:m/support@1", "judge", "a")
    assert support_review.judged(rows, answers[:1], "m", drawn) == []
    [refused] = support_review.judged(rows, [said(rows[0], "refused"), answers[1]], "m", drawn)
    assert (refused.grade, refused.reason) == (None, "refused")


def test_tasks_that_are_judged_in_their_build_show_the_answer() -> None:
    own = {name for name, task in TASKS.items() if conclude_of(task)}
    assert own == {name for name, task in TASKS.items() if task.question.with_answer}
    assert own == {"reference_qa", "clinical_evidence", "multilingual_evidence"}
    for name in own:  # what their conclusion leaves between is a grade that people may give
        assert TASKS[name].between is not None
    assert json.loads(support.ask("p", "t", "q", "a", "p")[0].answer_schema)["required"]
