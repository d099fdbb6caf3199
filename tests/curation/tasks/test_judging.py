"""Judged pairs: both orders or nothing, quotes as evidence of the source, conclusions by table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.extract.neutralise import restore
from curation.prompts import support
from curation.tasks.clinical_evidence.cells import conclusion
from curation.tasks.multilingual_evidence.records import FamilyMember
from curation.tasks.multilingual_evidence.sql import OVER_ALL
from curation.tasks.shared.judging.records import AskedPair, JudgedPair, MinedPair
from curation.tasks.shared.judging.stage import (
    by_answer,
    concluding,
    is_asked_again,
    judge_stage,
    source_span,
)
from flows.adapters.llm_runner import key_of
from flows.engine.runner import run_records
from schemas.benchmark import Transform
from schemas.hashing import canonical_json
from schemas.prompt import ModelAnswer, Prompt, asked_again, seed_of
from schemas.record import to_table
from schemas.stages import Drop
from tests.curation.release.known import run_sql

SOURCE = "Crystals in joint fluid (Fig. 2) prove gout beyond doubt."
PASSAGE = "Crystals in joint fluid prove gout beyond doubt."
PAIR = AskedPair(
    id="q1 d1",
    query_id="q1",
    corpus_id="d1",
    article_id="questions:ours",
    question="What proves it?",
    answer="crystals",
    passage=PASSAGE,
    transforms=(Transform(start=23, end=23, original=" (Fig. 2)", rule="figure_pointer"),),
)
Quoted = tuple[int, str]


def judged(given: Sequence[Quoted | None], pair: AskedPair = PAIR) -> tuple[list[JudgedPair], list[Drop]]:
    """What follows of a score and a quote for each order, None where nothing was answered."""
    stage = judge_stage("t", "t_pairs.pairs", support.ANSWER)
    made, _, counts = run_records(stage.asking, {"t_pairs.pairs": [pair]}, stage.asked, {})
    assert counts["order"] == {"in": len(given), "kept": len(given), "dropped": 0}
    prompts = sorted(made["prompts"], key=lambda prompt: str(prompt.form))
    answers = [
        answer(prompt, {"answer": said[0], "answer_quotes": [said[1]] if said[1] else []})
        for prompt, said in zip(prompts, given, strict=True)
        if said is not None
    ]
    read, invalid, _ = run_records(
        stage.reading, {"t_judge.prompts": prompts, "t_judge_answers.answers": answers}, stage.asked, {}
    )
    last = concluding("t", "t_pairs.pairs", by_answer)
    rows, drops, _ = run_records(
        last, {"t_pairs.pairs": [pair], "t_judgements.judgements": read["judgements"]}, {}, {}
    )
    return rows["judged"], [*invalid, *drops]


def answer(prompt: Prompt, values: dict[str, Any]) -> ModelAnswer:
    return ModelAnswer(
        prompt_id=prompt.id, subject=prompt.subject, model="scripted", served_model="", state="answered",
        text=canonical_json(values), mode="plain", tokens_in=None, tokens_out=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([(3, "prove gout beyond"), (2, "prove gout beyond")], (2, "")),
        ([(0, ""), (0, "")], (0, "")),
        ([(1, ""), (1, "")], (None, "middle")),
        ([(3, "prove gout beyond"), (1, "")], (None, "unstable")),
        ([(2, "prove gout beyond"), (0, "")], (None, "unstable")),
    ],
)
def test_both_orders_make_a_grade_or_an_exclusion(
    given: Sequence[Quoted], expected: tuple[int | None, str]
) -> None:
    (row,), drops = judged(given)
    assert (row.score, row.reason) == expected and not drops
    assert row.scores == "; ".join(str(score) for score, _ in given) and row.model == "scripted"


def test_a_pair_drawn_by_lot_is_asked_about_again_with_a_seed_that_decides_nothing() -> None:
    pairs = [replace(PAIR, id=f"q1 d{number}") for number in range(400)]
    drawn = [pair for pair in pairs if is_asked_again(pair.id)]
    assert 50 < len(drawn) < 110  # one in five
    forward, again, backward = (3, "prove gout beyond"), (0, ""), (3, "prove gout beyond")
    (row,), drops = judged([forward, again, backward], drawn[0])
    assert (row.score, row.scores, row.seeded) == (2, "3; 3", "0") and not drops
    (row,), _ = judged([forward, None, backward], drawn[0])
    assert (row.score, row.seeded) == (2, "")
    one, other = support.ask("q1 d1", "t", "What?", "crystals", PASSAGE)
    seeded = asked_again(one, 1)
    assert [seed_of(row.form) for row in (one, other, seeded)] == [0, 0, 1] and seeded.id != one.id
    assert len({key_of(row) for row in (one, other, seeded, asked_again(one, 2))}) == 4


def test_quotes_are_evidence_of_the_source_passage() -> None:
    (row,), _ = judged([(3, "joint fluid prove gout"), (3, "gout beyond doubt.")])
    assert [(item.text_id, item.text) for item in row.evidence] == [
        ("d1", "joint fluid (Fig. 2) prove gout"),
        ("d1", "gout beyond doubt"),
    ]
    assert all(SOURCE[item.start : item.end] == item.text for item in row.evidence)


@pytest.mark.parametrize(
    "given", [[None, None], [(0, ""), None], [(3, "words that are nowhere"), (3, "prove gout beyond")]]
)
def test_what_was_not_judged_in_both_orders_is_no_label(given: Sequence[Quoted | None]) -> None:
    rows, drops = judged(given)
    assert not rows and {drop.reason for drop in drops if drop.unit == "pair"} == {"not_run"}
    assert [drop.reason for drop in drops if drop.unit == "answer"] == ["invalid"] * (
        given[1] == (3, "prove gout beyond")
    )


def test_nobody_is_sent_a_passage_that_names_a_patient() -> None:
    stage = judge_stage("t", "t_pairs.pairs", support.ANSWER)
    pair = AskedPair(
        id="q1 d2", query_id="q1", corpus_id="d2", article_id="a", question="q", answer="a",
        passage="Her hospital number was MRN 4482913 that day.",
    )  # fmt: skip
    made, drops, _ = run_records(stage.asking, {"t_pairs.pairs": [pair]}, stage.asked, {})
    assert not made["prompts"] and [drop.reason for drop in drops] == ["names_a_patient"] * 2


def test_the_cells_of_two_axes_fit_as_well() -> None:
    assert conclusion([(3, 2), (2, 3)]) == 2 and conclusion([(2, 1), (2, 1)]) == "middle"
    last = concluding("t", "t_pairs.pairs", conclusion)
    assert last.name == "t_judged" and last.accounts[0].unit == "pair"


@given(data=st.data())
def test_a_span_of_released_text_covers_its_own_words_in_the_source(data: st.DataObject) -> None:
    words = data.draw(st.lists(st.sampled_from(["alpha", "beta", "gamma"]), min_size=4, max_size=8))
    text = " ".join(words)
    at = data.draw(st.integers(0, len(text) - 1))
    till = data.draw(st.integers(at, min(len(text), at + 4)))
    changes = [
        Transform(start=at, end=till, original=data.draw(st.sampled_from(["", "XY", "long one"])), rule="r")
    ]
    source = restore(text, changes)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = source_span(start, end, changes)
    assert 0 <= first <= last <= len(source)
    if till <= start or at >= end:
        assert source[first:last] == text[start:end]
    else:
        assert changes[0].original in source[first:last]


def test_a_question_without_translations_keeps_the_pairs_that_were_judged_of_it(tmp_path: Path) -> None:
    """The judge's word on it counts, whatever it was; of a kept question each translation has the pairs."""
    pairs = [
        MinedPair(
            query_id=name, corpus_id="d1", score=0, reason="", forward="0", reversed="0", seeded="",
            found_by=("bm25:answer:1",), only_reasoning=False, model="m", served_model="", prompt_sha256="",
        )
        for name in ("kept", "empty")
    ]  # fmt: skip
    members = [FamilyMember(query_id=name, english_id="kept") for name in ("kept", "kept-es")]
    views = {}
    for name, kind, rows in (("of_questions", MinedPair, pairs), ("members", FamilyMember, members)):
        views[name] = [tmp_path / f"{name}.parquet"]
        pq.write_table(to_table(kind, rows), views[name][0])
    text = OVER_ALL.outputs["judgements"].text
    found = [row["query_id"] for part in run_sql(text, views) for row in part.to_pylist()]
    assert sorted(found) == ["empty", "kept", "kept-es"]
